// SPDX-License-Identifier: Apache-2.0
/* The handler's end of the wire against a launcher that behaves, and ones that do not. */
#include "tests/unit/unit.h"

#include "handler/channel.h"

#include "api/wire.h"
#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
	sd_event *event;
	struct channel *channel;
	int peer;
	int events, replies, last_reply, closed;
	struct err why;
	bool free_in_reply;
};

static void on_event(void *arg, const json_t *event)
{
	struct fixture *f = arg;

	assert_non_null(json_str(event, "event"));
	f->events++;
}

static void on_closed(void *arg, const struct err *err)
{
	struct fixture *f = arg;

	f->closed++;
	f->why = *err;
}

static void on_reply(void *arg, int r, const json_t *reply, const struct err *err)
{
	struct fixture *f = arg;

	assert_true((r == 0) == (reply != NULL));
	assert_true((r < 0) == (err != NULL));
	f->replies++;
	f->last_reply = r;
	if (err)
		f->why = *err;
	if (f->free_in_reply)
		channel_free(TAKE_PTR(f->channel));
}

static const struct channel_ops ops = {.event = on_event, .closed = on_closed};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	struct err err = {0};
	int pair[2];

	assert_int_equal(sock_pair(SOCK_SEQPACKET, pair), 0);
	f->peer = pair[1];
	assert_int_equal(sd_event_new(&f->event), 0);
	assert_int_equal(channel_new(f->event, pair[0], &ops, f, &f->channel, &err), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	channel_free(f->channel);
	(void)fd_close(f->peer);
	sd_event_unref(f->event);
	free(f);
	return 0;
}

/* Run the loop until nothing is pending. */
static void settle(struct fixture *f)
{
	while (sd_event_run(f->event, 0) > 0)
		;
}

static void ask(struct fixture *f)
{
	struct err err = {0};

	assert_int_equal(
		channel_request(f->channel, "status", NULL, NULL, 0, 60, on_reply, f, &err), 0);
}

static json_int_t read_id(struct fixture *f)
{
	_cleanup_json_ json_t *msg = NULL;
	struct err err = {0};
	size_t n;

	assert_int_equal(wire_recv(f->peer, &msg, NULL, 0, &n, &err), 1);
	assert_string_equal(json_str(msg, "request"), "status");
	return (json_int_t)json_u64(msg, "id", 0);
}

static void answer(struct fixture *f, const char *text)
{
	assert_int_equal(sock_send(f->peer, text, strlen(text), NULL, 0), 0);
	settle(f);
}

static void answer_id(struct fixture *f, json_int_t id, const char *rest)
{
	_cleanup_free_ char *text = xasprintf("{\"id\":%lld,%s}", (long long)id, rest);

	answer(f, text);
}

static void test_replies(void **state)
{
	struct fixture *f = *state;
	json_int_t first, second;

	ask(f);
	ask(f);
	first = read_id(f);
	second = read_id(f);
	assert_int_not_equal(first, second);
	answer_id(f, second, "\"ok\":true");
	assert_int_equal(f->replies, 1);
	assert_int_equal(f->last_reply, 0);
	answer_id(f, first, "\"ok\":false,\"error\":\"no\"");
	assert_int_equal(f->replies, 2);
	assert_int_equal(f->last_reply, -EREMOTEIO);
	assert_string_equal(f->why.msg, "no");
	assert_int_equal(f->closed, 0);
}

/* A refusal in words that would take a terminal apart, or are longer than an error can be. */
static void test_ugly_refusal(void **state)
{
	struct fixture *f = *state;
	char text[3000];

	ask(f);
	answer_id(f, read_id(f), "\"ok\":false,\"error\":\"a\\u001b[2J\\nb\\u009bc\"");
	assert_string_equal(f->why.msg, "a?[2J?b??c");
	memset(text, 'x', sizeof text);
	memcpy(text, "\"ok\":false,\"error\":\"", 20);
	memcpy(text + sizeof text - 2, "\"", 2);
	ask(f);
	answer_id(f, read_id(f), text);
	assert_int_equal(f->replies, 2);
	assert_int_equal(strspn(f->why.msg, "x"), 899);
	assert_int_equal(f->closed, 0);
}

/* Each of these ends the channel, and with it what waits. */
static void test_nonsense(void **state)
{
	static const char *const frames[] = {
		"nonsense",
		"[]",
		"{}",
		"{\"id\":77,\"ok\":true}",
		"{\"id\":\"x\",\"ok\":true}",
		"{\"id\":1,\"ok\":\"yes\"}",
		"{\"id\":1,\"ok\":false}",
		"{\"ok\":true}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		struct fixture *f;

		(void)setup(state);
		f = *state;
		ask(f);
		answer(f, frames[i]);
		assert_int_equal(f->closed, 1);
		assert_int_equal(f->why.code, -EBADMSG);
		assert_int_equal(f->replies, 1);
		assert_int_equal(f->last_reply, -EBADMSG);
		(void)teardown(state);
	}
}

static void test_second_reply(void **state)
{
	struct fixture *f = *state;
	json_int_t id;

	ask(f);
	id = read_id(f);
	answer_id(f, id, "\"ok\":true");
	answer_id(f, id, "\"ok\":true");
	assert_int_equal(f->replies, 1);
	assert_int_equal(f->closed, 1);
}

static void test_descriptors_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sock_send(f->peer, "{\"event\":\"x\"}", 13, &f->peer, 1), 0);
	settle(f);
	assert_int_equal(f->events, 0);
	assert_int_equal(f->closed, 1);
}

static void test_flood(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 1000 && !f->closed; i++)
		answer(f, "{\"event\":\"qmp\",\"name\":\"STOP\"}");
	assert_int_equal(f->closed, 1);
	assert_true(f->events <= 400); /* 200 a second; the flood may straddle two of them */
}

static void test_peer_goes(void **state)
{
	struct fixture *f = *state;

	ask(f);
	f->peer = fd_close(f->peer);
	settle(f);
	assert_int_equal(f->closed, 1);
	assert_int_equal(f->last_reply, -ECONNRESET);
}

static void test_free_in_callback(void **state)
{
	struct fixture *f = *state;
	json_int_t id;

	f->free_in_reply = true;
	ask(f);
	id = read_id(f);
	answer_id(f, id, "\"ok\":true");
	assert_null(f->channel);
	assert_int_equal(f->replies, 1);
	assert_int_equal(f->closed, 0);
}

static void test_free_cancels(void **state)
{
	struct fixture *f = *state;

	ask(f);
	channel_free(TAKE_PTR(f->channel));
	assert_int_equal(f->last_reply, -ECANCELED);
	assert_int_equal(f->closed, 0);
}

static void test_too_many(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};
	int r = 0;

	for (int i = 0; i < 100 && r == 0; i++)
		r = channel_request(f->channel, "status", NULL, NULL, 0, 60, on_reply, f, &err);
	assert_int_equal(r, -EBUSY);
	assert_int_equal(f->replies, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_replies),
		TEST(test_ugly_refusal),
		cmocka_unit_test(test_nonsense),
		TEST(test_second_reply),
		TEST(test_descriptors_are_refused),
		TEST(test_flood),
		TEST(test_peer_goes),
		TEST(test_free_in_callback),
		TEST(test_free_cancels),
		TEST(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

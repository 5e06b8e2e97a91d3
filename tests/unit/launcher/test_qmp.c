// SPDX-License-Identifier: Apache-2.0
/* The client against a QEMU that the test plays on the other end of a socket pair. */
#include "tests/unit/unit.h"

#include "launcher/qmp.h"
#include "lib/json.h"
#include "lib/sock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GREETING "{\"QMP\": {\"version\": {}, \"capabilities\": [\"oob\"]}}\r\n"
#define SECOND	 1000000ull

static sd_event *event;
static struct qmp *qmp;
static int peer; /* QEMU's end */
static int ready, closed, events, answers;
static int close_code, answer_code[8];
static char answer_text[8][64], event_name[64];

static void on_ready(void *arg)
{
	(void)arg;
	ready++;
}

static void on_event(void *arg, const char *name, const json_t *data)
{
	(void)arg;
	(void)data;
	events++;
	(void)snprintf(event_name, sizeof event_name, "%s", name);
}

static void on_closed(void *arg, const struct err *why)
{
	(void)arg;
	closed++;
	close_code = why->code;
}

static const struct qmp_handlers handlers = {on_ready, on_event, on_closed};

static void on_answer(void *arg, int r, const json_t *result, const char *error)
{
	long slot = (long)(intptr_t)arg;

	answers++;
	answer_code[slot] = r;
	(void)snprintf(answer_text[slot], sizeof answer_text[slot], "%s",
		       error		       ? error
		       : json_str(result, "v") ? json_str(result, "v")
					       : "");
}

static int setup(void **state)
{
	struct err err = {0};
	int sv[2];

	(void)state;
	ready = closed = events = answers = close_code = 0;
	memset(answer_code, 0, sizeof answer_code);
	assert_true(sd_event_new(&event) >= 0);
	assert_int_equal(sock_pair(SOCK_STREAM, sv), 0);
	peer = sv[1];
	assert_int_equal(qmp_new(event, sv[0], 60 * SECOND, &handlers, NULL, &qmp, &err), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	qmp_free(qmp);
	event = sd_event_unref(event);
	peer = fd_close(peer);
	return 0;
}

static void say(const char *text)
{
	assert_int_equal(send(peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Run the loop until *counter reaches n; nothing for 10 s is a failure. */
static void until(const int *counter, int n)
{
	while (*counter < n)
		assert_true(sd_event_run(event, 10 * SECOND) > 0);
}

/* Everything that is there, and no more. */
static void settle(void)
{
	while (sd_event_run(event, 0) > 0)
		;
}

/* What the client has written since last time. */
static const char *heard(void)
{
	static char buf[4096];
	ssize_t n = recv(peer, buf, sizeof buf - 1, MSG_DONTWAIT);

	buf[n > 0 ? n : 0] = 0;
	return buf;
}

static void negotiate(void)
{
	say(GREETING);
	settle();
	assert_non_null(strstr(heard(), "\"qmp_capabilities\""));
	say("{\"return\": {}, \"id\": 0}\r\n");
	until(&ready, 1);
}

static int call(const char *command, long slot, uint64_t timeout)
{
	return qmp_call(qmp, command, NULL, timeout, on_answer, (void *)(intptr_t)slot);
}

static void test_commands(void **state)
{
	(void)state;
	assert_int_equal(call("too-early", 0, SECOND), -ENOTCONN);
	negotiate();
	assert_int_equal(call("first", 0, 60 * SECOND), 0);
	assert_int_equal(qmp_call(qmp, "second", json_pack("{s:i}", "x", 5), 60 * SECOND, on_answer,
				  (void *)1),
			 0);
	assert_string_equal(heard(), "{\"execute\":\"first\",\"id\":1}\n"
				     "{\"execute\":\"second\",\"id\":2,\"arguments\":{\"x\":5}}\n");
	/* in the wrong order, with an event between and an answer that nobody asked for */
	say("{\"return\": {\"v\": \"B\"}, \"id\": 2}\n{\"event\": \"STOP\"}\n"
	    "{\"return\": {\"v\": \"?\"}, \"id\": 99}\n"
	    "{\"error\": {\"class\": \"GenericError\", \"desc\": \"no way\"}, \"id\": 1}\n");
	until(&answers, 2);
	assert_int_equal(answer_code[0], -EREMOTEIO);
	assert_string_equal(answer_text[0], "no way");
	assert_int_equal(answer_code[1], 0);
	assert_string_equal(answer_text[1], "B");
	assert_int_equal(events, 1);
	assert_string_equal(event_name, "STOP");
	assert_int_equal(closed, 0);
}

static void test_byte_by_byte(void **state)
{
	static const char text[] = GREETING "{\"return\": {}}\r\n{\"event\": \"RESET\"}\r\n";

	(void)state;
	for (const char *c = text; *c; c++) {
		assert_int_equal(send(peer, c, 1, 0), 1);
		settle();
	}
	assert_int_equal(ready, 1);
	assert_int_equal(events, 1);
}

static void test_hang(void **state)
{
	(void)state;
	negotiate();
	assert_int_equal(call("slow", 0, 1000), 0);
	assert_int_equal(call("slower", 1, 60 * SECOND), 0);
	until(&answers, 1);
	assert_int_equal(answer_code[0], -ETIMEDOUT);
	/* the late answer is nobody's, and the other command still has its own */
	say("{\"return\": {\"v\": \"late\"}, \"id\": 1}\n");
	say("{\"return\": {\"v\": \"ok\"}, \"id\": 2}\n");
	until(&answers, 2);
	assert_string_equal(answer_text[1], "ok");
	assert_int_equal(closed, 0);
}

static void test_no_greeting(void **state)
{
	struct err err = {0};
	int sv[2];

	(void)state;
	qmp_free(qmp);
	assert_int_equal(sock_pair(SOCK_STREAM, sv), 0);
	assert_int_equal(qmp_new(event, sv[0], 1000, &handlers, NULL, &qmp, &err), 0);
	until(&closed, 1);
	assert_int_equal(close_code, -ETIMEDOUT);
	(void)close(sv[1]);
}

/* Each ends the connection; none does anything else. */
static void test_not_the_protocol(void **state)
{
	static const char *const bad[] = {
		"SSH-2.0\n",
		"{\"event\": \"STOP\"}\n",
		"[]\n",
		"{\"QMP\": 1}\n",
		"{}\n",
		"\"\n",
		GREETING "{\"error\": {\"desc\": \"no\"}}\n",
		GREETING "{\"neither\": 1}\n",
		GREETING "{\"return\": {}}\n{\"a\":1,\"a\":2}\n",
		GREETING "{\"return\": {}}\n\377\n",
		GREETING "{\"return\": {}}\n{\"event\": 5}\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		say(bad[i]);
		until(&closed, 1);
		assert_true(close_code != 0 && close_code != -ECONNRESET);
		assert_int_equal(events, 0);
		(void)teardown(NULL);
		(void)setup(NULL);
	}
}

static void test_endless_line(void **state)
{
	static char chunk[65536];
	size_t sent = 0;

	(void)state;
	negotiate();
	assert_int_equal(call("x", 0, 60 * SECOND), 0);
	memset(chunk, ' ', sizeof chunk);
	while (!closed && sent < 4u << 20) {
		ssize_t n = send(peer, chunk, sizeof chunk, MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		settle();
	}
	assert_int_equal(closed, 1);
	assert_int_equal(close_code, -EMSGSIZE);
	assert_true(sent <= QMP_LINE_MAX + 4 * sizeof chunk);
	assert_int_equal(answers, 1);
	assert_int_equal(answer_code[0], -ECONNRESET);
}

static void test_deep_nesting(void **state)
{
	static char deep[200001];

	(void)state;
	negotiate();
	memset(deep, '[', sizeof deep - 1);
	say(deep);
	say("\n");
	until(&closed, 1);
	assert_int_equal(closed, 1);
}

static void test_end_of_file(void **state)
{
	(void)state;
	negotiate();
	assert_int_equal(call("x", 0, 60 * SECOND), 0);
	say("{\"event\": \"SHUTDOWN\"}\n");
	peer = fd_close(peer);
	until(&closed, 1);
	assert_int_equal(events, 1);
	assert_int_equal(close_code, -ECONNRESET);
	assert_int_equal(answer_code[0], -ECONNRESET);
	assert_int_equal(call("y", 1, SECOND), -ENOTCONN);
	assert_int_equal(answers, 1);
}

/* After QEMU's death what it had written is still handled, although the loop does not run. */
static void test_finish(void **state)
{
	(void)state;
	negotiate();
	say("{\"event\": \"SHUTDOWN\"}\n");
	qmp_finish(qmp);
	assert_int_equal(events, 1);
	assert_int_equal(closed, 1);
	qmp_finish(qmp);
	assert_int_equal(closed, 1);
}

static void test_qemu_does_not_read(void **state)
{
	int r = 0, n;

	(void)state;
	negotiate();
	for (n = 0; n < 100000 && r == 0; n++)
		r = call("a-command-with-a-name-that-takes-room", 0, 60 * SECOND);
	assert_int_equal(r, -ENOBUFS);
	assert_int_equal(answers, 0);
	/* once it reads again, the rest is sent */
	while (*heard())
		settle();
	assert_int_equal(call("again", 0, 60 * SECOND), 0);
}

int main(void)
{
#define QMP_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		QMP_TEST(test_commands),
		QMP_TEST(test_byte_by_byte),
		QMP_TEST(test_hang),
		QMP_TEST(test_no_greeting),
		QMP_TEST(test_not_the_protocol),
		QMP_TEST(test_endless_line),
		QMP_TEST(test_deep_nesting),
		QMP_TEST(test_end_of_file),
		QMP_TEST(test_finish),
		QMP_TEST(test_qemu_does_not_read),
	};

	(void)alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

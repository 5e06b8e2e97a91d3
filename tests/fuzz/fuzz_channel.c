// SPDX-License-Identifier: Apache-2.0
/*
 * What a launcher sends to the handler: each line of the input is a frame. Three requests wait for their
 * replies; whatever comes, each is answered exactly once.
 */
#include "tests/fuzz/fuzz.h"

#include "handler/channel.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/sock.h"

#include <sys/socket.h>

static unsigned answers, ends;

static void on_reply(void *arg, int r, const json_t *reply, const struct err *err)
{
	(void)arg;
	answers++;
	fuzz_must(r == 0 ? json_is_object(reply) : err->code == r);
	if (r < 0)
		fuzz_said(r, err);
}

static void on_event(void *arg, const json_t *event)
{
	(void)arg;
	fuzz_must(json_object_get(event, "event"));
}

static void on_closed(void *arg, const struct err *err)
{
	(void)arg;
	ends++;
	fuzz_said(err->code, err);
}

static void send_lines(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		const uint8_t *nl = memchr(data, '\n', len);
		size_t n = nl ? (size_t)(nl - data) : len;

		if (sock_send(fd, data, n, NULL, 0) < 0)
			return; /* the channel's queue is full, or it was closed */
		data += nl ? n + 1 : n;
		len -= nl ? n + 1 : n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct channel_ops ops = {.event = on_event, .closed = on_closed};
	static sd_event *event;
	struct channel *c;
	struct err err = {0};
	int sv[2];

	if (!event)
		fuzz_must(sd_event_new(&event) == 0);
	log_open("fuzz", LOG_LEVEL_ERROR);
	answers = ends = 0;
	fuzz_must(sock_pair(SOCK_SEQPACKET | SOCK_NONBLOCK, sv) == 0);
	fuzz_must(channel_new(event, sv[0], &ops, NULL, &c, &err) == 0);
	for (int i = 0; i < 3; i++)
		fuzz_must(channel_request(c, "status", NULL, NULL, 0, 1000, on_reply, NULL, &err) ==
			  0);
	send_lines(sv[1], data, len);
	(void)fd_close(sv[1]);
	fuzz_loop(event);
	channel_free(c);
	fuzz_must(answers == 3 && ends == 1);
	return 0;
}

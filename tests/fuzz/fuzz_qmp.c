// SPDX-License-Identifier: Apache-2.0
/* A QEMU that says whatever it likes, from its greeting on; two commands wait for answers. */
#include "tests/fuzz/fuzz.h"

#include "launcher/qmp.h"

#include "lib/sock.h"

#include <sys/socket.h>

static struct qmp *qmp;
static unsigned calls, answers, ends;

static void on_answer(void *arg, int r, const json_t *result, const char *error)
{
	(void)arg;
	(void)result;
	answers++;
	fuzz_must((r < 0) == (error != NULL));
}

static void on_ready(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++)
		calls += qmp_call(qmp, "query-status", NULL, 1000000000, on_answer, NULL) == 0;
}

static void on_event(void *arg, const char *name, const json_t *data)
{
	(void)arg;
	fuzz_must(name && (!data || json_is_object(data)));
}

static void on_closed(void *arg, const struct err *why)
{
	(void)arg;
	ends++;
	fuzz_said(why->code, why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct qmp_handlers handlers = {on_ready, on_event, on_closed};
	static sd_event *event;
	struct err err = {0};
	int sv[2];

	if (!event)
		fuzz_must(sd_event_new(&event) == 0);
	calls = answers = ends = 0;
	fuzz_must(sock_pair(SOCK_STREAM | SOCK_NONBLOCK, sv) == 0);
	fuzz_must(qmp_new(event, sv[0], 1000000000, &handlers, NULL, &qmp, &err) == 0);
	(void)send(sv[1], data, len, MSG_NOSIGNAL);
	(void)shutdown(sv[1], SHUT_WR);
	fuzz_loop(event);
	fuzz_must(ends == 1 && answers == calls);
	qmp_free(qmp);
	(void)fd_close(sv[1]);
	return 0;
}

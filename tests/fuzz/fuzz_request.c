// SPDX-License-Identifier: Apache-2.0
/*
 * What a handler sends to the launcher: each line of the input is a frame; one that begins with a tab
 * brings three descriptors. All that the launcher decodes before it acts is decoded here.
 */
#include "tests/fuzz/fuzz.h"

#include "launcher/args.h"
#include "launcher/fds.h"
#include "launcher/peer.h"
#include "sandbox/layers.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/sock.h"

#include <sys/socket.h>

static struct peer *peer;
static bool lost;

static void decode_plan(const json_t *msg, struct named_fds *named)
{
	struct argv_fds numbers;
	struct plan *plan = NULL;
	char **argv = NULL;
	struct err err = {0};
	int r = plan_from_json(json_object_get(msg, "plan"), &plan, &err);

	fuzz_said(r, &err);
	if (r < 0)
		return;
	named_fds_for_plan(named, plan, &numbers);
	err_clear(&err);
	r = argv_build(plan, "/qemu", &numbers, &argv, &err);
	fuzz_said(r, &err);
	if (r == 0)
		args_free(argv);
	plan_free(plan);
}

static void on_request(void *arg, const char *name, const struct reply_to *to, const json_t *msg,
		       const int *fds, size_t n_fds)
{
	_cleanup_named_fds_ struct named_fds named = {.n = 0};
	struct sandbox_layers layers;
	struct err err = {0};

	(void)arg;
	(void)name;
	fuzz_said(named_fds_init(&named, msg, fds, n_fds, &err), &err);
	err_clear(&err);
	fuzz_said(sandbox_layers_from_json(json_object_get(msg, "sandbox"), &layers, &err), &err);
	decode_plan(msg, &named);
	(void)named_fds_check_used(&named, NULL);
	peer_refuse(peer, to, &err);
}

static void on_lost(void *arg)
{
	(void)arg;
	lost = true;
}

static void send_lines(int fd, const uint8_t *data, size_t len)
{
	const int fds[] = {0, 1, 2};

	while (len) {
		const uint8_t *nl = memchr(data, '\n', len);
		size_t n = nl ? (size_t)(nl - data) : len;

		if (sock_send(fd, data, n, fds, *data == '\t' ? ARRAY_SIZE(fds) : 0) < 0)
			return; /* the launcher's queue is full, or it was closed */
		data += nl ? n + 1 : n;
		len -= nl ? n + 1 : n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct peer_ops ops = {.request = on_request, .lost = on_lost};
	static sd_event *event;
	struct err err = {0};
	int sv[2], listener[2];

	if (!event)
		fuzz_must(sd_event_new(&event) == 0);
	log_open("fuzz", LOG_LEVEL_ERROR);
	lost = false;
	fuzz_must(sock_pair(SOCK_SEQPACKET | SOCK_NONBLOCK, sv) == 0);
	fuzz_must(sock_pair(SOCK_SEQPACKET, listener) == 0); /* nobody connects to it */
	fuzz_must(peer_new(event, sv[0], listener[0], &ops, NULL, &peer, &err) == 0);
	send_lines(sv[1], data, len);
	(void)fd_close(sv[1]);
	fuzz_loop(event);
	fuzz_must(lost);
	peer_free(peer);
	(void)fd_close(listener[1]);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "launcher/internal.h"

#include "lib/json.h"
#include "lib/log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static void on_ready(void *arg)
{
	start_ready(arg);
}

static void on_event(void *arg, const char *name, const json_t *data)
{
	struct launcher *l = arg;
	const char *reason = json_str(data, "reason");

	ending_note_event(&l->ending, name, reason ? reason : json_str(data, "action"));
	forward_event(l->forward, name, data);
}

static void on_closed(void *arg, const struct err *why)
{
	struct launcher *l = arg;

	if (!l->qemu.pid)
		return; /* it is dead and its last words are being read */
	if (why->code == -ECONNRESET)
		stop_expect_exit(l); /* QEMU closes its monitor shortly before it exits */
	else
		start_failed(l, why->msg);
}

int monitor_open(struct launcher *l, int qmp_fd_consume, struct err *err)
{
	static const struct qmp_handlers handlers = {
		.ready = on_ready, .event = on_event, .closed = on_closed};

	return qmp_new(l->event, qmp_fd_consume, START_TIMEOUT_US, &handlers, l, &l->qmp, err);
}

/* One piece of it; false when there is no more for now. */
static bool output_piece(struct launcher *l)
{
	char buf[4096];
	ssize_t n = read(l->qemu.output, buf, sizeof buf);
	int r;

	if (n == 0) /* closed: or the event loop would spin on it */
		l->output = sd_event_source_disable_unref(l->output);
	if (n <= 0)
		return false;
	tail_add(&l->words, buf, (size_t)n);
	r = logfile_write(&l->output_log, buf, (size_t)n);
	if (r < 0)
		log_warning("QEMU's log: %s, lines are lost, ignoring", strerror(-r));
	return true;
}

void output_read(struct launcher *l)
{
	while (output_piece(l))
		;
}

/* A guest can make QEMU print without end: what else waits in the loop has its turn in between. */
static int on_output(sd_event_source *s, int fd, uint32_t revents, void *arg)
{
	(void)s;
	(void)fd;
	(void)revents;
	(void)output_piece(arg);
	return 0;
}

int output_open(struct launcher *l, struct err *err)
{
	int r = sd_event_add_io(l->event, &l->output, l->qemu.output, EPOLLIN, on_output, l);

	if (r < 0)
		return err_errno(err, r, "QEMU's output: event source");
	(void)sd_event_source_set_description(l->output, "qemu-output");
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "launcher/internal.h"

#include "lib/json.h"
#include "lib/log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A guest can make QEMU print (bad register writes, disk errors): ten lines, then one a second. */
#define OUTPUT_BURST	10
#define OUTPUT_EVERY_US 1000000

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

static void log_line(struct launcher *l)
{
	if (l->line_len && rate_take(&l->output_rate, launcher_now(l)))
		log_info("QEMU: %.*s", (int)l->line_len, l->line);
	l->line_len = 0;
}

/* QEMU writes a message in pieces; the log gets it in one. */
static void log_output(struct launcher *l, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n' || l->line_len == sizeof l->line)
			log_line(l);
		if (data[i] != '\n')
			l->line[l->line_len++] = data[i];
	}
}

void output_read(struct launcher *l)
{
	char buf[1024];
	ssize_t n;

	while ((n = read(l->qemu.output, buf, sizeof buf)) > 0) {
		tail_add(&l->words, buf, (size_t)n);
		log_output(l, buf, (size_t)n);
	}
	if (n != 0)
		return;
	log_line(l); /* the last one may have no end */
	/* closed: or the event loop would spin on it */
	l->output = sd_event_source_disable_unref(l->output);
}

static int on_output(sd_event_source *s, int fd, uint32_t revents, void *arg)
{
	(void)s;
	(void)fd;
	(void)revents;
	output_read(arg);
	return 0;
}

int output_open(struct launcher *l, struct err *err)
{
	int r = sd_event_add_io(l->event, &l->output, l->qemu.output, EPOLLIN, on_output, l);

	if (r < 0)
		return err_errno(err, r, "QEMU's output: event source");
	l->output_rate = (struct rate){.every_us = OUTPUT_EVERY_US, .burst = OUTPUT_BURST};
	(void)sd_event_source_set_description(l->output, "qemu-output");
	return 0;
}

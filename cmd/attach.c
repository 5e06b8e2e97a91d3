// SPDX-License-Identifier: Apache-2.0
#include "cmd/attach.h"

#include "cmd/tty.h"
#include "cmd/url.h"
#include "cmd/ws.h"

#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LEAVE_KEY  0x1d /* Ctrl-], telnet's and virsh's */
#define QUEUE_MAX  (64u << 10)
#define READ_BYTES 4096

struct attach {
	struct ws *ws;
	sd_event_source *input; /* NULL: output only */
	sd_event_source *post;
	bool terminal;
	bool no_reader;
	attach_end_fn on_end;
	void *arg;
};

static void on_data(void *arg, const void *data, size_t len)
{
	struct attach *a = arg;

	if (a->no_reader || tty_write(data, len) == 0)
		return;
	a->no_reader = true;
	ws_close(a->ws);
}

static void on_ws_end(void *arg, bool clean)
{
	struct attach *a = arg;

	tty_restore();
	a->on_end(a->arg, a->no_reader ? ATTACH_NO_READER : clean ? ATTACH_CLOSED : ATTACH_CUT);
}

static int stop_input(struct attach *a)
{
	a->input = sd_event_source_disable_unref(a->input);
	return 0;
}

static int on_input(struct attach *a)
{
	char buf[READ_BYTES];
	ssize_t n = read(STDIN_FILENO, buf, sizeof buf);
	const char *leave;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0)
		return stop_input(a); /* what the guest says is still shown */
	leave = a->terminal ? memchr(buf, LEAVE_KEY, (size_t)n) : NULL;
	if (leave)
		n = leave - buf;
	if (n > 0 && ws_send(a->ws, buf, (size_t)n) < 0)
		return stop_input(a);
	if (leave) {
		tty_restore();
		a->on_end(a->arg, ATTACH_LEFT);
		return 0;
	}
	if (ws_queued(a->ws) > QUEUE_MAX) /* on_post goes on when the guest has taken it */
		return sd_event_source_set_enabled(a->input, SD_EVENT_OFF);
	return 0;
}

static int on_stdin_io(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	(void)source;
	(void)fd;
	(void)revents;
	return on_input(arg);
}

static int on_stdin_file(sd_event_source *source, void *arg)
{
	(void)source;
	return on_input(arg);
}

static int on_post(sd_event_source *source, void *arg)
{
	struct attach *a = arg;

	(void)source;
	if (a->input && ws_queued(a->ws) <= QUEUE_MAX)
		return sd_event_source_set_enabled(a->input, SD_EVENT_ON);
	return 0;
}

static int take_stdin(struct attach *a, sd_event *event)
{
	int r;

	if (a->terminal) {
		r = tty_raw();
		if (r < 0)
			return r;
	}
	r = sd_event_add_io(event, &a->input, STDIN_FILENO, EPOLLIN, on_stdin_io, a);
	if (r == -EPERM) { /* epoll takes no regular files: those are always ready */
		r = sd_event_add_defer(event, &a->input, on_stdin_file, a);
		if (r >= 0)
			r = sd_event_source_set_enabled(a->input, SD_EVENT_ON);
	}
	if (r >= 0)
		r = sd_event_add_post(event, &a->post, on_post, a);
	return r < 0 ? r : 0;
}

int attach_open(struct client *c, sd_event *event, const char *ns, const char *name,
		bool pipe_stdin, attach_end_fn on_end, void *arg, struct attach **ret,
		struct err *err)
{
	_cleanup_free_ char *path =
		url_subresource("subresources.kubevirt.io", ns, name, "console");
	struct attach *a = xcalloc(1, sizeof *a);
	int r;

	*a = (struct attach){.terminal = isatty(STDIN_FILENO) == 1, .on_end = on_end, .arg = arg};
	r = ws_open(c, event, path, on_data, on_ws_end, a, &a->ws, err);
	if (r == 0 && (a->terminal || pipe_stdin)) {
		r = take_stdin(a, event);
		if (r < 0)
			(void)err_errno(err, r, "stdin");
	}
	if (r < 0) {
		attach_free(a);
		return r;
	}
	if (a->terminal)
		log_info("console of %s: Ctrl-] leaves it; all else, Ctrl-C too, goes to the guest",
			 name);
	*ret = a;
	return 0;
}

void attach_free(struct attach *a)
{
	if (!a)
		return;
	tty_restore();
	sd_event_source_disable_unref(a->post);
	sd_event_source_disable_unref(a->input);
	ws_free(a->ws);
	free(a);
}

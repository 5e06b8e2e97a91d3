// SPDX-License-Identifier: Apache-2.0
#include "api/outcome.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/json.h"

static const char *const names[] = {
	[OUTCOME_NONE] = "None",
	[OUTCOME_SHUTDOWN] = "Shutdown",
	[OUTCOME_KILLED] = "Killed",
	[OUTCOME_CRASHED] = "Crashed",
	[OUTCOME_QEMU_FAILED] = "QemuFailed",
	[OUTCOME_WATCHDOG] = "Watchdog",
};

const char *outcome_name(enum outcome_kind kind)
{
	return names[kind];
}

int outcome_write(int fd, const struct outcome *o, struct err *err)
{
	_cleanup_json_ json_t *root = NULL;
	_cleanup_free_ char *text = NULL;
	char message[sizeof(o->message)];
	int r;

	str_printable(o->message, message, sizeof(message));
	root = json_pack("{s:s, s:i, s:s}", "kind", outcome_name(o->kind), "exitStatus",
			 o->exit_status, "message", message);
	text = root ? json_text(root) : NULL;
	if (!text)
		return err_set(err, -ENOMEM, "outcome: out of memory");
	r = fd_write_all(fd, text, strlen(text));
	return r < 0 ? err_errno(err, r, "outcome: can't write") : 0;
}

static int read_all(int fd, char *buf, size_t size, size_t *ret_len)
{
	size_t len = 0;

	for (;;) {
		ssize_t n = pread(fd, buf + len, size - len, (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len == size)
			return -EBADMSG;
	}
	*ret_len = len;
	return 0;
}

static int decode(const json_t *root, struct outcome *ret)
{
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const char *message = json_string_value(json_object_get(root, "message"));
	const json_t *status = json_object_get(root, "exitStatus");
	struct outcome o = {0};
	unsigned i;

	if (!kind || !message || !json_is_integer(status) || json_object_size(root) != 3)
		return -EBADMSG;
	if (json_integer_value(status) < INT_MIN || json_integer_value(status) > INT_MAX)
		return -EBADMSG;
	/* NONE is told by an empty file only */
	for (i = OUTCOME_SHUTDOWN; i < ARRAY_SIZE(names) && !str_eq(names[i], kind); i++)
		;
	if (i == ARRAY_SIZE(names) || strlen(message) >= sizeof(o.message))
		return -EBADMSG;
	o.kind = (enum outcome_kind)i;
	o.exit_status = (int)json_integer_value(status);
	str_printable(message, o.message, sizeof(o.message));
	*ret = o;
	return 0;
}

int outcome_read(int fd, struct outcome *ret, struct err *err)
{
	char buf[OUTCOME_MAX + 1];
	size_t len = 0;
	int r = read_all(fd, buf, sizeof(buf), &len);

	if (r == -EBADMSG)
		return err_set(err, r, "outcome: longer than %d bytes", OUTCOME_MAX);
	if (r < 0)
		return err_errno(err, r, "outcome: can't read");
	return outcome_parse(buf, len, ret, err);
}

int outcome_parse(const char *text, size_t len, struct outcome *ret, struct err *err)
{
	_cleanup_json_ json_t *root = NULL;
	struct err why = {0};

	if (len == 0) {
		*ret = (struct outcome){.kind = OUTCOME_NONE};
		return 0;
	}
	if (json_parse(text, len, OUTCOME_MAX, &root, &why) < 0)
		return err_set(err, -EBADMSG, "outcome: %s", why.msg);
	if (decode(root, ret) < 0)
		return err_set(err, -EBADMSG,
			       "outcome: not {kind, exitStatus, message} with known values");
	return 0;
}

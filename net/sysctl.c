// SPDX-License-Identifier: Apache-2.0
#include "net/sysctl.h"

#include "lib/file.h"
#include "lib/util.h"
#include "net/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

struct visit {
	const char *path;
	bool write;
	int value;
};

static int read_int(const char *path, int *ret)
{
	char text[32], *end;
	int r = file_read_line_at(AT_FDCWD, path, text, sizeof text);
	long value;

	if (r < 0)
		return r;
	value = strtol(text, &end, 10);
	if (end == text || *end)
		return -EINVAL;
	*ret = (int)value;
	return 0;
}

static int visit(void *arg)
{
	struct visit *a = arg;
	int got = 0, r = 0;
	char text[32];

	if (a->write) {
		(void)snprintf(text, sizeof text, "%d\n", a->value);
		r = file_write_at(AT_FDCWD, a->path, text);
	}
	if (r == 0)
		r = read_int(a->path, &got);
	if (r == 0 && a->write && got != a->value)
		return -EIO;
	if (r == 0)
		a->value = got;
	return r;
}

static int run(int netns_fd, const char *key, bool write, int *value, struct err *err)
{
	_cleanup_free_ char *path = xasprintf("/proc/sys/net/%s", key);
	struct visit a = {.path = path, .write = write, .value = *value};
	int r = netns_call(netns_fd, visit, &a, err);

	if (r < 0 && write)
		return err_errno(err, r, "%s: set to %d", path, *value);
	if (r < 0)
		return err_errno(err, r, "%s: read", path);
	*value = a.value;
	return 0;
}

int sysctl_set(int netns_fd, const char *key, int value, struct err *err)
{
	return run(netns_fd, key, /* write= */ true, &value, err);
}

int sysctl_get(int netns_fd, const char *key, int *ret, struct err *err)
{
	int value = 0, r = run(netns_fd, key, /* write= */ false, &value, err);

	if (r == 0)
		*ret = value;
	return r;
}

int sysctl_set_ipv6(int netns_fd, const char *link, const char *key, int value, struct err *err)
{
	_cleanup_free_ char *path = xasprintf("ipv6/conf/%s/%s", link, key);
	struct err missing = {0};
	int r = sysctl_set(netns_fd, path, value, &missing);

	if (r == -ENOENT)
		return 0; /* a kernel without IPv6, or a link below its least MTU, 1280: none there */
	return r < 0 ? err_set(err, r, "%s", missing.msg) : 0;
}

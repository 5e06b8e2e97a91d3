// SPDX-License-Identifier: Apache-2.0
/* What a host has: asked for, a device is not opened; a start opens it. */
#include "tests/unit/unit.h"

#include "handler/devices.h"

#include "tests/unit/handler/sysfs.h"

#include <errno.h>
#include <limits.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define VHOST "dev/vhost-net"

/* It opens, and no test needs a vhost-net for it. */
static void make_node(const struct sysfs *s)
{
	assert_int_equal(mkdir_p_at(s->root, "dev", 0755), 0);
	if (mknodat(s->root, VHOST, S_IFCHR | 0600, makedev(1, 3)) < 0)
		fail_msg("mknod: %s: this test wants CAP_MKNOD", strerror(errno));
}

static bool look(const struct sysfs *s, bool worked, bool was_there)
{
	const struct plan_host works = {.vhost_net = worked}, nodes = {.vhost_net = was_there};
	struct plan_host host = devices_look(s->root, &works, &nodes);

	assert_false(host.kvm);
	return host.vhost_net;
}

/* What was found by opening holds while the node is there; a node that is new may well work. */
static void looked_at(void **state)
{
	const struct sysfs *s = *state;

	assert_false(look(s, true, true));
	sysfs_put(s, VHOST, "no device");
	assert_false(look(s, false, false));
	assert_int_equal(unlinkat(s->root, VHOST, 0), 0);
	make_node(s);
	assert_true(look(s, true, true));
	assert_true(look(s, false, false));
	assert_false(look(s, false, true));
}

static bool was_opened(int watch)
{
	struct inotify_event event;

	if (read(watch, &event, sizeof event) == sizeof event)
		return true;
	assert_int_equal(errno, EAGAIN);
	return false;
}

static void opened_for_a_start_only(void **state)
{
	const struct sysfs *s = *state;
	_cleanup_fd_ int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct plan_host works, nodes;
	char path[PATH_MAX];

	make_node(s);
	(void)snprintf(path, sizeof path, "%s/%s", s->dir, VHOST);
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	assert_true(look(s, true, true));
	assert_false(was_opened(watch));
	devices_try(s->root, &works, &nodes);
	assert_true(was_opened(watch));
	assert_true(works.vhost_net && nodes.vhost_net);
	assert_false(works.kvm || nodes.kvm);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, sysfs_setup, sysfs_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(looked_at),
		TEST(opened_for_a_start_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "net/tap.h"

#include "lib/util.h"
#include "net/link.h"
#include "net/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>

static int open_tun(void *arg)
{
	int *ret = arg;
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

static int open_queue(int netns_fd, const struct tap_spec *spec, bool first, int *ret_fd,
		      struct err *err)
{
	int flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | (spec->queues > 1 ? IFF_MULTI_QUEUE : 0);
	struct ifreq ifr = {0};
	_cleanup_fd_ int fd = -1;
	/* a tun file belongs to the namespace in which it is opened, its ioctls go there, too */
	int r = netns_call(netns_fd, open_tun, &fd, err);

	if (r < 0)
		return err_errno(err, r, "open /dev/net/tun");
	(void)snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", spec->name);
	/* IFF_TUN_EXCL: else an existing tap would be joined instead of made */
	ifr.ifr_flags = (short)(flags | (first ? IFF_TUN_EXCL : 0));
	if (ioctl(fd, TUNSETIFF, &ifr) < 0)
		return err_errno(err, -errno, "tap '%s': %s", spec->name,
				 first ? "create" : "attach another queue");
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int set_owner(int fd, const struct tap_spec *spec, struct err *err)
{
	if (ioctl(fd, TUNSETOWNER, (unsigned long)spec->owner) < 0)
		return err_errno(err, -errno, "tap '%s': set owner %u", spec->name, spec->owner);
	if (ioctl(fd, TUNSETGROUP, (unsigned long)spec->group) < 0)
		return err_errno(err, -errno, "tap '%s': set group %u", spec->name, spec->group);
	/* last, so that a tap that failed half-way goes with its fd */
	if (ioctl(fd, TUNSETPERSIST, 1UL) < 0)
		return err_errno(err, -errno, "tap '%s': make it persistent", spec->name);
	return 0;
}

int tap_create(int netns_fd, const struct tap_spec *spec, int *ret_fds, struct err *err)
{
	int fds[TAP_QUEUES_MAX];
	unsigned n = 0;
	int r = link_check_name(spec->name, err);

	if (r < 0)
		return r;
	if (spec->queues < 1 || spec->queues > TAP_QUEUES_MAX)
		return err_set(err, -EINVAL, "tap '%s': %u queues: must be 1 to %d", spec->name,
			       spec->queues, TAP_QUEUES_MAX);
	while (r == 0 && n < spec->queues) {
		r = open_queue(netns_fd, spec, n == 0, &fds[n], err);
		if (r == 0)
			n++;
	}
	if (r == 0)
		r = set_owner(fds[0], spec, err);
	if (r < 0) {
		while (n > 0)
			(void)fd_close(fds[--n]);
		return r;
	}
	memcpy(ret_fds, fds, n * sizeof *fds);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "net/tap.h"

#include "net/link.h"
#include "net/netns.h"
#include "net/nlsock.h"
#include "tests/unit/net/lab.h"

#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

static void close_all(const int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		(void)fd_close(fds[i]);
}

static void delete_tap(const char *name)
{
	_cleanup_nlsock_ struct nl_sock *sk = NULL;
	struct err err = {0};
	struct linkinfo l;

	assert_ok(&err, nlsock_open(-1, &sk, &err));
	assert_ok(&err, linkinfo_get(sk, name, &l, &err));
	assert_ok(&err, link_delete(sk, &l, &err));
}

/* what attaching to an existing tap with these flags gives: 0 or -errno */
static int attach(const char *name, int flags)
{
	_cleanup_fd_ int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	struct ifreq ifr = {.ifr_flags = (short)flags};

	assert_true(fd >= 0);
	(void)snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", name);
	return ioctl(fd, TUNSETIFF, &ifr) < 0 ? -errno : 0;
}

static int fd_flags(int fd)
{
	struct ifreq ifr = {0};

	assert_int_equal(ioctl(fd, TUNGETIFF, &ifr), 0);
	return ifr.ifr_flags & (IFF_TAP | IFF_TUN | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE);
}

static void single_queue(void **state)
{
	struct tap_spec spec = {.name = "tap0", .queues = 1, .owner = 107, .group = 36};
	const int flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
	struct err err = {0};
	json_t *links;
	int fd;

	(void)state;
	assert_ok(&err, tap_create(-1, &spec, &fd, &err));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fd_flags(fd), flags);
	links = lab_links(-1);
	lab_expect(links, "tap0",
		   "{'kind':'tun','tun':{'type':'tap','owner':107,'group':36,'multiQueue':false,"
		   "'queues':1,'vnetHdr':true,'packetInfo':false,'persist':true}}");
	json_decref(links);
	/* held: a second opener is refused, whatever its flags */
	assert_int_equal(attach("tap0", flags), -EBUSY);
	assert_int_equal(attach("tap0", flags | IFF_MULTI_QUEUE), -EINVAL);
	(void)fd_close(fd);
	/* released: the same flags open it again (libvirt's way), others don't */
	assert_int_equal(attach("tap0", flags | IFF_MULTI_QUEUE), -EINVAL);
	assert_int_equal(attach("tap0", flags), 0);
	delete_tap("tap0");
}

static void many_queues(unsigned queues)
{
	struct tap_spec spec = {.name = "tap0", .queues = queues, .owner = 1, .group = 2};
	const int flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE;
	int fds[TAP_QUEUES_MAX];
	struct err err = {0};
	json_t *links;

	assert_ok(&err, tap_create(-1, &spec, fds, &err));
	for (unsigned i = 0; i < queues; i++)
		assert_int_equal(fd_flags(fds[i]), flags);
	links = lab_links(-1);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(lab_link(links, "tap0"), "tun"), "queues")),
			 queues);
	assert_true(json_is_true(
		json_object_get(json_object_get(lab_link(links, "tap0"), "tun"), "multiQueue")));
	json_decref(links);
	/* field case N1: a multi-queue tap can't be opened as a plain one */
	assert_int_equal(attach("tap0", flags & ~IFF_MULTI_QUEUE), -EINVAL);
	close_all(fds, queues);
	delete_tap("tap0");
}

static void two_and_most_queues(void **state)
{
	(void)state;
	many_queues(2);
	many_queues(TAP_QUEUES_MAX);
}

static void refusals(void **state)
{
	struct tap_spec spec = {.name = "tap0", .queues = TAP_QUEUES_MAX + 1};
	int fd = -5, other;
	struct err err = {0};

	(void)state;
	assert_refused(-EINVAL, "257 queues: must be 1 to 256", &err,
		       tap_create(-1, &spec, &fd, &err));
	spec.queues = 0;
	assert_refused(-EINVAL, "0 queues", &err, tap_create(-1, &spec, &fd, &err));
	spec.queues = 1;
	spec.name = "a name";
	assert_refused(-EINVAL, "'a name'", &err, tap_create(-1, &spec, &fd, &err));
	/* %d would make the kernel choose a number */
	spec.name = "tap%d";
	assert_refused(-EINVAL, "'tap%d'", &err, tap_create(-1, &spec, &fd, &err));
	spec.name = "lo";
	assert_refused(-EBUSY, "tap 'lo': create", &err, tap_create(-1, &spec, &fd, &err));
	/* an existing persistent tap that nobody holds is not joined */
	spec.name = "tap0";
	assert_ok(&err, tap_create(-1, &spec, &other, &err));
	(void)fd_close(other);
	assert_refused(-EBUSY, "tap 'tap0': create", &err, tap_create(-1, &spec, &fd, &err));
	assert_int_equal(fd, -5);
	delete_tap("tap0");
}

/* running out of files after the device was made leaves neither it nor a file */
static void undone_on_failure(void **state)
{
	struct tap_spec spec = {.name = "tap0", .queues = 8};
	_cleanup_free_ char *before = lab_dump(), *after = NULL;
	int fds[8] = {-5}, first_free = dup(0), open_before;
	struct rlimit old, few;
	struct err err = {0};

	(void)state;
	(void)fd_close(first_free);
	open_before = lab_count_fds();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = (rlim_t)first_free + 4;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_refused(-EMFILE, "open /dev/net/tun", &err, tap_create(-1, &spec, fds, &err));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(fds[0], -5);
	after = lab_dump();
	assert_string_equal(before, after);
	assert_int_equal(lab_count_fds(), open_before);
}

static void in_another_namespace(void **state)
{
	struct tap_spec spec = {.name = "tap0", .queues = 2, .owner = 7, .group = 8};
	_cleanup_fd_ int pod = -1;
	struct err err = {0};
	json_t *here, *there;
	int fds[2];

	(void)state;
	assert_ok(&err, netns_create(lab_dir, "pod", &pod, &err));
	assert_ok(&err, tap_create(pod, &spec, fds, &err));
	here = lab_links(-1);
	there = lab_links(pod);
	assert_null(lab_link(here, "tap0"));
	lab_expect(there, "tap0",
		   "{'tun':{'type':'tap','owner':7,'group':8,'multiQueue':true,'queues':2,"
		   "'vnetHdr':true,'packetInfo':false,'persist':true}}");
	json_decref(here);
	json_decref(there);
	close_all(fds, 2);
	assert_ok(&err, netns_destroy(lab_dir, "pod", &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_queue),
		cmocka_unit_test(two_and_most_queues),
		cmocka_unit_test(refusals),
		cmocka_unit_test(undone_on_failure),
		cmocka_unit_test(in_another_namespace),
	};

	return cmocka_run_group_tests(tests, lab_enter, lab_leave);
}

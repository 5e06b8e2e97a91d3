// SPDX-License-Identifier: Apache-2.0
/*
 * The launcher as PID 1 of a real pod with every layer on: what it does after "enter" must be possible
 * with no capabilities, under the launcher's seccomp filter, and QEMU's part under QEMU's.
 */
#include "tests/unit/launcher/pod.h"

#include "sandbox/dev.h"
#include "sandbox/spawn.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define QEMU	"/usr/bin/qemu-system-x86_64"
#define POD_UID 231007

static struct pod pod;

static int new_netns(void)
{
	int old = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), fd;

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_int_equal(setns(old, CLONE_NEWNET), 0);
	(void)close(old);
	return fd;
}

static int setup(void **state)
{
	static char *const argv[] = {(char *)(uintptr_t) "launcher-in-pod", NULL};
	int sv[2], listener, pidfd, exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct sandbox_spawn s = {.layers = sandbox_layers_all,
				  .uid = POD_UID,
				  .gid = POD_UID,
				  .netns_fd = new_netns(),
				  .cgroup_fd = -1,
				  .exec_fd = exe,
				  .argv = argv,
				  .n_fds = 2,
				  .stderr_fd = STDERR_FILENO};
	struct err err = {0};

	(void)state;
	pod = (struct pod){
		.dir = "/var/tmp/virtpod-test-XXXXXX", .events = json_array(), .qemu = QEMU};
	assert_non_null(mkdtemp(pod.dir));
	pod.dirfd = open(pod.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pod.outcome = openat(pod.dirfd, "outcome", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(sock_listen_at(pod.dirfd, "launcher", SOCK_SEQPACKET, &listener), 0);
	assert_int_equal(sock_pair(SOCK_SEQPACKET, sv), 0);
	s.fds = (int[]){sv[1], listener};
	if (sandbox_spawn(&s, &pod.pid, &pidfd, &err) < 0)
		fail_msg("%s", err.msg);
	(void)close(sv[1]);
	(void)close(listener);
	(void)close(exe);
	(void)close(pidfd);
	(void)close(s.netns_fd);
	pod.channel = sv[0];
	pod_receive_limit(pod.channel);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pod_close(&pod);
	return 0;
}

static void enter(void)
{
	struct err err = {0};
	int dev;

	assert_int_equal(sandbox_dev_create(POD_UID, POD_UID, NULL, 0, &dev, &err), 0);
	pod_ok(&pod, "enter",
	       json_pack("{s:s, s:o, s:s, s:s, s:[s]}", "version", VIRTPOD_VERSION, "sandbox",
			 sandbox_layers_to_json(&sandbox_layers_all), "hostname", "demo", "qemu",
			 QEMU, "fds", "dev"),
	       &dev, 1);
	(void)close(dev);
}

/* A sealed memfd, as the handler gives the kernel; what is in it does not matter with -S. */
static int sealed(void)
{
	/* "HdrS" at 0x202 with an old protocol version makes it a kernel to QEMU's loader */
	static const unsigned char header[0x600] = {
		[0x1f1] = 1, [0x1fe] = 0x55, [0x1ff] = 0xaa, [0x202] = 'H', 'd', 'r', 'S', 4,
		2,	     [0x211] = 1,    [0x22f] = 0x37};
	char zero[4096] = {0};
	int fd = memfd_create("kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(write(fd, header, sizeof header), sizeof header);
	assert_int_equal(write(fd, zero, sizeof zero), sizeof zero);
	assert_int_equal(fchmod(fd, 0444), 0);
	assert_int_equal(
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL),
		0);
	return fd;
}

static json_t *start(void)
{
	static const char *const names[] = {"disk:root", "kernel", "initrd"};
	struct plan *p = plan_fixture();
	json_t *reply;
	int fds[3];

	p->sockets = 2;
	p->rng = true;
	p->kernel_path = xstrdup("/kernel");
	p->initrd_path = xstrdup("/initrd");
	plan_fixture_disk(p, "root")->cache = CACHE_DEFAULT;
	p->disks[0].io = IO_DEFAULT;
	fds[0] = openat(pod.dirfd, "disk", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(posix_fallocate(fds[0], 0, 1 << 20), 0);
	fds[1] = sealed();
	fds[2] = sealed();
	reply = pod_start(&pod, p, names, fds, 3);
	for (int i = 0; i < 3; i++)
		(void)close(fds[i]);
	if (!json_flag(reply, "ok", false))
		fail_msg("start: %s", json_str(reply, "error"));
	return reply;
}

static void test_life_in_the_boundary(void **state)
{
	_cleanup_json_ json_t *reply = NULL, *status = NULL;
	struct outcome o;
	int sv[2];

	(void)state;
	enter();
	reply = start();
	assert_int_equal(json_array_size(json_object_get(reply, "vcpus")), 2);
	assert_true(json_u64(reply, "qemuPid", 0) < 100); /* the pod's own numbers */
	pod_ok(&pod, "continue", NULL, NULL, 0);
	assert_int_equal(sock_pair(SOCK_STREAM, sv), 0);
	pod_ok(&pod, "console", json_pack("{s:[s]}", "fds", "client"), &sv[1], 1);
	(void)close(sv[0]);
	(void)close(sv[1]);

	(void)close(pod.channel);
	assert_int_equal(sock_connect_at(pod.dirfd, "launcher", SOCK_SEQPACKET, &pod.channel), 0);
	pod_receive_limit(pod.channel);
	status = pod_call(&pod, "status", NULL, NULL, 0);
	assert_string_equal(json_str(status, "status"), "running");
	assert_string_equal(json_str(status, "plan.disks[0].io"), "native"); /* allocated */

	pod_ok(&pod, "shutdown", json_pack("{s:i}", "graceSeconds", 1), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_KILLED);
	assert_int_equal(o.exit_status, 0); /* SIGTERM, heard and obeyed */
}

static unsigned proc_kib(const char *file, const char *key)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/%s", pod.pid, file), *text = NULL;
	const char *at;

	assert_int_equal(file_read_at(AT_FDCWD, path, 65536, &text, NULL), 0);
	at = strstr(text, key);
	assert_non_null(at);
	return (unsigned)atoi(at + strlen(key));
}

/* "Small" is a promise: below 4 MiB of memory that is the launcher's alone. */
static void test_it_is_small(void **state)
{
	_cleanup_json_ json_t *reply = NULL;
	unsigned rss, pss, dirty;

	(void)state;
	enter();
	reply = start();
	rss = proc_kib("smaps_rollup", "\nRss:");
	pss = proc_kib("smaps_rollup", "\nPss:");
	dirty = proc_kib("smaps_rollup", "\nPrivate_Dirty:");
	print_message("launcher: Rss %u KiB, Pss %u KiB, private dirty %u KiB\n", rss, pss, dirty);
#ifndef __SANITIZE_ADDRESS__
	assert_in_range(dirty, 1, 4096);
#endif
}

static void test_sigterm_reaches_pid_1(void **state)
{
	_cleanup_json_ json_t *reply = NULL;
	struct outcome o;

	(void)state;
	enter();
	reply = start();
	assert_int_equal(kill(pod.pid, SIGTERM), 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_KILLED); /* it never ran, so no grace */
}

/* With the launcher its pod ends: nobody is left in the pid namespace. */
static void test_death_of_the_launcher_ends_qemu(void **state)
{
	_cleanup_json_ json_t *reply = NULL;
	_cleanup_free_ char *path = xasprintf("/proc/%d/task/%d/children", pod.pid, pod.pid);
	_cleanup_free_ char *children = NULL, *qemu = NULL;

	(void)state;
	enter();
	reply = start();
	assert_int_equal(file_read_at(AT_FDCWD, path, 4096, &children, NULL), 0);
	assert_true(atoi(children) > 1);
	assert_int_equal(kill(pod.pid, SIGKILL), 0);
	assert_int_equal(waitpid(pod.pid, NULL, 0), pod.pid); /* waits for the namespace to empty */
	pod.pid = 0;
	qemu = xasprintf("/proc/%d", atoi(children));
	assert_int_equal(access(qemu, F_OK), -1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_life_in_the_boundary, setup, teardown),
		cmocka_unit_test_setup_teardown(test_it_is_small, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sigterm_reaches_pid_1, setup, teardown),
		cmocka_unit_test_setup_teardown(test_death_of_the_launcher_ends_qemu, setup,
						teardown),
	};

	if (argc == 1 && str_eq(argv[0], "launcher-in-pod")) {
		struct err err = {0};

		log_open("launcher", LOG_LEVEL_ERROR);
		/* not exit: a leak check at exit would need ptrace, which the pod forbids */
		_exit(launcher_run(WIRE_FD_CHANNEL, WIRE_FD_LISTENER, &err) < 0);
	}
	(void)alarm(180);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

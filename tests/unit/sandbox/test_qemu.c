// SPDX-License-Identifier: Apache-2.0
/*
 * QEMU itself in a pod, started as a launcher starts it: paused, everything by descriptor, both
 * filters and its own sandbox in force. The guest is a boot sector that SeaBIOS loads from a virtio
 * disk; it writes one letter to the serial port.
 */
#include "tests/unit/sandbox/pod.h"

#include "sandbox/seccomp.h"

#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

/* mov dx, 0x3f8; mov al, 'K'; out dx, al; hlt; jmp to hlt */
static const char boot_code[] = "\xba\xf8\x03\xb0K\xee\xf4\xeb\xfd";

enum { FD_CONTROL = 3, FD_QMP, FD_SERIAL, FD_DISK, FD_TAP, FD_BLOB, FD_END };

/* --- inside ----------------------------------------------------------------------------------- */

static const char *const qemu_argv[] = {
	"qemu",
	"-name",
	"test,debug-threads=on",
	"-machine",
	"q35,memory-backend=m0",
	"-accel",
	"tcg,thread=multi,tb-size=32",
	"-smp",
	"2",
	"-m",
	"64",
	"-object",
	"memory-backend-memfd,id=m0,size=64M",
	"-nodefaults",
	"-no-user-config",
	"-display",
	"none",
	"-S",
	"-sandbox",
	"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
	"-chardev",
	"socket,id=q,fd=4",
	"-mon",
	"chardev=q,mode=control",
	"-chardev",
	"socket,id=s,fd=5",
	"-serial",
	"chardev:s",
	"-add-fd",
	"fd=6,set=1",
	"-object",
	"iothread,id=io1",
	"-blockdev",
	"driver=file,node-name=d0,filename=/dev/fdset/1,aio=native,cache.direct=on,locking=off",
	"-device",
	"virtio-blk-pci,drive=d0,iothread=io1,bootindex=1",
	"-blockdev",
	"driver=file,node-name=d1,filename=/dev/fdset/1,aio=threads,cache.direct=on,locking=off,"
	"read-only=off",
	"-device",
	"virtio-blk-pci,drive=d1,share-rw=on",
	"-netdev",
	"tap,id=n0,fd=7",
	"-device",
	"virtio-net-pci,netdev=n0,romfile=",
	"-device",
	"virtio-rng-pci",
	"-fw_cfg",
	"name=opt/test/blob,file=/proc/self/fd/8",
	NULL};

static json_t *start_qemu(enum sandbox_seccomp mode)
{
	pid_t pid = fork();

	if (pid == 0) {
		char *const env[] = {NULL};
		struct err err = {0};

		for (int fd = FD_QMP; fd < FD_END; fd++)
			(void)fcntl(fd, F_SETFD, 0);
		(void)fcntl(FD_CONTROL, F_SETFD, FD_CLOEXEC);
		if (seccomp_load_qemu(mode, &err) == 0)
			(void)execve(POD_QEMU, (char *const *)(uintptr_t)qemu_argv, env);
		_exit(125);
	}
	for (int fd = FD_QMP; fd < FD_END; fd++)
		(void)close(fd);
	return json_pack("{s:i}", "pid", (int)pid);
}

static json_t *payload_request(const json_t *request)
{
	const json_t *mode = json_object_get(request, "qemu");
	int status = -1;

	if (mode)
		return start_qemu((enum sandbox_seccomp)json_integer_value(mode));
	if (waitpid(-1, &status, 0) < 0)
		status = -errno;
	return json_pack("{s:i}", "status", status);
}

/* --- outside ---------------------------------------------------------------------------------- */

static struct pod pod;
static int qmp = -1, serial = -1;

static int setup(void **state)
{
	(void)state;
	pod = (struct pod){.pidfd = -1, .sock = -1};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pod_end(&pod);
	qmp = fd_close(qmp);
	serial = fd_close(serial);
	return 0;
}

/* Read until `text` has come; a QEMU that ended or that is silent for a minute fails the test. */
static void await(int fd, const char *text)
{
	static char seen[FRAME];
	size_t len = 0;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n =
			poll(&p, 1, 60000) == 1 ? read(fd, seen + len, sizeof seen - 1 - len) : -1;

		if (n <= 0) {
			seen[len] = 0;
			fail_msg("no '%s' in '%s'", text, seen);
		}
		len += (size_t)n;
		seen[len] = 0;
		if (strstr(seen, text))
			return;
		assert_true(len < sizeof seen - 1);
	}
}

static void tell(const char *command, const char *reply)
{
	_cleanup_free_ char *text = xasprintf("{\"execute\": \"%s\"}\n", command);

	assert_int_equal(fd_write_all(qmp, text, strlen(text)), 0);
	await(qmp, reply);
}

static int disk_new(void)
{
	unsigned char sector[512] = {[510] = 0x55, [511] = 0xaa};
	char path[] = "/var/tmp/virtpod-test-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC), direct;

	memcpy(sector, boot_code, sizeof boot_code - 1);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(fd_write_all(fd, sector, sizeof sector), 0);
	direct = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	assert_int_equal(unlink(path), 0);
	(void)close(fd);
	assert_true(direct >= 0);
	return direct;
}

/* A tap of the pod's own namespace; it goes with its last descriptor. */
static int tap_new(int netns)
{
	struct ifreq ifr = {.ifr_name = "tap0", .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
	_cleanup_fd_ int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd, r;

	assert_int_equal(setns(netns, CLONE_NEWNET), 0);
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	r = ioctl(fd, TUNSETIFF, &ifr);
	assert_int_equal(setns(own, CLONE_NEWNET), 0);
	assert_int_equal(r, 0);
	return fd;
}

/* Root's own sealed memory, as kernels travel: reopened by name with the pod's rights. */
static int blob_new(void)
{
	int fd = memfd_create("blob", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(fd_write_all(fd, "blob", 4), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK), 0);
	return fd;
}

static void start(struct sandbox_layers layers)
{
	struct sandbox_spawn spawn = pod_spawn(layers);
	int control[2], q[2], s[2];
	int disk = disk_new(), tap = tap_new(spawn.netns_fd), blob = blob_new();
	char message[ERR_MSG_MAX] = "";
	struct err err = {0};
	int fds[6], r;

	assert_int_equal(sock_pair(SOCK_SEQPACKET, control), 0);
	assert_int_equal(sock_pair(SOCK_STREAM, q), 0);
	assert_int_equal(sock_pair(SOCK_STREAM, s), 0);
	memcpy(fds, (const int[]){control[1], q[1], s[1], disk, tap, blob}, sizeof fds);
	spawn.fds = fds;
	spawn.n_fds = 6;
	r = sandbox_spawn(&spawn, &pod.pid, &pod.pidfd, &err);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)close(fds[i]);
	(void)close(spawn.exec_fd);
	(void)close(spawn.netns_fd);
	pod.sock = control[0];
	qmp = q[0];
	serial = s[0];
	if (r < 0)
		fail_msg("%s", err.msg);
	if (pod_enter(&pod, &layers, message) < 0)
		fail_msg("%s", message);
}

static pid_t qemu_outside(void)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/task/%d/children", pod.pid, pod.pid);
	_cleanup_free_ char *text = NULL;

	assert_int_equal(file_read_at(AT_FDCWD, path, 4096, &text, NULL), 0);
	return atoi(text);
}

/* All threads of QEMU, as the kernel sees them. */
static void assert_qemu_is_bound(int filters)
{
	_cleanup_json_ json_t *json = NULL;
	struct err err = {0};
	bool vcpu = false, io = false;
	const json_t *thread;
	size_t i;

	assert_int_equal(sandbox_read_process(qemu_outside(), &json, &err), 0);
	assert_true(json_flag(json, "noNewPrivs", false));
	assert_string_equal(json_str(json, "capabilities.bounding"), "0000000000000000");
	assert_false(json_flag(json, "namespaces.user.shared", true));
	json_array_foreach (json_object_get(json, "threads"), i, thread) {
		vcpu = vcpu || str_eq(json_str(thread, "comm"), "CPU 1/TCG");
		io = io || str_eq(json_str(thread, "comm"), "IO io1");
		assert_string_equal(json_str(thread, "effective"), "0000000000000000");
		assert_int_equal(json_integer_value(json_object_get(thread, "seccompFilters")),
				 filters);
	}
	assert_true(vcpu && io);
}

static void boots_and_quits(struct sandbox_layers layers, int filters)
{
	_cleanup_json_ json_t *ended = NULL;

	start(layers);
	json_decref(pod_ask(&pod, json_pack("{s:i}", "qemu", (int)layers.seccomp)));
	await(qmp, "\"QMP\"");
	tell("qmp_capabilities", "\"return\"");
	tell("query-status", "prelaunch");
	assert_qemu_is_bound(filters);
	tell("cont", "\"RESUME\"");
	await(serial, "K");
	tell("system_powerdown", "\"POWERDOWN\"");
	tell("quit", "\"SHUTDOWN\"");
	ended = pod_ask(&pod, json_pack("{s:b}", "wait", 1));
	assert_int_equal(json_integer_value(json_object_get(ended, "status")), 0);
}

static void under_everything(void **state)
{
	(void)state;
	boots_and_quits(sandbox_layers_all, 2 + 1 + 1); /* launcher's, ours for QEMU, QEMU's own */
}

static void without_no_new_privs_of_the_launcher(void **state)
{
	struct sandbox_layers layers = sandbox_layers_all;

	(void)state;
	layers.no_new_privs = false;
	boots_and_quits(layers, 2 + 1 + 1);
}

static void without_our_filters(void **state)
{
	struct sandbox_layers layers = sandbox_layers_all;

	(void)state;
	layers.seccomp = SANDBOX_SECCOMP_OFF;
	boots_and_quits(layers, 1);
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(under_everything),
		T(without_no_new_privs_of_the_launcher),
		T(without_our_filters),
	};

	if (argc > 1 && str_eq(argv[1], "payload"))
		return payload();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

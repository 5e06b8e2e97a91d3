// SPDX-License-Identifier: Apache-2.0
/* The launcher over the distribution's QEMU under TCG, at its firmware: what it accepts, how it ends. */
#include "tests/unit/launcher/pod.h"

#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>

#define QEMU "/usr/bin/qemu-system-x86_64"

static struct pod pod;

static int setup(void **state)
{
	(void)state;
	pod_open(&pod, QEMU);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pod_close(&pod);
	return 0;
}

static void test_firmware_ignores_acpi(void **state)
{
	_cleanup_json_ json_t *before = NULL, *after = NULL;
	struct plan *p = plan_fixture();
	struct outcome o;
	uint64_t begun;

	(void)state;
	p->sockets = 2;
	pod_enter(&pod);
	pod_start_ok(&pod, p);
	before = pod_call(&pod, "status", NULL, NULL, 0);
	assert_string_equal(json_str(before, "status"), "prelaunch");
	assert_int_equal(json_array_size(json_object_get(before, "vcpus")), 2);
	/* the ids are threads of QEMU */
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_free_ char *path =
			xasprintf("/proc/%d/task/%d/comm", (int)json_u64(before, "qemuPid", 0),
				  (int)json_u64(before, i ? "vcpus[1]" : "vcpus[0]", 0));
		char comm[32];
		char want[32];

		assert_int_equal(file_read_line_at(AT_FDCWD, path, comm, sizeof comm), 0);
		(void)snprintf(want, sizeof want, "CPU %u/TCG", i);
		assert_string_equal(comm, want);
	}
	pod_ok(&pod, "continue", NULL, NULL, 0);
	after = pod_call(&pod, "status", NULL, NULL, 0);
	assert_string_equal(json_str(after, "status"), "running");
	begun = pod_now_ms();
	pod_ok(&pod, "shutdown", json_pack("{s:i}", "graceSeconds", 1), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_true(pod_now_ms() - begun >= 1000);
	assert_int_equal(o.kind, OUTCOME_KILLED);
	assert_int_equal(o.exit_status, 0);
	assert_true(pod_saw(&pod, "SHUTDOWN"));
}

static void test_killed(void **state)
{
	_cleanup_json_ json_t *reply = NULL;
	struct outcome o;

	(void)state;
	pod_enter(&pod);
	reply = pod_start(&pod, plan_fixture(), NULL, NULL, 0);
	pod_ok(&pod, "continue", NULL, NULL, 0);
	assert_int_equal(kill((pid_t)json_u64(reply, "qemuPid", 0), SIGKILL), 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_CRASHED);
	assert_non_null(strstr(o.message, "signal 9"));
}

static void test_its_own_words(void **state)
{
	_cleanup_json_ json_t *reply = NULL;
	struct plan *p = plan_fixture();
	struct outcome o;

	(void)state;
	free(p->machine);
	p->machine = xstrdup("pc-q35-99.9");
	pod_enter(&pod);
	reply = pod_start(&pod, p, NULL, NULL, 0);
	assert_non_null(strstr(json_str(reply, "error"), "unsupported machine type"));
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_QEMU_FAILED);
	assert_int_equal(o.exit_status, 1);
	assert_non_null(strstr(o.message, "unsupported machine type"));
}

static int image(const char *name, int mode, bool qcow2)
{
	/* a qcow2 header of version 3 with an L1 table and a refcount table: 1 MiB, no data */
	static const unsigned char header[104] = {
		'Q',	  'F',	    'I',      0xfb,	[7] = 3,  [23] = 16,  [29] = 0x10,
		[39] = 1, [45] = 3, [53] = 1, [59] = 1, [99] = 4, [103] = 104};
	static const unsigned char table[8] = {[5] = 2};
	static const unsigned char counts[8] = {0, 1, 0, 1, 0, 1, 0, 1};
	int fd = openat(pod.dirfd, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, qcow2 ? 4 << 16 : 1 << 20), 0);
	if (qcow2) {
		assert_int_equal(pwrite(fd, header, sizeof header, 0), sizeof header);
		assert_int_equal(pwrite(fd, table, sizeof table, 1 << 16), sizeof table);
		assert_int_equal(pwrite(fd, counts, sizeof counts, 2 << 16), sizeof counts);
	}
	(void)close(fd);
	fd = openat(pod.dirfd, name, mode | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static int tap(const char *name, short flags)
{
	struct ifreq ifr = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | flags)};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	assert_true(fd >= 0);
	(void)snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", name);
	assert_int_equal(ioctl(fd, TUNSETIFF, &ifr), 0);
	return fd;
}

static const char *const all_names[] = {"disk:v",  "disk:q",  "disk:s",	 "disk:c",
					"disk:h",  "disk:i",  "disk:u",	 "tap:a:0",
					"tap:a:1", "tap:b:0", "tap:c:0", "tap:d:0"};

static void add_all_disks(struct plan *p)
{
	struct plan_disk *d = plan_fixture_disk(p, "v");

	d->serial = xstrdup("S,readonly=on");
	d->cache = CACHE_DEFAULT;
	d->io = IO_DEFAULT;
	d = plan_fixture_disk(p, "q");
	d->format = FORMAT_QCOW2;
	d->cache = CACHE_WRITEBACK;
	d = plan_fixture_disk(p, "s");
	d->bus = BUS_SCSI;
	d->readonly = true;
	d = plan_fixture_disk(p, "c");
	d->bus = BUS_SCSI;
	d->device = DEVICE_CDROM;
	d = plan_fixture_disk(p, "h");
	d->bus = BUS_SATA;
	d = plan_fixture_disk(p, "i");
	d->bus = BUS_SATA;
	d->device = DEVICE_CDROM;
	d = plan_fixture_disk(p, "u");
	d->shareable = true;
}

static void add_nic(struct plan *p, const char *name, const char *model)
{
	struct plan_nic *n = plan_fixture_nic(p, name);

	free(n->model);
	n->model = xstrdup(model);
}

static void add_all_nics(struct plan *p)
{
	add_nic(p, "a", "virtio-net-pci");
	add_nic(p, "b", "e1000e");
	add_nic(p, "c", "e1000");
	add_nic(p, "d", "rtl8139");
	p->nics[0].queues = 2;
	p->nics[1].boot_order = 3;
}

static void open_all(int fds[static ARRAY_SIZE(all_names)])
{
	fds[0] = image("v", O_RDWR, false);
	fds[1] = image("q", O_RDWR, true);
	fds[2] = image("s", O_RDONLY, false);
	fds[3] = image("c", O_RDONLY, false);
	fds[4] = image("h", O_RDWR, false);
	fds[5] = image("i", O_RDONLY, false);
	fds[6] = image("u", O_RDWR, false);
	fds[7] = tap("tapa", IFF_MULTI_QUEUE);
	fds[8] = tap("tapa", IFF_MULTI_QUEUE);
	fds[9] = tap("tapb", 0);
	fds[10] = tap("tapc", 0);
	fds[11] = tap("tapd", 0);
}

/* Every kind of disk and NIC, and each optional device, in one machine: QEMU takes the command line. */
static void test_everything_at_once(void **state)
{
	_cleanup_json_ json_t *reply = NULL, *status = NULL;
	struct plan *p = plan_fixture();
	int fds[ARRAY_SIZE(all_names)];
	struct outcome o;

	(void)state;
	assert_int_equal(unshare(CLONE_NEWNET), 0); /* the taps go with it */
	p->balloon = p->graphics = p->rng = true;
	p->watchdog = WATCHDOG_RESET;
	p->firmware_serial = xstrdup("a,b=c");
	add_all_disks(p);
	add_all_nics(p);
	open_all(fds);
	pod_enter(&pod);
	reply = pod_start(&pod, p, all_names, fds, ARRAY_SIZE(fds));
	if (!json_flag(reply, "ok", false))
		fail_msg("%s", json_str(reply, "error"));
	pod_ok(&pod, "continue", NULL, NULL, 0);
	status = pod_call(&pod, "status", NULL, NULL, 0);
	assert_string_equal(json_str(status, "plan.disks[0].cache"), "none");
	assert_string_equal(json_str(status, "plan.disks[0].io"), "threads"); /* sparse */
	pod_ok(&pod, "shutdown", json_pack("{s:i}", "graceSeconds", 0), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_KILLED);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)close(fds[i]);
}

static void test_wrong_access_mode(void **state)
{
	static const char *const names[] = {"disk:v"};
	_cleanup_json_ json_t *reply = NULL;
	struct plan *p = plan_fixture();
	int fd = image("v", O_RDONLY, false);

	(void)state;
	plan_fixture_disk(p, "v");
	pod_enter(&pod);
	reply = pod_start(&pod, p, names, &fd, 1);
	assert_non_null(
		strstr(json_str(reply, "error"), "open read-only, want reading and writing"));
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_firmware_ignores_acpi, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_its_own_words, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_access_mode, setup, teardown),
		cmocka_unit_test_setup_teardown(test_everything_at_once, setup, teardown),
	};

	(void)alarm(180);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

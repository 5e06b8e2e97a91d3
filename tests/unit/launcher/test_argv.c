// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "launcher/args.h"
#include "launcher/argv.h"
#include "tests/unit/launcher/plan_fixture.h"

#include <errno.h>
#include <string.h>

static char **build(const struct plan *p, const struct argv_fds *fds)
{
	struct err err = {0};
	char **v = NULL;
	int r = argv_build(p, "/usr/bin/qemu", fds, &v, &err);

	assert_string_equal(err.msg, "");
	assert_int_equal(r, 0);
	return v;
}

static void refused(const struct plan *p, const struct argv_fds *fds, const char *word)
{
	struct err err = {0};
	char **v = NULL;

	assert_int_equal(argv_build(p, "/usr/bin/qemu", fds, &v, &err), -EINVAL);
	assert_null(v);
	assert_non_null(strstr(err.msg, word));
}

static void assert_argv(char **v, const char *const *want)
{
	size_t i;

	for (i = 0; v[i] && want[i]; i++)
		assert_string_equal(v[i], want[i]);
	assert_true(!v[i] && !want[i]);
	args_free(v);
}

/* How often `text` is an argument. */
static unsigned count(char **v, const char *text)
{
	unsigned n = 0;

	for (; *v; v++)
		n += strcmp(*v, text) == 0;
	return n;
}

static const char *find(char **v, const char *part)
{
	for (; *v; v++)
		if (strstr(*v, part))
			return *v;
	return NULL;
}

static void test_golden_smallest(void **state)
{
	static const char *const smallest[] = {
		"/usr/bin/qemu",
		"-name",
		"guest=default_demo,debug-threads=on",
		"-S",
		"-no-user-config",
		"-nodefaults",
		"-display",
		"none",
		"-machine",
		"q35,vmport=off,dump-guest-core=off",
		"-accel",
		"tcg,thread=multi,tb-size=32",
		"-cpu",
		"max",
		"-smp",
		"cpus=1,sockets=1,cores=1,threads=1,maxcpus=1",
		"-m",
		"size=67108864B",
		"-uuid",
		"3c5d1c3e-0b8f-4d55-9a7e-1f0a51b2c3d4",
		"-smbios",
		"type=1,manufacturer=KubeVirt,product=None,family=KubeVirt,uuid=3c5d1c3e-0b8f-"
		"4d55-9a7e-1f0a51b2c3d4",
		"-boot",
		"strict=on",
		"-sandbox",
		"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
		"-chardev",
		"socket,id=qmp,fd=QMP",
		"-mon",
		"chardev=qmp,mode=control",
		"-chardev",
		"socket,id=serial0,fd=SERIAL",
		"-device",
		"isa-serial,chardev=serial0,index=0",
		NULL,
	};
	struct plan *p = plan_fixture();

	(void)state;
	assert_argv(build(p, NULL), smallest);
	plan_free(p);
}

/* What follows the console in the command line of a VM like the demo. */
static const char *const demo_tail[] = {
	"-kernel",
	"/proc/self/fd/7",
	"-initrd",
	"/proc/self/fd/8",
	"-append",
	"console=ttyS0,115200 a,b",
	"-netdev",
	"tap,id=host-lan,fd=10",
	"-device",
	"pcie-root-port,id=pci.1,bus=pcie.0,chassis=1,addr=0x2.0x0,multifunction=on,"
	"hotplug=off",
	"-device",
	"virtio-net-pci,bus=pci.1,netdev=host-lan,id=nic-lan,mac=02:00:00:00:00:01,host_"
	"mtu=1450,romfile=",
	"-add-fd",
	"fd=9,set=1,opaque=disk0",
	"-blockdev",
	"{\"driver\":\"file\",\"node-name\":\"disk0-file\",\"filename\":\"/dev/fdset/1\","
	"\"locking\":\"off\",\"aio\":\"native\",\"cache\":{\"direct\":true,\"no-flush\":"
	"false},\"read-only\":false,\"auto-read-only\":false,\"discard\":\"unmap\"}",
	"-blockdev",
	"{\"driver\":\"qcow2\",\"node-name\":\"disk0\",\"file\":\"disk0-file\",\"cache\":{"
	"\"direct\":true,\"no-flush\":false},\"read-only\":false,\"discard\":\"unmap\","
	"\"backing\":null}",
	"-device",
	"pcie-root-port,id=pci.2,bus=pcie.0,chassis=2,addr=0x2.0x1,hotplug=off",
	"-device",
	"virtio-blk-pci,bus=pci.2,drive=disk0,id=disk-root,serial=D,,1,bootindex=1,write-"
	"cache=on,werror=stop,rerror=stop",
	"-object",
	"rng-random,id=objrng0,filename=/dev/urandom",
	"-device",
	"pcie-root-port,id=pci.3,bus=pcie.0,chassis=3,addr=0x2.0x2,hotplug=off",
	"-device",
	"virtio-rng-pci,rng=objrng0,id=rng0,bus=pci.3",
	NULL,
};

static void test_golden_demo(void **state)
{
	struct argv_fds fds = {.qmp = 5, .serial = 6, .kernel = 7, .initrd = 8, .disk = {9}};
	struct plan *p = plan_fixture();
	struct plan_disk *d = plan_fixture_disk(p, "root");
	char **v;

	(void)state;
	plan_fixture_nic(p, "lan");
	fds.nic[0].tap[0] = 10;
	fds.nic[0].n_tap = 1;
	d->format = FORMAT_QCOW2;
	d->cache = CACHE_NONE;
	d->io = IO_NATIVE;
	d->serial = xstrdup("D,1");
	p->kernel_path = xstrdup("/boot/vmlinuz");
	p->initrd_path = xstrdup("/boot/initrd");
	p->kernel_args = xstrdup("console=ttyS0,115200 a,b");
	p->rng = true;
	v = build(p, &fds);
	assert_non_null(find(v, "socket,id=qmp,fd=5"));
	assert_non_null(find(v, "socket,id=serial0,fd=6"));
	for (size_t i = 0; i < 34; i++)
		free(v[i]);
	memmove(v, v + 34, (ARRAY_SIZE(demo_tail)) * sizeof *v);
	assert_argv(v, demo_tail);
	plan_free(p);
}

/* kvm: host CPU, no translation buffer, the hint only where no vCPU is ever preempted */
static void test_kvm(void **state)
{
	struct plan *p = plan_fixture();
	char **v;

	(void)state;
	p->accel = ACCEL_KVM;
	p->tcg_tb_size = 0;
	v = build(p, NULL);
	assert_int_equal(count(v, "kvm"), 1);
	assert_int_equal(count(v, "host"), 1);
	args_free(v);
	p->dedicated_cpus = true;
	free(p->cpu_model);
	p->cpu_model = xstrdup("EPYC-Rome-v2");
	v = build(p, NULL);
	assert_int_equal(count(v, "EPYC-Rome-v2,kvm-hint-dedicated=on"), 1);
	args_free(v);
	plan_free(p);
}

static void test_buses_and_boot(void **state)
{
	struct plan *p = plan_fixture();
	struct plan_disk *cd, *s;
	char **v;

	(void)state;
	cd = plan_fixture_disk(p, "cd");
	cd->device = DEVICE_CDROM;
	cd->bus = BUS_SATA;
	s = plan_fixture_disk(p, "s");
	s->bus = BUS_SCSI;
	s->readonly = s->shareable = true;
	for (unsigned i = 0; i < 7; i++) {
		_cleanup_free_ char *name = xasprintf("sata%u", i);

		plan_fixture_disk(p, name)->bus = BUS_SATA;
	}
	v = build(p, NULL);
	assert_non_null(find(v, "ide-cd,bus=ide.0,drive=disk0,id=disk-cd,werror=stop,rerror=stop"));
	assert_non_null(find(v, "virtio-scsi-pci,id=scsi0,bus=pci.1"));
	assert_non_null(find(v, "scsi-hd,bus=scsi0.0,scsi-id=0,drive=disk1,id=disk-s,bootindex=1,"
				"share-rw=on,write-cache=off,werror=stop,rerror=stop"));
	assert_non_null(find(v, "\"node-name\":\"disk1\",\"file\":\"disk1-file\",\"cache\":{"
				"\"direct\":false,\"no-flush\":false},\"read-only\":true,\"discard"
				"\":\"ignore\"}"));
	assert_non_null(find(v, "ide-hd,bus=ide.5"));
	assert_non_null(find(v, "ich9-ahci,id=sata1,bus=pcie.0,addr=0x10"));
	assert_non_null(find(v, "ide-hd,bus=sata1.0"));
	assert_non_null(find(v, "ide-hd,bus=sata1.1"));
	args_free(v);

	/* once anything has a place, nothing else has */
	plan_fixture_nic(p, "lan")->boot_order = 2;
	v = build(p, NULL);
	assert_null(find(v, "bootindex=1"));
	assert_non_null(find(v, "host_mtu=1450,bootindex=2"));
	args_free(v);
	plan_free(p);
}

static void test_nics(void **state)
{
	struct argv_fds fds = {.qmp = 5, .serial = 6, .kernel = -1, .initrd = -1};
	struct plan *p = plan_fixture();
	struct plan_nic *n = plan_fixture_nic(p, "a");
	struct plan_nic *e = plan_fixture_nic(p, "b");
	char **v;

	(void)state;
	n->queues = 2;
	n->vhost = true;
	free(e->model);
	e->model = xstrdup("e1000");
	fds.nic[0] =
		(struct argv_nic_fds){.tap = {20, 21}, .vhost = {30, 31}, .n_tap = 2, .n_vhost = 2};
	fds.nic[1] = (struct argv_nic_fds){.tap = {22}, .n_tap = 1};
	v = build(p, &fds);
	assert_int_equal(count(v, "tap,id=host-a,fds=20:21,vhost=on,vhostfds=30:31"), 1);
	assert_non_null(find(v, "host_mtu=1450,mq=on,vectors=6,romfile="));
	assert_int_equal(count(v, "tap,id=host-b,fd=22"), 1);
	assert_int_equal(
		count(v, "e1000,bus=pcie.0,addr=0x10,netdev=host-b,id=nic-b,mac=02:00:00:00:00:02,"
			 "romfile="),
		1);
	args_free(v);

	v = build(p, NULL);
	assert_int_equal(count(v, "tap,id=host-a,fds=TAP-a-0:TAP-a-1"), 1);
	args_free(v);

	fds.nic[0].n_vhost = 1;
	refused(p, &fds, "'a': 1 vhost descriptors, the plan says 2");
	n->vhost = false;
	refused(p, &fds, "'a': 1 vhost descriptors, the plan says 0");
	fds.nic[0].n_vhost = 0;
	fds.nic[0].n_tap = 1;
	refused(p, &fds, "1 tap descriptors for 2 queues");
	fds.nic[0].n_tap = 2;
	e->queues = 2;
	refused(p, &fds, "want 1 for e1000");
	plan_free(p);
}

static void test_refusals(void **state)
{
	struct argv_fds fds = {.qmp = 5, .serial = 6, .kernel = -1, .initrd = -1, .disk = {-1}};
	struct plan *p = plan_fixture();
	struct plan_disk *d = plan_fixture_disk(p, "root");

	(void)state;
	refused(p, &fds, "'root': no descriptor");
	d->bus = BUS_SATA;
	d->readonly = true;
	refused(p, NULL, "no read-only SATA disk");
	d->readonly = false;
	d->io = IO_NATIVE;
	refused(p, NULL, "needs cache none");
	d->io = IO_THREADS;
	d->bus = BUS_VIRTIO;
	d->device = DEVICE_CDROM;
	refused(p, NULL, "CD-ROM on bus virtio");
	d->device = DEVICE_DISK;
	p->kernel_path = xstrdup("/k");
	fds.disk[0] = 9;
	refused(p, &fds, "no descriptor for the kernel");
	plan_free(p);
}

/* -cpu and -machine know no escaping: names that would need one are refused */
static void test_hostile_names(void **state)
{
	static const char *const hostile[] = {"q35,accel=kvm", "", "a b", "max,+vmx", "x=y", "a\n"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct plan *p = plan_fixture();
		char *good = p->machine;

		p->machine = xstrdup(hostile[i]);
		refused(p, NULL, "machine");
		free(p->machine);
		p->machine = good;
		free(p->cpu_model);
		p->cpu_model = xstrdup(hostile[i]);
		refused(p, NULL, "cpu model");
		plan_free(p);
	}
}

/*
 * Every text of a user's, with something hostile in it: the number of arguments does not change, and
 * the text is either alone in its argument or behind doubled commas.
 */
static void test_hostile_texts(void **state)
{
	static const char evil[] = "x,readonly=on,id=evil -monitor stdio";
	static const char doubled[] = "x,,readonly=on,,id=evil -monitor stdio";
	struct plan *p = plan_fixture();
	struct plan_disk *d = plan_fixture_disk(p, "root");
	char **v;
	size_t before = 0, after = 0;

	(void)state;
	d->serial = xstrdup("x");
	p->firmware_serial = xstrdup("x");
	p->kernel_path = xstrdup("/k");
	p->kernel_args = xstrdup("x");
	v = build(p, NULL);
	while (v[before])
		before++;
	args_free(v);
	free(p->name);
	free(d->serial);
	free(p->firmware_serial);
	free(p->kernel_args);
	p->name = xstrdup(evil);
	d->serial = xstrdup(evil);
	p->firmware_serial = xstrdup(evil);
	p->kernel_args = xstrdup(evil);
	v = build(p, NULL);
	for (; v[after]; after++) {
		if (!strstr(v[after], "evil"))
			continue;
		assert_true(strcmp(v[after], evil) == 0 || strstr(v[after], doubled));
	}
	assert_int_equal(after, before);
	assert_int_equal(count(v, evil), 1); /* -append */
	args_free(v);
	plan_free(p);
}

static void test_no_host_path(void **state)
{
	struct plan *p = plan_fixture();
	char **v;

	(void)state;
	plan_fixture_disk(p, "root");
	v = build(p, NULL);
	assert_null(find(v, "/images"));
	args_free(v);
	plan_free(p);
}

static void test_optional_devices(void **state)
{
	struct plan *p = plan_fixture();
	char **v;

	(void)state;
	p->balloon = p->graphics = true;
	p->acpi = p->serial_console = false;
	p->watchdog = WATCHDOG_POWEROFF;
	v = build(p, NULL);
	assert_non_null(find(v, "virtio-balloon-pci,id=balloon0,free-page-reporting=on,bus=pci.1"));
	assert_int_equal(count(v, "watchdog=poweroff"), 1);
	assert_non_null(find(v, "VGA,id=video0,vgamem_mb=16,bus=pcie.0,addr=0x1"));
	assert_non_null(find(v, "dump-guest-core=off,acpi=off"));
	assert_null(find(v, "serial0"));
	args_free(v);
	p->dedicated_cpus = true;
	v = build(p, NULL);
	assert_null(find(v, "free-page-reporting"));
	args_free(v);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_smallest),
		cmocka_unit_test(test_golden_demo),
		cmocka_unit_test(test_kvm),
		cmocka_unit_test(test_buses_and_boot),
		cmocka_unit_test(test_nics),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_hostile_texts),
		cmocka_unit_test(test_no_host_path),
		cmocka_unit_test(test_optional_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

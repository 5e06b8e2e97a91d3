// SPDX-License-Identifier: Apache-2.0
/*
 * Each check of `virtpod doctor` on a host of the test's own: first one that has all, then one fault at a
 * time. What is tried on a real host is told here; tests/pod/test_doctor.sh has the real one.
 */
#include "tests/unit/unit.h"

#include "handler/doctor.h"

#include "lib/cpus.h"
#include "lib/json.h"

#include "tests/unit/handler/sysfs.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CHECKS 27

struct world {
	struct sysfs *fs;
	struct doctor_host h;
};

static bool works(int fd)
{
	return fd >= 0;
}

static bool opens_only(int fd)
{
	(void)fd;
	return false;
}

static void put(const struct world *w, const char *path, const char *text)
{
	sysfs_put(w->fs, path, text);
}

static void take_away(const struct world *w, const char *path)
{
	assert_int_equal(rm_rf_at(w->fs->root, path), 0);
}

/* /dev/null under another name: it opens, and needs no driver. */
static void put_node(const struct world *w, const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);

	assert_int_equal(mkdir_p_at(w->fs->root, dirname(copy), 0755), 0);
	if (mknodat(w->fs->root, path, S_IFCHR | 0600, makedev(1, 3)) < 0)
		fail_msg("mknod: %s: this test wants CAP_MKNOD", strerror(errno));
}

static const char *const good_files[][2] = {
	{"proc/cpuinfo", "processor\t: 0\nmodel name\t: svm vmx\nflags\t\t: fpu vmx ept\n"},
	{"proc/sys/kernel/osrelease", "6.1.0-test"},
	{"proc/1/comm", "systemd"},
	{"proc/77/comm", "irqbalanced"},
	{"proc/sys/kernel/sched_rt_runtime_us", "-1"},
	{"proc/sys/net/core/bpf_jit_harden", "0"},
	{"proc/sys/user/max_user_namespaces", "1000"},
	{"proc/sys/net/bridge/bridge-nf-call-iptables", "0"},
	{"proc/sys/net/bridge/bridge-nf-call-ip6tables", "0"},
	{"sys/module/kvm_intel/parameters/nested", "Y"},
	{"sys/class/misc/kvm/dev", "10:232"},
	{"sys/class/misc/tun/dev", "10:200"},
	{"sys/class/misc/vhost-net/dev", "10:238"},
	{"sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids"},
	{"sys/devices/system/cpu/isolated", ""},
	{"sys/devices/system/cpu/nohz_full", "(null)"},
	{"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"},
	{"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance"},
	{"sys/kernel/security/lsm", "lockdown,capability,landlock"},
	{"sys/fs/selinux/enforce", "0"},
	{"etc/passwd", "root:x:0:0:root:/root:/bin/sh"},
	{"etc/group", "root:x:0:"},
	{"usr/share/seabios/bios-256k.bin", ""},
	{"usr/share/OVMF/OVMF_CODE_4M.fd", ""},
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof *w);

	assert_int_equal(sysfs_setup((void **)&w->fs), 0);
	for (size_t i = 0; i < ARRAY_SIZE(good_files); i++)
		put(w, good_files[i][0], good_files[i][1]);
	put_node(w, "dev/kvm");
	put_node(w, "dev/vhost-net");
	put_node(w, "dev/net/tun");
	sysfs_put_pool(w->fs, -1, 512, 500, 0);
	w->h = (struct doctor_host){
		.root = w->fs->root,
		.is_root = true,
		.paths = {.tag = "00000001"},
		.kvm_works = works,
		.config_seen = true,
		.policy = {.manager = CPU_MANAGER_STATIC},
		.cgroups_v2 = true,
		.nofile = 4096,
		.qemu = "/usr/bin/qemu-system-x86_64",
		.qemu_version = xstrdup("QEMU emulator version 7.2.22 (Debian)\nCopyright"),
		.qemu_machines = xstrdup("Supported machines are:\nmicrovm   microvm (i386)\n"
					 "q35       Standard PC (alias of pc-q35-7.2)\n"
					 "pc-q35-7.2           Standard PC\n"),
	};
	CPU_SET(0, &w->h.policy.reserved);
	CPU_SET(0, &w->h.online);
	CPU_SET(1, &w->h.online);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	free(w->h.qemu_version);
	free(w->h.qemu_machines);
	assert_int_equal(sysfs_teardown((void **)&w->fs), 0);
	free(w);
	return 0;
}

static void lacks(const char *id, const char *member, const json_t *check, const char *words)
{
	const char *text = json_str(check, member);

	if (words ? !text || !strstr(text, words) : text != NULL)
		fail_msg("%s: %s is '%s', wanted '%s'", id, member, text ? text : "null",
			 words ? words : "null");
}

/* One check's verdict and words of what it found and of the fix, which all but `ok` have. */
static void finds(const struct world *w, const char *id, const char *verdict, const char *found,
		  const char *fix)
{
	_cleanup_json_ json_t *report = doctor_report(&w->h);
	const json_t *check = json_find(json_object_get(report, "checks"), "id", id);

	assert_non_null(check);
	if (!str_eq(json_str(check, "verdict"), verdict))
		fail_msg("%s: %s (%s), wanted %s", id, json_str(check, "verdict"),
			 json_str(check, "found"), verdict);
	lacks(id, "found", check, found);
	lacks(id, "fix", check, fix);
	lacks(id, "means", check, fix ? "" : NULL);
	assert_int_equal(json_flag(report, "ok", false),
			 !json_u64(report, "counts.problem", CHECKS));
	if (str_eq(verdict, "problem"))
		assert_false(json_flag(report, "ok", true));
}

static void a_good_host(void **state)
{
	struct world *w = *state;
	_cleanup_json_ json_t *report = doctor_report(&w->h);
	const json_t *check;
	size_t i;

	json_array_foreach (json_object_get(report, "checks"), i, check) {
		finds(w, json_str(check, "id"), "ok", "", NULL);
		assert_ptr_equal(
			json_find(json_object_get(report, "checks"), "id", json_str(check, "id")),
			check);
	}
	assert_int_equal(i, CHECKS);
	assert_int_equal(json_u64(report, "counts.ok", 0), CHECKS);
	assert_true(json_flag(report, "ok", false) && json_flag(report, "privileged", false));
	finds(w, "kvm-cpu", "ok", "vmx", NULL);
	finds(w, "qemu", "ok", "qemu-system-x86_64: 7.2.22 (Debian)", NULL);
	finds(w, "qemu-machines", "ok", "3 types; q35 ", NULL);
	finds(w, "cpu-policy", "ok", "reservedSystemCPUs 0; for VMs: 1", NULL);
	finds(w, "cgroup-controllers", "ok", "cpuset cpu io memory hugetlb pids", NULL);
	finds(w, "hugepages", "ok", "2Mi: 500 free of 512", NULL);
	finds(w, "user-ids", "ok", "4096 of 4096 ids are free, 1879052288 to 1879056383", NULL);
}

static void kvm_missing(void **state)
{
	struct world *w = *state;

	put(w, "proc/cpuinfo", "model name\t: svm vmx\nflags\t\t: fpu vmxx hypervisor");
	finds(w, "kvm-cpu", "problem", "neither vmx nor svm; this host is a virtual", "BIOS setup");
	put(w, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu svm\n\nflags\t\t: vmx");
	finds(w, "kvm-cpu", "ok", "svm", NULL);
	take_away(w, "sys/module/kvm_intel");
	finds(w, "kvm-module", "problem", "neither kvm_intel nor kvm_amd", "modprobe kvm_amd; ");
	finds(w, "kvm-nested", "unknown", "no module", "see kvm-module");
	put(w, "sys/module/kvm/dummy", "");
	finds(w, "kvm-module", "problem", "of another kind", "disabled by bios");
	put(w, "sys/module/kvm_amd/parameters/nested", "0");
	finds(w, "kvm-module", "ok", "kvm_amd is loaded", NULL);
	finds(w, "kvm-nested", "warning", "kvm_amd nested=0", "modprobe -r kvm_amd && ");
}

static void kvm_device(void **state)
{
	struct world *w = *state;

	w->h.kvm_works = opens_only;
	finds(w, "kvm-device", "problem", "opens, but this CPU", "see kvm-cpu");
	w->h.kvm_works = works;
	take_away(w, "dev/kvm");
	finds(w, "kvm-device", "problem", "KVM is there, /dev/kvm is not",
	      "mknod -m 0660 /dev/kvm");
	put(w, "dev/kvm", "a file");
	finds(w, "kvm-device", "problem", "/dev/kvm is not", "mknod");
	take_away(w, "sys/class/misc/kvm");
	finds(w, "kvm-device", "problem", "no /dev/kvm", "see kvm-module");
	take_away(w, "dev/kvm");
	put_node(w, "dev/kvm");
	finds(w, "kvm-device", "problem", "its driver is not", "see kvm-module");
	/* where emulation was allowed VMs run all the same */
	w->h.cluster.use_emulation = true;
	finds(w, "kvm-device", "warning", "its driver is not", "see kvm-module");
}

static void other_devices(void **state)
{
	struct world *w = *state;

	take_away(w, "sys/class/misc/vhost-net");
	finds(w, "vhost-net", "problem", "this kernel has no driver", "CONFIG_VHOST_NET");
	put(w, "lib/modules/6.1.0-test/modules.dep",
	    "kernel/drivers/vhost/vhost_net.ko: kernel/drivers/vhost/vhost.ko");
	finds(w, "vhost-net", "ok", "loaded when it is opened", NULL);
	take_away(w, "dev/vhost-net");
	finds(w, "vhost-net", "problem", "its module is not loaded", "modprobe vhost_net");
	w->h.cluster.use_emulation = true;
	finds(w, "vhost-net", "warning", "its module is not loaded", "modprobe vhost_net");
	take_away(w, "dev/net/tun");
	finds(w, "tun", "problem", "the node is not", "mknod /dev/net/tun c 10 200");
	take_away(w, "sys/class/misc/tun");
	finds(w, "tun", "problem", "this kernel has no driver", "CONFIG_TUN");
}

static void qemu(void **state)
{
	struct world *w = *state;

	w->h.qemu_version[strlen("QEMU emulator version ")] = '6';
	finds(w, "qemu", "warning", "6.2.22", "apt install");
	(void)snprintf(w->h.qemu_machines, 60,
		       "Supported machines are:\npc-q35-7.2  Standard PC\n");
	finds(w, "qemu-machines", "problem", "1 types, no q35", "apt install");
	(void)snprintf(w->h.qemu_version, 10, "nonsense");
	finds(w, "qemu", "problem", "doesn't tell its version", "apt install");
	free(w->h.qemu_machines);
	w->h.qemu_machines = NULL;
	(void)err_set(&w->h.qemu_err, -EIO, "/usr/bin/qemu: exit status 1: library");
	finds(w, "qemu", "problem", "exit status 1: library", "apt install");
	finds(w, "qemu-machines", "unknown", "library", "see qemu");
	take_away(w, "usr/share/seabios");
	finds(w, "firmware-bios", "problem", "no bios-256k.bin", "seabios");
	put(w, "usr/share/qemu/bios-256k.bin", "");
	finds(w, "firmware-bios", "ok", "/usr/share/qemu/bios-256k.bin", NULL);
	take_away(w, "usr/share/OVMF");
	finds(w, "firmware-uefi", "warning", "no OVMF", "apt install ovmf");
}

static void cgroups(void **state)
{
	struct world *w = *state;

	(void)err_set(&w->h.partition_err, -ENOTSUP, "cgroup /x/cpuset.cpus holds CPUs 3");
	finds(w, "cpuset-partition", "warning", "/x/cpuset.cpus holds", "take the CPUs out");
	w->h.partition_err.code = -EAGAIN;
	finds(w, "cpuset-partition", "unknown", "/x/", "echo +cpuset");
	w->h.partition_err.code = -EACCES;
	finds(w, "cpuset-partition", "unknown", "for root", "sudo");
	w->h.partition_err.code = -EBUSY;
	finds(w, "cpuset-partition", "unknown", "/x/", "again");
	put(w, "proc/sys/net/core/bpf_jit_harden", "2");
	finds(w, "bpf-jit-harden", "problem", "is 2", "bpf_jit_harden=1");
	w->h.cgroups_v2 = false;
	w->h.partition_err.code = -ENOTSUP;
	put(w, "proc/cgroups",
	    "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t5\t1\t1\nio\t0\t1\t1\n"
	    "memory\t11\t9\t1");
	finds(w, "cgroup-version", "warning", "v1", "unified_cgroup_hierarchy=1");
	finds(w, "cgroup-controllers", "ok", "cpuset memory", NULL);
	finds(w, "cpuset-partition", "warning", "", "unified_cgroup_hierarchy=1");
	finds(w, "bpf-jit-harden", "ok", "of no matter", NULL);
	(void)err_set(&w->h.cgroups_err, -ENOENT, "cgroup controller 'pids' is not mounted");
	finds(w, "cgroup-version", "unknown", "", "see cgroup-controllers");
	finds(w, "cgroup-controllers", "problem", "'pids' is not mounted", "hierarchy=1");
}

static void policy(void **state)
{
	struct world *w = *state;

	w->h.policy.reserved = w->h.online;
	finds(w, "cpu-policy", "warning", "for VMs: none", "reserve fewer");
	w->h.policy.manager = CPU_MANAGER_NONE;
	finds(w, "cpu-policy", "warning", "is none", "cpuManagerPolicy: static");
	w->h.config_seen = false;
	finds(w, "cpu-policy", "warning", "nothing is configured", "cpuManagerPolicy: static");
	(void)err_set(&w->h.config_err, -EINVAL, "reservedSystemCPUs: 9 is not online");
	finds(w, "cpu-policy", "problem", "9 is not online", "mend it");
	w->h.config_err.code = -EACCES;
	finds(w, "cpu-policy", "unknown", "for root", "sudo");
}

static void cpus(void **state)
{
	struct world *w = *state;

	put(w, "sys/devices/system/cpu/isolated", "2-3");
	finds(w, "isolcpus", "warning", "CPUs 2-3", "isolcpus=");
	take_away(w, "sys/devices/system/cpu/isolated");
	finds(w, "isolcpus", "ok", "none", NULL);
	put(w, "sys/devices/system/cpu/nohz_full", "1");
	finds(w, "nohz-full", "ok", "CPUs 1 have no tick", NULL);
	put(w, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave");
	finds(w, "cpu-governor", "warning", "powersave on 1 of 2 CPUs", "performance");
	take_away(w, "sys/devices/system/cpu/cpu0");
	take_away(w, "sys/devices/system/cpu/cpu1");
	finds(w, "cpu-governor", "ok", "none", NULL);
	put(w, "proc/78/comm", "irqbalance");
	finds(w, "irqbalance", "warning", "pid 78", "systemctl disable --now irqbalance");
	take_away(w, "proc/78");
	take_away(w, "proc/1");
	finds(w, "irqbalance", "unknown", "for root", "sudo");
	put(w, "proc/sys/kernel/sched_rt_runtime_us", "950000");
	finds(w, "realtime", "warning", "is 950000", "sched_rt_runtime_us=-1");
	take_away(w, "proc/sys/kernel/sched_rt_runtime_us");
	finds(w, "realtime", "unknown", "No such file", "look at");
	take_away(w, "proc");
	put(w, "proc", "");
	finds(w, "irqbalance", "unknown", "/proc: Not a directory", "look at /proc");
}

static void memory_and_limits(void **state)
{
	struct world *w = *state;

	sysfs_put_pool(w->fs, -1, 0, 0, 0);
	finds(w, "hugepages", "warning", "2Mi: 0 free of 0",
	      "echo 512 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
	take_away(w, "sys/kernel/mm");
	finds(w, "hugepages", "warning", "none", "CONFIG_HUGETLBFS");
	w->h.memlock = 8192 * 1024;
	(void)err_set(&w->h.memlock_err, -ENOTSUP, "no");
	finds(w, "limit-memlock", "warning", "8192 KiB", "LimitMEMLOCK=infinity");
	w->h.memlock_err.code = -EACCES;
	finds(w, "limit-memlock", "unknown", "", "sudo");
	w->h.nofile = 4095;
	finds(w, "limit-nofile", "warning", "4095 descriptors", "LimitNOFILE=4096");
	w->h.is_root = false;
	finds(w, "limit-nofile", "unknown", "", "sudo");
}

static void users(void **state)
{
	struct world *w = *state;

	(void)err_set(&w->h.userns_err, -ENOTSUP, "one was tried: Operation not permitted");
	finds(w, "user-namespaces", "problem", "not permitted", "chroot");
	put(w, "proc/sys/user/max_user_namespaces", "0");
	finds(w, "user-namespaces", "problem", "is 0", "max_user_namespaces=");
	put(w, "etc/passwd",
	    "vm:x:1879052288:0::/:/bin/false\nold\n:x:1879052290:0:\nhalf:x\nz:1879052291:0:");
	put(w, "etc/group", "x:x:1879052288:\ny:x:1879056384:");
	put(w, "etc/subgid", "ann:1879052280:10");
	finds(w, "user-ids", "warning", "4093 of 4096 ids are free", "/etc/passwd");
	put(w, "etc/subuid", "ann:0:4294967295");
	finds(w, "user-ids", "problem", "0 of 4096 ids", "subuid");
	(void)err_set(&w->h.paths_err, -ENOENT, "--root x: No such file or directory");
	finds(w, "user-ids", "unknown", "--root x", "make the folder");
}

static void modules(void **state)
{
	struct world *w = *state;

	put(w, "sys/fs/selinux/enforce", "1");
	finds(w, "lsm", "warning", "landlock; SELinux enforces", "ausearch");
	take_away(w, "sys/kernel/security/lsm");
	finds(w, "lsm", "unknown", "not there", "mount -t securityfs");
}

static void bridges(void **state)
{
	struct world *w = *state;

	(void)snprintf(w->h.forward_who, sizeof w->h.forward_who, "nftables ip filter FORWARD");
	finds(w, "bridge-netfilter", "ok", "are 0", NULL); /* bridged frames don't get there */
	put(w, "proc/sys/net/bridge/bridge-nf-call-ip6tables", "1");
	finds(w, "bridge-netfilter", "warning", "ip6tables is 1, and the policy of nftables ip fil",
	      "bridge-nf-call-iptables=0");
	put(w, "proc/sys/net/bridge/bridge-nf-call-iptables", "1");
	finds(w, "bridge-netfilter", "warning", "iptables is 1", "physdev");
	w->h.forward_who[0] = '\0';
	finds(w, "bridge-netfilter", "ok", "no FORWARD chain drops", NULL);
	(void)err_set(&w->h.forward_err, -EIO, "nftables' chains: lost");
	finds(w, "bridge-netfilter", "unknown", "lost", "bridge-nf-call-iptables=0");
	w->h.forward_err.code = -EACCES;
	finds(w, "bridge-netfilter", "unknown", "FORWARD", "sudo");
	take_away(w, "proc/sys/net/bridge");
	finds(w, "bridge-netfilter", "ok", "not loaded", NULL);
}

/* The words of others can't reach a terminal as they are. */
static void printable(void **state)
{
	struct world *w = *state;

	put(w, "sys/kernel/security/lsm", "a\033[2Jb\xc3");
	finds(w, "lsm", "ok", "a?[2Jb?", NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_host), TEST(kvm_missing), TEST(kvm_device), TEST(other_devices),
		TEST(qemu),	   TEST(cgroups),     TEST(policy),	TEST(cpus),
		TEST(modules),	   TEST(users),	      TEST(bridges),	TEST(memory_and_limits),
		TEST(printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

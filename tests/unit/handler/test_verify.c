// SPDX-License-Identifier: Apache-2.0
/* Each promise that a report breaks is found, by the check that is there for it and by no other. */
#include "tests/unit/handler/verify/fixture.h"

/* --- one lie each ------------------------------------------------------------------------------ */

struct lie {
	const char *wants; /* the checks that must find it, all of them, in their order */
	const char *path, *value;
};

static const struct lie lies[] = {
	{"processes", "processes[0].name", "'other'"},
	{"processes vcpuThreads", "processes[1]", NULL},
	{"ids", "processes[1].uids[3]", "0"},
	{"ids", "processes[0].gids[0]", "0"},
	{"ids", "processes[1].groups", "[27]"},
	{"idMaps", "processes[1].uidMap[0].outside", "0"},
	{"idMaps", "processes[0].uidMap[0].count", "2"},
	{"idMaps", "processes[0].gidMap[1]", "{'inside': 0, 'outside': 0, 'count': 1}"},
	{"namespaces", "processes[0].namespaces.user.host", "true"},
	{"namespaces", "processes[1].namespaces.pid.host", "true"},
	{"namespaces", "processes[0].namespaces.mnt.host", "true"},
	{"namespaces", "processes[1].namespaces.net.host", "true"},
	{"namespaces", "processes[0].namespaces.ipc.host", "true"},
	{"namespaces", "processes[1].namespaces.uts.host", "true"},
	{"namespaces", "processes[0].namespaces.cgroup.host", "true"},
	{"namespaces", "processes[1].namespaces.cgroup.host", "null"},
	{"sameNamespaces", "processes[1].namespaces.user.inode", "4026531837"},
	{"sameNamespaces", "processes[1].namespaces.net.inode", "4026531837"},
	{"capabilities", "processes[0].capabilities.effective", "'0000000000000001'"},
	{"capabilities", "processes[1].capabilities.permitted", "'0000000000000001'"},
	{"capabilities", "processes[0].capabilities.inheritable", "'0000000000000001'"},
	{"capabilities", "processes[1].capabilities.bounding", "'000001ffffffffff'"},
	{"capabilities", "processes[0].capabilities.ambient", "null"},
	{"capabilities", "processes[1].threads[5].effective", "'0000000000200000'"},
	{"noNewPrivs", "processes[1].noNewPrivs", "false"},
	{"seccomp", "processes[0].seccomp.mode", "'disabled'"},
	{"seccomp", "processes[1].seccomp.mode", "'strict'"},
	{"seccompFilters", "processes[0].threads[0].seccompFilters", "1"},
	{"seccompFilters", "processes[1].threads[4].seccompFilters", "3"},
	{"dumpable", "processes[0].dumpable", "true"},
	{"dumpable", "processes[0].dumpable", "null"},
	{"coreLimit", "processes[1].limits[4].hard", "'unlimited'"},
	{"coreLimit", "processes[0].limits", "[]"},
	{"mounts", "processes[1].mounts[1].options", "'rw,nosuid,nodev,noexec,relatime'"},
	{"mounts", "processes[1].mounts[1].fs", "'ext4'"},
	{"mounts", "processes[0].mounts[3].options", "'ro,nodev,relatime'"},
	{"mounts", "processes[1].mounts[3].point", "'/home'"},
	{"mounts", "processes[1].mounts[11]",
	 "{'point': '/tmp/x', 'options': 'ro,nosuid,nodev,noexec', 'source': 'none'}"},
	{"mounts", "processes[1].mounts[4].point", "'/usr/lib/ipxen'"},
	{"mounts", "processes[1].mounts", "[]"},
	{"rootEntries", "processes[1].rootEntries[8]", "'home'"},
	{"rootEntries", "processes[0].rootEntries[0]", "'us'"},
	{"rootEntries", "processes[0].rootEntries", "null"},
	{"devEntries", "processes[1].devEntries[5]", "'sda'"},
	{"devEntries", "processes[0].devEntries[0]", NULL},
	{"groups", "processes[1].threads[3].groups[0]", NULL},
	{"groups", "processes[1].threads[3].groups[3]", "'cpuset'"},
	{"groups", "processes[1].threads[5].groups[3]", "'cpusetVcpu'"},
	{"groups", "processes[0].threads[0].groups", "[]"},
	{"groups", "cgroup.paths", "{}"},
	{"devices", "devices[5]", "'c 10:200 rw'"},
	{"devices", "devices[0]", "'c 1:3 rwm'"},
	{"devices", "devices", "['a *:* rwm']"},
	{"devices", "devices", "null"},
	{"memoryLimit", "cgroup.limits.memoryMax", "null"},
	{"memoryLimit", "cgroup.limits.memoryMax", "625348608"},
	{"memoryLimit", "cgroup.limits.memorySwapMax", "725344512"},
	{"pidsLimit", "cgroup.limits.pidsMax", "null"},
	{"pidsLimit", "cgroup.limits.pidsMax", "259"},
	{"cpuTime", "cgroup.limits.cpuShares", "1025"},
	{"cpuTime", "cgroup.limits.cpuWeight", "7"},
	{"cpuTime", "cgroup.limits.cpuQuotaUs", "100000"},
	{"accel", "accel", "'kvm'"},
	{"accel", "accel", "null"},
	{"vhost", "vhostQueues", "1"},
	{"vhost", "vhostQueues", "null"},
	{"netnsPin", "netnsPinned", "false"},
	{"netnsPin", "netnsPinned", "null"},
	{"vcpuThreads", "processes[1].threads[4].name", "'CPU 0/TCG'"},
	{"vcpuThreads", "processes[1].threads[4].name", "'CPU 1/KVM'"},
	{"vcpuThreads", "processes[1].threads[5].name", "'CPU 2/TCG'"},
	{"vcpuThreads", "processes[1].threads[4]", NULL},
	{"vcpuThreads vcpuPins", "processes[1].threads[4].vcpu", "0"},
	{"vcpuPins", "processes[1].threads[3].cpus", "'2'"},
	{"vcpuPins", "processes[1].threads[4].cpus", "'1-2'"},
	{"otherThreads", "processes[1].threads[5].cpus", "'0-1'"},
	{"otherThreads", "processes[0].threads[0].cpus", "'0-3'"},
	{"otherThreads", "processes[1].threads[0].cpus", "'nonsense'"},
	{"kernelThreads", "kernelThreads[0].name", "'kworker/1:0'"},
	{"kernelThreads", "kernelThreads[0].name", "null"},
	{"kernelThreads", "kernelThreads[0].cpus", "'0-1'"},
	{"kernelThreads", "kernelThreads[0].groups[0]", "'vcpu'"},
	{"scheduling", "processes[1].threads[4].policy", "'SCHED_FIFO'"},
	{"scheduling", "processes[1].threads[5].policy", "'SCHED_IDLE'"},
	{"scheduling", "processes[0].threads[0].priority", "1"},
	{"cpusets", "cgroup.cpuset.vcpu.cpus", "'1'"},
	{"cpusets", "cgroup.cpuset.vcpu", "null"},
	{"cpusets", "cgroup.cpuset.emu.cpus", "'0-1,3'"},
	{"cpusets", "cgroup.cpuset.emu.cpus", "'0,3-4'"},
	{"cpusets", "cgroup.cpuset.emu.cpus", "''"},
	{"exclusivity", "cgroup.cpuset.partition",
	 "{'pod': 'root invalid (why)', 'vcpu': 'isolated', 'cpus': '1-2'}"},
	{"exclusivity", "cgroup.cpuset.partition",
	 "{'pod': 'root', 'vcpu': 'member', 'cpus': '1-2'}"},
	{"exclusivity", "cgroup.cpuset.partition",
	 "{'pod': 'root', 'vcpu': 'isolated', 'cpus': '1-3'}"},
	{"", "cgroup.cpuset.partition", "{'pod': 'root', 'vcpu': 'isolated', 'cpus': '1-2'}"},
	{"exclusivity", "cgroup.cpuset.partition", "{}"},
	{"overlaps", "cpus.overlaps[0]", "{'pod': 'u', 'vm': 'default/two', 'cpus': '1'}"},
	{"overlaps", "cpus.overlaps[0]", "{'pod': 'u', 'vm': null, 'cpus': '1'}"},
};

/* Of the links by name, so that the table reads without their places in the list. */
static const struct {
	const char *wants, *side, *name, *member, *value;
} link_lies[] = {
	{"podBridges otherLinks", "pod", "k6t-9404eea3257", "name", "'k6t-other'"},
	{"podBridges", "pod", "k6t-9404eea3257", "kind", "'dummy'"},
	{"podBridges", "pod", "k6t-9404eea3257", "mtu", "1500"},
	{"podBridges", "pod", "k6t-9404eea3257", "up", "false"},
	{"podBridges", "pod", "k6t-9404eea3257", "addresses", "['10.0.0.1/8']"},
	{"podNics", "pod", "9404eea3257-nic", "kind", "'macvlan'"},
	{"podNics", "pod", "9404eea3257-nic", "mtu", "1449"},
	{"podNics", "pod", "9404eea3257-nic", "up", "false"},
	{"podNics", "pod", "9404eea3257-nic", "master", "'br0'"},
	{"podNics", "pod", "9404eea3257-nic", "learning", "true"},
	{"podNics", "pod", "9404eea3257-nic", "mac", "'02:09:0a:d2:35:57'"},
	{"podNics", "pod", "9404eea3257-nic", "addresses", "['10.0.0.1/8']"},
	{"hostVeths", "pod", "9404eea3257-nic", "ifindex", "7"},
	{"hostVeths", "pod", "9404eea3257-nic", "peerIfindex", "7"},
	{"taps", "pod", "tap9404eea3257", "kind", "'dummy'"},
	{"taps", "pod", "tap9404eea3257", "mtu", "65521"},
	{"taps", "pod", "tap9404eea3257", "up", "false"},
	{"taps", "pod", "tap9404eea3257", "master", "null"},
	{"taps", "pod", "tap9404eea3257", "learning", "false"},
	{"taps", "pod", "tap9404eea3257", "addresses", "['fe80::1/64']"},
	{"taps", "pod", "tap9404eea3257", "tun.type", "'tun'"},
	{"taps", "pod", "tap9404eea3257", "tun.owner", "0"},
	{"taps", "pod", "tap9404eea3257", "tun.group", "null"},
	{"taps", "pod", "tap9404eea3257", "tun.queues", "0"},
	{"taps", "pod", "tap9404eea3257", "tun.vnetHdr", "false"},
	{"otherLinks", "pod", "lo", "name", "'eth0'"},
	{"hostVeths", "host", "vv9a6297d8d81", "name", "'vv0'"},
	{"hostVeths", "host", "vv9a6297d8d81", "kind", "'dummy'"},
	{"hostVeths", "host", "vv9a6297d8d81", "mtu", "1500"},
	{"hostVeths", "host", "vv9a6297d8d81", "up", "false"},
	{"hostVeths", "host", "vv9a6297d8d81", "master", "'br0'"},
	{"hostVeths", "host", "vv9a6297d8d81", "addresses", "['10.0.0.1/8']"},
	{"hostVeths", "host", "vv9a6297d8d81", "peerIfindex", "3"},
	{"hostBridges", "host", "vb6cba6fe9c33", "name", "'vb0'"},
	{"hostBridges", "host", "vb6cba6fe9c33", "kind", "'vxlan'"},
	{"hostBridges", "host", "vb6cba6fe9c33", "mtu", "1500"},
	{"hostBridges", "host", "vb6cba6fe9c33", "up", "false"},
	{"hostBridges", "host", "vb6cba6fe9c33", "addresses", "['10.77.0.2/24']"},
};

/* The other way round: a promise that the report does not keep. */
static const struct lie plan_lies[] = {
	{"pidsLimit vcpuThreads ledger", "cores", "3"},
	{"groups ledger", "dedicatedCpus", "false"},
	{"otherThreads kernelThreads cpusets ledger", "isolateEmulator", "true"},
	{"cpuTime", "cpuQuotaUs", "200000"},
	{"hostBridges", "nics[0].gateway", "'10.77.0.9/24'"},
	{"taps", "nics[0].queues", "2"},
	{"vhost", "nics[0].vhost", "true"},
	{"podBridges podNics taps otherLinks hostVeths", "nics[0].name", "'net1'"},
};

static bool was_found[64]; /* by place in verify_checks() */

static void note_checks(const char *list)
{
	const char *const *names = verify_checks();

	for (size_t i = 0; names[i]; i++) {
		assert_true(i < ARRAY_SIZE(was_found));
		if (has_word(list, names[i]))
			was_found[i] = true;
	}
}

static void expect(const struct verify_promise *p, const json_t *report, const char *wants,
		   const char *lie)
{
	_cleanup_json_ json_t *differences = verify_differences(p, report);
	_cleanup_free_ char *found = whats(differences);

	if (!str_eq(found, wants))
		fail_msg("%s: found by '%s', must be by '%s'", lie, found, wants);
	note_checks(wants);
}

static void test_truth(void **state)
{
	struct fixture f;

	(void)state;
	fixture_make(&f, golden_plan);
	expect(&f.p, golden, "", "nothing changed");
	fixture_done(&f);
}

static void test_lies(void **state)
{
	struct fixture f;

	(void)state;
	fixture_make(&f, golden_plan);
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		_cleanup_json_ json_t *report = json_deep_copy(golden);

		change(report, lies[i].path, lies[i].value);
		expect(&f.p, report, lies[i].wants, lies[i].path);
	}
	fixture_done(&f);
}

static json_t *link_of(json_t *report, const char *side, const char *name)
{
	json_t *links = json_object_get(json_object_get(report, "links"), side), *link;
	size_t i;

	json_array_foreach (links, i, link)
		if (str_eq(json_str(link, "name"), name))
			return link;
	fail_msg("the report has no %s link %s", side, name);
	return NULL;
}

static void test_link_lies(void **state)
{
	struct fixture f;

	(void)state;
	fixture_make(&f, golden_plan);
	for (size_t i = 0; i < ARRAY_SIZE(link_lies); i++) {
		_cleanup_json_ json_t *report = json_deep_copy(golden);
		json_t *link = link_of(report, link_lies[i].side, link_lies[i].name);

		change(link, link_lies[i].member, link_lies[i].value);
		expect(&f.p, report, link_lies[i].wants, link_lies[i].name);
	}
	fixture_done(&f);
}

static void test_plan_lies(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(plan_lies); i++) {
		_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
		struct fixture f;

		change(plan, plan_lies[i].path, plan_lies[i].value);
		fixture_make(&f, plan);
		expect(&f.p, golden, plan_lies[i].wants, plan_lies[i].path);
		fixture_done(&f);
	}
}

static void test_kvm(void **state)
{
	_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	struct fixture f;

	(void)state;
	change(plan, "accel", "'kvm'");
	change(plan, "tcgTbSize", "0");
	fixture_make(&f, plan);
	expect(&f.p, report, "devEntries devices accel vcpuThreads", "KVM was promised");
	change(report, "accel", "'kvm'");
	change(report, "devices[5]", "'c 10:232 rw'");
	change(report, "processes[0].devEntries",
	       "['full', 'kvm', 'null', 'random', 'urandom', 'zero']");
	change(report, "processes[1].devEntries",
	       "['full', 'kvm', 'null', 'random', 'urandom', 'zero']");
	change(report, "processes[1].threads[3].name", "'CPU 0/KVM'");
	change(report, "processes[1].threads[4].name", "'CPU 1/KVM'");
	expect(&f.p, report, "", "KVM is used");
	fixture_done(&f);
}

/* Two guest nodes of 96 MiB in huge pages, vCPU 1 realtime. */
static void make_placed(json_t *plan, json_t *report)
{
	change(plan, "hugepageSize", "2097152");
	change(plan, "numaPassthrough", "true");
	change(plan, "realtimeVcpus", "'1'");
	change(plan, "memoryNodes", "'0-1'");
	change(plan, "cells",
	       "[{'hostNodes': '0', 'vcpus': '0', 'memory': 100663296, 'distances': [10, 20]},"
	       " {'hostNodes': '1', 'vcpus': '1', 'memory': 100663296, 'distances': [20, 10]}]");
	change(report, "memory.guest",
	       "[{'policy': 'bind:0', 'pageBytes': 2097152, 'nodes': {'0': 100663296}},"
	       " {'policy': 'bind:1', 'pageBytes': 2097152, 'nodes': {'1': 100663296}}]");
	change(report, "memory.lockedBytes", "1048576");
	change(report, "cgroup.cpuset.emu.mems", "'0-1'");
	change(report, "cgroup.cpuset.vcpu.mems", "'0-1'");
	change(report, "processes[1].limits[8].soft", "'unlimited'");
	change(report, "processes[1].threads[4].policy", "'SCHED_FIFO'");
	change(report, "processes[1].threads[4].priority", "1");
}

static void test_placement(void **state)
{
	static const struct lie wrong[] = {
		{"memoryNodes", "cgroup.cpuset.emu.mems", "'0'"},
		{"memoryNodes", "cgroup.cpuset.vcpu.mems", "null"},
		{"guestMemory", "memory.guest", "null"},
		{"guestMemory", "memory.guest[1]", NULL},
		{"guestMemory", "memory.guest[0].policy", "'default'"},
		{"guestMemory", "memory.guest[0].pageBytes", "4096"},
		{"guestMemory", "memory.guest[0].nodes", "{'0': 100663295}"},
		{"guestMemory", "memory.guest[1].nodes", "{'1': 98566144, '0': 2097152}"},
		{"lockedMemory", "memory.lockedBytes", "0"},
		{"lockedMemory", "memory.lockedBytes", "null"},
		{"lockedMemory", "processes[1].limits[8].soft", "'8388608'"},
		{"scheduling", "processes[1].threads[4].policy", "'SCHED_OTHER'"},
		{"scheduling", "processes[1].threads[4].priority", "2"},
		{"scheduling", "processes[1].threads[3].policy", "'SCHED_FIFO'"},
	};
	_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	struct fixture f;

	(void)state;
	make_placed(plan, report);
	fixture_make(&f, plan);
	expect(&f.p, report, "", "memory where it should be");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_json_ json_t *copy = json_deep_copy(report);

		change(copy, wrong[i].path, wrong[i].value);
		expect(&f.p, copy, wrong[i].wants, wrong[i].path);
	}
	fixture_done(&f);
}

/* Of ordinary pages any number is fine, where it is fine. */
static void test_bound_memory(void **state)
{
	_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	struct fixture f;

	(void)state;
	change(plan, "cells",
	       "[{'hostNodes': '0', 'vcpus': '0-1', 'memory': 201326592, 'distances': [10]}]");
	fixture_make(&f, plan);
	expect(&f.p, report, "guestMemory", "nothing is bound");
	change(report, "memory.guest",
	       "[{'policy': 'bind:0', 'pageBytes': 4096, 'nodes': {'0': 4096}}]");
	expect(&f.p, report, "", "a page on node 0");
	change(report, "memory.guest[0].nodes", "{'0': 4096, '1': 4096}");
	expect(&f.p, report, "guestMemory", "a page on node 1");
	fixture_done(&f);
}

/* Without dedicated CPUs huge pages may be anywhere, and must be all there. */
static void test_unbound_pages(void **state)
{
	_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	struct fixture f;

	(void)state;
	change(plan, "hugepageSize", "2097152");
	fixture_make(&f, plan);
	change(report, "memory.guest",
	       "[{'policy': 'default', 'pageBytes': 2097152, 'nodes': {'0': 199229440, '1': "
	       "2097152}}]");
	expect(&f.p, report, "", "on two nodes");
	change(report, "memory.guest[0].nodes", "{'0': 199229440}");
	expect(&f.p, report, "guestMemory", "one page is missing");
	fixture_done(&f);
}

static void test_exclusivity(void **state)
{
	_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	struct fixture f;

	(void)state;
	change(plan, "exclusivityKernel", "true");
	fixture_make(&f, plan);
	expect(&f.p, golden, "", "the kernel keeps others off");
	change(report, "exclusivity", "'ledger'");
	expect(&f.p, report, "exclusivity", "exclusivity");
	fixture_done(&f);
}

static void test_ledger(void **state)
{
	struct fixture f;

	(void)state;
	fixture_make(&f, golden_plan);
	CPU_SET(2, &f.other.cpus);
	expect(&f.p, golden, "ledger", "another VM holds CPU 2, too");
	CPU_CLR(2, &f.other.cpus);
	CPU_SET(3, &f.other.cpus);
	expect(&f.p, golden, "cpusets", "another VM holds CPU 3 of the shared pool");
	CPU_CLR(3, &f.other.cpus);
	f.p.cpus.vcpu[1] = 1;
	expect(&f.p, golden, "vcpuPins cpusets ledger", "two vCPUs on one CPU");
	f.p.cpus = (struct cpu_assignment){0};
	expect(&f.p, golden, "vcpuPins cpusets ledger", "the ledger has nothing");
	fixture_done(&f);
}

/* With an emulator CPU of its own everything but vCPUs must be there, not in the shared pool. */
static void test_isolated_emulator(void **state)
{
	_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	json_t *process, *thread;
	struct fixture f;
	size_t i, j;

	(void)state;
	change(plan, "isolateEmulator", "true");
	fixture_make(&f, plan);
	CPU_SET(3, &f.p.cpus.emulator);
	CPU_SET(3, &f.p.cpus.all);
	expect(&f.p, golden, "otherThreads kernelThreads cpusets", "threads in the shared pool");
	change(report, "cgroup.cpuset.emu.cpus", "'3'");
	json_array_foreach (json_object_get(report, "processes"), i, process)
		json_array_foreach (json_object_get(process, "threads"), j, thread)
			if (!str_eq(json_str(thread, "role"), "vcpu"))
				change(thread, "cpus", "'3'");
	change(report, "kernelThreads[0].cpus", "'3'");
	expect(&f.p, report, "", "threads on the emulator's CPU");
	fixture_done(&f);
}

/* The kernel has one way to write an address, people have several. */
static void test_ipv6_gateway(void **state)
{
	_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	struct fixture f;

	(void)state;
	change(plan, "nics[0].gateway", "'FD00:0:0::0001/64'");
	fixture_make(&f, plan);
	change(link_of(report, "host", "vb6cba6fe9c33"), "addresses", "['fd00::1/64']");
	expect(&f.p, report, "", "the same address");
	change(link_of(report, "host", "vb6cba6fe9c33"), "addresses", "['fd00::1/48']");
	expect(&f.p, report, "hostBridges", "another prefix");
	fixture_done(&f);
}

/* A kernel with the dummy driver has one more link, which must be as quiet as promised. */
static void test_dummy(void **state)
{
	static const char *const lies_of_it[][2] = {
		{"kind", "'veth'"}, {"up", "true"}, {"mac", "'02:09:0a:d2:35:58'"}};
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	struct fixture f;

	(void)state;
	fixture_make(&f, golden_plan);
	change(report, "links.pod[4]",
	       "{'name': 'pod9404eea3257', 'kind': 'dummy', 'up': false, 'mac': "
	       "'02:09:0a:d2:35:57'}");
	expect(&f.p, report, "", "a dummy as it should be");
	for (size_t i = 0; i < ARRAY_SIZE(lies_of_it); i++) {
		_cleanup_json_ json_t *copy = json_deep_copy(report);

		change(link_of(copy, "pod", "pod9404eea3257"), lies_of_it[i][0], lies_of_it[i][1]);
		expect(&f.p, copy, "dummies", lies_of_it[i][0]);
	}
	fixture_done(&f);
}

/* A layer that is off promises nothing, and each one that is on is missed in a pod without any. */
static void test_layers(void **state)
{
	static const struct lie bare[] = {
		{"idMaps", "isolation.user", "processes[1].uidMap[0].outside=0"},
		{"namespaces", "isolation.user", "processes[1].namespaces.user.host=true"},
		{"namespaces", "isolation.pid", "processes[1].namespaces.pid.host=true"},
		{"namespaces", "isolation.mount", "processes[1].namespaces.mnt.host=true"},
		{"namespaces", "isolation.net", "processes[1].namespaces.net.host=true"},
		{"namespaces", "isolation.ipc", "processes[1].namespaces.ipc.host=true"},
		{"namespaces", "isolation.uts", "processes[1].namespaces.uts.host=true"},
		{"namespaces", "isolation.cgroup", "processes[1].namespaces.cgroup.host=true"},
		{"mounts", "isolation.mount", "processes[1].mounts[0].point='/home'"},
		{"rootEntries", "isolation.mount", "processes[1].rootEntries[0]='home'"},
		{"devEntries", "isolation.mount", "processes[1].devEntries[0]='sda'"},
		{"devices", "isolation.devices", "devices=['a *:* rwm']"},
		{"capabilities", "isolation.capabilities",
		 "processes[0].capabilities.bounding='1'"},
		{"noNewPrivs", "isolation.noNewPrivs", "processes[0].noNewPrivs=false"},
		{"dumpable", "isolation.dumpableOff", "processes[0].dumpable=true"},
		{"memoryLimit", "isolation.limits", "cgroup.limits.memoryMax=null"},
		{"pidsLimit", "isolation.limits", "cgroup.limits.pidsMax=null"},
		{"podBridges podNics taps hostVeths hostBridges", "isolation.net",
		 "links={'pod': [], 'host': []}"},
		{"netnsPin", "isolation.net", "netnsPinned=false"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bare); i++) {
		_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
		_cleanup_json_ json_t *report = json_deep_copy(golden);
		_cleanup_free_ char *path = xstrdup(bare[i].value);
		char *value = strchr(path, '=');
		struct fixture on, off;

		*value++ = 0;
		change(report, path, value);
		fixture_make(&on, plan);
		change(plan, bare[i].path, "false");
		fixture_make(&off, plan);
		expect(&on.p, report, bare[i].wants, path);
		expect(&off.p, report, "", path);
		fixture_done(&on);
		fixture_done(&off);
	}
}

static void test_seccomp_off(void **state)
{
	_cleanup_json_ json_t *plan = json_deep_copy(golden_plan);
	_cleanup_json_ json_t *report = json_deep_copy(golden);
	struct fixture f;

	(void)state;
	change(report, "processes[0].seccomp.mode", "'disabled'");
	change(report, "processes[0].threads[0].seccompFilters", "0");
	change(plan, "isolation.seccomp", "'audit'"); /* logs, but is a filter all the same */
	fixture_make(&f, plan);
	expect(&f.p, report, "seccomp seccompFilters", "audit");
	fixture_done(&f);
	change(plan, "isolation.seccomp", "'off'");
	fixture_make(&f, plan);
	expect(&f.p, report, "", "off");
	fixture_done(&f);
}

/* Last: each check found at least one of the lies above. */
static void test_no_check_is_idle(void **state)
{
	const char *const *names = verify_checks();

	(void)state;
	for (size_t i = 0; names[i]; i++)
		if (!was_found[i])
			fail_msg("no lie was found by check '%s'", names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truth),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_link_lies),
		cmocka_unit_test(test_plan_lies),
		cmocka_unit_test(test_kvm),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_bound_memory),
		cmocka_unit_test(test_unbound_pages),
		cmocka_unit_test(test_exclusivity),
		cmocka_unit_test(test_ledger),
		cmocka_unit_test(test_isolated_emulator),
		cmocka_unit_test(test_ipv6_gateway),
		cmocka_unit_test(test_dummy),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_seccomp_off),
		cmocka_unit_test(test_no_check_is_idle),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

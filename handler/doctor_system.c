// SPDX-License-Identifier: Apache-2.0
/* Memory, limits, ids, security modules, and the host's firewall on bridges. */
#include "handler/doctor_internal.h"

#include "handler/hostmem.h"
#include "handler/ids.h"

#include "api/limits.h"
#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void doctor_hugepages(const struct doctor_host *h, struct doctor_finding *f)
{
	static const struct {
		const char *name;
		uint64_t size;
	} sizes[] = {{"2Mi", (uint64_t)2 << 20}, {"1Gi", (uint64_t)1 << 30}};
	char text[128] = "", file[HOSTMEM_PATH_MAX];
	uint64_t total = 0;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct hugepages pool;

		if (hostmem_hugepages(h->root, sizes[i].size, -1, &pool) < 0)
			continue;
		total += pool.total;
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "%s%s: %" PRIu64 " free of %" PRIu64, n ? ", " : "",
				      sizes[i].name, pool.free, pool.total);
	}
	doctor_found(f, total ? DOCTOR_OK : DOCTOR_WARNING, "%s",
		     n ? text : "this kernel has none of 2Mi or 1Gi");
	if (!total && n)
		doctor_fix(f, "VMs with memory.hugepages stay Pending", "echo 512 > %s",
			   hostmem_pool_file(sizes[0].size, -1, file));
	else if (!total)
		doctor_fix(f, "VMs with memory.hugepages are refused",
			   "take a kernel with CONFIG_HUGETLBFS");
}

void doctor_limit_memlock(const struct doctor_host *h, struct doctor_finding *f)
{
	if (h->memlock_err.code == -EACCES) {
		doctor_needs_root(f, "whether virt-handler may raise it");
		return;
	}
	if (!h->memlock_err.code) {
		doctor_found(f, DOCTOR_OK, "can be taken away");
		return;
	}
	doctor_found(f, DOCTOR_WARNING, "%" PRIu64 " KiB, and root here may not raise it",
		     h->memlock / 1024);
	doctor_fix(f, "VMs with cpu.realtime stay Pending",
		   "ulimit -l unlimited before virtpod starts a handler, or LimitMEMLOCK=infinity "
		   "in virt-handler.service");
}

void doctor_limit_nofile(const struct doctor_host *h, struct doctor_finding *f)
{
	if (!h->is_root) {
		doctor_needs_root(f, "virt-handler's limit");
		return;
	}
	doctor_found(f, h->nofile >= LIMITS_NOFILE ? DOCTOR_OK : DOCTOR_WARNING,
		     "%" PRIu64 " descriptors, VMs want %d", h->nofile, LIMITS_NOFILE);
	if (h->nofile < LIMITS_NOFILE)
		doctor_fix(f, "VMs with many disks and queues may not start",
			   "ulimit -Hn %d before virtpod starts a handler, or LimitNOFILE=%d in "
			   "virt-handler.service",
			   LIMITS_NOFILE, LIMITS_NOFILE);
}

void doctor_user_namespaces(const struct doctor_host *h, struct doctor_finding *f)
{
	char max[32] = "";

	(void)file_read_line_at(h->root, "proc/sys/user/max_user_namespaces", max, sizeof max);
	if (str_eq(max, "0")) {
		doctor_found(f, DOCTOR_PROBLEM, "user.max_user_namespaces is 0");
		doctor_fix(f, "no VM starts", "sysctl -w user.max_user_namespaces=10000");
	} else if (h->userns_err.code == -EACCES) {
		doctor_needs_root(f, "making one");
	} else if (h->userns_err.code) {
		doctor_found(f, DOCTOR_PROBLEM, "%s", h->userns_err.msg);
		doctor_fix(f, "no VM starts",
			   "leave the chroot or container, or take a kernel with CONFIG_USER_NS");
	} else {
		doctor_found(f, DOCTOR_OK, "one was made%s%s", *max ? "; at most " : "", max);
	}
}

void doctor_user_ids(const struct doctor_host *h, struct doctor_finding *f)
{
	struct ids_block b = {0};
	struct err err = {0};
	int r;

	if (h->paths_err.code) {
		doctor_found(f, DOCTOR_UNKNOWN, "%s", h->paths_err.msg);
		doctor_fix(f, "which ids the VMs would get can't be told", "make the folder");
		return;
	}
	r = ids_look(h->root, h->paths.tag, &b, &err);
	if (r < 0) {
		doctor_cant_read(f, "passwd, group, subuid and subgid", r);
		return;
	}
	doctor_found(f,
		     b.taken == b.n ? DOCTOR_PROBLEM
		     : b.taken	    ? DOCTOR_WARNING
				    : DOCTOR_OK,
		     "%u of %u ids are free, %u to %u", b.n - b.taken, b.n, b.first,
		     b.first + b.n - 1);
	if (b.taken)
		doctor_fix(f, b.taken == b.n ? "no VM starts" : "that many VMs at once, no more",
			   "take them out of /etc/passwd, group, subuid and subgid");
}

void doctor_lsm(const struct doctor_host *h, struct doctor_finding *f)
{
	char list[256], enforce[8] = "";
	int r = file_read_line_at(h->root, "sys/kernel/security/lsm", list, sizeof list);

	if (r == -ENOENT) {
		doctor_found(f, DOCTOR_UNKNOWN, "/sys/kernel/security/lsm: not there");
		doctor_fix(f, "can't be told",
			   "mount -t securityfs securityfs /sys/kernel/security");
		return;
	}
	if (r < 0) {
		doctor_cant_read(f, "/sys/kernel/security/lsm", r);
		return;
	}
	(void)file_read_line_at(h->root, "sys/fs/selinux/enforce", enforce, sizeof enforce);
	if (!str_eq(enforce, "1")) {
		doctor_found(f, DOCTOR_OK, "%s", list);
		return;
	}
	doctor_found(f, DOCTOR_WARNING, "%s; SELinux enforces", list);
	doctor_fix(f,
		   "pods have no label of their own, and no policy for them was tried: a start may "
		   "be denied",
		   "ausearch -m avc says what was denied; setenforce 0 tells whether that is it");
}

/* iptables or ip6tables sees what bridges forward; of this network namespace. */
static int frames_are_filtered(int root, const char *which)
{
	char path[96], value[8];
	int r;

	(void)snprintf(path, sizeof path, "proc/sys/net/bridge/bridge-nf-call-%s", which);
	r = file_read_line_at(root, path, value, sizeof value);
	return r < 0 ? (r == -ENOENT ? 0 : r) : !str_eq(value, "0");
}

void doctor_bridge_netfilter(const struct doctor_host *h, struct doctor_finding *f)
{
	int v4 = frames_are_filtered(h->root, "iptables");
	int v6 = frames_are_filtered(h->root, "ip6tables");

	if (v4 == 0 && v6 == 0) {
		doctor_found(f, DOCTOR_OK, "%s",
			     doctor_is_there(h->root, "proc/sys/net/bridge/bridge-nf-call-iptables")
				     ? "bridge-nf-call-iptables and -ip6tables are 0"
				     : "br_netfilter is not loaded");
	} else if (v4 < 0 || v6 < 0) {
		doctor_cant_read(f, "/proc/sys/net/bridge", v4 < 0 ? v4 : v6);
	} else if (h->forward_err.code == -EACCES) {
		doctor_needs_root(f, "the policy of the FORWARD chains");
	} else if (h->forward_err.code) {
		doctor_found(f, DOCTOR_UNKNOWN, "%s", h->forward_err.msg);
		doctor_fix(f, "frames between VMs pass the host's firewall",
			   "sysctl -w net.bridge.bridge-nf-call-iptables=0 "
			   "net.bridge.bridge-nf-call-ip6tables=0");
	} else if (h->forward_who[0]) {
		doctor_found(f, DOCTOR_WARNING,
			     "bridge-nf-call-ip%stables is 1, and the policy of %s is DROP",
			     v4 > 0 ? "" : "6", h->forward_who);
		doctor_fix(f, "frames between VMs are dropped, unless a rule lets them pass",
			   "sysctl -w net.bridge.bridge-nf-call-iptables=0 "
			   "net.bridge.bridge-nf-call-ip6tables=0, or iptables -I FORWARD -m "
			   "physdev --physdev-is-bridged -j ACCEPT");
	} else {
		doctor_found(f, DOCTOR_OK, "bridge-nf-call-ip%stables is 1, no FORWARD chain drops",
			     v4 > 0 ? "" : "6");
	}
}

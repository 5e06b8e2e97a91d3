// SPDX-License-Identifier: Apache-2.0
/* Groups of pods: where they can be, and whether the kernel keeps CPUs for them. */
#include "handler/doctor_internal.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_V2 "boot with systemd.unified_cgroup_hierarchy=1 on the kernel's command line"
#define NO_PARTITION                                                                               \
	"dedicated CPUs are kept by virt-handler alone (exclusivity: ledger); "                    \
	"virtpod.io/exclusivity: kernel is refused"

void doctor_cgroup_version(const struct doctor_host *h, struct doctor_finding *f)
{
	if (h->cgroups_err.code) {
		doctor_found(f, DOCTOR_UNKNOWN, "no hierarchy that pods can be in");
		doctor_fix(f, "can't be told", "see cgroup-controllers");
	} else if (h->cgroups_v2) {
		doctor_found(f, DOCTOR_OK, "v2");
	} else {
		doctor_found(f, DOCTOR_WARNING, "v1, each controller in a hierarchy of its own");
		doctor_fix(f,
			   "no partitions: processes of the root group may run on dedicated CPUs",
			   BOOT_V2);
	}
}

/* Lines "name hierarchy groups enabled" of /proc/cgroups whose hierarchy is not 0: they are v1's. */
static char *v1_controllers(char *text)
{
	char *all = xstrdup(""), *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		size_t name = strcspn(l, "\t ");
		char *more;

		if (*l == '#' || strtol(l + name, NULL, 10) == 0)
			continue;
		more = xasprintf("%s%s%.*s", all, *all ? " " : "", (int)name, l);
		free(all);
		all = more;
	}
	return all;
}

void doctor_cgroup_controllers(const struct doctor_host *h, struct doctor_finding *f)
{
	_cleanup_free_ char *text = NULL, *list = NULL;
	int r;

	if (h->cgroups_err.code) {
		doctor_found(f, DOCTOR_PROBLEM, "%s", h->cgroups_err.msg);
		doctor_fix(f, "no VM starts", BOOT_V2);
		return;
	}
	r = file_read_at(h->root,
			 h->cgroups_v2 ? "sys/fs/cgroup/cgroup.controllers" : "proc/cgroups", 65536,
			 &text, NULL);
	if (r < 0)
		text = xstrdup("");
	list = h->cgroups_v2 ? xstrndup(text, strcspn(text, "\n")) : v1_controllers(text);
	/* that all which pods need are there was seen by opening them */
	doctor_found(f, DOCTOR_OK, "%s", *list ? list : "all that pods need");
}

void doctor_cpuset_partition(const struct doctor_host *h, struct doctor_finding *f)
{
	const struct err *e = &h->partition_err;

	if (!e->code) {
		doctor_found(f, DOCTOR_OK,
			     "the kernel knows root and isolated partitions, and no "
			     "other group holds CPUs");
	} else if (e->code == -EACCES) {
		doctor_needs_root(f, "cpuset partitions");
	} else if (e->code == -ENOTSUP && !h->cgroups_v2) {
		doctor_found(f, DOCTOR_WARNING, "%s", e->msg);
		doctor_fix(f, "other groups are kept off dedicated CPUs, the root group is not",
			   BOOT_V2);
	} else if (e->code == -ENOTSUP) {
		doctor_found(f, DOCTOR_WARNING, "%s", e->msg);
		doctor_fix(f, NO_PARTITION,
			   "take the CPUs out of that group's cpuset.cpus, or a kernel with cpuset "
			   "partitions (Linux 6.1 has them)");
	} else if (e->code == -EAGAIN) {
		doctor_found(f, DOCTOR_UNKNOWN, "%s", e->msg);
		doctor_fix(f, "virt-handler switches it on with the first VM",
			   "look again while a VM runs, or after: echo +cpuset "
			   ">/sys/fs/cgroup/cgroup.subtree_control");
	} else {
		doctor_found(f, DOCTOR_UNKNOWN, "%s", e->msg);
		doctor_fix(f, "can't be told", "virtpod doctor again; see cgroup-controllers");
	}
}

void doctor_bpf_jit_harden(const struct doctor_host *h, struct doctor_finding *f)
{
	char value[8];
	int r = file_read_line_at(h->root, "proc/sys/net/core/bpf_jit_harden", value, sizeof value);

	if (!h->cgroups_v2) {
		doctor_found(f, DOCTOR_OK, "of no matter: cgroup v1 has a controller for devices");
	} else if (r == -ENOENT) {
		doctor_found(f, DOCTOR_OK, "this kernel has no net.core.bpf_jit_harden");
	} else if (r < 0) {
		doctor_cant_read(f, "net.core.bpf_jit_harden", r);
	} else if (str_eq(value, "2")) {
		doctor_found(f, DOCTOR_PROBLEM, "net.core.bpf_jit_harden is 2");
		doctor_fix(f, "the list of a pod's devices can't be read back: every VM is refused",
			   "sysctl -w net.core.bpf_jit_harden=1");
	} else {
		doctor_found(f, DOCTOR_OK, "net.core.bpf_jit_harden is %s", value);
	}
}

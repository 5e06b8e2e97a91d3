// SPDX-License-Identifier: Apache-2.0
/* Between doctor.c and the checks, doctor_*.c. */
#pragma once

#include "handler/doctor.h"

enum doctor_verdict { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_PROBLEM, DOCTOR_UNKNOWN };

struct doctor_finding {
	enum doctor_verdict verdict;
	char *found; /* owned; what the kernel says */
	const char
		*means; /* static; what virtpod will refuse, or do worse. NULL: nothing to mend */
	char *fix;	/* owned; a command or a setting */
};

void doctor_found(struct doctor_finding *f, enum doctor_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_fix(struct doctor_finding *f, const char *means, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Unknown, as only root can see it; `what` is what was looked at. */
void doctor_needs_root(struct doctor_finding *f, const char *what);

/* Unknown: reading or trying it failed. */
void doctor_cant_read(struct doctor_finding *f, const char *what, int r);

/* What it is where there is no KVM, or no vhost-net: emulation was allowed, or VMs are refused. */
enum doctor_verdict doctor_without_device(const struct doctor_host *h);

/* The first thread's flags of proc/cpuinfo, "" when there are none. */
#define DOCTOR_FLAGS_MAX 8192
void doctor_cpu_flags(int root, char ret[static DOCTOR_FLAGS_MAX]);

bool doctor_is_there(int root, const char *path);

/* Could this module of the running kernel be loaded? By modules.dep; `file` is "vhost_net.ko". */
bool doctor_can_load(int root, const char *file);

typedef void doctor_look(const struct doctor_host *h, struct doctor_finding *f);

doctor_look doctor_kvm_cpu, doctor_kvm_module, doctor_kvm_device, doctor_kvm_nested,
	doctor_vhost_net, doctor_tun;
doctor_look doctor_cgroup_version, doctor_cgroup_controllers, doctor_cpuset_partition,
	doctor_bpf_jit_harden;
doctor_look doctor_cpu_policy, doctor_isolcpus, doctor_nohz_full, doctor_governor,
	doctor_irqbalance, doctor_realtime;
doctor_look doctor_hugepages, doctor_limit_memlock, doctor_limit_nofile, doctor_user_namespaces,
	doctor_user_ids, doctor_lsm, doctor_bridge_netfilter;
doctor_look doctor_qemu, doctor_qemu_machines, doctor_firmware_bios, doctor_firmware_uefi;

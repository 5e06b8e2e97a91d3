// SPDX-License-Identifier: Apache-2.0
/* CPUs: what is given away, and what else may run on it. */
#include "handler/doctor_internal.h"

#include "handler/realtime.h"

#include "api/plan.h"
#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/util.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define CPU "sys/devices/system/cpu"

#define NO_DEDICATED "VMs with dedicatedCpuPlacement stay Pending"
#define SET_STATIC                                                                                 \
	"virtpod apply -f a KubeletConfiguration with cpuManagerPolicy: static and "               \
	"reservedSystemCPUs: \"0\"; examples/demo.yaml has one"

void doctor_cpu_policy(const struct doctor_host *h, struct doctor_finding *f)
{
	char reserved[CPUS_TEXT_MAX], left[CPUS_TEXT_MAX];
	cpu_set_t rest = h->online;

	if (h->config_err.code == -EACCES) {
		doctor_needs_root(f, "the configuration in the store");
		return;
	}
	if (h->config_err.code) {
		doctor_found(f, DOCTOR_PROBLEM, "%s", h->config_err.msg);
		doctor_fix(f, "no VM starts until it is mended",
			   "virtpod get kubeletconfiguration -o yaml, mend it, virtpod apply -f");
		return;
	}
	if (h->policy.manager != CPU_MANAGER_STATIC) {
		doctor_found(f, DOCTOR_WARNING, "cpuManagerPolicy is none%s",
			     h->config_seen ? "" : ": nothing is configured yet");
		doctor_fix(f, NO_DEDICATED, SET_STATIC);
		return;
	}
	cpus_minus(&rest, &h->policy.reserved);
	doctor_found(f, CPU_COUNT(&rest) ? DOCTOR_OK : DOCTOR_WARNING,
		     "cpuManagerPolicy static, reservedSystemCPUs %.300s; for VMs: %.300s",
		     cpus_format(&h->policy.reserved, reserved),
		     CPU_COUNT(&rest) ? cpus_format(&rest, left) : "none");
	if (!CPU_COUNT(&rest))
		doctor_fix(f, NO_DEDICATED, "reserve fewer: reservedSystemCPUs: \"0\"");
}

void doctor_isolcpus(const struct doctor_host *h, struct doctor_finding *f)
{
	char list[CPUS_TEXT_MAX];
	int r = file_read_line_at(h->root, CPU "/isolated", list, sizeof list);

	if (r < 0 && r != -ENOENT) {
		doctor_cant_read(f, "/" CPU "/isolated", r);
		return;
	}
	if (r < 0 || !list[0]) {
		doctor_found(f, DOCTOR_OK, "none");
		return;
	}
	doctor_found(f, DOCTOR_WARNING, "the kernel isolates CPUs %.300s", list);
	doctor_fix(f,
		   "a VM whose emulator's CPU is one of them gets no partition (exclusivity: "
		   "ledger), and threads that share others are not balanced over them",
		   "leave isolcpus= out of the kernel's command line: partitions do more");
}

void doctor_nohz_full(const struct doctor_host *h, struct doctor_finding *f)
{
	char list[CPUS_TEXT_MAX];
	int r = file_read_line_at(h->root, CPU "/nohz_full", list, sizeof list);

	/* nothing is refused for it or without it */
	if (r < 0 || !list[0] || strstr(list, "null"))
		doctor_found(f, DOCTOR_OK, "none: vCPUs are interrupted by the timer's tick");
	else
		doctor_found(f, DOCTOR_OK, "CPUs %.300s have no tick while one thread runs", list);
}

void doctor_governor(const struct doctor_host *h, struct doctor_finding *f)
{
	unsigned others = 0, all = 0;
	char first[32] = "";

	for (int cpu = -1; (cpu = cpus_next(&h->online, cpu)) >= 0;) {
		char path[96], governor[32];

		(void)snprintf(path, sizeof path, CPU "/cpu%d/cpufreq/scaling_governor", cpu);
		if (file_read_line_at(h->root, path, governor, sizeof governor) < 0)
			continue;
		all++;
		if (str_eq(governor, "performance"))
			continue;
		if (!others++)
			(void)snprintf(first, sizeof first, "%s", governor);
	}
	if (!others) {
		doctor_found(f, DOCTOR_OK, "%s",
			     all ? "performance" : "none: this kernel sets no frequencies here");
		return;
	}
	doctor_found(f, DOCTOR_WARNING, "%s on %u of %u CPUs", first, others, all);
	doctor_fix(f, "dedicated CPUs run slower, and not at one speed",
		   "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
}

/* A process of this name, 0, or a negative errno. */
static long find_process(int root, const char *name)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	int r = dir_open_at(root, "proc", &dir);

	if (r < 0)
		return r;
	while ((de = readdir(dir))) {
		char path[NAME_MAX + 16], comm[32];

		(void)snprintf(path, sizeof path, "%s/comm", de->d_name);
		if (isdigit((unsigned char)de->d_name[0]) &&
		    file_read_line_at(dirfd(dir), path, comm, sizeof comm) == 0 &&
		    str_eq(comm, name))
			return strtol(de->d_name, NULL, 10);
	}
	return 0;
}

void doctor_irqbalance(const struct doctor_host *h, struct doctor_finding *f)
{
	long pid = find_process(h->root, "irqbalance");

	if (pid < 0) {
		doctor_cant_read(f, "/proc", (int)pid);
	} else if (pid) {
		doctor_found(f, DOCTOR_WARNING, "irqbalance runs (pid %ld)", pid);
		doctor_fix(f, "it may move interrupts to dedicated CPUs",
			   "systemctl disable --now irqbalance, or name VMs' CPUs in its "
			   "IRQBALANCE_BANNED_CPULIST");
	} else if (!doctor_is_there(h->root, "proc/1/comm")) { /* /proc with hidepid */
		doctor_needs_root(f, "other users' processes");
	} else {
		doctor_found(f, DOCTOR_OK, "does not run");
	}
}

void doctor_realtime(const struct doctor_host *h, struct doctor_finding *f)
{
	static char any[] = "0";
	const struct plan plan = {.realtime_vcpus = any};
	char value[32] = "?";
	struct err err = {0};
	int r = realtime_check(h->root, &plan, &err);

	(void)file_read_line_at(h->root, "proc/sys/kernel/sched_rt_runtime_us", value,
				sizeof value);
	if (r < 0 && r != -ENOTSUP) {
		doctor_cant_read(f, "kernel.sched_rt_runtime_us", r);
		return;
	}
	doctor_found(f, r < 0 ? DOCTOR_WARNING : DOCTOR_OK, "kernel.sched_rt_runtime_us is %s",
		     value);
	if (r < 0)
		doctor_fix(f, "VMs with cpu.realtime stay Pending",
			   "sysctl -w kernel.sched_rt_runtime_us=-1");
}

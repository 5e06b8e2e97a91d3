// SPDX-License-Identifier: Apache-2.0
/*
 * The steps of a start, in order, each with its undo. A step without undo makes nothing outside this
 * process. docs/architecture.md says what each owns and why the order is this one.
 */
#include "handler/steps.h"

#include "lib/util.h"

const struct pod_step pod_steps[] = {
	{"admit", step_admit, NULL},	   {"plan", step_plan, NULL},
	{"cpus", step_cpus, undo_cpus},	   {"cgroup", step_cgroup, undo_cgroup},
	{"net", step_net, undo_net},	   {"disks", step_disks, undo_disks},
	{"spawn", step_spawn, undo_spawn}, {"qemu", step_qemu, undo_nothing},
	{"pin", step_pin, undo_nothing},   {"run", step_run, undo_nothing},
};
const int pod_n_steps = ARRAY_SIZE(pod_steps);

int pod_step_index(const char *name)
{
	for (int i = 0; i < pod_n_steps; i++)
		if (str_eq(pod_steps[i].name, name))
			return i;
	return -1;
}

/* These steps act on processes that the undo of 'spawn' ends. */
int undo_nothing(struct pod *pod, struct err *err)
{
	(void)pod;
	(void)err;
	return 0;
}

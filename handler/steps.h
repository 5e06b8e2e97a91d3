// SPDX-License-Identifier: Apache-2.0
/* The steps' functions, one file per step or pair: handler/step_*.c. Contract: handler/pod.h. */
#pragma once

#include "handler/pod.h"

int step_admit(struct pod *pod, struct err *err);
int step_plan(struct pod *pod, struct err *err);
int step_cpus(struct pod *pod, struct err *err);
int undo_cpus(struct pod *pod, struct err *err);
int step_cgroup(struct pod *pod, struct err *err);
int undo_cgroup(struct pod *pod, struct err *err);
int step_net(struct pod *pod, struct err *err);
int undo_net(struct pod *pod, struct err *err);
int step_disks(struct pod *pod, struct err *err);
int undo_disks(struct pod *pod, struct err *err);
int step_spawn(struct pod *pod, struct err *err);
int undo_spawn(struct pod *pod, struct err *err);
int step_qemu(struct pod *pod, struct err *err);
int step_pin(struct pod *pod, struct err *err);
int step_run(struct pod *pod, struct err *err);
int undo_nothing(struct pod *pod, struct err *err);

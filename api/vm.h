// SPDX-License-Identifier: Apache-2.0
/* VirtualMachine: the VMI that it stands for, and whether that one should run. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* KubeVirt's run strategies; "running: true" is Always, false is Halted. */
enum run_strategy {
	RUN_HALTED,
	RUN_ALWAYS,
	RUN_RERUN_ON_FAILURE,
	RUN_ONCE,
	RUN_MANUAL,
};

/* How the VM's last VMI ended. */
enum vm_last { VM_LAST_NONE, VM_LAST_SUCCEEDED, VM_LAST_FAILED };

enum run_strategy vm_run_strategy(const json_t *vm);

/* Should there be a VMI now, when none is active? Manual says no: only requests start it. */
bool vm_wants_running(const json_t *vm, enum vm_last last);

/*
 * A new VMI of an admitted VM: its name and namespace, labels, annotations and spec of the template,
 * owner reference, firmware UUID from the VM's name; defaulted. The caller's.
 */
json_t *vm_to_vmi(const json_t *vm);

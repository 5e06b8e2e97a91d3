// SPDX-License-Identifier: Apache-2.0
#include "api/vm.h"

#include "api/default.h"
#include "api/meta.h"
#include "lib/json.h"

enum run_strategy vm_run_strategy(const json_t *vm)
{
	static const char *const names[] = {
		[RUN_HALTED] = "Halted",
		[RUN_ALWAYS] = "Always",
		[RUN_RERUN_ON_FAILURE] = "RerunOnFailure",
		[RUN_ONCE] = "Once",
		[RUN_MANUAL] = "Manual",
	};
	const char *strategy = json_str(vm, "spec.runStrategy");

	for (unsigned i = 0; strategy && i < ARRAY_SIZE(names); i++) {
		if (str_eq(names[i], strategy))
			return (enum run_strategy)i;
	}
	return json_flag(vm, "spec.running", false) ? RUN_ALWAYS : RUN_HALTED;
}

bool vm_wants_running(const json_t *vm, enum vm_last last)
{
	switch (vm_run_strategy(vm)) {
	case RUN_ALWAYS:
		return true;
	case RUN_RERUN_ON_FAILURE:
		return last != VM_LAST_SUCCEEDED;
	case RUN_ONCE:
		return last == VM_LAST_NONE;
	case RUN_HALTED:
	case RUN_MANUAL:
		break;
	}
	return false;
}

static json_t *copy_of(const json_t *obj, const char *path)
{
	const json_t *value = json_get(obj, path);

	return value ? json_deep_copy(value) : json_object();
}

json_t *vm_to_vmi(const json_t *vm)
{
	json_t *vmi = json_pack("{s:s, s:s, s:{s:s, s:s, s:o, s:o}, s:o}", "apiVersion",
				"kubevirt.io/v1", "kind", "VirtualMachineInstance", "metadata",
				"name", object_name(vm), "namespace", object_namespace(vm),
				"labels", copy_of(vm, "spec.template.metadata.labels"),
				"annotations", copy_of(vm, "spec.template.metadata.annotations"),
				"spec", copy_of(vm, "spec.template.spec"));

	if (object_uid(vm)[0])
		(void)json_path_set(vmi, "metadata.ownerReferences",
				    json_pack("[{s:s, s:s, s:s, s:s, s:b, s:b}]", "apiVersion",
					      "kubevirt.io/v1", "kind", "VirtualMachine", "name",
					      object_name(vm), "uid", object_uid(vm), "controller",
					      1, "blockOwnerDeletion", 1));
	(void)json_path_set(vmi, "metadata.finalizers",
			    json_pack("[s]", "kubevirt.io/virtualMachineControllerFinalize"));
	vmi_default(vmi);
	return vmi;
}

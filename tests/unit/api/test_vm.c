// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "api/overhead.h"
#include "api/vm.h"
#include "tests/unit/api/objects.h"

#define VM_HEAD                                                                                    \
	"apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a, uid: u-1}\nspec:\n"
#define TEMPLATE                                                                                   \
	"  template:\n"                                                                            \
	"    metadata: {labels: {app: x}, annotations: {virtpod.io/isolation: user=off}}\n"        \
	"    spec:\n"                                                                              \
	"      domain: {memory: {guest: 64Mi}, devices: {autoattachPodInterface: false}}\n"

static void run_strategies(void **state)
{
	static const struct {
		const char *spec;
		enum run_strategy strategy;
		bool wants[3]; /* after none, a success, a failure */
	} cases[] = {
		{"  runStrategy: Always\n", RUN_ALWAYS, {true, true, true}},
		{"  running: true\n", RUN_ALWAYS, {true, true, true}},
		{"  running: false\n", RUN_HALTED, {false, false, false}},
		{"  runStrategy: Halted\n", RUN_HALTED, {false, false, false}},
		{"  runStrategy: Manual\n", RUN_MANUAL, {false, false, false}},
		{"  runStrategy: Once\n", RUN_ONCE, {true, false, false}},
		{"  runStrategy: RerunOnFailure\n", RUN_RERUN_ON_FAILURE, {true, false, true}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = xasprintf("%s%s%s", VM_HEAD, cases[i].spec, TEMPLATE);
		_cleanup_json_ json_t *vm = admitted(text);

		assert_int_equal(vm_run_strategy(vm), cases[i].strategy);
		for (int last = VM_LAST_NONE; last <= VM_LAST_FAILED; last++)
			assert_int_equal(vm_wants_running(vm, (enum vm_last)last),
					 cases[i].wants[last]);
	}
}

static void its_vmi(void **state)
{
	_cleanup_json_ json_t *vm = admitted(VM_HEAD "  runStrategy: Always\n" TEMPLATE);
	_cleanup_json_ json_t *vmi = vm_to_vmi(vm);

	(void)state;
	assert_string_equal(json_str(vmi, "kind"), "VirtualMachineInstance");
	assert_string_equal(json_str(vmi, "metadata.name"), "a");
	assert_string_equal(json_str(vmi, "metadata.namespace"), "default");
	assert_string_equal(json_str(vmi, "metadata.labels.app"), "x");
	assert_string_equal(json_str(vmi, "metadata.annotations[virtpod.io/isolation]"),
			    "user=off");
	assert_string_equal(json_str(vmi, "metadata.ownerReferences[0].uid"), "u-1");
	assert_true(json_flag(vmi, "metadata.ownerReferences[0].controller", false));
	assert_string_equal(json_str(vmi, "spec.domain.firmware.uuid"),
			    json_str(vm, "spec.template.spec.domain.firmware.uuid"));
	assert_string_equal(json_str(vmi, "status.phase"), "Pending");
	assert_null(json_get(vmi, "metadata.uid"));
	/* the VM itself is as it was */
	assert_null(json_get(vm, "spec.template.spec.domain.cpu"));
}

static void errors_have_the_templates_path(void **state)
{
	_cleanup_yaml_doc_ struct yaml_doc *doc =
		doc_of("apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n"
		       "metadata: {name: a, annotations: {virtpod.io/isolation: user=off}}\n"
		       "spec:\n  running: true\n  runStrategy: Sometimes\n"
		       "  template:\n    metadata: {labels: {a/b/c: d}}\n    spec:\n      "
		       "domain:\n        cpu: {cores: 1000}\n"
		       "        memory: {guest: 1Gi}\n"
		       "        devices: {autoattachPodInterface: false}\n");
	_cleanup_causes_ struct causes causes = {0};
	const struct kind *kind;
	static const char *const expected[] = {
		"vm.yaml:5: spec.running: can't stand beside spec.runStrategy: leave running "
		"out",
		"vm.yaml:6: spec.runStrategy: is 'Sometimes', must be Always, RerunOnFailure, "
		"Once, "
		"Manual or Halted",
		"vm.yaml:3: metadata.annotations[virtpod.io/isolation]: belongs under "
		"spec.template.metadata.annotations",
		"vm.yaml:8: spec.template.metadata.labels: 'a/b/c': '/' at character 4 is not "
		"allowed; letters, digits, '-', '_' and '.' are",
		"vm.yaml:11: spec.template.spec.domain.cpu: asks for 1 sockets of 1000 cores of 1 "
		"threads, must be at most 512 vCPUs",
	};

	(void)state;
	assert_int_equal(admit(yaml_doc_root(doc), NULL, &kind, &causes), -22);
	assert_int_equal(causes.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < causes.n; i++) {
		_cleanup_free_ char *text = cause_text(&causes.list[i], doc);

		assert_string_equal(text, expected[i]);
	}
}

static void tcg_buffer_is_bounded(void **state)
{
	const uint64_t mib = 1 << 20;

	(void)state;
	assert_int_equal(memory_tcg(1), 32 * mib);
	assert_int_equal(memory_tcg(128 * mib), 32 * mib);
	assert_int_equal(memory_tcg(135 * mib), 33 * mib);
	assert_int_equal(memory_tcg(1024 * mib), 256 * mib);
	assert_int_equal(memory_tcg(UINT64_MAX), 256 * mib);
}

/* limits.memory raises the pod's limit, never lowers it below the guest's need. */
static void limit_of_the_pod(void **state)
{
	static const struct {
		const char *limit;
		uint64_t mib;
	} cases[] = {{"512Mi", 1024}, {"1Gi", 1024}, {"3Gi", 3072}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text =
			xasprintf(VMI_HEAD "  domain:\n    memory: {guest: 1Gi}\n"
					   "    resources: {limits: {memory: %s}}\n"
					   "    devices: {autoattachPodInterface: false}\n",
				  cases[i].limit);
		_cleanup_json_ json_t *vmi = admitted(text);

		/* 240 + one vCPU 8 + IO thread 8 + graphics 32 + page tables 2 */
		assert_int_equal(memory_overhead(vmi), 290 << 20);
		assert_int_equal(memory_limit(vmi, 32 << 20), (cases[i].mib + 290 + 32) << 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_strategies),
		cmocka_unit_test(its_vmi),
		cmocka_unit_test(errors_have_the_templates_path),
		cmocka_unit_test(tcg_buffer_is_bounded),
		cmocka_unit_test(limit_of_the_pod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

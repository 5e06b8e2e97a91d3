// SPDX-License-Identifier: Apache-2.0
/*
 * VirtualMachines: when their VMI is made, made again and ended, by run strategy. The VMI's own life is
 * played by the test; time enters only through the stored virtpod.io/retryAfterUptime.
 */
#include "tests/unit/handler/api.h"

#include "handler/objstore.h"
#include "handler/status.h"
#include "handler/vmi.h"
#include "handler/vms.h"
#include "handler/vmstatus.h"

#define VMS "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"

static int setup(void **state)
{
	*state = api_open(NULL);
	return 0;
}

static int teardown(void **state)
{
	api_close(*state);
	return 0;
}

static void create_vm(struct api *a, const char *strategy)
{
	_cleanup_free_ char *body = xasprintf(
		"{\"apiVersion\": \"kubevirt.io/v1\", \"kind\": \"VirtualMachine\", \"metadata\": "
		"{\"name\": \"vm\"}, \"spec\": {\"runStrategy\": \"%s\", \"template\": "
		"{\"metadata\": "
		"{\"labels\": {\"app\": \"a\"}}, \"spec\": {\"domain\": {\"memory\": {\"guest\": "
		"\"128Mi\"}, \"devices\": {\"autoattachPodInterface\": false}}}}}}",
		strategy);
	json_t *got = NULL;
	int code = api_call(a, "POST", VMS, body, &got);

	if (code != 201)
		fail_msg("%d %s", code, json_text(got));
	json_decref(got);
	vms_reconcile(&a->h);
}

/* NULL when there is none; the caller's. */
static json_t *get(struct api *a, const char *path)
{
	json_t *got = NULL;

	if (api_call(a, "GET", path, NULL, &got) == 200)
		return got;
	json_decref(got);
	return NULL;
}

static void expect_status(struct api *a, const char *printable)
{
	_cleanup_json_ json_t *vm = get(a, VMS "/vm");

	assert_non_null(vm);
	assert_string_equal(json_str(vm, "status.printableStatus"), printable);
}

/* Phases that the VMI goes through, then a round of the VMs. */
static void play(struct api *a, const char *const *phases)
{
	_cleanup_json_ json_t *vmi = NULL;
	_cleanup_json_ json_t *status = NULL;
	struct err err = {0};

	assert_int_equal(store_get(a->h.store, VMI_KIND, "default", "vm", &vmi, &err), 0);
	status = vmi_status(&a->h, vmi);
	for (; *phases; phases++)
		status_set_phase(status, *phases);
	vmi_publish(&a->h, vmi, status);
	vms_reconcile(&a->h);
}
#define PLAY(a, ...) play(a, (const char *const[]){__VA_ARGS__, NULL})

/* What the reconcile round does with a VMI of which nothing is left, then a round of the VMs. */
static void sweep(struct api *a)
{
	const struct kind *k = kind_by_path("kubevirt.io", "v1", "virtualmachineinstances");
	_cleanup_json_ json_t *vmi = NULL;
	struct err err = {0};

	assert_int_equal(object_load(&a->h, k, "default", "vm", &vmi, &err), 0);
	assert_non_null(json_get(vmi, "metadata.deletionTimestamp"));
	assert_int_equal(object_remove(&a->h, k, vmi, &err), 0);
	vms_reconcile(&a->h);
}

static bool marked(struct api *a)
{
	_cleanup_json_ json_t *vmi = get(a, VMIS "/vm");

	assert_non_null(vmi);
	return json_get(vmi, "metadata.deletionTimestamp");
}

static void test_vmi_of_vm(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vm = NULL;
	_cleanup_json_ json_t *vmi = NULL;

	create_vm(a, "Always");
	vm = get(a, VMS "/vm");
	vmi = get(a, VMIS "/vm");
	assert_non_null(vmi);
	assert_string_equal(json_str(vmi, "metadata.labels.app"), "a");
	assert_string_equal(json_str(vmi, "metadata.ownerReferences[0].uid"),
			    json_str(vm, "metadata.uid"));
	assert_string_not_equal(json_str(vmi, "metadata.uid"), json_str(vm, "metadata.uid"));
	assert_string_equal(json_str(vmi, "status.phase"), "Pending");
	assert_true(json_flag(vm, "status.created", false));
	assert_false(json_flag(vm, "status.ready", true));
	assert_string_equal(json_str(vm, "status.runStrategy"), "Always");
	assert_int_equal(json_u64(vm, "status.observedGeneration", 0), 1);
	expect_status(a, "Starting");
}

static void test_status_follows(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vm = NULL;
	_cleanup_json_ json_t *same = NULL;

	create_vm(a, "Always");
	PLAY(a, "Scheduling", "Running");
	expect_status(a, "Running");
	vm = get(a, VMS "/vm");
	assert_true(json_flag(vm, "status.ready", false));
	assert_string_equal(json_str(status_condition(json_get(vm, "status"), "Ready"), "status"),
			    "True");
	vms_reconcile(&a->h); /* nothing new: no write */
	same = get(a, VMS "/vm");
	assert_true(json_equal(vm, same));
}

static void test_halted(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vm = NULL;

	create_vm(a, "Halted");
	assert_null(get(a, VMIS "/vm"));
	expect_status(a, "Stopped");
	vm = get(a, VMS "/vm");
	assert_false(json_flag(vm, "status.created", true));
	assert_string_equal(json_str(status_condition(json_get(vm, "status"), "Ready"), "reason"),
			    "VMINotExists");
}

static void test_manual(void **state)
{
	create_vm(*state, "Manual");
	assert_null(get(*state, VMIS "/vm"));
	expect_status(*state, "Stopped");
}

/* A guest that shuts itself down is started again, as a new VMI. */
static void test_always(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *first = NULL;
	_cleanup_json_ json_t *second = NULL;

	create_vm(a, "Always");
	first = get(a, VMIS "/vm");
	PLAY(a, "Running", "Succeeded");
	assert_true(marked(a));
	sweep(a);
	second = get(a, VMIS "/vm");
	assert_string_not_equal(json_str(first, "metadata.uid"), json_str(second, "metadata.uid"));
	expect_status(a, "Starting");
}

static void test_rerun_on_failure(void **state)
{
	struct api *a = *state;

	create_vm(a, "RerunOnFailure");
	PLAY(a, "Running", "Failed");
	assert_true(marked(a));
	sweep(a);
	PLAY(a, "Running", "Succeeded");
	assert_false(marked(a)); /* its end stays to be seen */
	expect_status(a, "Stopped");
}

static void test_once(void **state)
{
	struct api *a = *state;
	json_t *got = NULL;

	create_vm(a, "Once");
	PLAY(a, "Running", "Failed");
	assert_false(marked(a));
	assert_int_equal(api_call(a, "DELETE", VMIS "/vm", NULL, &got), 200);
	json_decref(got);
	vms_reconcile(&a->h);
	sweep(a);
	assert_null(get(a, VMIS "/vm")); /* it has been started once */
	expect_status(a, "Stopped");
}

static void halt(struct api *a)
{
	const struct kind *k = kind_by_path("kubevirt.io", "v1", "virtualmachines");
	_cleanup_json_ json_t *vm = get(a, VMS "/vm");
	struct err err = {0};

	(void)json_path_set(vm, "spec.runStrategy", json_string("Halted"));
	assert_int_equal(object_update(&a->h, k, vm, &err), 0);
	vms_reconcile(&a->h);
}

/* A VM that was halted ends its VMI, and does not keep one that has ended. */
static void test_becomes_halted(void **state)
{
	struct api *a = *state;

	create_vm(a, "Once");
	PLAY(a, "Running");
	halt(a);
	assert_true(marked(a));
	expect_status(a, "Stopping");
	sweep(a);
	expect_status(a, "Stopped");
}

static void test_halted_with_ended_vmi(void **state)
{
	create_vm(*state, "Once");
	PLAY(*state, "Running", "Succeeded");
	assert_false(marked(*state));
	halt(*state);
	assert_true(marked(*state));
}

static void test_unschedulable(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vmi = NULL;
	_cleanup_json_ json_t *status = NULL;
	struct err err = {0};

	create_vm(a, "Always");
	assert_int_equal(store_get(a->h.store, VMI_KIND, "default", "vm", &vmi, &err), 0);
	status = vmi_status(&a->h, vmi);
	status_set_condition(status, "PodScheduled", "False", "Unschedulable", "no CPUs");
	vmi_publish(&a->h, vmi, status);
	vms_reconcile(&a->h);
	expect_status(a, "ErrorUnschedulable");
}

/* One that ended before it ran waits longer each time. */
static void test_back_off(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vm = NULL;

	create_vm(a, "Always");
	PLAY(a, "Scheduled", "Failed");
	assert_true(marked(a));
	vms_reconcile(&a->h); /* another round does not count it twice */
	expect_status(a, "CrashLoopBackOff");
	sweep(a);
	assert_null(get(a, VMIS "/vm"));
	assert_true(vms_waiting(&a->h));
	vm = get(a, VMS "/vm");
	assert_int_equal(json_u64(vm, "status.startFailure.consecutiveFailCount", 0), 1);
	expect_status(a, "CrashLoopBackOff");
	/* the time has come */
	(void)json_object_set_new(json_get(vm, "status.startFailure"),
				  "virtpod.io/retryAfterUptime", json_integer(1));
	{
		const struct kind *k = kind_by_path("kubevirt.io", "v1", "virtualmachines");
		_cleanup_json_ json_t *old = get(a, VMS "/vm");

		object_publish_status(&a->h, k, old, json_get(vm, "status"));
	}
	vms_reconcile(&a->h);
	assert_false(marked(a)); /* there is a new one */
	assert_false(vms_waiting(&a->h));
	PLAY(a, "Running");
	json_decref(vm);
	vm = get(a, VMS "/vm");
	assert_null(json_get(vm, "status.startFailure")); /* it ran: all is forgotten */
}

static void test_back_off_times(void **state)
{
	static const time_t waits[] = {10, 40, 90, 160, 250, 300, 300};
	_cleanup_json_ json_t *status = json_object();
	time_t now = 1800000000, uptime = 3;

	(void)state;
	assert_int_equal(vmstatus_retry_at(status), 0);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		char uid[8];

		(void)snprintf(uid, sizeof uid, "%zu", i);
		vmstatus_count_failure(status, uid, now, uptime);
		vmstatus_count_failure(status, uid, now + 5, uptime + 5); /* the same one */
		assert_int_equal(vmstatus_retry_at(status), uptime + waits[i]);
	}
}

static void test_delete(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *vmi = NULL;
	json_t *got = NULL;

	create_vm(a, "Always");
	PLAY(a, "Running");
	assert_int_equal(api_call(a, "DELETE", VMS "/vm?gracePeriodSeconds=7", NULL, &got), 200);
	assert_non_null(json_get(got, "metadata.deletionTimestamp"));
	json_decref(got);
	vms_reconcile(&a->h);
	assert_true(marked(a));
	vmi = get(a, VMIS "/vm");
	assert_int_equal(json_u64(vmi, "metadata.deletionGracePeriodSeconds", 99), 7);
	expect_status(a, "Terminating");
	PLAY(a, "Succeeded");
	expect_status(a, "Terminating"); /* still: the VMI is there */
	sweep(a);
	assert_null(get(a, VMS "/vm"));
	assert_null(get(a, VMIS "/vm"));
}

static void test_delete_without_vmi(void **state)
{
	struct api *a = *state;
	json_t *got = NULL;

	create_vm(a, "Halted");
	assert_int_equal(api_call(a, "DELETE", VMS "/vm", NULL, &got), 200);
	json_decref(got);
	vms_reconcile(&a->h);
	assert_null(get(a, VMS "/vm"));
}

/* A VMI of the same name that is somebody else's is left alone, and is what the status says. */
static void test_foreign_vmi(void **state)
{
	struct api *a = *state;
	_cleanup_free_ char *body = vmi_text("vm", "other");
	_cleanup_json_ json_t *made = NULL;
	_cleanup_json_ json_t *vm = NULL;
	_cleanup_json_ json_t *still = NULL;
	json_t *got = NULL;

	assert_int_equal(api_call(a, "POST", VMIS, body, &made), 201);
	create_vm(a, "Always");
	vm = get(a, VMS "/vm");
	assert_string_equal(
		json_str(status_condition(json_get(vm, "status"), "Failure"), "message"),
		"a VirtualMachineInstance \"vm\" that is not this VirtualMachine's is "
		"there; delete it first");
	assert_int_equal(api_call(a, "DELETE", VMS "/vm", NULL, &got), 200);
	json_decref(got);
	vms_reconcile(&a->h);
	assert_null(get(a, VMS "/vm"));
	still = get(a, VMIS "/vm");
	assert_true(json_equal(made, still));
}

/* Whatever happens to a VMI asks for another round: the VM's status and next step follow from it. */
static void test_asks_for_a_round(void **state)
{
	struct api *a = *state;
	int enabled = SD_EVENT_ON;

	create_vm(a, "Always");
	(void)sd_event_source_set_enabled(a->h.reconcile, SD_EVENT_OFF);
	PLAY(a, "Running");
	assert_int_equal(sd_event_source_get_enabled(a->h.reconcile, &enabled), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_vmi_of_vm),	   TEST(test_status_follows),
		TEST(test_halted),	   TEST(test_manual),
		TEST(test_always),	   TEST(test_rerun_on_failure),
		TEST(test_once),	   TEST(test_unschedulable),
		TEST(test_becomes_halted), TEST(test_halted_with_ended_vmi),
		TEST(test_back_off),	   cmocka_unit_test(test_back_off_times),
		TEST(test_delete),	   TEST(test_delete_without_vmi),
		TEST(test_foreign_vmi),	   TEST(test_asks_for_a_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

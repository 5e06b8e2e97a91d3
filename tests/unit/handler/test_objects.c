// SPDX-License-Identifier: Apache-2.0
/* Objects over the real socket: round trips, and every refusal with its exact Status. */
#include "tests/unit/handler/api.h"

#include "handler/pod.h"

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

static void create(struct api *a, const char *path, char *body_consume, json_t **ret)
{
	_cleanup_free_ char *body = body_consume;
	json_t *object = NULL;
	int code = api_call(a, "POST", path, body, &object);

	if (code != 201)
		fail_msg("%d %s", code, json_dumps(object, 0));
	if (ret)
		*ret = object;
	else
		json_decref(object);
}

/* Call, and compare code and the whole Status. */
static void expect_status(struct api *a, const char *method, const char *path, const char *body,
			  int code, const char *status)
{
	_cleanup_json_ json_t *want = json_loads(status, 0, NULL);
	_cleanup_json_ json_t *got = NULL;
	_cleanup_free_ char *text = NULL;

	assert_non_null(want);
	assert_int_equal(api_call(a, method, path, body, &got), code);
	(void)json_object_set_new(want, "kind", json_string("Status"));
	(void)json_object_set_new(want, "apiVersion", json_string("v1"));
	(void)json_object_set_new(want, "metadata", json_object());
	(void)json_object_set_new(want, "status", json_string("Failure"));
	(void)json_object_set_new(want, "code", json_integer(code));
	text = json_text(got);
	if (!json_equal(want, got))
		fail_msg("%s %s: %s", method, path, text);
}

static void test_vmi_round_trip(void **state)
{
	_cleanup_json_ json_t *made = NULL;
	_cleanup_json_ json_t *got = NULL;
	_cleanup_json_ json_t *list = NULL;

	create(*state, VMIS, vmi_text("one", "a"), &made);
	assert_string_equal(json_str(made, "metadata.namespace"), "default");
	assert_int_equal(strlen(json_str(made, "metadata.uid")), 36);
	assert_int_equal(strlen(json_str(made, "metadata.creationTimestamp")), 20);
	assert_int_equal(json_u64(made, "metadata.generation", 0), 1);
	assert_string_equal(json_str(made, "status.phase"), "Pending");
	assert_int_equal(api_call(*state, "GET", VMIS "/one", NULL, &got), 200);
	assert_true(json_equal(made, got));
	assert_int_equal(api_call(*state, "GET", VMIS, NULL, &list), 200);
	assert_string_equal(json_str(list, "kind"), "VirtualMachineInstanceList");
	assert_string_equal(json_str(list, "apiVersion"), "kubevirt.io/v1");
	assert_string_equal(json_str(list, "metadata.resourceVersion"),
			    json_str(made, "metadata.resourceVersion"));
	assert_int_equal(json_array_size(json_get(list, "items")), 1);
	assert_true(json_equal(json_get(list, "items[0]"), made));
}

static void test_not_found(void **state)
{
	expect_status(
		*state, "GET", VMIS "/none", NULL, 404,
		"{\"reason\": \"NotFound\", \"message\": "
		"\"virtualmachineinstances.kubevirt.io \\\"none\\\" not found\", \"details\": "
		"{\"name\": \"none\", \"group\": \"kubevirt.io\", \"kind\": "
		"\"virtualmachineinstances\"}}");
	expect_status(
		*state, "DELETE", VMIS "/none", NULL, 404,
		"{\"reason\": \"NotFound\", \"message\": "
		"\"virtualmachineinstances.kubevirt.io \\\"none\\\" not found\", \"details\": "
		"{\"name\": \"none\", \"group\": \"kubevirt.io\", \"kind\": "
		"\"virtualmachineinstances\"}}");
	expect_status(
		*state, "GET", "/api/v1/namespaces/none", NULL, 404,
		"{\"reason\": \"NotFound\", \"message\": \"namespaces \\\"none\\\" not found\", "
		"\"details\": {\"name\": \"none\", \"kind\": \"namespaces\"}}");
	expect_status(*state, "GET", "/api/v1/nodes/other", NULL, 404,
		      "{\"reason\": \"NotFound\", \"message\": \"nodes \\\"other\\\" not found\", "
		      "\"details\": {\"name\": \"other\", \"kind\": \"nodes\"}}");
}

static void test_no_such_path_or_method(void **state)
{
	static const char *const paths[] = {
		"/",
		"/nonsense",
		"/apis/none.io/v1/things",
		"/apis/kubevirt.io/v9/namespaces/default/virtualmachineinstances",
		"/apis/kubevirt.io/v1/namespaces/default/pods",
		"/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/a/b/c",
		"/api/v1/namespaces/default/nodes",
		"//apis",
	};
	static const char *const calls[][2] = {
		{"DELETE", VMIS},	   {"PUT", VMIS},
		{"POST", VMIS "/one"},	   {"PATCH", VMIS "/one"},
		{"POST", "/version"},	   {"POST", "/healthz"},
		{"POST", "/api/v1/nodes"}, {"DELETE", "/api/v1/nodes/lab1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		expect_status(
			*state, "GET", paths[i], NULL, 404,
			"{\"reason\": \"NotFound\", \"message\": \"the server could not find the "
			"requested resource\"}");
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		expect_status(
			*state, calls[i][0], calls[i][1], NULL, 405,
			"{\"reason\": \"MethodNotAllowed\", \"message\": \"the server does not "
			"allow this method on the requested resource\"}");
}

static void test_already_exists(void **state)
{
	_cleanup_free_ char *again = vmi_text("one", "b");

	create(*state, VMIS, vmi_text("one", "a"), NULL);
	expect_status(*state, "POST", VMIS, again, 409,
		      "{\"reason\": \"AlreadyExists\", \"message\": "
		      "\"virtualmachineinstances.kubevirt.io \\\"one\\\" already exists\", "
		      "\"details\": {\"name\": \"one\", \"group\": \"kubevirt.io\", \"kind\": "
		      "\"virtualmachineinstances\"}}");
}

static void test_invalid(void **state)
{
	_cleanup_json_ json_t *got = NULL;
	json_t *causes;

	assert_int_equal(
		api_call(*state, "POST", VMIS,
			 "{\"apiVersion\": \"kubevirt.io/v1\", \"kind\": "
			 "\"VirtualMachineInstance\", \"metadata\": {\"name\": \"bad\"}, \"spec\": "
			 "{\"domain\": {\"cpu\": {\"cors\": 4, \"sockets\": \"2\"}, \"devices\": "
			 "{}}}}",
			 &got),
		422);
	assert_string_equal(json_str(got, "reason"), "Invalid");
	assert_string_equal(json_str(got, "details.kind"), "VirtualMachineInstance");
	assert_string_equal(json_str(got, "details.name"), "bad");
	assert_string_equal(json_str(got, "details.group"), "kubevirt.io");
	causes = json_get(got, "details.causes");
	assert_int_equal(json_array_size(causes), 2);
	assert_string_equal(json_str(causes, "[0].field"), "spec.domain.cpu.cors");
	assert_string_equal(json_str(causes, "[1].field"), "spec.domain.cpu.sockets");
	assert_non_null(
		strstr(json_str(got, "message"),
		       "VirtualMachineInstance.kubevirt.io \"bad\" is invalid: [spec.domain"));
	json_decref(got);
	assert_int_equal(api_call(*state, "GET", VMIS "/bad", NULL, &got), 404);
}

/* Bodies that are no object of the path's kind, place or form. */
static void test_bad_bodies(void **state)
{
	static const struct {
		const char *body, *message;
	} cases[] = {
		{"", "the body is empty; it must hold an object"},
		{"[]", "the body must be an object ({...})"},
		{"{\"kind\": \"VirtualMachineInstance\"",
		 "line 1, column 33: not JSON: '}' expected "
		 "near end of file"},
		{"{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": "
		 "\"x\"}}",
		 "the object is a Namespace, but this path takes VirtualMachineInstance of "
		 "kubevirt.io/v1"},
		{"{\"apiVersion\": \"kubevirt.io/v1\", \"kind\": \"VirtualMachineInstance\", "
		 "\"metadata\": {\"name\": \"x\", \"namespace\": \"other\"}}",
		 "the namespace of the object (other) is not the one of the path (default)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_json_ json_t *want = json_pack("{s:s, s:s}", "reason", "BadRequest",
							"message", cases[i].message);
		_cleanup_free_ char *text = json_text(want);

		expect_status(*state, "POST", VMIS, cases[i].body, 400, text);
	}
	expect_status(*state, "POST", "/apis/kubevirt.io/v1/virtualmachineinstances", cases[4].body,
		      400,
		      "{\"reason\": \"BadRequest\", \"message\": \"the path must name a namespace: "
		      "/namespaces/NAMESPACE/virtualmachineinstances\"}");
}

static void test_media_types(void **state)
{
	static const struct {
		const char *header;
		int code;
	} cases[] = {
		{"", 201},
		{"Content-Type: application/yaml\r\n", 201},
		{"Content-Type: application/json; charset=utf-8\r\n", 400}, /* it is not JSON */
		{"Content-Type: application/vnd.kubernetes.protobuf\r\n", 415},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *body = xasprintf("apiVersion: v1\nkind: Namespace\nmetadata:\n"
						      "  name: n%zu\n",
						      i);
		struct client *c = client_open(*state);
		_cleanup_json_ json_t *got = NULL;

		client_request(c, "POST", "/api/v1/namespaces", cases[i].header, body);
		assert_int_equal(client_answer(c, &got), cases[i].code);
		client_close(c);
	}
}

static void test_dry_run(void **state)
{
	_cleanup_free_ char *body = vmi_text("one", "a");
	_cleanup_json_ json_t *got = NULL;
	_cleanup_json_ json_t *kept = NULL;
	struct api *a = *state;
	uint64_t before = store_version(a->h.store);

	assert_int_equal(api_call(a, "POST", VMIS "?dryRun=All", body, &got), 201);
	assert_non_null(json_get(got, "metadata.uid"));
	json_decref(got);
	assert_int_equal(api_call(a, "GET", VMIS "/one", NULL, &got), 404);
	assert_int_equal(store_version(a->h.store), before);
	json_decref(got);
	assert_int_equal(api_call(a, "POST", VMIS "?dryRun=Some", body, &got), 400);
	create(a, VMIS, vmi_text("one", "a"), NULL);
	json_decref(got);
	assert_int_equal(api_call(a, "DELETE", VMIS "/one", "{\"dryRun\": [\"All\"]}", &got), 200);
	assert_int_equal(api_call(a, "GET", VMIS "/one", NULL, &kept), 200);
	assert_null(json_get(kept, "metadata.deletionTimestamp"));
}

static void test_generate_name(void **state)
{
	_cleanup_json_ json_t *got = NULL;
	const char *name;

	assert_int_equal(api_call(*state, "POST", "/api/v1/namespaces",
				  "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": "
				  "{\"generateName\": \"lab-\"}}",
				  &got),
			 201);
	name = json_str(got, "metadata.name");
	assert_int_equal(strlen(name), strlen("lab-") + 5);
	assert_non_null(str_after(name, "lab-"));
	assert_null(json_get(got, "metadata.generateName"));
}

static void test_delete_vmi(void **state)
{
	_cleanup_json_ json_t *first = NULL;
	_cleanup_json_ json_t *again = NULL;
	_cleanup_json_ json_t *shorter = NULL;
	_cleanup_json_ json_t *longer = NULL;

	create(*state, VMIS, vmi_text("one", "a"), NULL);
	assert_int_equal(api_call(*state, "DELETE", VMIS "/one", NULL, &first), 200);
	assert_int_equal(strlen(json_str(first, "metadata.deletionTimestamp")), 20);
	assert_null(json_get(first, "metadata.deletionGracePeriodSeconds"));
	assert_int_equal(api_call(*state, "DELETE", VMIS "/one", NULL, &again), 200);
	assert_true(json_equal(first, again)); /* its version, too */
	assert_int_equal(
		api_call(*state, "DELETE", VMIS "/one?gracePeriodSeconds=3", NULL, &shorter), 200);
	assert_int_equal(json_u64(shorter, "metadata.deletionGracePeriodSeconds", 99), 3);
	assert_string_equal(json_str(shorter, "metadata.deletionTimestamp"),
			    json_str(first, "metadata.deletionTimestamp"));
	assert_int_equal(
		api_call(*state, "DELETE", VMIS "/one", "{\"gracePeriodSeconds\": 9}", &longer),
		200);
	assert_true(json_equal(shorter, longer));
}

static void test_delete_options(void **state)
{
	_cleanup_json_ json_t *made = NULL;
	_cleanup_json_ json_t *got = NULL;
	_cleanup_free_ char *right = NULL;
	_cleanup_free_ char *conflict = NULL;

	create(*state, VMIS, vmi_text("one", "a"), &made);
	conflict = xasprintf(
		"{\"reason\": \"Conflict\", \"message\": \"Operation cannot be fulfilled "
		"on virtualmachineinstances.kubevirt.io \\\"one\\\": Precondition failed: "
		"UID in precondition: x, UID in object meta: %s\", \"details\": {\"name\": "
		"\"one\", \"group\": \"kubevirt.io\", \"kind\": "
		"\"virtualmachineinstances\"}}",
		json_str(made, "metadata.uid"));
	expect_status(*state, "DELETE", VMIS "/one", "{\"preconditions\": {\"uid\": \"x\"}}", 409,
		      conflict);
	expect_status(
		*state, "DELETE", VMIS "/one?gracePeriodSeconds=-1", NULL, 400,
		"{\"reason\": \"BadRequest\", \"message\": \"gracePeriodSeconds: '-1' is not a "
		"number of seconds, 0 or more\"}");
	expect_status(
		*state, "DELETE", VMIS "/one", "{\"gracePeriodSeconds\": \"3\"}", 400,
		"{\"reason\": \"BadRequest\", \"message\": \"gracePeriodSeconds: is the string "
		"\\\"3\\\", must be a number: write gracePeriodSeconds: 3 without quotes\"}");
	expect_status(
		*state, "DELETE", VMIS "/one", "{\"gracePeriodSeconds\": -1}", 400,
		"{\"reason\": \"BadRequest\", \"message\": \"gracePeriodSeconds: must be a number "
		"of seconds, 0 or more\"}");
	/* taken for absent, each of these would delete what was not to be deleted */
	expect_status(
		*state, "DELETE", VMIS "/one", "{\"preconditions\": [1]}", 400,
		"{\"reason\": \"BadRequest\", \"message\": \"preconditions: is a list, must be "
		"a map\"}");
	expect_status(
		*state, "DELETE", VMIS "/one", "{\"preconditions\": {\"uid\": 7}}", 400,
		"{\"reason\": \"BadRequest\", \"message\": \"preconditions.uid: is the number "
		"7, must be a string: put it in quotes\"}");
	expect_status(
		*state, "DELETE", VMIS "/one", "{\"dryRun\": \"All\"}", 400,
		"{\"reason\": \"BadRequest\", \"message\": \"dryRun: is the string \\\"All\\\", "
		"must be a list: begin each item with \\\"- \\\"\"}");
	expect_status(*state, "DELETE", VMIS "/one", "{\"precondition\": {\"uid\": \"x\"}}", 400,
		      "{\"reason\": \"BadRequest\", \"message\": \"precondition: is not a field: "
		      "did you mean preconditions?\"}");
	expect_status(*state, "DELETE", VMIS "/one?propagationPolicy=orphan", NULL, 400,
		      "{\"reason\": \"BadRequest\", \"message\": \"propagationPolicy: is 'orphan', "
		      "must be Background or Foreground\"}");
	expect_status(
		*state, "DELETE", VMIS "/one", "{\"propagationPolicy\": \"Orphan\"}", 400,
		"{\"reason\": \"BadRequest\", \"message\": \"propagationPolicy: Orphan is not "
		"supported yet; Background and Foreground are\"}");
	assert_int_equal(api_call(*state, "GET", VMIS "/one", NULL, &got), 200);
	assert_true(json_equal(made, got));
	right = xasprintf("{\"gracePeriodSeconds\": 0, \"preconditions\": {\"uid\": \"%s\"}}",
			  json_str(made, "metadata.uid"));
	json_decref(got);
	assert_int_equal(api_call(*state, "DELETE", VMIS "/one", right, &got), 200);
	assert_int_equal(json_u64(got, "metadata.deletionGracePeriodSeconds", 99), 0);
}

static void test_replace(void **state)
{
	_cleanup_json_ json_t *made = NULL;
	_cleanup_json_ json_t *same = NULL;
	_cleanup_json_ json_t *changed = NULL;
	_cleanup_free_ char *first = nad_text("net", 1500);
	_cleanup_free_ char *second = nad_text("net", 9000);
	_cleanup_free_ char *stale = NULL;

	create(*state, NADS, xstrdup(first), &made);
	assert_int_equal(api_call(*state, "PUT", NADS "/net", first, &same), 200);
	assert_true(json_equal(made, same)); /* no change keeps the version */
	assert_int_equal(api_call(*state, "PUT", NADS "/net", second, &changed), 200);
	assert_int_equal(json_u64(changed, "metadata.generation", 0), 2);
	assert_string_equal(json_str(changed, "metadata.uid"), json_str(made, "metadata.uid"));
	assert_string_not_equal(json_str(changed, "metadata.resourceVersion"),
				json_str(made, "metadata.resourceVersion"));
	stale = json_text(made);
	expect_status(
		*state, "PUT", NADS "/net", stale, 409,
		"{\"reason\": \"Conflict\", \"message\": \"Operation cannot be fulfilled on "
		"network-attachment-definitions.k8s.cni.cncf.io \\\"net\\\": the object has been "
		"modified; please apply your changes to the latest version and try again\", "
		"\"details\": {\"name\": \"net\", \"group\": \"k8s.cni.cncf.io\", \"kind\": "
		"\"network-attachment-definitions\"}}");
	expect_status(
		*state, "PUT", NADS "/other", second, 404,
		"{\"reason\": \"NotFound\", \"message\": "
		"\"network-attachment-definitions.k8s.cni.cncf.io \\\"other\\\" not found\", "
		"\"details\": {\"name\": \"other\", \"group\": \"k8s.cni.cncf.io\", \"kind\": "
		"\"network-attachment-definitions\"}}");
}

static void test_replace_refused(void **state)
{
	_cleanup_free_ char *body = vmi_text("one", "b");

	create(*state, VMIS, vmi_text("one", "a"), NULL);
	expect_status(
		*state, "PUT", VMIS "/one", body, 422,
		"{\"reason\": \"Invalid\", \"message\": "
		"\"VirtualMachineInstance.kubevirt.io \\\"one\\\" is invalid: update of VMI object "
		"is restricted\", \"details\": {\"name\": \"one\", \"group\": \"kubevirt.io\", "
		"\"kind\": \"VirtualMachineInstance\", \"causes\": [{\"reason\": "
		"\"FieldValueNotSupported\", \"message\": \"update of VMI object is "
		"restricted\", \"field\": \"\"}]}}");
}

static void test_config_in_force(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *got = NULL;

	assert_false(a->h.cluster.use_emulation);
	create(a, "/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts",
	       xstrdup("{\"apiVersion\": \"kubevirt.io/v1\", \"kind\": \"KubeVirt\", \"metadata\": "
		       "{\"name\": \"kubevirt\"}, \"spec\": {\"configuration\": "
		       "{\"developerConfiguration\": {\"useEmulation\": true}}}}"),
	       NULL);
	assert_true(a->h.cluster.use_emulation);
	assert_int_equal(api_call(a, "DELETE",
				  "/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt",
				  NULL, &got),
			 200);
	assert_false(a->h.cluster.use_emulation);
}

#define KUBELETS "/apis/kubelet.config.k8s.io/v1beta1/kubeletconfigurations"
#define KUBELET(reserved)                                                                          \
	"{\"apiVersion\": \"kubelet.config.k8s.io/v1beta1\", \"kind\": \"KubeletConfiguration\", " \
	"\"cpuManagerPolicy\": \"static\", \"reservedSystemCPUs\": \"" reserved "\"}"

static void test_kubelet(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *node = NULL;
	_cleanup_json_ json_t *got = NULL;
	/* one that holds a CPU, and nothing else of a pod */
	struct pod pod = {
		.record = {.uid = (char *)"uid", .ns = (char *)"lab", .name = (char *)"vm"}};
	struct cpu_assignment held = {0};
	struct err err = {0};

	assert_int_equal(api_call(a, "POST", KUBELETS, KUBELET("0-99"), &got), 422);
	create(a, KUBELETS, xstrdup(KUBELET("0,4")), NULL);
	assert_int_equal(a->h.policy.manager, CPU_MANAGER_STATIC);
	assert_int_equal(api_call(a, "GET", "/api/v1/nodes/lab1", NULL, &node), 200);
	assert_string_equal(json_str(node, "status.capacity.cpu"), "8");
	assert_string_equal(json_str(node, "status.allocatable.cpu"), "6");
	assert_string_equal(json_string_value(json_object_get(json_get(node, "metadata.labels"),
							      "kubevirt.io/cpumanager")),
			    "true");
	held.n_vcpus = 1;
	held.vcpu[0] = 1;
	assert_int_equal(store_cpus_take(a->h.store, "uid", &held, &err), 0);
	a->h.pods = &pod;
	json_decref(got);
	assert_int_equal(api_call(a, "PUT", KUBELETS "/default", KUBELET("0"), &got), 409);
	assert_string_equal(json_str(got, "reason"), "Conflict");
	json_decref(got);
	assert_int_equal(api_call(a, "DELETE", KUBELETS "/default", NULL, &got), 409);
	assert_int_equal(a->h.policy.manager, CPU_MANAGER_STATIC);
	a->h.pods = NULL;
	assert_int_equal(store_cpus_free(a->h.store, "uid", &err), 0);
	json_decref(got);
	assert_int_equal(api_call(a, "DELETE", KUBELETS "/default", NULL, &got), 200);
	assert_int_equal(a->h.policy.manager, CPU_MANAGER_NONE);
}

/* A KubeletConfiguration has no name in its manifest; here it has one, however it is written. */
static void test_singleton(void **state)
{
	_cleanup_json_ json_t *made = NULL;
	_cleanup_json_ json_t *changed = NULL;
	_cleanup_json_ json_t *same = NULL;
	_cleanup_json_ json_t *list = NULL;
	_cleanup_free_ char *again = NULL;
	static const char body[] = "{\"apiVersion\": \"kubelet.config.k8s.io/v1beta1\", \"kind\": "
				   "\"KubeletConfiguration\", \"cpuManagerPolicy\": \"none\"%s}";
	_cleanup_free_ char *first = xasprintf(body, "");
	_cleanup_free_ char *second = xasprintf(body, ", \"topologyManagerPolicy\": \"none\"");

	create(*state, KUBELETS, xstrdup(first), &made);
	assert_string_equal(json_str(made, "metadata.name"), "default");
	assert_int_equal(api_call(*state, "PUT", KUBELETS "/default", second, &changed), 200);
	assert_string_equal(json_str(changed, "metadata.name"), "default");
	assert_string_equal(json_str(changed, "metadata.uid"), json_str(made, "metadata.uid"));
	assert_int_equal(json_u64(changed, "metadata.generation", 0), 2);
	again = json_text(changed);
	assert_int_equal(api_call(*state, "PUT", KUBELETS "/default", again, &same), 200);
	assert_true(json_equal(changed, same));
	assert_int_equal(api_call(*state, "GET", KUBELETS, NULL, &list), 200);
	assert_int_equal(json_array_size(json_get(list, "items")), 1);
}

static void test_namespaces(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *list = NULL;
	_cleanup_json_ json_t *made = NULL;
	_cleanup_json_ json_t *got = NULL;

	assert_int_equal(api_call(a, "GET", "/api/v1/namespaces", NULL, &list), 200);
	assert_string_equal(json_str(list, "kind"), "NamespaceList");
	assert_string_equal(json_str(list, "apiVersion"), "v1");
	assert_int_equal(json_array_size(json_get(list, "items")), 3);
	assert_string_equal(json_str(list, "items[0].metadata.name"), "default");
	assert_string_equal(json_str(list, "items[1].metadata.name"), "kubevirt");
	assert_string_equal(json_str(list, "items[2].metadata.name"), "openshift-cnv");
	create(a, "/apis/kubevirt.io/v1/namespaces/lab/virtualmachineinstances",
	       vmi_text("one", "a"), &made);
	assert_string_equal(json_str(made, "metadata.namespace"), "lab");
	assert_int_equal(api_call(a, "GET", "/api/v1/namespaces/lab", NULL, &got), 200);
	expect_status(
		a, "DELETE", "/api/v1/namespaces/lab", NULL, 409,
		"{\"reason\": \"Conflict\", \"message\": \"Operation cannot be fulfilled on "
		"namespaces \\\"lab\\\": it holds virtualmachineinstances; delete these first\", "
		"\"details\": {\"name\": \"lab\", \"kind\": \"namespaces\"}}");
	expect_status(a, "DELETE", "/api/v1/namespaces/default", NULL, 403,
		      "{\"reason\": \"Forbidden\", \"message\": \"namespaces \\\"default\\\" is "
		      "forbidden: this namespace is always there\", \"details\": {\"name\": "
		      "\"default\", \"kind\": \"namespaces\"}}");
	json_decref(got);
	assert_int_equal(
		api_call(a, "GET", "/apis/kubevirt.io/v1/virtualmachineinstances", NULL, &got),
		200);
	assert_int_equal(json_array_size(json_get(got, "items")), 1);
	json_decref(got);
	assert_int_equal(api_call(a, "GET", VMIS, NULL, &got), 200);
	assert_int_equal(json_array_size(json_get(got, "items")), 0);
}

static void test_namespace_goes(void **state)
{
	_cleanup_json_ json_t *got = NULL;

	create(*state, "/api/v1/namespaces",
	       xstrdup("{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": "
		       "\"lab\"}}"),
	       NULL);
	assert_int_equal(api_call(*state, "DELETE", "/api/v1/namespaces/lab", NULL, &got), 200);
	json_decref(got);
	assert_int_equal(api_call(*state, "GET", "/api/v1/namespaces/lab", NULL, &got), 404);
}

static void test_selectors(void **state)
{
	static const struct {
		const char *query;
		size_t n;
	} cases[] = {
		{"", 3},
		{"?labelSelector=app%3Da", 2},
		{"?labelSelector=app!%3Da", 1},
		{"?labelSelector=app%20in%20(b,c)", 1},
		{"?labelSelector=none", 0},
		{"?fieldSelector=metadata.name%3Dthree", 1},
		{"?fieldSelector=metadata.name%3Dthree&labelSelector=app%3Da", 0},
		{"?fieldSelector=metadata.namespace%3Ddefault", 3},
	};

	create(*state, VMIS, vmi_text("one", "a"), NULL);
	create(*state, VMIS, vmi_text("two", "a"), NULL);
	create(*state, VMIS, vmi_text("three", "b"), NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *path = xasprintf(VMIS "%s", cases[i].query);
		_cleanup_json_ json_t *list = NULL;

		assert_int_equal(api_call(*state, "GET", path, NULL, &list), 200);
		assert_int_equal(json_array_size(json_get(list, "items")), cases[i].n);
	}
	expect_status(
		*state, "GET", VMIS "?fieldSelector=spec.x%3D1", NULL, 400,
		"{\"reason\": \"BadRequest\", \"message\": \"field label not supported: spec.x; "
		"metadata.name and metadata.namespace are\"}");
}

static void test_discovery(void **state)
{
	_cleanup_json_ json_t *groups = NULL;
	_cleanup_json_ json_t *group = NULL;
	_cleanup_json_ json_t *core = NULL;
	_cleanup_json_ json_t *old = NULL;
	_cleanup_json_ json_t *version = NULL;

	assert_int_equal(api_call(*state, "GET", "/apis", NULL, &groups), 200);
	assert_string_equal(json_str(groups, "kind"), "APIGroupList");
	assert_int_equal(json_array_size(json_get(groups, "groups")), 6);
	assert_string_equal(json_str(groups, "groups[0].preferredVersion.groupVersion"),
			    "kubevirt.io/v1");
	assert_int_equal(json_array_size(json_get(groups, "groups[0].versions")), 2);
	assert_int_equal(api_call(*state, "GET", "/apis/subresources.kubevirt.io", NULL, &group),
			 200);
	assert_string_equal(json_str(group, "preferredVersion.groupVersion"),
			    "subresources.kubevirt.io/v1");
	assert_int_equal(api_call(*state, "GET", "/api/v1", NULL, &core), 200);
	assert_int_equal(json_array_size(json_get(core, "resources")), 3);
	assert_string_equal(json_str(core, "groupVersion"), "v1");
	assert_int_equal(api_call(*state, "GET", "/apis/kubevirt.io/v1alpha3", NULL, &old), 200);
	assert_int_equal(json_array_size(json_get(old, "resources")), 3);
	assert_string_equal(json_str(old, "resources[0].shortNames[0]"), "vmi");
	assert_int_equal(api_call(*state, "GET", "/version", NULL, &version), 200);
	assert_string_equal(json_str(version, "virtpodVersion"), VIRTPOD_VERSION);
	assert_string_equal(json_str(version, "gitVersion"), "v" VIRTPOD_VERSION);
}

#define INSPECT "/apis/subresources.virtpod.io/v1/namespaces/lab/virtualmachineinstances/"

static void test_reports(void **state)
{
	_cleanup_json_ json_t *got = NULL;

	assert_int_equal(api_call(*state, "GET", INSPECT "vm/inspect", NULL, &got), 200);
	assert_string_equal(json_str(got, "ns"), "lab");
	assert_string_equal(json_str(got, "name"), "vm");
	json_decref(got);
	assert_int_equal(api_call(*state, "GET", INSPECT "vm/verify", NULL, &got), 200);
	json_decref(got);
	assert_int_equal(api_call(*state, "GET", INSPECT "gone/inspect", NULL, &got), 404);
	assert_string_equal(json_str(got, "reason"), "NotFound");
	json_decref(got);
	assert_int_equal(api_call(*state, "GET", INSPECT "off/verify", NULL, &got), 409);
}

/* What was stored is there after the handler has gone and come back. */
static void test_persists(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *made = NULL;
	_cleanup_json_ json_t *got = NULL;
	struct server_options options = a->h.server->options;
	struct err err = {0};

	create(a, VMIS, vmi_text("one", "a"), &made);
	server_close(&a->h);
	store_close(a->h.store);
	a->h.store = NULL;
	assert_int_equal(store_open(&a->h.paths, &a->h.store, &err), 0);
	assert_int_equal(server_open_with(&a->h, &options, &err), 0);
	assert_int_equal(api_call(a, "GET", VMIS "/one", NULL, &got), 200);
	assert_true(json_equal(made, got));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_vmi_round_trip),
		TEST(test_not_found),
		TEST(test_no_such_path_or_method),
		TEST(test_already_exists),
		TEST(test_invalid),
		TEST(test_bad_bodies),
		TEST(test_media_types),
		TEST(test_dry_run),
		TEST(test_generate_name),
		TEST(test_delete_vmi),
		TEST(test_delete_options),
		TEST(test_replace),
		TEST(test_replace_refused),
		TEST(test_config_in_force),
		TEST(test_kubelet),
		TEST(test_singleton),
		TEST(test_namespaces),
		TEST(test_namespace_goes),
		TEST(test_selectors),
		TEST(test_discovery),
		TEST(test_reports),
		TEST(test_persists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

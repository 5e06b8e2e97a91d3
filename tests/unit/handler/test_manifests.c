// SPDX-License-Identifier: Apache-2.0
/* Static manifests and who may say that something is of one: what is made of a file, and what is not. */
#include "tests/unit/handler/api.h"

#include "handler/manifests.h"

#include "api/meta.h"

#define VMS	 "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"
#define KUBELETS "/apis/kubelet.config.k8s.io/v1beta1/kubeletconfigurations"
#define KUBELET(cpus)                                                                              \
	"{\"apiVersion\": \"kubelet.config.k8s.io/v1beta1\", \"kind\": \"KubeletConfiguration\", " \
	"\"cpuManagerPolicy\": \"static\", \"reservedSystemCPUs\": \"" cpus "\"}"

static int setup(void **state)
{
	struct api *a = api_open(NULL);

	assert_int_equal(mkdir_p_at(AT_FDCWD, a->h.paths.manifests, 0755), 0);
	manifests_open(&a->h);
	*state = a;
	return 0;
}

static int teardown(void **state)
{
	struct api *a = *state;

	manifests_close(&a->h);
	api_close(a);
	return 0;
}

/* The file says this (both texts consumed; NULL: no more), or is not there, and is followed once. */
static void file_says(struct api *a, const char *name, char *one, char *two)
{
	_cleanup_free_ char *first = one, *second = two;
	_cleanup_free_ char *path = xasprintf("%s/%s", a->h.paths.manifests, name);
	_cleanup_free_ char *text =
		xasprintf("%s\n---\n%s\n", first ? first : "", second ? second : "");

	if (first)
		assert_int_equal(file_replace_at(AT_FDCWD, path, text,
						 strlen(text) - (second ? 0 : 5), 0600),
				 0);
	else
		assert_int_equal(unlink(path), 0);
	manifests_close(&a->h);
	manifests_open(&a->h);
	manifests_reconcile(&a->h);
}

static int code_of(struct api *a, const char *method, const char *path, char *body_consume,
		   json_t **ret)
{
	_cleanup_free_ char *body = body_consume;
	_cleanup_json_ json_t *answer = NULL;
	int code = api_call(a, method, path, body, &answer);

	if (ret)
		*ret = TAKE_PTR(answer);
	return code;
}

static bool is_there(struct api *a, const char *path)
{
	return code_of(a, "GET", path, NULL, NULL) == 200;
}

/* NULL: it is of none, or not there. */
static char *file_of(struct api *a, const char *path)
{
	_cleanup_json_ json_t *object = NULL;

	(void)code_of(a, "GET", path, NULL, &object);
	return xstrdup(object_annotation(object, ANNOTATION_MANIFEST));
}

static void node_tells(struct api *a, const char *status, const char *what)
{
	_cleanup_json_ json_t *condition = manifests_condition(&a->h);

	assert_string_equal(json_str(condition, "status"), status);
	if (!strstr(json_str(condition, "message"), what))
		fail_msg("%s", json_str(condition, "message"));
}

static char *marked(char *body_consume, const char *file)
{
	_cleanup_free_ char *body = body_consume;
	_cleanup_json_ json_t *object = json_loads(body, 0, NULL);

	assert_int_equal(json_path_set(object, "metadata.annotations[virtpod.io/manifest]",
				       json_string(file)),
			 0);
	assert_int_equal(json_path_set(object, "metadata.annotations[virtpod.io/manifest-hash]",
				       json_string("0")),
			 0);
	return json_dumps(object, 0);
}

static char *vm_text(const char *name, const char *file)
{
	_cleanup_free_ char *vmi = vmi_text(name, "x");
	_cleanup_json_ json_t *spec = json_loads(vmi, 0, NULL);
	_cleanup_json_ json_t *vm =
		json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:{s:{s:{s:s*}}, s:O}}}", "apiVersion",
			  "kubevirt.io/v1", "kind", "VirtualMachine", "metadata", "name", name,
			  "spec", "runStrategy", "Halted", "template", "metadata", "annotations",
			  ANNOTATION_MANIFEST, file, "spec", json_object_get(spec, "spec"));

	assert_non_null(vm);
	return json_dumps(vm, 0);
}

static void test_whole(void **state)
{
	struct api *a = *state;
	_cleanup_free_ char *file = NULL;

	file_says(a, "a.json", nad_text("one", 1500), vm_text("two", NULL));
	node_tells(a, "True", a->h.paths.manifests);
	file = file_of(a, NADS "/one");
	assert_string_equal(file, "a.json");
	free(file);
	file = file_of(a, VMS "/two");
	assert_string_equal(file, "a.json");
	assert_int_equal(code_of(a, "DELETE", NADS "/one", NULL, NULL), 200);
	manifests_reconcile(&a->h);
	assert_true(is_there(a, NADS "/one"));
	file_says(a, "a.json", nad_text("other", 1500), NULL);
	assert_true(is_there(a, NADS "/other"));
	assert_false(is_there(a, NADS "/one"));
	file_says(a, "a.json", NULL, NULL);
	assert_false(is_there(a, NADS "/other"));
}

/* Somebody's object is in the way of one: nothing is made of the file, until that has gone. */
static void test_in_the_way(void **state)
{
	struct api *a = *state;
	_cleanup_free_ char *file = NULL;

	file_says(a, "a.json", nad_text("old", 1500), NULL);
	assert_int_equal(code_of(a, "POST", NADS, nad_text("two", 1500), NULL), 201);
	file_says(a, "a.json", nad_text("one", 1500), nad_text("two", 9000));
	node_tells(a, "False", "a.json:3: an object of this name is there, and from no manifest");
	assert_false(is_there(a, NADS "/one"));
	assert_true(is_there(a, NADS "/old")); /* as the file was before */
	manifests_reconcile(&a->h);
	assert_true(is_there(a, NADS "/old"));
	assert_int_equal(code_of(a, "DELETE", NADS "/two", NULL, NULL), 200);
	manifests_reconcile(&a->h);
	node_tells(a, "True", "");
	assert_true(is_there(a, NADS "/one"));
	assert_false(is_there(a, NADS "/old"));
	file = file_of(a, NADS "/two");
	assert_string_equal(file, "a.json");
}

/* What only this host can refuse, new and in place of what is there; another file goes its way. */
static void test_refused(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *kubelet = NULL;

	file_says(a, "a.json", nad_text("one", 1500), xstrdup(KUBELET("99")));
	node_tells(a, "False", "a.json:3: ");
	assert_false(is_there(a, NADS "/one"));
	file_says(a, "b.json", nad_text("two", 1500), NULL);
	assert_true(is_there(a, NADS "/two"));
	file_says(a, "a.json", nad_text("one", 1500), xstrdup(KUBELET("0")));
	node_tells(a, "True", "");
	assert_true(is_there(a, NADS "/one"));
	file_says(a, "a.json", nad_text("three", 1500), xstrdup(KUBELET("99")));
	node_tells(a, "False", "a.json:3: ");
	assert_false(is_there(a, NADS "/three"));
	assert_true(is_there(a, NADS "/one"));
	assert_int_equal(code_of(a, "GET", KUBELETS "/default", NULL, &kubelet), 200);
	assert_string_equal(json_str(kubelet, "reservedSystemCPUs"), "0");
}

static void test_no_name(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *list = NULL;
	_cleanup_free_ char *text = nad_text("x", 1500);
	const char *name = strstr(text, "\"name\": \"x\"");

	file_says(a, "a.json",
		  xasprintf("%.*s\"generateName\": \"x\"%s", (int)(name - text), text,
			    name + strlen("\"name\": \"x\"")),
		  NULL);
	node_tells(a, "False", "a.json:1: metadata.name: is missing");
	manifests_reconcile(&a->h);
	assert_int_equal(code_of(a, "GET", NADS, NULL, &list), 200);
	assert_int_equal(json_array_size(json_get(list, "items")), 0);
}

/* A copy of what a file made, by POST and by PUT, is not of that file. */
static void test_marks(void **state)
{
	struct api *a = *state;
	_cleanup_json_ json_t *made = NULL, *vm = NULL, *again = NULL;
	_cleanup_free_ char *file = NULL, *hash = NULL;

	file_says(a, "a.json", nad_text("one", 1500), NULL);
	assert_int_equal(code_of(a, "POST", NADS, marked(nad_text("copy", 1500), "a.json"), NULL),
			 201);
	assert_int_equal(code_of(a, "POST", VMIS, marked(vmi_text("copy", "x"), "a.json"), NULL),
			 201);
	assert_int_equal(code_of(a, "POST", VMS, marked(vm_text("copy", "a.json"), "a.json"), &vm),
			 201);
	assert_null(json_get(vm, "spec.template.metadata.annotations[virtpod.io/manifest]"));
	assert_null(file_of(a, VMS "/copy"));
	assert_null(file_of(a, VMIS "/copy"));
	assert_int_equal(
		code_of(a, "PUT", NADS "/copy", marked(nad_text("copy", 9000), "a.json"), NULL),
		200);
	assert_null(file_of(a, NADS "/copy"));

	/* nor does who writes what a file made take it away from that, or give it to another */
	assert_int_equal(code_of(a, "GET", NADS "/one", NULL, &made), 200);
	hash = xstrdup(object_annotation(made, ANNOTATION_MANIFEST_HASH));
	assert_int_equal(code_of(a, "PUT", NADS "/one", json_dumps(made, 0), &again), 200);
	assert_true(json_equal(made, again));
	json_decref(again);
	assert_int_equal(
		code_of(a, "PUT", NADS "/one", marked(nad_text("one", 9000), "b.json"), &again),
		200);
	file = file_of(a, NADS "/one");
	assert_string_equal(file, "a.json");
	assert_string_equal(object_annotation(again, ANNOTATION_MANIFEST_HASH), hash);

	file_says(a, "a.json", NULL, NULL);
	assert_false(is_there(a, NADS "/one"));
	assert_true(is_there(a, NADS "/copy"));
	assert_true(is_there(a, VMS "/copy"));
	assert_true(is_there(a, VMIS "/copy"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole),   TEST(test_in_the_way), TEST(test_refused),
		TEST(test_no_name), TEST(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

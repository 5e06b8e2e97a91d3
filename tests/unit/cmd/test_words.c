// SPDX-License-Identifier: Apache-2.0
/* Words of the command line: targets, --for, URLs, quoting. */
#include "tests/unit/unit.h"

#include "cmd/forwhat.h"
#include "cmd/label.h"
#include "cmd/quote.h"
#include "cmd/url.h"

#include <errno.h>
#include <string.h>

#include "lib/json.h"
#include "lib/util.h"

#define W(text) ((char[]){text})

static void target_is(int argc, char **argv, const struct kind *def, int i, const char *kind,
		      const char *name)
{
	struct target t = {0};
	struct err err = {0};

	assert_int_equal(label_target(argc, argv, def, i, &t, &err), 1);
	assert_string_equal(t.kind->kind, kind);
	if (name)
		assert_string_equal(t.name, name);
	else
		assert_null(t.name);
}

static void test_targets(void **state)
{
	char *pairs[] = {W("vm"), W("a"), W("b")};
	char *slashes[] = {W("vmi/a"), W("nodes/b")};
	char *bare[] = {W("demo")}, *nodes[] = {W("node")};
	char *full[] = {W("virtualmachineinstance.kubevirt.io/a"),
			W("kubeletconfiguration.kubelet.config.k8s.io/default")};
	const struct kind *vmi = label_vmi();
	struct target t;

	(void)state;
	target_is(3, pairs, NULL, 0, "VirtualMachine", "a");
	target_is(3, pairs, NULL, 1, "VirtualMachine", "b");
	assert_int_equal(label_target(3, pairs, NULL, 2, &t, NULL), 0);
	target_is(2, slashes, NULL, 0, "VirtualMachineInstance", "a");
	target_is(2, slashes, NULL, 1, "Node", "b");
	target_is(1, bare, vmi, 0, "VirtualMachineInstance", "demo");
	target_is(1, nodes, NULL, 0, "Node", NULL);
	/* a VM may be called as a kind is */
	target_is(1, nodes, vmi, 0, "VirtualMachineInstance", "node");
	/* what get -o name prints */
	target_is(2, full, vmi, 0, "VirtualMachineInstance", "a");
	target_is(2, full, NULL, 1, "KubeletConfiguration", "default");
}

static void test_bad_targets(void **state)
{
	char *kind[] = {W("pods"), W("a")}, *slash[] = {W("pods/a")}, *name[] = {W("vmi/A_b")};
	char *bare[] = {W("first")}, *two[] = {W("a"), W("b")},
	     *net[] = {W("net-attach-def"), W("a")};
	struct err err = {0};
	struct target t;

	(void)state;
	assert_int_equal(label_target(2, kind, NULL, 0, &t, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "'pods' is no kind; say vmi, "));
	/* a VM's name where a kind is wanted */
	err_clear(&err);
	assert_int_equal(label_target(1, bare, NULL, 0, &t, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "'first' is no kind; a VM of that name is vmi/first"));
	assert_int_equal(label_target(1, slash, NULL, 0, &t, NULL), -EINVAL);
	assert_int_equal(label_target(1, name, NULL, 0, &t, NULL), -EINVAL);
	assert_int_equal(label_one_vmi(2, two, &t, NULL), -EINVAL);
	assert_int_equal(label_one_vmi(2, net, &t, NULL), -EINVAL);
	assert_int_equal(label_one_vmi(0, NULL, &t, NULL), -EINVAL);
}

static void met(const char *text, const char *object, bool wanted)
{
	_cleanup_json_ json_t *o = object ? json_loads(object, 0, NULL) : NULL;
	struct for_what w = {0};

	assert_int_equal(for_what_parse(text, &w, NULL), 0);
	assert_int_equal(for_what_met(&w, o), wanted);
	for_what_done(&w);
}

static void test_for(void **state)
{
	const char *ready = "{\"status\": {\"phase\": \"Running\", \"n\": 3, \"conditions\": ["
			    "{\"type\": \"Ready\", \"status\": \"True\"}]}}";

	(void)state;
	met("delete", NULL, true);
	met("delete", ready, false);
	met("condition=Ready", ready, true);
	met("condition=Ready=true", ready, true);
	met("condition=Ready=False", ready, false);
	met("condition=ready=TRUE", ready, true);
	met("condition=Paused", ready, false);
	met("condition=Ready", NULL, false);
	met("jsonpath={.status.phase}=Running", ready, true);
	met("jsonpath={.status.phase}=Runnin", ready, false);
	met("jsonpath={.status.n}=3", ready, true);
	met("jsonpath={.status.conditions[0].type}=Ready", ready, true);
	met("jsonpath={.status.phase}", ready, true);
	met("jsonpath={.status.absent}", ready, false);
	met("jsonpath={.status[a.b/c-d_e]}", ready, false);
}

/* What has ended stays so, but for its object; a VirtualMachine's VMI comes again. */
static void test_can_come(void **state)
{
	static const struct {
		const char *text, *object;
		bool wanted;
	} all[] = {
		{"condition=Ready", "{\"status\": {\"phase\": \"Pending\"}}", true},
		{"condition=Ready", "{\"status\": {\"phase\": \"Failed\"}}", false},
		{"jsonpath={.status.phase}=Running", "{\"status\": {\"phase\": \"Succeeded\"}}",
		 false},
		{"jsonpath={.metadata.deletionTimestamp}",
		 "{\"status\": {\"phase\": \"Succeeded\"}}", true},
		{"delete", "{\"status\": {\"phase\": \"Succeeded\"}}", true},
		{"condition=Ready",
		 "{\"metadata\": {\"ownerReferences\": [{}]}, \"status\": {\"phase\": \"Failed\"}}",
		 true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_json_ json_t *o = json_loads(all[i].object, 0, NULL);
		struct for_what w = {0};

		assert_non_null(o);
		assert_int_equal(for_what_parse(all[i].text, &w, NULL), 0);
		assert_int_equal(for_what_can_come(&w, o), all[i].wanted);
		for_what_done(&w);
	}
}

static void test_bad_for(void **state)
{
	static const char *const bad[] = {
		"",
		"ready",
		"condition=",
		"condition=Ready=",
		"jsonpath=.a",
		"jsonpath={a}=b",
		"jsonpath={.a}=",
		"jsonpath={.a",
		"jsonpath={.}",
		"jsonpath={.a}nothing",
		"jsonpath={.a[?(@.type==\"Ready\")].status}=True",
		"jsonpath={.a[*].b}",
		"jsonpath={.a[0:2]}",
		"jsonpath={.a[-1]}",
		"jsonpath={.a['b']}",
		"jsonpath={..a}",
		"jsonpath={.a.b\\.c}",
		"jsonpath={.a[0}",
	};
	struct for_what w = {0};
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(for_what_parse(bad[i], &w, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "jsonpath={.field.list[0].field}"));
}

static void url_is(char *found, const char *wanted)
{
	assert_string_equal(found, wanted);
	free(found);
}

static void test_urls(void **state)
{
	const struct kind *vmi = label_vmi();

	(void)state;
	url_is(url_object(vmi, "ns", "a", NULL),
	       "/apis/kubevirt.io/v1/namespaces/ns/virtualmachineinstances/a");
	url_is(url_object(vmi, NULL, NULL, "watch=true"),
	       "/apis/kubevirt.io/v1/virtualmachineinstances?watch=true");
	url_is(url_object(kind_by_word("node"), "ns", "n1", NULL), "/api/v1/nodes/n1");
	url_is(url_object(kind_by_word("kubeletconfiguration"), NULL, "", NULL),
	       "/apis/kubelet.config.k8s.io/v1beta1/kubeletconfigurations/default");
	url_is(url_subresource("subresources.kubevirt.io", "ns", "a", "console"),
	       "/apis/subresources.kubevirt.io/v1/namespaces/ns/virtualmachineinstances/a/console");
	url_is(url_escape("a/b?c=%\xc3\xa4 ~"), "a%2Fb%3Fc%3D%25%C3%A4%20~");
}

static void test_quote(void **state)
{
	char *argv[] = {W("qemu"),	  W("-S"),	W("-name"),
			W("guest=a,b=c"), W("-append"), W("it's $HOME"),
			W("-x"),	  W(""),	NULL};
	_cleanup_free_ char *text = quote_argv(argv);

	(void)state;
	assert_string_equal(text, "qemu \\\n    -S \\\n    -name guest=a,b=c \\\n"
				  "    -append 'it'\\''s $HOME' \\\n    -x ''\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),	 cmocka_unit_test(test_bad_targets),
		cmocka_unit_test(test_for),	 cmocka_unit_test(test_bad_for),
		cmocka_unit_test(test_can_come), cmocka_unit_test(test_urls),
		cmocka_unit_test(test_quote),
	};

	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Paths, selectors and the words of WebSocket's handshake: pure parsers. */
#include "tests/unit/unit.h"

#include "handler/handshake.h"
#include "handler/routes.h"
#include "handler/selector.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

#define V "/apis/kubevirt.io/v1"

static void test_paths(void **state)
{
	static const struct {
		const char *path;
		enum route_to to;
		const char *kind, *ns, *name;
	} cases[] = {
		{"/version", ROUTE_VERSION, NULL, "", ""},
		{"/healthz", ROUTE_HEALTH, NULL, "", ""},
		{"/api", ROUTE_API, NULL, "", ""},
		{"/apis", ROUTE_GROUPS, NULL, "", ""},
		{"/apis/", ROUTE_GROUPS, NULL, "", ""},
		{"/api/v1", ROUTE_RESOURCES, NULL, "", ""},
		{"/apis/kubevirt.io", ROUTE_GROUP, NULL, "", ""},
		{V, ROUTE_RESOURCES, NULL, "", ""},
		{"/apis/kubevirt.io/v1alpha3", ROUTE_RESOURCES, NULL, "", ""},
		{V "/virtualmachines", ROUTE_COLLECTION, "VirtualMachine", "", ""},
		{V "/namespaces/a/virtualmachines", ROUTE_COLLECTION, "VirtualMachine", "a", ""},
		{V "/namespaces/a/virtualmachines/b", ROUTE_OBJECT, "VirtualMachine", "a", "b"},
		{"/apis/kubevirt.io/v1alpha3/namespaces/a/kubevirts/b", ROUTE_OBJECT, "KubeVirt",
		 "a", "b"},
		{"/api/v1/namespaces", ROUTE_COLLECTION, "Namespace", "", ""},
		{"/api/v1/namespaces/a", ROUTE_OBJECT, "Namespace", "", "a"},
		{"/api/v1/nodes/n", ROUTE_OBJECT, "Node", "", "n"},
		{"/apis/kubelet.config.k8s.io/v1beta1/kubeletconfigurations/default", ROUTE_OBJECT,
		 "KubeletConfiguration", "", "default"},
		{"/apis/subresources.kubevirt.io/v1/version", ROUTE_SUBRESOURCE_VERSION, NULL, "",
		 ""},
		{"/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachineinstances/b/console",
		 ROUTE_CONSOLE, "VirtualMachineInstance", "a", "b"},
		{"/apis/subresources.virtpod.io/v1/namespaces/a/virtualmachineinstances/b/inspect",
		 ROUTE_INSPECT, "VirtualMachineInstance", "a", "b"},
		{"/apis/subresources.virtpod.io/v1/namespaces/a/virtualmachineinstances/b/log",
		 ROUTE_LOG, "VirtualMachineInstance", "a", "b"},
		{"/apis/subresources.virtpod.io/v1/namespaces/a/virtualmachineinstances/b/verify",
		 ROUTE_VERIFY, "VirtualMachineInstance", "a", "b"},
		/* no such thing */
		{"", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"apis", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"//apis", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/apis//v1", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/apis/other.io", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/apis/kubevirt.io/v2", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/api/v2", ROUTE_NOWHERE, NULL, NULL, NULL},
		{V "/pods", ROUTE_NOWHERE, NULL, NULL, NULL},
		{V "/virtualmachines/b", ROUTE_NOWHERE, NULL, NULL, NULL}, /* without a namespace */
		{"/api/v1/namespaces/a/nodes", ROUTE_NOWHERE, NULL, NULL, NULL},
		{V "/namespaces/a/virtualmachines/b/status", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/apis/subresources.virtpod.io/v1alpha3", ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/apis/subresources.virtpod.io/v1/namespaces/a/virtualmachineinstances/b/console",
		 ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachines/b/console",
		 ROUTE_NOWHERE, NULL, NULL, NULL},
		{"/a/b/c/d/e/f/g/h/i/j/k/l", ROUTE_NOWHERE, NULL, NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct route r;

		route_parse(cases[i].path, &r);
		if (r.to != cases[i].to)
			fail_msg("%s: %d", cases[i].path, (int)r.to);
		if (r.to == ROUTE_NOWHERE)
			continue;
		assert_string_equal(r.kind ? r.kind->kind : "", cases[i].kind ? cases[i].kind : "");
		assert_string_equal(r.ns, cases[i].ns);
		assert_string_equal(r.name, cases[i].name);
	}
}

/* Names up to what Kubernetes allows fit; what is longer is nowhere, not cut. */
static void test_long_names(void **state)
{
	struct route r;

	(void)state;
	for (int len = 250; len < 260; len++) {
		_cleanup_free_ char *path = xasprintf("/api/v1/nodes/%0*d", len, 0);

		route_parse(path, &r);
		assert_int_equal(r.to, len <= 253 ? ROUTE_OBJECT : ROUTE_NOWHERE);
	}
	for (int len = 60; len < 70; len++) {
		_cleanup_free_ char *path = xasprintf(V "/namespaces/%0*d/virtualmachines", len, 0);

		route_parse(path, &r);
		assert_int_equal(r.to, len <= 63 ? ROUTE_COLLECTION : ROUTE_NOWHERE);
	}
}

static void test_selectors(void **state)
{
	static const struct {
		const char *labels, *fields;
		bool matches;
	} cases[] = {
		{NULL, NULL, true},
		{"", " ", true},
		{"app=web", NULL, true},
		{"app==web", NULL, true},
		{" app = web , tier!=db", NULL, true},
		{"app!=web", NULL, false},
		{"none!=web", NULL, true}, /* an absent key differs */
		{"app", NULL, true},
		{"!app", NULL, false},
		{"!none", NULL, true},
		{"none", NULL, false},
		{"app in (db, web)", NULL, true},
		{"app in (db)", NULL, false},
		{"app notin (db,cache)", NULL, true},
		{"app notin (web)", NULL, false},
		{"none notin (web)", NULL, true},
		{"empty=", NULL, true},
		{"empty in ()", NULL, true},
		{"app=web,none", NULL, false},
		{NULL, "metadata.name=vm", true},
		{NULL, "metadata.name==vm,metadata.namespace!=other", true},
		{NULL, "metadata.namespace=other", false},
	};
	_cleanup_json_ json_t *object =
		json_pack("{s:{s:s, s:s, s:{s:s, s:s, s:s}}}", "metadata", "namespace", "lab",
			  "name", "vm", "labels", "app", "web", "tier", "front", "empty", "");
	_cleanup_json_ json_t *part = selector_part(object);
	const struct kind *k = kind_by_word("vmi");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(selector_freep) struct selector *s = NULL;
		struct err err = {0};

		assert_int_equal(selector_parse(k, cases[i].labels, cases[i].fields, &s, &err), 0);
		if (selector_matches(s, object) != cases[i].matches ||
		    selector_matches(s, part) != cases[i].matches)
			fail_msg("%s %s", cases[i].labels, cases[i].fields);
	}
}

static void test_bad_selectors(void **state)
{
	static const struct {
		const char *labels, *fields, *message;
	} cases[] = {
		{"=x", NULL, "labelSelector: a key is missing before '=x'"},
		{"a,", NULL, "labelSelector: a key is missing before ''"},
		{"a like b", NULL,
		 "labelSelector: after 'a' stands 'like'; known are =, ==, !=, in, notin"},
		{"a in b", NULL, "labelSelector: a list in brackets must follow 'in' and 'notin'"},
		{"a in (b", NULL, "labelSelector: the bracket that was opened is not closed"},
		{"a=b c", NULL, "labelSelector: a comma is missing before 'c'"},
		{NULL, "metadata.name",
		 "fieldSelector: 'metadata.name' needs =, == or != and a value"},
		{NULL, "status.phase=x",
		 "field label not supported: status.phase; metadata.name and metadata.namespace "
		 "are"},
	};
	const struct kind *k = kind_by_word("vmi");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct selector *s = NULL;
		struct err err = {0};

		assert_int_equal(selector_parse(k, cases[i].labels, cases[i].fields, &s, &err),
				 -EINVAL);
		assert_string_equal(err.msg, cases[i].message);
		assert_null(s);
	}
}

static void test_selector_bounds(void **state)
{
	_cleanup_free_ char *text = xcalloc(1, 400);
	struct selector *s = NULL;
	struct err err = {0};

	(void)state;
	for (int i = 0; i < 65; i++)
		(void)strcat(text, i ? ",a" : "a");
	assert_int_equal(selector_parse(kind_by_word("vmi"), text, NULL, &s, &err), -EINVAL);
	assert_string_equal(err.msg, "labelSelector: more than 64 terms");
}

static void test_handshake(void **state)
{
	char buf[HANDSHAKE_ACCEPT];

	(void)state;
	/* the example of RFC 6455, section 1.3 */
	assert_string_equal(handshake_accept("dGhlIHNhbXBsZSBub25jZQ==", buf),
			    "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	assert_true(handshake_key_ok("dGhlIHNhbXBsZSBub25jZQ=="));
	assert_false(handshake_key_ok(NULL));
	assert_false(handshake_key_ok(""));
	assert_false(handshake_key_ok("dGhlIHNhbXBsZSBub25jZQ="));
	assert_false(handshake_key_ok("dGhlIHNhbXBsZSBub25jZQAA"));
	assert_false(handshake_key_ok("dGhlIHNhbXBsZSBub25*ZQ=="));
	assert_true(handshake_list_has("keep-alive, Upgrade", "upgrade"));
	assert_true(handshake_list_has("WebSocket", "websocket"));
	assert_false(handshake_list_has("websocketx, h2c", "websocket"));
	assert_false(handshake_list_has(NULL, "websocket"));
	assert_false(handshake_list_has(" ,, ", "websocket"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_selectors),	cmocka_unit_test(test_bad_selectors),
		cmocka_unit_test(test_selector_bounds), cmocka_unit_test(test_handshake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

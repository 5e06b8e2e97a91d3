// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <string.h>

#include "api/kind.h"
#include "lib/util.h"

static const char *kind_name(const struct kind *k)
{
	return k ? k->kind : "-";
}

static void by_manifest(void **state)
{
	static const struct {
		const char *version, *kind, *msg;
	} bad[] = {
		{"kubevirt.io/v2", "VirtualMachine",
		 "apiVersion: 'kubevirt.io/v2' has no kind VirtualMachine; it is in "
		 "kubevirt.io/v1"},
		{"v1", "KubeletConfiguration",
		 "apiVersion: 'v1' has no kind KubeletConfiguration; it is in "
		 "kubelet.config.k8s.io/v1beta1"},
		{"kubevirt.iov1", "VirtualMachine",
		 "apiVersion: 'kubevirt.iov1' has no kind VirtualMachine; it is in kubevirt.io/v1"},
		{"kubevirt.io/v1", "Namespace",
		 "apiVersion: 'kubevirt.io/v1' has no kind Namespace; it is in v1"},
		{"v1", NULL,
		 "kind: is missing; say which object this is, such as VirtualMachineInstance"},
		{"v1", "Pod",
		 "kind: 'Pod' is not known here; known are VirtualMachineInstance, VirtualMachine, "
		 "NetworkAttachmentDefinition, KubeVirt, HyperConverged, KubeletConfiguration and "
		 "Namespace"},
	};
	const struct kind *k = NULL;

	(void)state;
	assert_int_equal(kind_find("kubevirt.io/v1alpha3", "VirtualMachine", &k, NULL), 0);
	assert_string_equal(k->plural, "virtualmachines");
	assert_int_equal(kind_find("v1", "Node", &k, NULL), 0);
	assert_string_equal(k->plural, "nodes");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = {0};

		assert_int_equal(kind_find(bad[i].version, bad[i].kind, &k, &err), -22);
		assert_string_equal(err.msg, bad[i].msg);
	}
	assert_string_equal(k->plural, "nodes"); /* untouched */
}

static void by_path(void **state)
{
	(void)state;
	assert_string_equal(
		kind_name(kind_by_path("kubevirt.io", "v1alpha3", "virtualmachineinstances")),
		"VirtualMachineInstance");
	assert_string_equal(
		kind_name(kind_by_path("k8s.cni.cncf.io", "v1", "network-attachment-definitions")),
		"NetworkAttachmentDefinition");
	assert_string_equal(kind_name(kind_by_path("", "v1", "namespaces")), "Namespace");
	assert_null(kind_by_path("", "v1alpha3", "namespaces"));
	assert_null(kind_by_path("kubevirt.io", "v1", "vmi"));
}

static void by_word(void **state)
{
	static const char *const words[] = {"vmi",
					    "VMIs",
					    "virtualmachineinstance",
					    "virtualmachineinstances",
					    "virtualmachineinstances.kubevirt.io",
					    "virtualmachineinstance.kubevirt.io",
					    "Vmi.KubeVirt.io",
					    "VirtualMachineInstance"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		assert_string_equal(kind_name(kind_by_word(words[i])), "VirtualMachineInstance");
	assert_string_equal(kind_name(kind_by_word("net-attach-def")),
			    "NetworkAttachmentDefinition");
	assert_string_equal(kind_name(kind_by_word("hco.hco.kubevirt.io")), "HyperConverged");
	assert_null(kind_by_word("vm.kubevirt.io.x"));
	assert_null(kind_by_word("vm.hco.kubevirt.io"));
	assert_null(kind_by_word("vm."));
	assert_null(kind_by_word("node."));
	assert_null(kind_by_word(".kubevirt.io"));
	assert_null(kind_by_word(""));
}

/* Every name finds its own kind: none hides another. */
static void names_are_unique(void **state)
{
	char version[64];

	(void)state;
	for (size_t i = 0; i < KINDS_MAX; i++) {
		const struct kind *found = NULL;

		assert_ptr_equal(kind_by_word(kinds[i].plural), &kinds[i]);
		assert_ptr_equal(kind_by_word(kinds[i].singular), &kinds[i]);
		for (size_t n = 0; n < 3 && kinds[i].short_names[n]; n++)
			assert_ptr_equal(kind_by_word(kinds[i].short_names[n]), &kinds[i]);
		kind_api_version(&kinds[i], version, sizeof(version));
		assert_int_equal(kind_find(version, kinds[i].kind, &found, NULL), 0);
		assert_ptr_equal(found, &kinds[i]);
		assert_non_null(kinds[i].schema);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_manifest),
		cmocka_unit_test(by_path),
		cmocka_unit_test(by_word),
		cmocka_unit_test(names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

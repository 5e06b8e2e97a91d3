// SPDX-License-Identifier: Apache-2.0
/* KubeVirt, HyperConverged, KubeletConfiguration: what is taken, and what is refused by name. */
#include "tests/unit/unit.h"

#include "api/config.h"
#include "tests/unit/api/objects.h"

#define KUBEVIRT "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt}\n"
#define HCO	 "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata:\n  name: hco\n"
#define KUBELET	 "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

static bool emulates(const char *manifest)
{
	_cleanup_json_ json_t *obj = admitted(manifest);
	struct cluster_config cfg = {0};

	assert_int_equal(cluster_config_add(&cfg, obj, NULL), 0);
	return cfg.use_emulation;
}

/* The first cause, as a user sees it. */
static void refused(const char *manifest, const char *expected)
{
	_cleanup_yaml_doc_ struct yaml_doc *doc = doc_of(manifest);
	_cleanup_causes_ struct causes causes = {0};
	_cleanup_free_ char *text = NULL;
	const struct kind *kind;

	assert_int_equal(admit(yaml_doc_root(doc), NULL, &kind, &causes), -22);
	text = cause_text(&causes.list[0], doc);
	assert_string_equal(text, expected);
}

static void emulation(void **state)
{
	(void)state;
	/* as in KubeVirt's own release manifest */
	assert_false(emulates(KUBEVIRT "spec:\n  certificateRotateStrategy: {}\n"
				       "  configuration:\n    developerConfiguration:\n"
				       "      featureGates: []\n"
				       "  customizeComponents: {}\n"
				       "  imagePullPolicy: IfNotPresent\n"
				       "  workloadUpdateStrategy: {}\n"));
	assert_true(emulates(KUBEVIRT "spec: {configuration: {developerConfiguration: "
				      "{useEmulation: true}}}\n"));
	assert_true(emulates(HCO "spec: {developerConfiguration: {useEmulation: true}}\n"));
	assert_true(emulates(HCO
			     "  annotations:\n"
			     "    kubevirt.kubevirt.io/jsonpatch: '[{\"op\": \"add\", \"path\": "
			     "\"/spec/configuration/developerConfiguration/useEmulation\", "
			     "\"value\": true}, {\"op\": \"add\", \"path\": "
			     "\"/spec/configuration/developerConfiguration/featureGates/-\", "
			     "\"value\": \"X\"}]'\n"));
	assert_false(emulates(HCO));
}

static void either_object_may_say_so(void **state)
{
	_cleanup_json_ json_t *kubevirt = admitted(KUBEVIRT "spec: {}\n");
	_cleanup_json_ json_t *hco =
		admitted(HCO "spec: {developerConfiguration: {useEmulation: true}}\n");
	struct cluster_config cfg = {0};

	(void)state;
	assert_int_equal(cluster_config_add(&cfg, hco, NULL), 0);
	assert_int_equal(cluster_config_add(&cfg, kubevirt, NULL), 0);
	assert_true(cfg.use_emulation);
}

static void what_is_not_built(void **state)
{
	(void)state;
	refused(KUBEVIRT "spec:\n  configuration:\n    cpuModel: Westmere\n",
		"vm.yaml:6: spec.configuration.cpuModel: is not supported yet");
	refused(KUBEVIRT "spec:\n  configuration:\n    network:\n      binding:\n"
			 "        passt: {sidecarImage: x}\n",
		"vm.yaml:8: spec.configuration.network.binding.passt.sidecarImage: is not "
		"supported "
		"yet");
	refused(KUBEVIRT "spec:\n  configuration:\n    network:\n      binding:\n"
			 "        macvtap: {}\n",
		"vm.yaml:7: spec.configuration.network.binding: plugin 'macvtap' is not supported "
		"yet: l2bridge is");
	refused(KUBEVIRT "spec:\n  configuration:\n    network:\n      binding:\n"
			 "        l2bridge: {domainAttachmentType: tap}\n",
		"vm.yaml:8: spec.configuration.network.binding.l2bridge.domainAttachmentType: is "
		"'tap', must be managedTap");
	refused(HCO "  annotations:\n    kubevirt.kubevirt.io/jsonpatch: '[{\"op\": \"add\", "
		    "\"path\": \"/spec/x\", \"value\": 1}]'\n",
		"vm.yaml:6: metadata.annotations[kubevirt.kubevirt.io/jsonpatch]: path '/spec/x' "
		"is "
		"not supported yet");
	refused(HCO "spec:\n  dataImportCronTemplates: [{metadata: {name: x}}]\n",
		"vm.yaml:6: spec.dataImportCronTemplates: is not supported yet");
	refused(HCO "spec:\n  featureGates: {}\n",
		"vm.yaml:6: spec.featureGates: is not supported yet");
}

static void kubelet(void **state)
{
	_cleanup_json_ json_t *none = admitted(KUBELET);
	_cleanup_json_ json_t *full =
		admitted(KUBELET "cpuManagerPolicy: static\nreservedSystemCPUs: 0-1,4\n"
				 "cpuManagerPolicyOptions: {full-pcpus-only: \"true\"}\n"
				 "topologyManagerPolicy: single-numa-node\n");
	struct kubelet_config c = {.cpu_manager_static = true};

	(void)state;
	assert_int_equal(kubelet_config_decode(none, &c, NULL), 0);
	assert_false(c.cpu_manager_static || c.full_pcpus_only || c.reserved_cpus || c.topology);
	assert_int_equal(kubelet_config_decode(full, &c, NULL), 0);
	assert_true(c.cpu_manager_static && c.full_pcpus_only);
	assert_string_equal(c.reserved_cpus, "0-1,4");
	assert_int_equal(c.topology, TOPOLOGY_SINGLE);
	kubelet_config_done(&c);
	assert_null(c.reserved_cpus);
}

static void kubelet_refusals(void **state)
{
	(void)state;
	refused(KUBELET "cpuManagerPolicy: static\n", "vm.yaml:1: reservedSystemCPUs: must name at "
						      "least one CPU when cpuManagerPolicy is "
						      "static, such as reservedSystemCPUs: \"0\"");
	refused(KUBELET "cpuManagerPolicy: dynamic\n",
		"vm.yaml:3: cpuManagerPolicy: is 'dynamic', must be none or static");
	refused(KUBELET "reservedSystemCPUs: 0-\n",
		"vm.yaml:3: reservedSystemCPUs: is '0-', must be a list such as 0-1,4");
	refused(KUBELET "reservedSystemCPUs: 0\n",
		"vm.yaml:3: reservedSystemCPUs: is the number 0, must be a string: put it in "
		"quotes");
	refused(KUBELET "topologyManagerPolicy: numa\n",
		"vm.yaml:3: topologyManagerPolicy: is 'numa', must be none, best-effort, "
		"restricted "
		"or single-numa-node");
	refused(KUBELET "cpuManagerPolicyOptions: {full-pcpus-only: \"true\"}\n",
		"vm.yaml:3: cpuManagerPolicyOptions.full-pcpus-only: needs cpuManagerPolicy: "
		"static");
	refused(KUBELET "cpuManagerPolicyOptions: {distribute-cpus-across-numa: \"true\"}\n",
		"vm.yaml:3: cpuManagerPolicyOptions.distribute-cpus-across-numa: is not supported "
		"yet; of the CPU manager's policy options only full-pcpus-only is");
	refused(KUBELET "maxPods: 10\n",
		"vm.yaml:3: maxPods: is not supported yet; of the kubelet's settings "
		"cpuManagerPolicy, cpuManagerPolicyOptions, reservedSystemCPUs and "
		"topologyManagerPolicy are");
	refused(KUBELET "cpumanagerPolicy: none\n",
		"vm.yaml:3: cpumanagerPolicy: is not a field: is spelt cpuManagerPolicy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(emulation),	     cmocka_unit_test(either_object_may_say_so),
		cmocka_unit_test(what_is_not_built), cmocka_unit_test(kubelet),
		cmocka_unit_test(kubelet_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

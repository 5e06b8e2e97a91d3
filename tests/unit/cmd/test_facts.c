// SPDX-License-Identifier: Apache-2.0
/* What describe prints of each kind: whole pages, from objects as the API gives them. */
#include "tests/unit/unit.h"

#include "cmd/facts.h"

#include "lib/json.h"
#include "lib/yaml.h"

#include <string.h>

#define NOW 1796045200 /* 2026-11-30T13:26:40Z */

static json_t *parse(const char *text)
{
	struct yaml_doc **docs = NULL;
	struct err err = {0};
	json_t *value;
	size_t n;

	if (yaml_parse("test", text, strlen(text), &docs, &n, &err) < 0)
		fail_msg("%s", err.msg);
	value = json_incref(yaml_doc_root(docs[0]));
	yaml_docs_free(docs, n);
	return value;
}

static void assert_page(const char *kind, const char *object, const char *events, const char *vmis,
			const char *wanted)
{
	_cleanup_json_ json_t *o = parse(object), *e = parse(events), *v = parse(vmis);
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	facts_print(to, kind_by_word(kind), o, e, v, NOW);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text, wanted);
}

static void test_vmi(void **state)
{
	(void)state;
	assert_page(
		"vmi",
		"metadata: {name: a, namespace: lab, uid: u1, labels: {app: web, tier: x},\n"
		"  creationTimestamp: '2026-11-30T13:21:40Z',\n"
		"  ownerReferences: [{kind: VirtualMachine, name: a}]}\n"
		"spec:\n"
		"  domain:\n"
		"    cpu: {cores: 2, dedicatedCpuPlacement: true}\n"
		"    memory: {guest: 192Mi}\n"
		"    devices: {interfaces: [{name: n0, binding: {name: l2bridge}}, {name: n1, "
		"bridge: {}}]}\n"
		"  networks: [{name: n0, multus: {networkName: blue}}, {name: n1, pod: {}}]\n"
		"  volumes: [{name: root, hostDisk: {path: /d.img, type: Disk}}]\n"
		"status:\n"
		"  phase: Running\n"
		"  nodeName: lab1\n"
		"  interfaces: [{name: n0, mac: '02:00:00:00:00:01'}]\n"
		"  virtpod.io/startMicroseconds: {total: 295123}\n"
		"  phaseTransitionTimestamps: [{phase: Running, phaseTransitionTimestamp: "
		"'2026-11-30T13:21:41Z'}]\n"
		"  conditions: [{type: Ready, status: 'True'}, {type: X, status: 'False', reason: "
		"R, "
		"message: \"m\\e[2J\\x9b\"}]\n",
		"- {type: Normal, reason: Started, count: 1, message: up, source: {component: "
		"virt-handler},\n"
		"   firstTimestamp: '2026-11-30T13:21:41Z', lastTimestamp: "
		"'2026-11-30T13:21:41Z'}\n"
		"- {type: Warning, reason: IOerror, count: 3, message: bad, source: {component: "
		"virt-handler},\n"
		"   firstTimestamp: '2026-11-30T13:22:40Z', lastTimestamp: "
		"'2026-11-30T13:26:38Z'}\n",
		"[]",
		"Name:             a\n"
		"Namespace:        lab\n"
		"Labels:           app=web\n"
		"                  tier=x\n"
		"Annotations:      <none>\n"
		"UID:              u1\n"
		"Created:          2026-11-30T13:21:40Z (5m ago)\n"
		"Owner:            VirtualMachine/a\n"
		"Phase:            Running\n"
		"Node:             lab1\n"
		"Running since:    2026-11-30T13:21:41Z (4m59s ago)\n"
		"Start took:       295 ms\n"
		"CPUs:             2 (sockets 1, cores 2, threads 1), dedicated\n"
		"Memory:           192Mi\n"
		"Volumes:\n"
		"  NAME   VOLUME     FROM\n"
		"  root   hostDisk   /d.img\n"
		"Interfaces:\n"
		"  NAME   BINDING    NETWORK   MAC\n"
		"  n0     l2bridge   blue      02:00:00:00:00:01\n"
		"  n1     bridge     pod\n"
		"Conditions:\n"
		"  TYPE    STATUS   REASON   MESSAGE\n"
		"  Ready   True\n"
		"  X       False    R        m?[2J?\n"
		"Events:\n"
		"  TYPE      REASON    AGE               FROM           MESSAGE\n"
		"  Normal    Started   4m59s             virt-handler   up\n"
		"  Warning   IOerror   2s (x3 over 4m)   virt-handler   bad\n");
}

static void test_vm(void **state)
{
	(void)state;
	assert_page("vm",
		    "metadata: {name: a, namespace: lab}\n"
		    "spec: {template: {spec: {domain: {resources: {requests: {memory: 1Gi}}}}}}\n"
		    "status: {printableStatus: CrashLoopBackOff, runStrategy: Always,\n"
		    "  virtpod.io/lastPhase: Failed,\n"
		    "  startFailure: {consecutiveFailCount: 2, retryAfterTimestamp: "
		    "'2026-11-30T13:27:00Z'}}\n",
		    "[]", "[]",
		    "Name:             a\n"
		    "Namespace:        lab\n"
		    "Labels:           <none>\n"
		    "Annotations:      <none>\n"
		    "Status:           CrashLoopBackOff\n"
		    "Run strategy:     Always\n"
		    "Last VMI:         Failed\n"
		    "Failed starts:    2; the next one at 2026-11-30T13:27:00Z\n"
		    "CPUs:             1 (sockets 1, cores 1, threads 1)\n"
		    "Memory:           1Gi\n"
		    "Volumes:          <none>\n"
		    "Interfaces:       <none>\n"
		    "Events:           <none>\n");
}

/* A VM that has ended is on no node any more. */
static void test_node(void **state)
{
	(void)state;
	assert_page(
		"node",
		"metadata: {name: lab1, uid: lab1}\n"
		"status: {capacity: {cpu: '4'}, allocatable: {cpu: '3'},\n"
		"  nodeInfo: {kernelVersion: '6.1', kubeletVersion: v1}}\n",
		"[]",
		"- {metadata: {name: a, namespace: lab}, spec: {domain: {memory: {guest: 1Gi},\n"
		"   cpu: {dedicatedCpuPlacement: true}}}, status: {nodeName: lab1, phase: "
		"Running}}\n"
		"- {metadata: {name: b}, status: {nodeName: lab1, phase: Failed}}\n"
		"- {metadata: {name: c}, status: {phase: Pending}}\n",
		"Name:             lab1\n"
		"Labels:           <none>\n"
		"Annotations:      <none>\n"
		"UID:              lab1\n"
		"Version:          v1\n"
		"Kernel:           6.1\n"
		"Resources:\n"
		"  RESOURCE   CAPACITY   ALLOCATABLE\n"
		"  cpu        4          3\n"
		"VMs:\n"
		"  NAMESPACE   NAME   PHASE     MEMORY   DEDICATED\n"
		"  lab         a      Running   1Gi      yes\n"
		"Events:           <none>\n");
}

static void test_other(void **state)
{
	(void)state;
	assert_page("net-attach-def",
		    "metadata: {name: blue, namespace: lab, annotations: {a: \"b\\nc\"}}\n"
		    "spec: {config: '{\"type\": \"bridge\", \"mtu\": 1450}'}\n",
		    "[]", "[]",
		    "Name:             blue\n"
		    "Namespace:        lab\n"
		    "Labels:           <none>\n"
		    "Annotations:      a=b?c\n"
		    "Config:\n"
		    "  mtu: 1450\n"
		    "  type: bridge\n"
		    "Events:           <none>\n");
	assert_page("kubeletconfiguration",
		    "metadata: {name: default}\nkind: KubeletConfiguration\n"
		    "cpuManagerPolicy: static\n",
		    "[]", "[]",
		    "Name:             default\n"
		    "Labels:           <none>\n"
		    "Annotations:      <none>\n"
		    "Says:\n"
		    "  cpuManagerPolicy: static\n"
		    "Events:           <none>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vmi),
		cmocka_unit_test(test_vm),
		cmocka_unit_test(test_node),
		cmocka_unit_test(test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

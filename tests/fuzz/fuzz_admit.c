// SPDX-License-Identifier: Apache-2.0
/*
 * Manifests: YAML, structure, defaults, rules of every kind; then the plan of a VMI, its way over the
 * wire, and QEMU's command line.
 */
#include "tests/fuzz/fuzz.h"

#include "api/admit.h"
#include "api/plan_make.h"
#include "api/vm.h"
#include "launcher/args.h"
#include "launcher/argv.h"

#include "lib/json.h"

#define UID "11111111-2222-4333-8444-555555555555"

static int network(const char *ns_name, struct network *ret, void *arg, struct err *err)
{
	(void)ns_name;
	(void)arg;
	(void)err;
	*ret = (struct network){.bridge = xstrdup("br0"), .mtu = 1500};
	return 0;
}

static void plan(json_t *vmi)
{
	const struct plan_host host = {.kvm = true};
	struct cluster_config cfg = {0};
	struct plan *p = NULL, *same = NULL;
	_cleanup_json_ json_t *wire = NULL;
	char **argv = NULL;
	struct err err = {0};
	int r;

	(void)json_path_set(vmi, "metadata.uid", json_string(UID));
	r = plan_make(vmi, &cfg, &host, network, NULL, &p, &err);
	fuzz_said(r, &err);
	if (r < 0)
		return;
	wire = plan_to_json(p);
	r = plan_from_json(wire, &same, &err);
	if (r < 0)
		(void)fprintf(stderr, "%s\n", err.msg);
	fuzz_must(r == 0);
	r = argv_build(same, "/usr/bin/qemu-system-x86_64", NULL, &argv, &err);
	fuzz_said(r, &err);
	if (r == 0)
		args_free(argv);
	plan_free(p);
	plan_free(same);
}

static void one(const struct yaml_doc *doc)
{
	_cleanup_json_ json_t *obj = json_deep_copy(yaml_doc_root(doc)), *vmi = NULL;
	_cleanup_causes_ struct causes causes = {0};
	const struct kind *kind = NULL;
	struct err err = {0};

	if (admit(obj, NULL, &kind, &causes) < 0) {
		fuzz_said(causes_to_err(&causes, &err), &err);
		for (size_t i = 0; i < causes.n; i++)
			free(cause_text(&causes.list[i], doc));
		json_decref(causes_to_json(&causes));
	} else if (str_eq(kind->kind, "VirtualMachineInstance")) {
		plan(obj);
	} else if (str_eq(kind->kind, "VirtualMachine")) {
		vmi = vm_to_vmi(obj);
		plan(vmi);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct yaml_doc **docs = NULL;
	struct err err = {0};
	size_t n = 0;

	fuzz_said(yaml_parse("fuzz", (const char *)data, len, &docs, &n, &err), &err);
	for (size_t i = 0; i < n; i++)
		one(docs[i]);
	yaml_docs_free(docs, n);
	return 0;
}

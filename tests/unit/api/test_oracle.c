// SPDX-License-Identifier: Apache-2.0
/*
 * Every case of the KubeVirt vectors. A case agrees when structure and rules give KubeVirt's causes,
 * the defaults are KubeVirt's and so is the memory overhead; or it is refused with NOT_YET for each
 * thing that is not built, and even then no error may be made up, and the defaults must agree in all
 * but what is refused; or it stands in differences.md, and then it must differ.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/admit.h"
#include "api/cause.h"
#include "api/config.h"
#include "api/default.h"
#include "api/meta.h"
#include "api/overhead.h"
#include "api/quantity.h"
#include "api/schema.h"
#include "api/validate.h"
#include "api/vm.h"
#include "lib/yaml.h"
#include "tests/unit/oracle.h"

#define FOLDER "tests/oracle/kubevirt/"

struct run {
	const char *name;
	json_t *obj;		 /* after defaults */
	json_t *result;		 /* the vector */
	struct causes structure; /* of the manifest, without NOT_YET */
	struct causes rules;	 /* likewise */
	struct causes not_yet;
	char *why; /* first disagreement, or NULL */
};

static bool is_not_yet(const struct cause *c)
{
	return strstr(c->message, NOT_YET) != NULL;
}

static void sort_causes(const struct causes *from, struct causes *rest, struct causes *not_yet)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct cause *c = &from->list[i];

		cause_add(is_not_yet(c) ? not_yet : rest, c->reason, c->field, "%s", c->message);
	}
	assert_int_equal(from->more, 0);
}

/* NULL with the reader's word in *err. */
static json_t *load_yaml(const char *path, struct err *err)
{
	_cleanup_free_ char *text = oracle_read(path);
	struct yaml_doc **docs = NULL;
	json_t *ret;
	size_t n = 0;

	if (yaml_parse(path, text, strlen(text), &docs, &n, err) < 0)
		return NULL;
	assert_int_equal(n, 1);
	ret = json_incref(yaml_doc_root(docs[0]));
	yaml_docs_free(docs, n);
	return ret;
}

/* true: the case's configuration is not one that can be had here. */
static bool config_refused(const char *name, struct causes *not_yet)
{
	_cleanup_free_ char *path = xasprintf(FOLDER "cases/%s.config.yaml", name);
	_cleanup_causes_ struct causes all = {0}, rest = {0};
	_cleanup_json_ json_t *obj = NULL;
	const struct kind *kind;

	if (access(path, F_OK) < 0)
		return false;
	obj = json_pack("{s:s, s:s, s:{s:s}, s:{s:o}}", "apiVersion", "kubevirt.io/v1", "kind",
			"KubeVirt", "metadata", "name", "kubevirt", "spec", "configuration",
			load_yaml(path, NULL));
	(void)admit(obj, NULL, &kind, &all);
	sort_causes(&all, &rest, not_yet);
	assert_int_equal(rest.n, 0);
	return not_yet->n > 0;
}

static void disagree(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void disagree(struct run *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!r->why && vasprintf(&r->why, fmt, ap) < 0)
		r->why = NULL;
	va_end(ap);
}

static void check_one(struct run *r)
{
	bool vm = str_eq(json_str(r->obj, "kind"), "VirtualMachine");
	_cleanup_causes_ struct causes structure = {0}, rules = {0};

	schema_check(vm ? &schema_vm : &schema_vmi, r->obj, &structure);
	sort_causes(&structure, &r->structure, &r->not_yet);
	if (r->structure.n > 0)
		return;
	metadata_validate(r->obj, false, &rules);
	object_drop_nulls(r->obj);
	if (vm) {
		vm_default(r->obj);
		vm_validate(r->obj, &rules);
	} else {
		vmi_default(r->obj);
		vmi_validate(r->obj, &rules);
	}
	sort_causes(&rules, &r->rules, &r->not_yet);
}

static bool expected_has(const json_t *causes, const struct cause *c)
{
	const json_t *e;
	size_t i;

	json_array_foreach (causes, i, e) {
		if (str_eq(json_str(e, "field"), c->field) &&
		    str_eq(json_str(e, "reason"), cause_reason_name(c->reason)))
			return true;
	}
	return false;
}

static bool ours_has(const struct causes *causes, const json_t *e)
{
	for (size_t i = 0; i < causes->n; i++) {
		if (str_eq(json_str(e, "field"), causes->list[i].field) &&
		    str_eq(json_str(e, "reason"), cause_reason_name(causes->list[i].reason)))
			return true;
	}
	return false;
}

/* Schema refusals there: only a message that begins with the path, without list indexes. */
static void compare_structure(struct run *r, const json_t *causes)
{
	const char *message = json_str(json_array_get(causes, 0), "message");
	char field[200], *out = field;

	assert_int_equal(json_array_size(causes), 1);
	if (r->rules.n + r->structure.n != 1) {
		disagree(r, "found %zu errors there is one: %s", r->rules.n + r->structure.n,
			 message);
		return;
	}
	for (const char *in = r->structure.n ? r->structure.list[0].field : r->rules.list[0].field;
	     *in; in++) {
		if (*in == '[')
			in = strchr(in, ']');
		else
			*out++ = *in;
	}
	*out = '\0';
	if (strncmp(message, field, strlen(field)) != 0 || message[strlen(field)] != ' ')
		disagree(r, "field %s, there %s", field, message);
}

static void compare_causes(struct run *r)
{
	const json_t *causes = json_get(r->result, "admission.causes"), *e;
	size_t i;

	if (str_eq(json_str(r->result, "admission.stage"), "mutating") &&
	    !json_flag(r->result, "admission.allowed", true)) {
		if (r->not_yet.n == 0 || r->structure.n > 0)
			compare_structure(r, causes);
		return;
	}
	for (i = 0; i < r->structure.n; i++) {
		if (!expected_has(causes, &r->structure.list[i]))
			disagree(r, "not there: %s %s", r->structure.list[i].field,
				 r->structure.list[i].message);
	}
	for (i = 0; i < r->rules.n; i++) {
		if (!expected_has(causes, &r->rules.list[i]))
			disagree(r, "not there: %s %s", r->rules.list[i].field,
				 r->rules.list[i].message);
	}
	if (r->not_yet.n > 0)
		return; /* rules of what is not built may be missing */
	json_array_foreach (causes, i, e) {
		if (!ours_has(&r->rules, e) && !ours_has(&r->structure, e))
			disagree(r, "not here: %s %s", json_str(e, "field"),
				 json_str(e, "message"));
	}
}

static void blank(json_t *root, const char *path)
{
	if (json_get(root, path))
		(void)json_path_set(root, path, json_null());
}

/* Take out what is random there, what is ours alone, and what is not built. */
static json_t *normal(const json_t *obj, const struct causes *not_yet, const char *from,
		      const char *to)
{
	static const char *const uuids[] = {
		"spec.domain.firmware.uuid",
		"spec.domain.firmware.serial",
		"spec.template.spec.domain.firmware.uuid",
		"spec.template.spec.domain.firmware.serial",
	};
	json_t *ret = json_deep_copy(obj), *volume;
	size_t n;

	for (size_t i = 0; i < not_yet->n; i++) {
		const char *rest = str_after(not_yet->list[i].field, from);

		if (rest) {
			_cleanup_free_ char *path = xasprintf("%s%s", to, rest);

			blank(ret, path);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(uuids); i++) {
		char derived[UUID_TEXT];

		firmware_uuid(object_name(obj), derived);
		if (str_eq(json_str(ret, uuids[i]), "RANDOM-UUID"))
			(void)json_path_set(ret, uuids[i], json_string(derived));
	}
	(void)json_object_del(json_get(ret, "status"), "runtimeUser");
	json_array_foreach (json_get(ret, "spec.volumes"), n, volume) {
		/* Go's encoder writes an absent capacity so */
		if (str_eq(json_str(volume, "hostDisk.capacity"), "0"))
			(void)json_object_del(json_get(volume, "hostDisk"), "capacity");
	}
	return ret;
}

/* Names the first place where two values differ. */
static void disagree_at(struct run *r, const char *what, const char *path, const json_t *a,
			const json_t *b)
{
	_cleanup_json_ json_t *keys = json_object();
	const char *key;
	json_t *value;

	if (json_equal(a, b))
		return;
	if (!json_is_object(a) || !json_is_object(b)) {
		_cleanup_free_ char *x = a ? json_dumps(a, JSON_ENCODE_ANY) : NULL;
		_cleanup_free_ char *y = b ? json_dumps(b, JSON_ENCODE_ANY) : NULL;

		disagree(r, "%s: %s is %s, there %s", what, path, x ? x : "-", y ? y : "-");
		return;
	}
	(void)json_object_update(keys, (json_t *)a);
	(void)json_object_update(keys, (json_t *)b);
	json_object_foreach (keys, key, value) {
		_cleanup_free_ char *below = xasprintf("%s.%s", path, key);

		disagree_at(r, what, below, json_object_get(a, key), json_object_get(b, key));
	}
}

static void compare_defaults(struct run *r)
{
	const json_t *expected = json_get(r->result, "defaults");
	_cleanup_json_ json_t *ours = NULL, *theirs = NULL;

	/* what is malformed is not defaulted here; causes were compared */
	if (!expected || r->structure.n > 0)
		return;
	ours = normal(r->obj, &r->not_yet, "", "");
	theirs = normal(expected, &r->not_yet, "", "");
	disagree_at(r, "defaults", "", ours, theirs);
}

/* What the run strategy would make of a VM, as far as the vectors hold it: the spec. */
static void compare_vmi_of_vm(struct run *r)
{
	const json_t *expected = json_get(r->result, "vmiDefaultsOfExpanded");
	_cleanup_json_ json_t *vmi = NULL, *ours = NULL, *theirs = NULL;

	if (!expected || json_get(r->obj, "spec.instancetype") ||
	    json_get(r->obj, "spec.preference"))
		return;
	vmi = vm_to_vmi(r->obj);
	ours = normal(vmi, &r->not_yet, "spec.template.spec", "spec");
	theirs = normal(expected, &r->not_yet, "spec.template.spec", "spec");
	disagree_at(r, "VMI of the VM", "spec", json_get(ours, "spec"), json_get(theirs, "spec"));
}

/* Does what is not built change the overhead? Volumes that only need an image do not. */
static bool overhead_is_built(const struct causes *not_yet)
{
	for (size_t i = 0; i < not_yet->n; i++) {
		const char *f = not_yet->list[i].field;

		if (strstr(f, "sriov")) /* VFIO costs a GiB */
			return false;
		if (!strstr(f, "volumes[") && !strstr(f, "networks[") && !strstr(f, "features") &&
		    !strstr(f, "clock") && !strstr(f, "interfaces["))
			return false;
	}
	return true;
}

static uint64_t bytes_of(const json_t *root, const char *path)
{
	uint64_t ret = 0;

	if (json_get(root, path))
		assert_int_equal(quantity_bytes(json_get(root, path), &ret, NULL), 0);
	return ret;
}

/* There, the page-table term counts the request; here, guest memory (facts: an oddity). */
static void compare_overhead(struct run *r)
{
	const char *text = json_str(r->result, "memoryOverhead");
	_cleanup_json_ json_t *of_vm = NULL;
	const json_t *vmi = r->obj;
	uint64_t expected;

	if (!text || !overhead_is_built(&r->not_yet))
		return;
	if (str_eq(json_str(r->obj, "kind"), "VirtualMachine"))
		vmi = of_vm = vm_to_vmi(r->obj);
	expected = strtoull(text, NULL, 10);
	expected -= bytes_of(vmi, "spec.domain.resources.requests.memory") / 512;
	expected += bytes_of(vmi, "spec.domain.memory.guest") / 512;
	if (memory_overhead(vmi) != expected)
		disagree(r, "overhead %llu, there %llu", (unsigned long long)memory_overhead(vmi),
			 (unsigned long long)expected);
}

static void run_case(struct run *r)
{
	_cleanup_free_ char *manifest = xasprintf(FOLDER "cases/%s.yaml", r->name);
	_cleanup_free_ char *file = xasprintf(FOLDER "results/%s.json", r->name);
	_cleanup_free_ char *text = oracle_read(file);
	struct err err = {0};

	r->result = json_loads(text, 0, NULL);
	assert_non_null(r->result);
	r->obj = load_yaml(manifest, &err);
	if (!r->obj) {
		disagree(r, "%s", err.msg);
		return;
	}
	if (config_refused(r->name, &r->not_yet))
		return;
	check_one(r);
	compare_causes(r);
	compare_defaults(r);
	if (r->structure.n == 0) {
		compare_vmi_of_vm(r);
		compare_overhead(r);
	}
}

static void every_case_has_its_class(void **state)
{
	_cleanup_free_ char *index = oracle_read(FOLDER "INDEX.tsv");
	_cleanup_free_ char *list = oracle_read("tests/oracle/differences.md");
	unsigned agree = 0, not_yet = 0, listed = 0, bad = 0;
	char *save = NULL, *line = strtok_r(index, "\n", &save);

	(void)state;
	while ((line = strtok_r(NULL, "\n", &save))) {
		_cleanup_json_ json_t *name = json_stringn(line, strcspn(line, "\t"));
		struct run r = {.name = json_string_value(name)};
		bool in_list = oracle_differs(list, "kubevirt", name);

		run_case(&r);
		if ((r.why != NULL) != in_list) {
			print_error("%s: %s\n", r.name, in_list ? "agrees, but is listed" : r.why);
			bad++;
		} else if (in_list) {
			listed++;
		} else if (r.not_yet.n > 0) {
			not_yet++;
		} else {
			agree++;
		}
		free(r.why);
		json_decref(r.obj);
		json_decref(r.result);
		causes_done(&r.structure);
		causes_done(&r.rules);
		causes_done(&r.not_yet);
	}
	print_message("# %u agree, %u are not supported yet (and agree otherwise), %u listed\n",
		      agree, not_yet, listed);
	assert_int_equal(bad, 0);
	assert_int_equal(agree + not_yet + listed, 186);
}

/* The vectors' ordinary disk and network are not built: put in what is, and ask for a VM. */
static void substitute(json_t *spec)
{
	json_t *volume;
	size_t i;

	json_array_foreach (json_get(spec, "volumes"), i, volume) {
		if (!json_get(volume, "emptyDisk") && json_object_del(volume, "containerDisk") == 0)
			(void)json_path_set(volume, "emptyDisk.capacity", json_string("1Gi"));
	}
	if (!json_get(spec, "networks") && !json_get(spec, "domain.devices.interfaces"))
		(void)json_path_set(spec, "domain.devices.autoattachPodInterface", json_false());
}

/* 0: what is left is not built; 1: accepted or refused as there; -1: not. */
static int admit_substituted(const char *name)
{
	_cleanup_free_ char *manifest = xasprintf(FOLDER "cases/%s.yaml", name);
	_cleanup_free_ char *file = xasprintf(FOLDER "results/%s.json", name);
	_cleanup_free_ char *text = oracle_read(file);
	_cleanup_json_ json_t *result = json_loads(text, 0, NULL), *obj = load_yaml(manifest, NULL);
	_cleanup_causes_ struct causes all = {0}, errors = {0}, not_yet = {0};
	const struct kind *kind;
	int r;

	if (!obj || config_refused(name, &not_yet))
		return 0;
	substitute(json_get(obj, "spec.template.spec") ? json_get(obj, "spec.template.spec")
						       : json_get(obj, "spec"));
	r = admit(obj, NULL, &kind, &all);
	sort_causes(&all, &errors, &not_yet);
	assert_int_equal(r == 0, all.n == 0);
	if (not_yet.n > 0)
		return 0;
	return json_flag(result, "admission.allowed", r < 0) == (r == 0) ? 1 : -1;
}

static void verdicts_agree_once_disk_and_network_are_built(void **state)
{
	_cleanup_free_ char *index = oracle_read(FOLDER "INDEX.tsv");
	_cleanup_free_ char *list = oracle_read("tests/oracle/differences.md");
	unsigned agree = 0, accepted = 0, bad = 0;
	char *save = NULL, *line = strtok_r(index, "\n", &save);

	(void)state;
	while ((line = strtok_r(NULL, "\n", &save))) {
		_cleanup_json_ json_t *name = json_stringn(line, strcspn(line, "\t"));
		int r = admit_substituted(json_string_value(name));

		if (r < 0 && !oracle_differs(list, "kubevirt", name)) {
			print_error("%s: the verdict differs\n", json_string_value(name));
			bad++;
		}
		agree += r > 0;
		accepted += r > 0 && strstr(line, "\ttrue\t");
	}
	print_message("# %u verdicts agree, %u of them accept\n", agree, accepted);
	assert_int_equal(bad, 0);
	assert_in_range(accepted, 20, agree - 10); /* both verdicts are tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_agree_once_disk_and_network_are_built),
		cmocka_unit_test(every_case_has_its_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

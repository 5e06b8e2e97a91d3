// SPDX-License-Identifier: Apache-2.0
/*
 * The report of a real pod (inspect.json; its second vCPU and IO thread were added by hand), which keeps
 * every promise of plan.json, and how to make copies of it that lie in one place.
 */
#pragma once

#include "tests/unit/unit.h"

#include "handler/verify.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

#define DIR "tests/unit/handler/verify/"
#define TAG "7a2dd31a" /* of the root that the report was made in */

static json_t *golden, *golden_plan;

static inline json_t *load(const char *path)
{
	json_t *json = json_load_file(path, 0, NULL);

	if (!json)
		print_error("%s is not there; run this from the top folder\n", path);
	return json;
}

static inline int setup(void **state)
{
	(void)state;
	golden = load(DIR "inspect.json");
	golden_plan = load(DIR "plan.json");
	return golden && golden_plan ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	json_decref(golden);
	json_decref(golden_plan);
	return 0;
}

/* What the VM of the report was promised: vCPUs 0 and 1 on CPUs 1 and 2; CPU 4 is another VM's. */
struct fixture {
	struct plan *plan;
	struct cpu_holder other;
	struct verify_promise p;
};

static inline void fixture_make(struct fixture *f, const json_t *plan)
{
	const struct paths paths = {.tag = TAG};
	struct err err = {0};

	*f = (struct fixture){.other.name = "default/two"};
	if (plan_from_json(plan, &f->plan, &err) < 0)
		fail_msg("%s", err.msg);
	CPU_SET(4, &f->other.cpus);
	f->p = (struct verify_promise){
		.plan = f->plan, .host_id = 2100404224, .holders = &f->other, .n_holders = 1};
	f->p.cpus.n_vcpus = 2;
	f->p.cpus.vcpu[0] = 1;
	f->p.cpus.vcpu[1] = 2;
	CPU_SET(1, &f->p.cpus.all);
	CPU_SET(2, &f->p.cpus.all);
	assert_int_equal(sandbox_binds_for_qemu("/usr/bin/qemu-system-x86_64", f->p.binds,
						&f->p.n_binds, &err),
			 0);
	for (unsigned i = 0; i < f->plan->n_nics; i++)
		link_names(&paths, f->plan->uid, &f->plan->nics[i], &f->p.links[i]);
}

static inline void fixture_done(struct fixture *f)
{
	plan_free(f->plan);
}

/* path := value (JSON text with ' for "), or the item at path away when value is NULL. */
static inline void change(json_t *root, const char *path, const char *value)
{
	_cleanup_free_ char *text = xstrdup(value);

	for (char *c = text; c && *c; c++)
		*c = *c == '\'' ? '"' : *c;
	if (value) {
		json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

		assert_non_null(json);
		assert_int_equal(json_path_set(root, path, json), 0);
	} else {
		_cleanup_free_ char *parent = xstrdup(path);
		char *last = strrchr(parent, '[');
		size_t i = strtoul(last + 1, NULL, 10);

		*last = 0;
		assert_int_equal(json_array_remove(json_get(root, parent), i), 0);
	}
}

static inline bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; *p; p += strcspn(p, " ") + (p[strcspn(p, " ")] == ' '))
		if (strcspn(p, " ") == len && !strncmp(p, word, len))
			return true;
	return false;
}

/* The distinct "what"s in order, joined by blanks; each text must be one printable line. */
static inline char *whats(const json_t *differences)
{
	char *list = xstrdup("");
	const json_t *d;
	size_t i;

	json_array_foreach (differences, i, d) {
		const char *what = json_str(d, "what"), *text = json_str(d, "text");
		char *longer;

		assert_non_null(what);
		assert_non_null(text);
		assert_non_null(json_object_get(d, "wanted"));
		assert_non_null(json_object_get(d, "found"));
		for (const char *c = text; *c; c++)
			assert_true(*c < 0 || *c >= ' '); /* negative: of a cut-off's "…" */
		if (has_word(list, what))
			continue;
		longer = xasprintf("%s%s%s", list, *list ? " " : "", what);
		free(list);
		list = longer;
	}
	return list;
}

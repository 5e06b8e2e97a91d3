// SPDX-License-Identifier: Apache-2.0
/* What of any file system the pod's processes see: sandbox/root.c made it, nothing else may be there. */
#include "handler/verify_internal.h"

#include <stdio.h>
#include <string.h>

/* As sandbox/root.c mounts them. `below`: what is mounted further down falls under it, too. */
struct rule {
	const char *point, *options;
	bool below;
};

static const struct rule *find_rule(const struct rule *rules, size_t n, const char *point)
{
	const struct rule *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *rest = str_after(point, rules[i].point);

		if (rest && (!*rest || (rules[i].below && *rest == '/')) &&
		    (!best || strlen(rules[i].point) > strlen(best->point)))
			best = &rules[i];
	}
	return best;
}

static bool has_option(const char *options, const char *option, size_t len)
{
	for (const char *p = options; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
		if (strcspn(p, ",") == len && !strncmp(p, option, len))
			return true;
	return false;
}

static bool has_options(const char *options, const char *wanted)
{
	for (const char *p = wanted; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
		if (!has_option(options, p, strcspn(p, ",")))
			return false;
	return true;
}

static void check_mount(struct verify *v, const struct rule *rules, size_t n, const json_t *mount,
			const char *who)
{
	const char *point = json_str(mount, "point"), *options = json_str(mount, "options");
	const struct rule *rule = point ? find_rule(rules, n, point) : NULL;

	if (!rule)
		verify_differ(v, json_null(), json_object_get(mount, "source"), "%s mount %.100s",
			      who, point ? point : "?");
	else if (!options || !has_options(options, rule->options))
		verify_differ(v, json_string(rule->options), json_object_get(mount, "options"),
			      "%s mount %.100s options", who, point);
}

static void own_mounts(struct verify *v, const json_t *process, const char *who)
{
	/* without a pid namespace of its own the host's /proc is bound, with the host's options */
	bool pid = v->p->plan->isolation.pid;
	struct rule rules[4 + SANDBOX_MAX_BINDS] = {
		{"/", "ro,nosuid,nodev,noexec", .below = false},
		{"/dev", "ro,nosuid,noexec", .below = false},
		{"/proc", pid ? "nosuid,nodev,noexec" : "", .below = !pid},
		{"/tmp", "nosuid,nodev,noexec", .below = false},
	};
	const json_t *mount, *root = NULL;
	size_t n = 4, i;

	for (i = 0; i < v->p->n_binds; i++)
		rules[n++] = (struct rule){v->p->binds[i].source, "ro,nosuid,nodev", .below = true};
	json_array_foreach (json_object_get(process, "mounts"), i, mount) {
		check_mount(v, rules, n, mount, who);
		if (verify_is(mount, "point", "/"))
			root = mount;
	}
	verify_equal(v, json_string("tmpfs"), json_object_get(root, "fs"), "%s file system of /",
		     who);
}

void verify_mounts(struct verify *v)
{
	if (v->p->plan->isolation.mount)
		verify_each_process(v, own_mounts);
}

/* Is it the first part of a bound path? */
static bool leads_to_bind(const struct verify_promise *p, const char *name)
{
	for (size_t i = 0; i < p->n_binds; i++) {
		const char *rest = str_after(p->binds[i].source + 1, name);

		if (rest && (!*rest || *rest == '/'))
			return true;
	}
	return false;
}

static void own_root(struct verify *v, const json_t *process, const char *who)
{
	static const char *const made[] = {"bin", "dev", "lib", "lib64", "proc", "tmp"};
	const json_t *entries = json_object_get(process, "rootEntries"), *entry;
	size_t i;

	if (!json_is_array(entries))
		verify_differ(v, json_string("a folder"), entries, "%s root", who);
	json_array_foreach (entries, i, entry) {
		const char *name = json_string_value(entry);
		bool fine = name && leads_to_bind(v->p, name);

		for (size_t j = 0; !fine && j < ARRAY_SIZE(made); j++)
			fine = str_eq(name, made[j]);
		if (!fine)
			verify_differ(v, json_null(), entry, "%s entry of the root", who);
	}
}

void verify_root_entries(struct verify *v)
{
	if (v->p->plan->isolation.mount)
		verify_each_process(v, own_root);
}

static void own_dev(struct verify *v, const json_t *process, const char *who)
{
	json_t *nodes = json_pack("[s,s,s,s,s]", "full", "null", "random", "urandom", "zero");

	if (v->p->plan->accel == ACCEL_KVM) /* in the order of names */
		(void)json_array_insert_new(nodes, 1, json_string("kvm"));
	verify_equal(v, nodes, json_object_get(process, "devEntries"), "%s entries of /dev", who);
}

void verify_dev_entries(struct verify *v)
{
	if (v->p->plan->isolation.mount)
		verify_each_process(v, own_dev);
}

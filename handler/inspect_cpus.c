// SPDX-License-Identifier: Apache-2.0
/* The ledger's word on CPUs, and what the kernel's cpusets of all other pods say to it. */
#include "handler/inspect_internal.h"

#include "handler/cpuset.h"

#include "lib/cpus.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>

static void add_cpus(const json_t *cgroup, const char *path, cpu_set_t *set)
{
	const char *text = json_str(cgroup, path);
	cpu_set_t cpus;

	if (text && cpus_parse(text, &cpus) == 0)
		CPU_OR(set, set, &cpus);
}

/* {"pod", "vm", "cpus"} when that pod may run on some of `cpus`. */
static int compare_pod(struct handler *h, const char *uid, const cpu_set_t *cpus, json_t *list,
		       struct err *err)
{
	_cleanup_json_ json_t *cgroup = NULL;
	const struct pod *pod = pod_find(h, uid);
	char text[CPUS_TEXT_MAX];
	cpu_set_t theirs, common;
	struct err why = {0};
	int r = cgroup_pod_read(h->cgroups, uid, &cgroup, &why);

	if (r == -ENOENT)
		return 0; /* it went since it was listed */
	if (r < 0)
		return err_set(err, r, "%s", why.msg);
	CPU_ZERO(&theirs);
	add_cpus(cgroup, "cpuset.emu.cpus", &theirs);
	add_cpus(cgroup, "cpuset.vcpu.cpus", &theirs);
	CPU_AND(&common, &theirs, cpus);
	if (!CPU_COUNT(&common))
		return 0;
	return json_array_append_new(
		list, json_pack("{s:s, s:o, s:s}", "pod", uid, "vm",
				pod ? json_sprintf("%s/%s", pod->record.ns, pod->record.name)
				    : json_null(),
				"cpus", cpus_format(&common, text)));
}

static int overlaps(const struct inspect *in, const cpu_set_t *cpus, json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *list = json_array();
	char **uids = NULL;
	size_t n = 0;
	int r = CPU_COUNT(cpus) ? cgroup_list(in->h->cgroups, &uids, &n, err) : 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		if (!str_eq(uids[i], in->pod->record.uid))
			r = compare_pod(in->h, uids[i], cpus, list, err);
	cgroup_list_free(uids, n);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(list);
	return 0;
}

static json_t *vcpus_json(const struct cpu_assignment *a)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < a->n_vcpus; i++)
		(void)json_array_append_new(list, json_integer(a->vcpu[i]));
	return list;
}

int inspect_cpus(const struct inspect *in, json_t **ret, struct err *err)
{
	char all[CPUS_TEXT_MAX], emulator[CPUS_TEXT_MAX], pool[CPUS_TEXT_MAX];
	_cleanup_json_ json_t *others = NULL;
	struct cpu_assignment ledger;
	cpu_set_t shared;
	int r = store_cpus_of(in->h->store, in->pod->record.uid, &ledger, err);

	if (r == 0)
		r = cpuset_shared(in->h, &shared, err);
	if (r == 0)
		r = overlaps(in, &ledger.all, &others, err);
	if (r < 0)
		return r;
	*ret = json_pack("{s:s, s:o, s:s, s:s, s:O}", "ledger", cpus_format(&ledger.all, all),
			 "vcpus", vcpus_json(&ledger), "emulator",
			 cpus_format(&ledger.emulator, emulator), "shared",
			 cpus_format(&shared, pool), "overlaps", others);
	return 0;
}

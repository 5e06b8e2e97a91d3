// SPDX-License-Identifier: Apache-2.0
/* verify_vmi: gather what was promised, read what is, compare. */
#include "handler/inspect.h"

#include "handler/cpuset.h"
#include "handler/verify.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>

/* Everybody's CPUs but this VM's: the same name and the same set is its own row. */
static int other_holders(struct handler *h, const struct pod *pod, const cpu_set_t *own,
			 struct cpu_holders *ret, struct err *err)
{
	_cleanup_free_ char *name = xasprintf("%s/%s", pod->record.ns, pod->record.name);
	int r = cpuset_holders(h, ret, err);

	for (unsigned i = 0; r == 0 && i < ret->n; i++)
		if (str_eq(ret->list[i].name, name) && CPU_EQUAL(&ret->list[i].cpus, own)) {
			free((char *)(uintptr_t)ret->list[i].name);
			ret->list[i] = ret->list[--ret->n];
			break;
		}
	return r;
}

/* Which mounts a pod has is told by QEMU's path. */
static int need_qemu(struct handler *h, struct err *err)
{
	struct err why = {0};

	if (h->qemu || handler_find_qemu(h, &why) == 0)
		return 0;
	return err_set(err, -ESRCH, "can't be verified: %s", why.msg);
}

static int compare(struct handler *h, const struct pod *pod, const json_t *seen, json_t **ret,
		   struct err *err)
{
	_cleanup_(cpuset_holders_done) struct cpu_holders holders = {0};
	struct verify_promise p = {.plan = pod->plan, .host_id = pod->record.host_id};
	int r = store_cpus_of(h->store, pod->record.uid, &p.cpus, err);

	if (r == 0)
		r = other_holders(h, pod, &p.cpus.all, &holders, err);
	if (r == 0)
		r = need_qemu(h, err);
	if (r == 0)
		r = sandbox_binds_for_qemu(h->qemu, p.binds, &p.n_binds, err);
	if (r < 0)
		return r;
	p.holders = holders.list;
	p.n_holders = holders.n;
	for (unsigned i = 0; i < pod->plan->n_nics; i++)
		link_names(&h->paths, pod->record.uid, &pod->plan->nics[i], &p.links[i]);
	*ret = verify_differences(&p, seen);
	return 0;
}

static int check_runs(const struct pod *pod, const json_t *seen, const char *ns, const char *name,
		      struct err *err)
{
	const char *phase = json_str(seen, "vm.phase");

	if (!pod)
		return err_set(err, -ESRCH,
			       "%s/%s has no pod (phase %s): there is nothing to verify; start it",
			       ns, name, phase ? phase : "unknown");
	if (pod->state != POD_RUNNING && pod->state != POD_STOPPING)
		return err_set(err, -ESRCH, "%s/%s is not running but %s: verify it once it runs",
			       ns, name, json_str(seen, "pod.state"));
	if (!pod->plan)
		return err_set(err, -ESRCH, "%s/%s: its plan is of another version: restart it", ns,
			       name);
	return 0;
}

static json_t *checks_json(void)
{
	json_t *list = json_array();

	for (const char *const *name = verify_checks(); *name; name++)
		(void)json_array_append_new(list, json_string(*name));
	return list;
}

int verify_vmi(struct handler *h, const char *ns, const char *name, json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *seen = NULL, *differences = NULL;
	const struct pod *pod;
	int r = inspect_vmi(h, ns, name, &seen, err);

	if (r < 0)
		return r;
	pod = pod_find(h, json_str(seen, "vm.uid"));
	r = check_runs(pod, seen, ns, name, err);
	if (r == 0)
		r = compare(h, pod, seen, &differences, err);
	if (r < 0)
		return r;
	*ret = json_pack("{s:O, s:b, s:o, s:O}", "vm", json_object_get(seen, "vm"), "ok",
			 json_array_size(differences) == 0, "checks", checks_json(), "differences",
			 differences);
	return 0;
}

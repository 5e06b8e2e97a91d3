// SPDX-License-Identifier: Apache-2.0
/* The records of the runtime store: whether this handler can follow them, and as pods again. */
#include "handler/adopt_internal.h"

#include "handler/proc.h"
#include "handler/vmi.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>

/*
 * A guest that runs by a plan that this version can't read would be ended: nothing of it could be checked
 * or repaired. It goes on, and the handler does not start.
 */
static int check_readable(const struct store_pod *record, struct err *err)
{
	_cleanup_(plan_freep) struct plan *plan = NULL;
	struct err why = {0};

	if (!record->plan || plan_from_record(record->plan, &plan, &why) == 0)
		return 0;
	return err_set(err, -EPROTO,
		       "%s/%s runs by a plan of another version of virtpod (%s): use the "
		       "virt-handler that started it, or end it with 'virtpod cleanup --force'",
		       record->ns, record->name, why.msg);
}

/*
 * An object goes after its pod: without one the store was lost, which is no reason to end a guest; nor is
 * one that can't be read now.
 */
static int check_object(struct handler *h, const struct store_pod *record, struct err *err)
{
	_cleanup_json_ json_t *vmi = NULL;
	int r = store_get(h->store, VMI_KIND, record->ns, record->name, &vmi, err);

	if (r == -ENOENT || (r == 0 && !str_eq(json_str(vmi, "metadata.uid"), record->uid))) {
		err_clear(err);
		r = err_set(
			err, -EPROTO,
			"%s/%s runs, and %s/store.db does not have it: put that file back, or end "
			"all that runs here with 'virtpod cleanup --force'",
			record->ns, record->name, h->paths.lib);
	}
	return r;
}

static bool is_alive(const struct store_pod *record)
{
	_cleanup_fd_ int pidfd = -1;

	return proc_pidfd((pid_t)record->pid, record->pid_start, &pidfd) == 0 &&
	       !proc_has_ended(pidfd);
}

int adopt_check_records(struct handler *h, struct err *err)
{
	struct store_pod *records = NULL;
	size_t n = 0;
	int r = store_pods(h->store, &records, &n, err);

	for (size_t i = 0; i < n; i++) {
		if (r == 0 && is_alive(&records[i])) {
			r = check_readable(&records[i], err);
			if (r == 0)
				r = check_object(h, &records[i], err);
		}
		store_pod_done(&records[i]);
	}
	free(records);
	return r < 0 ? r : adopt_refuse_unknown(h, err);
}

static bool is_recorded(const struct store_pod *records, size_t n, const char *uid)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(records[i].uid, uid))
			return true;
	return false;
}

int adopt_refuse_unknown(struct handler *h, struct err *err)
{
	struct store_pod *records = NULL;
	char **uids = NULL;
	size_t n_records = 0, n = 0;
	int r = store_pods(h->store, &records, &n_records, err);

	if (r == 0)
		r = cgroup_list(h->cgroups, &uids, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		bool empty = true;

		if (is_recorded(records, n_records, uids[i]))
			continue;
		r = cgroup_pod_empty(h->cgroups, uids[i], &empty, err);
		if (r == 0 && !empty)
			r = err_set(err, -EBUSY,
				    "pod %s has processes, and %s/runtime.db does not say of which "
				    "VM: put that file back, or end all that runs here with "
				    "'virtpod cleanup --force'",
				    uids[i], h->paths.run);
	}
	cgroup_list_free(uids, n);
	for (size_t i = 0; i < n_records; i++)
		store_pod_done(&records[i]);
	free(records);
	return r;
}

struct pod *adopt_revive(struct handler *h, struct store_pod *record)
{
	_cleanup_json_ json_t *vmi = NULL, *status = NULL;
	struct err err = {0};
	struct pod *pod;

	if (store_get(h->store, VMI_KIND, record->ns, record->name, &vmi, &err) < 0 ||
	    !str_eq(json_str(vmi, "metadata.uid"), record->uid)) {
		json_decref(vmi); /* the object went: what is left of it is undone all the same */
		vmi = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "apiVersion", "kubevirt.io/v1",
				"kind", "VirtualMachineInstance", "metadata", "uid", record->uid,
				"namespace", record->ns, "name", record->name);
	}
	status = vmi_status(h, vmi);
	pod = pod_new(h, vmi, status);
	store_pod_done(&pod->record);
	pod->record = *record;
	*record = (struct store_pod){0};
	err_clear(&err);
	if (pod->record.plan && plan_from_record(pod->record.plan, &pod->plan, &err) < 0)
		log_error("%s/%s: plan: %s", pod->record.ns, pod->record.name, err.msg);
	if (pod->plan)
		pod->grace_seconds = pod->plan->grace_seconds;
	return pod;
}

int adopt_each(struct handler *h, void (*fn)(struct handler *h, struct store_pod *record),
	       struct err *err)
{
	struct store_pod *records = NULL;
	size_t n = 0;
	int r = store_pods(h->store, &records, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		/* of another version: to undo what was never made does no harm */
		if (records[i].step < 0)
			records[i].step = pod_n_steps - 1;
		fn(h, &records[i]);
	}
	for (size_t i = 0; i < n; i++)
		store_pod_done(&records[i]);
	free(records);
	return 0;
}

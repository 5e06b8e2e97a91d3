// SPDX-License-Identifier: Apache-2.0
#include "handler/inspect.h"

#include "handler/inspect_internal.h"
#include "handler/vmi.h"
#include "handler/wires.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>

static const char *const state_names[] = {
	[POD_STARTING] = "starting",
	[POD_RUNNING] = "running",
	[POD_STOPPING] = "stopping",
	[POD_UNDOING] = "ending",
};

static json_t *vm_json(const json_t *vmi, const json_t *status)
{
	return json_pack("{s:s*, s:s*, s:s*, s:s*}", "namespace",
			 json_str(vmi, "metadata.namespace"), "name",
			 json_str(vmi, "metadata.name"), "uid", json_str(vmi, "metadata.uid"),
			 "phase", json_str(status, "phase"));
}

static json_t *pod_json(const struct pod *pod)
{
	int step = pod->record.step;

	return json_pack("{s:s, s:I, s:s, s:s*}", "uid", pod->record.uid, "hostId",
			 (json_int_t)pod->record.host_id, "state", state_names[pod->state], "step",
			 step >= 0 && step < pod_n_steps ? pod_steps[step].name : NULL);
}

/* Open files of a process; a node that was removed after it was opened still counts. */
static unsigned count_files(const json_t *process, const char *target)
{
	const json_t *file;
	unsigned n = 0;
	size_t i;

	json_array_foreach (json_object_get(process, "openFiles"), i, file) {
		const char *seen = json_str(file, "target");
		const char *rest = seen ? str_after(seen, target) : NULL;

		n += rest && (!*rest || str_eq(rest, " (deleted)"));
	}
	return n;
}

/* QEMU under KVM holds the VM that the kernel made for it; that file's name is the kernel's. */
static json_t *accel_json(const json_t *qemu)
{
	if (!qemu)
		return json_null();
	return json_string(count_files(qemu, "anon_inode:kvm-vm") ? "kvm" : "tcg");
}

/* Milliseconds of each step from the status, which keeps them over a restart of the handler. */
static json_t *start_json(const json_t *status)
{
	json_t *out = json_object(), *us;
	const char *step;

	json_object_foreach (json_object_get(status, "virtpod.io/startMicroseconds"), step, us)
		(void)json_object_set_new(out, step,
					  json_real((double)json_integer_value(us) / 1000));
	return out;
}

/* Members of the cgroup's report that are looked for first get a place of their own. */
static void set_from_cgroup(json_t *out, const json_t *cgroup)
{
	static const struct {
		const char *from, *to;
	} members[] = {
		{"exclusivity", "exclusivity"},
		{"devices", "devices"},
		{"limits.memoryMax", "memory.limitBytes"},
		{"use.memoryBytes", "memory.usedBytes"},
		{"use.memoryPeakBytes", "memory.peakBytes"},
		{"events.oomKills", "memory.oomKills"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_t *value = json_get(cgroup, members[i].from);

		(void)json_path_set(out, members[i].to, value ? json_incref(value) : json_null());
	}
}

static int read_cgroup(struct handler *h, const char *uid, json_t **ret, struct err *err)
{
	struct err why = {0};
	int r = cgroup_pod_read(h->cgroups, uid, ret, &why);

	if (r == -ENOENT) { /* not made yet, or gone already */
		*ret = json_null();
		return 0;
	}
	return r < 0 ? err_set(err, r, "%s", why.msg) : 0;
}

static int read_pod(struct handler *h, const struct pod *pod, json_t *out, struct err *err)
{
	_cleanup_json_ json_t *cgroup = NULL, *processes = NULL, *links = NULL, *cpus = NULL;
	_cleanup_json_ json_t *kernel = NULL;
	struct inspect in = {.h = h, .pod = pod};
	const json_t *qemu;
	int r = read_cgroup(h, pod->record.uid, &cgroup, err);

	in.cgroup = cgroup;
	if (r == 0)
		r = inspect_processes(&in, &processes, &kernel, err);
	if (r == 0)
		r = inspect_links(&in, processes, &links, err);
	if (r == 0)
		r = inspect_cpus(&in, &cpus, err);
	if (r < 0)
		return r;
	qemu = inspect_find(processes, "qemu");
	(void)json_object_set_new(out, "running", json_boolean(qemu != NULL));
	(void)json_object_set_new(out, "pod", pod_json(pod));
	(void)json_object_set_new(out, "accel", accel_json(qemu));
	(void)json_object_set_new(out, "vhostQueues",
				  qemu ? json_integer(count_files(qemu, "/dev/vhost-net"))
				       : json_null());
	(void)json_object_set_new(
		out, "netnsPinned",
		qemu ? json_boolean(wires_pinned(pod, (pid_t)json_u64(qemu, "pid", 0)))
		     : json_null());
	(void)json_object_set_new(out, "qmp", pod->qmp ? json_incref(pod->qmp) : json_null());
	(void)json_object_set(out, "processes", processes);
	(void)json_object_set(out, "kernelThreads", kernel);
	(void)json_object_set(out, "cgroup", cgroup);
	(void)json_object_set(out, "cpus", cpus);
	(void)json_object_set(out, "links", links);
	set_from_cgroup(out, cgroup);
	inspect_memory(&in, processes, json_object_get(out, "memory"));
	return 0;
}

int inspect_vmi(struct handler *h, const char *ns, const char *name, json_t **ret, struct err *err)
{
	_cleanup_json_ json_t *vmi = NULL, *status = NULL, *out = json_object();
	const struct pod *pod;
	struct err why = {0};
	int r = store_get(h->store, VMI_KIND, ns, name, &vmi, &why);

	if (r == -ENOENT)
		return err_set(err, r, "there is no VirtualMachineInstance '%s' in namespace '%s'",
			       name, ns);
	if (r < 0)
		return err_set(err, r, "%s", why.msg);
	status = vmi_status(h, vmi);
	(void)json_object_set_new(out, "vm", vm_json(vmi, status));
	(void)json_object_set_new(out, "running", json_false());
	pod = pod_find(h, json_str(vmi, "metadata.uid"));
	if (pod) {
		(void)json_object_set_new(out, "start", start_json(status));
		r = read_pod(h, pod, out, err);
	}
	if (r < 0) {
		err_prefix(err, "%s/%s", ns, name);
		return r;
	}
	*ret = TAKE_PTR(out);
	return 0;
}

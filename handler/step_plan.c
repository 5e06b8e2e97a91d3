// SPDX-License-Identifier: Apache-2.0
/* Steps admit and plan: the VMI against today's configuration, then one plain struct. */
#include "handler/steps.h"

#include "handler/ids.h"
#include "handler/memory.h"
#include "handler/status.h"

#include "api/admit.h"
#include "api/plan_make.h"
#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The object was admitted when it was created, perhaps by another version of this program. */
int step_admit(struct pod *pod, struct err *err)
{
	_cleanup_causes_ struct causes causes = {0};
	const struct kind *kind;

	if (pod->h->config_err.code)
		return err_set(err, pod->h->config_err.code, "%s", pod->h->config_err.msg);
	if (admit(pod->vmi, pod->record.ns, &kind, &causes) < 0)
		return causes_to_err(&causes, err);
	return 0;
}

static int find_network(const char *ns_name, struct network *ret, void *arg, struct err *err)
{
	struct pod *pod = arg;
	_cleanup_json_ json_t *nad = NULL;
	const char *slash = strchr(ns_name, '/');
	_cleanup_free_ char *ns =
		slash ? xstrndup(ns_name, (size_t)(slash - ns_name)) : xstrdup(pod->record.ns);
	const char *name = slash ? slash + 1 : ns_name;
	struct err lookup = {0};
	int r;

	r = store_get(pod->h->store, "network-attachment-definitions.k8s.cni.cncf.io", ns, name,
		      &nad, &lookup);
	if (r == -ENOENT)
		return err_set(err, r,
			       "NetworkAttachmentDefinition \"%s\" not found in namespace \"%s\": "
			       "create it, the VM starts by itself then",
			       name, ns);
	if (r < 0)
		return err_set(err, r, "%s", lookup.msg);
	return nad_decode(nad, ret, err);
}

/* Everything that "start" hands over has to fit one frame. */
static int check_descriptors(const struct plan *plan, struct err *err)
{
	unsigned n = 5 + plan->n_disks; /* kernel, initrd, outcome, two logs */

	for (unsigned i = 0; i < plan->n_nics; i++)
		n += plan->nics[i].queues * (plan->nics[i].vhost ? 2 : 1);
	if (n <= SOCK_MAX_FDS)
		return 0;
	return err_set(err, -EINVAL,
		       "disks and network queues need %u descriptors, the most is %d: fewer vCPUs, "
		       "or no networkInterfaceMultiqueue",
		       n, SOCK_MAX_FDS);
}

/* Without a root of its own the pod opens the host's /dev/kvm, as a user that is in no group. */
static int check_kvm_node(const struct plan *plan, struct err *err)
{
	struct stat st;

	if (plan->accel != ACCEL_KVM || plan->isolation.mount ||
	    (stat("/dev/kvm", &st) == 0 && (st.st_mode & 06) == 06))
		return 0;
	return err_set(
		err, -ENOTSUP,
		"virtpod.io/isolation: mount=off leaves the pod the host's /dev/kvm, which is "
		"not for every user here: chmod o+rw /dev/kvm, or leave the layer on");
}

/* What can never be is refused before anybody else's CPUs are touched for it. */
static int check_exclusivity(const struct pod *pod, struct err *err)
{
	const struct plan *plan = pod->plan;

	if (!plan->dedicated_cpus || !plan->exclusivity_kernel || plan->isolate_emulator ||
	    !cgroup_host_v2(pod->h->cgroups))
		return 0;
	return err_set(
		err, -ENOTSUP,
		"virtpod.io/exclusivity: kernel was asked: cgroup v2 keeps others off a whole "
		"pod's CPUs only, and this one's other threads run in the shared pool: add "
		"spec.domain.cpu.isolateEmulatorThread, or take the annotation away");
}

int step_plan(struct pod *pod, struct err *err)
{
	int r = handler_find_qemu(pod->h, err); /* it may have come, gone or moved */

	if (r < 0)
		return r;
	handler_probe(pod->h);
	r = plan_make(pod->vmi, &pod->h->cluster, &pod->h->has, find_network, pod, &pod->plan, err);
	if (r < 0)
		return r;
	r = check_descriptors(pod->plan, err);
	if (r == 0)
		r = check_kvm_node(pod->plan, err);
	if (r == 0)
		r = check_exclusivity(pod, err);
	if (r == 0)
		r = memory_check(pod, err);
	if (r < 0)
		return r;
	r = ids_allocate(pod->h, &pod->record.host_id, err);
	if (r < 0)
		return r;
	json_decref(pod->record.plan);
	pod->record.plan = plan_to_json(pod->plan);
	pod->grace_seconds = pod->plan->grace_seconds;
	status_set_plan(pod->status, pod->plan);
	return 0;
}

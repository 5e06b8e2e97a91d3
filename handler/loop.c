// SPDX-License-Identifier: Apache-2.0
#include "handler/loop.h"

#include "handler/manifests.h"
#include "handler/node.h"
#include "handler/pod.h"
#include "handler/podlog.h"
#include "handler/reconcile.h"
#include "handler/status.h"
#include "handler/vmi.h"
#include "handler/vms.h"
#include "handler/watch.h"

#include "lib/json.h"
#include "lib/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static enum observed observe(const struct pod *pod)
{
	if (!pod)
		return OBSERVED_NOTHING;
	switch (pod->state) {
	case POD_STARTING:
		return OBSERVED_STARTING;
	case POD_RUNNING:
		return OBSERVED_RUNNING;
	case POD_STOPPING:
		return OBSERVED_STOPPING;
	case POD_UNDOING:
		break;
	}
	return OBSERVED_UNDOING;
}

static void try_later(struct handler *h);

static void remove_object(struct handler *h, const json_t *vmi)
{
	_cleanup_json_ json_t *object = vmi_join(h, vmi);
	struct err err = {0};
	char version[24];

	if (store_delete(h->store, VMI_KIND, json_str(vmi, "metadata.namespace"),
			 json_str(vmi, "metadata.name"), &err) < 0) {
		log_error("%s", err.msg); /* it is still there */
		try_later(h);
		return;
	}
	if (store_status_put(h->store, json_str(vmi, "metadata.uid"), NULL, &err) < 0)
		log_error("%s", err.msg);
	podlog_drop(h, json_str(vmi, "metadata.uid"));
	(void)json_object_del(h->refused, json_str(vmi, "metadata.uid")); /* may not be there */
	(void)snprintf(version, sizeof version, "%llu",
		       (unsigned long long)store_version(h->store));
	(void)json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
				  json_string(version));
	watch_publish(h, "DELETED", VMI_KIND, object);
}

/* What a client asked for with the deletion, else what the VMI's spec says, else KubeVirt's 30 s. */
static uint32_t grace_of(const json_t *vmi, const struct pod *pod)
{
	uint64_t spec = pod->plan ? pod->plan->grace_seconds : 30;

	return (uint32_t)json_u64(vmi, "metadata.deletionGracePeriodSeconds", spec);
}

/* Refused before, and nothing has changed since that could help? */
static bool still_refused(const struct handler *h, const char *uid)
{
	const json_t *refusal = json_object_get(h->refused, uid);

	return refusal && json_u64(refusal, "changes", 0) == h->changes;
}

/* True when a VM was started: that takes milliseconds, which others should not wait for in a row. */
static bool reconcile_one(struct handler *h, const json_t *vmi)
{
	struct pod *pod = pod_find(h, json_str(vmi, "metadata.uid"));
	_cleanup_json_ json_t *status = vmi_status(h, vmi);
	bool deleted = json_get(vmi, "metadata.deletionTimestamp");

	switch (reconcile_next(deleted, status_is_final(status), observe(pod))) {
	case ACTION_START:
		if (still_refused(h, json_str(vmi, "metadata.uid")))
			break;
		pod_start(pod_new(h, vmi, status));
		return true;
	case ACTION_SHUTDOWN:
		json_decref(pod->vmi); /* with its deletionTimestamp, for who watches */
		pod->vmi = json_deep_copy(vmi);
		pod_shutdown(pod, grace_of(vmi, pod));
		break;
	case ACTION_REMOVE:
		remove_object(h, vmi);
		break;
	case ACTION_NONE:
		break;
	}
	return false;
}

static int on_reconcile(sd_event_source *source, void *userdata)
{
	struct handler *h = userdata;
	_cleanup_json_ json_t *list = NULL;
	struct err err = {0};
	json_t *vmi;
	size_t i;

	(void)source;
	manifests_reconcile(h);
	vms_reconcile(h);
	if (store_list(h->store, VMI_KIND, NULL, &list, &err) < 0) {
		log_error("%s", err.msg);
		return 0;
	}
	json_array_foreach (list, i, vmi)
		if (reconcile_one(h, vmi)) {
			handler_kick(h); /* the rest after what else waits in the loop */
			break;
		}
	return 0;
}

#define RETRY_USEC (10 * 1000000ull)

static int on_slow_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct handler *h = userdata;

	(void)source;
	(void)usec;
	h->retry = sd_event_source_disable_unref(h->retry);
	if (h->withheld) {
		h->withheld = false;
		vmi_publish_withheld(h);
		node_publish(h);
	}
	handler_changed(h);
	return 0;
}

static void try_later(struct handler *h)
{
	int r = 0;

	if (!h->retry)
		r = sd_event_add_time_relative(h->event, &h->retry, CLOCK_MONOTONIC, RETRY_USEC,
					       /* accuracy= */ 1000000, on_slow_retry, h);
	if (r < 0)
		log_error("retry timer: %s", strerror(-r));
}

uint64_t loop_version(struct handler *h)
{
	struct err err = {0};
	uint64_t version = store_next_version(h->store, &err);

	if (version)
		return version;
	if (!h->withheld)
		log_error("changes are not announced: no versions can be reserved: %s", err.msg);
	h->withheld = true;
	try_later(h);
	return 0;
}

void loop_refused(struct handler *h, const char *uid, const char *why)
{
	(void)json_object_set_new(h->refused, uid,
				  json_pack("{s:I, s:s%}", "changes", (json_int_t)h->changes,
					    "message", why, strlen(why)));
	try_later(h);
}

const char *loop_refusal(const struct handler *h, const char *uid)
{
	return json_str(json_object_get(h->refused, uid), "message");
}

void loop_close(struct handler *h)
{
	h->retry = sd_event_source_disable_unref(h->retry);
	h->reconcile = sd_event_source_disable_unref(h->reconcile);
}

int loop_init(struct handler *h, struct err *err)
{
	int r = sd_event_add_defer(h->event, &h->reconcile, on_reconcile, h);

	if (r == 0)
		r = sd_event_source_set_enabled(h->reconcile, SD_EVENT_OFF);
	if (r < 0)
		return err_errno(err, r, "event loop");
	(void)sd_event_source_set_description(h->reconcile, "reconcile");
	return 0;
}

void handler_kick(struct handler *h)
{
	if (h->reconcile) /* none while a root is only cleaned */
		(void)sd_event_source_set_enabled(h->reconcile, SD_EVENT_ONESHOT);
}

void handler_changed(struct handler *h)
{
	h->changes++;
	handler_kick(h);
}

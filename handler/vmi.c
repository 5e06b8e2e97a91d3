// SPDX-License-Identifier: Apache-2.0
#include "handler/vmi.h"

#include "handler/loop.h"
#include "handler/status.h"
#include "handler/watch.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <inttypes.h>
#include <stdio.h>

#define WITHHELD "withheld" /* of a record: watchers have not heard of it yet */

static json_t *joined(const json_t *vmi, const json_t *record)
{
	json_t *object = json_deep_copy(vmi);
	json_t *status = json_object_get(record, "status");
	json_t *version = json_object_get(record, "resourceVersion");

	if (status)
		(void)json_object_set(object, "status", status);
	if (version) /* versions are given in order: the record's is always the newer one */
		(void)json_object_set(json_object_get(object, "metadata"), "resourceVersion",
				      version);
	return object;
}

/* The stored record: {"resourceVersion": …, "status": …, "withheld": …}; NULL when there is none. */
static json_t *load_record(struct handler *h, const json_t *vmi)
{
	struct err err = {0};
	json_t *record = NULL;

	if (store_status_get(h->store, json_str(vmi, "metadata.uid"), &record, &err) < 0 &&
	    err.code)
		log_error("%s", err.msg);
	return record;
}

json_t *vmi_join(struct handler *h, const json_t *vmi)
{
	_cleanup_json_ json_t *record = load_record(h, vmi);
	const char *body_version = json_str(vmi, "metadata.resourceVersion");
	const char *version = json_str(record, "resourceVersion");

	/* an update of the object itself (a deletion mark) after the last status */
	if (version && body_version &&
	    strtoull(body_version, NULL, 10) > strtoull(version, NULL, 10))
		(void)json_object_del(record, "resourceVersion");
	return joined(vmi, record);
}

json_t *vmi_status(struct handler *h, const json_t *vmi)
{
	_cleanup_json_ json_t *record = load_record(h, vmi);
	json_t *status = json_object_get(record, "status");
	json_t *kept = json_object_get(vmi, "status"); /* its end, from before a reboot */

	if (status)
		return json_incref(status);
	return status_is_final(kept) ? json_deep_copy(kept) : status_new(vmi);
}

/*
 * Status is of one boot, but that a guest has ended is true after the next one, too: without this
 * it would be started again then. So the end, and only that, is written with the object.
 */
static void keep_end(struct handler *h, const json_t *vmi, const json_t *status)
{
	const char *ns = json_str(vmi, "metadata.namespace"),
		   *name = json_str(vmi, "metadata.name");
	_cleanup_json_ json_t *stored = NULL;
	struct err err = {0};

	if (store_get(h->store, VMI_KIND, ns, name, &stored, &err) < 0 ||
	    !str_eq(json_str(stored, "metadata.uid"), json_str(vmi, "metadata.uid")))
		return; /* the object has gone already */
	(void)json_object_set_new(stored, "status", json_deep_copy(status));
	if (store_put(h->store, VMI_KIND, ns, name, stored, &err) < 0)
		log_error("%s", err.msg);
}

/* Stored in any case, for who asks and for the next handler; told to watchers as far as a version is to be had. */
static void announce(struct handler *h, const json_t *vmi, json_t *record)
{
	_cleanup_json_ json_t *object = NULL;
	uint64_t next = loop_version(h);
	struct err err = {0};
	char version[24];

	(void)snprintf(version, sizeof version, "%" PRIu64, next);
	if (next)
		(void)json_object_set_new(record, "resourceVersion", json_string(version));
	if (next)
		(void)json_object_del(record, WITHHELD);
	else
		(void)json_object_set_new(record, WITHHELD, json_true());
	if (store_status_put(h->store, json_str(vmi, "metadata.uid"), record, &err) < 0)
		log_error("%s", err.msg);
	object = next ? joined(vmi, record) : NULL;
	if (object)
		watch_publish(h, "MODIFIED", VMI_KIND, object);
	else
		handler_kick(h); /* a VirtualMachine's next step follows from it all the same */
}

void vmi_publish(struct handler *h, const json_t *vmi, const json_t *status)
{
	_cleanup_json_ json_t *old = load_record(h, vmi);
	_cleanup_json_ json_t *record = json_object();

	if (json_equal(json_object_get(old, "status"), status))
		return; /* a write that changes nothing is none: watchers hear only of changes */
	if (status_is_final(status))
		keep_end(h, vmi, status);
	(void)json_object_set(record, "resourceVersion", json_object_get(old, "resourceVersion"));
	(void)json_object_set_new(record, "status", json_deep_copy(status));
	announce(h, vmi, record);
}

void vmi_publish_withheld(struct handler *h)
{
	_cleanup_json_ json_t *list = NULL;
	struct err err = {0};
	json_t *vmi;
	size_t i;

	if (store_list(h->store, VMI_KIND, NULL, &list, &err) < 0)
		log_error("%s", err.msg);
	json_array_foreach (list, i, vmi) {
		_cleanup_json_ json_t *record = load_record(h, vmi);

		if (json_flag(record, WITHHELD, false))
			announce(h, vmi, record);
	}
}

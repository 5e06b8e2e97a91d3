// SPDX-License-Identifier: Apache-2.0
/*
 * Objects of any kind between the store and who asks: read whole (with their status), written with
 * their metadata, and every write told to the watchers. The virtual Node and events are read here like the others.
 */
#pragma once

#include "handler/handler.h"

#include "api/kind.h"

#define OBJECT_KEY_MAX 128

/* The store's name of a kind: "virtualmachines.kubevirt.io", "namespaces"; the result is `buf`. */
char *object_key(const struct kind *k, char buf[static OBJECT_KEY_MAX]);

/* ns: "" for cluster-wide kinds. *ret is the caller's. -ENOENT when absent. */
int object_load(struct handler *h, const struct kind *k, const char *ns, const char *name,
		json_t **ret, struct err *err);

/* Whole objects in order of namespace and name; ns NULL: of all. */
int object_list(struct handler *h, const struct kind *k, const char *ns, json_t **ret_array,
		struct err *err);

/* uid, creationTimestamp, generation 1 of a named object; what only a server may set is taken out. */
void object_prepare(const struct kind *k, json_t *object);

/*
 * Store a new, prepared object (of a VMI with its first status) and announce ADDED; its namespace is
 * made when it is missing. `object` becomes what others see: with resourceVersion and status.
 */
int object_insert(struct handler *h, const struct kind *k, json_t *object, struct err *err);

/* Store the object again and announce MODIFIED; `object` as above. */
int object_update(struct handler *h, const struct kind *k, json_t *object, struct err *err);

/* Remove it and announce DELETED. */
int object_remove(struct handler *h, const struct kind *k, json_t *object, struct err *err);

/*
 * Ask for a VMI's or VM's end: deletionTimestamp and, when grace_seconds >= 0, the grace period; a
 * later, shorter one replaces it. 1: marked and announced, 0: it was so already.
 */
int object_mark_deleted(struct handler *h, const struct kind *k, json_t *object,
			int64_t grace_seconds, struct err *err);

/* A status of this handler's own making (VirtualMachine): stored and announced when it differs. */
void object_publish_status(struct handler *h, const struct kind *k, const json_t *object,
			   const json_t *status);

// SPDX-License-Identifier: Apache-2.0
/*
 * Kubernetes' Events: what happened to an object, for people. Kept in the runtime store, so they outlive
 * a handler and not a reboot; the same again only counts. What comes from guests and launchers is cleaned
 * and bounded here, in length, number and age.
 */
#pragma once

#include "handler/handler.h"

#include <jansson.h>
#include <stdbool.h>

#define EVENT_KIND	  "events"
#define EVENT_MESSAGE_MAX 1024 /* bytes; Kubernetes' bound */
#define EVENT_AGE_SECONDS 3600 /* since its last time, as the apiserver's --event-ttl */
#define EVENTS_OF_OBJECT  50   /* of one uid; the oldest go */
#define EVENTS_MAX	  1000

/* Who says it, as KubeVirt names them. */
#define BY_HANDLER    "virt-handler"
#define BY_CONTROLLER "virtualmachine-controller"

struct event {
	const char *by;
	bool warning;
	const char *reason;
	/* the same again sooner than this after its last time is not counted: nobody is told */
	unsigned quiet_seconds;
};

/*
 * object: with kind and metadata. The message becomes one printable line. A store that does not take it
 * is reported once; nothing else depends on events.
 */
void event_record(struct handler *h, const json_t *object, const struct event *what,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* As object_load and object_list, of those that are not too old; the one that happened last comes last. */
int events_load(struct handler *h, const char *ns, const char *name, json_t **ret, struct err *err);
int events_list(struct handler *h, const char *ns, json_t **ret_array, struct err *err);

/* All of a namespace that goes. */
void events_drop(struct handler *h, const char *ns);

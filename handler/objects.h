// SPDX-License-Identifier: Apache-2.0
/*
 * What can be done with objects over the API. Each function gives the HTTP code and puts the object,
 * list or Status into *ret (the caller's).
 */
#pragma once

#include "handler/call.h"

unsigned objects_get(const struct call *c, json_t **ret);
unsigned objects_list(const struct call *c, json_t **ret);
unsigned objects_create(const struct call *c, json_t **ret);
unsigned objects_replace(const struct call *c, json_t **ret);
unsigned objects_delete(const struct call *c, json_t **ret);

/* Can what this configuration object says come into force on this host now? object NULL: it goes. */
unsigned objects_check_config(const struct call *c, const json_t *object, json_t **ret);

/* After a write: configuration is read again, and the reconcile round runs. */
void objects_changed(const struct call *c);

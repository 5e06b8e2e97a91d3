// SPDX-License-Identifier: Apache-2.0
/*
 * Kubernetes Status objects, the one form in which the API says no. Each function gives the HTTP code
 * and puts the Status into *ret (the caller's), so that a caller can end with `return k8s_…`.
 * Reasons and message patterns are those of Kubernetes' API server.
 */
#pragma once

#include "api/cause.h"
#include "api/kind.h"
#include "lib/err.h"

#include <jansson.h>
#include <stdint.h>

/* Any code; reason may be "". */
unsigned k8s_failure(json_t **ret, unsigned code, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

unsigned k8s_bad_request(json_t **ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
unsigned k8s_no_such_path(json_t **ret);
unsigned k8s_no_such_method(json_t **ret);
unsigned k8s_not_found(json_t **ret, const struct kind *k, const char *name);
unsigned k8s_already_exists(json_t **ret, const struct kind *k, const char *name);
unsigned k8s_forbidden(json_t **ret, const struct kind *k, const char *name, const char *why);
/* 409: `why` follows "Operation cannot be fulfilled on …". */
unsigned k8s_conflict(json_t **ret, const struct kind *k, const char *name, const char *why);
/* 422 with every cause in details; `causes` is not empty. */
unsigned k8s_invalid(json_t **ret, const struct kind *k, const char *name,
		     const struct causes *causes);
/* 500, or 507 when the disk is full: the store could not do it. */
unsigned k8s_internal(json_t **ret, const struct err *err);
/* 410 Expired: the object of a watch's ERROR event and of a list that asks for the past. */
unsigned k8s_expired(json_t **ret, uint64_t asked, uint64_t oldest);

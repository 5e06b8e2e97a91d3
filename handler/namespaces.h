// SPDX-License-Identifier: Apache-2.0
/*
 * Namespaces: default, kubevirt and openshift-cnv are always there, others are made when the first
 * object is put into them.
 */
#pragma once

#include "handler/handler.h"

/* Make those that are always there. */
int namespaces_init(struct handler *h, struct err *err);

int namespace_ensure(struct handler *h, const char *name, struct err *err);

bool namespace_is_fixed(const char *name);

/* *ret: the plural of a kind that has objects in it, or NULL when it is empty. */
int namespace_in_use(struct handler *h, const char *name, const char **ret, struct err *err);

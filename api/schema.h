// SPDX-License-Identifier: Apache-2.0
/*
 * Structure: which fields a kind has, of which types, and which of them are built. Tables in
 * api/schema_*.c; the walker finds unknown fields (and their likely spelling or place), wrong types,
 * and fields that are not supported yet. Field names are those of KubeVirt's public API types v1.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "api/cause.h"

enum field_type {
	F_STRING,
	F_BOOL,
	F_INT,	      /* signed 64-bit */
	F_UINT,	      /* 0..2^32-1 */
	F_COUNT,      /* 1..2^32-1: what can be left out, but not be zero */
	F_QUANTITY,   /* text or number, as Kubernetes quantities */
	F_PORT,	      /* number or name */
	F_OBJECT,     /* `child` describes it */
	F_LIST,	      /* of objects that `child` describes */
	F_STRINGS,    /* list of strings */
	F_MAP,	      /* any keys, string values */
	F_QUANTITIES, /* any keys, quantities as values */
	F_OBJECTS,    /* any keys, objects that `child` describes */
	F_EMPTY,      /* an object without members */
	F_ANY,	      /* a map or list with any content */
};

struct field {
	const char *name; /* NULL ends a table */
	enum field_type type;
	bool built; /* false: known to KubeVirt, refused here as not supported yet */
	const struct schema *child;
	const char *instead; /* what to use for now, after NOT_YET; or NULL */
};

struct schema {
	const struct field *fields;
	const char *others; /* what to say of a field that is not in the table; or NULL */
};

/* The schemas of the kinds. */
extern const struct schema schema_vmi, schema_vm, schema_kubevirt, schema_hyperconverged,
	schema_kubelet, schema_nad, schema_plain;

/* Kubernetes' DeleteOptions: a guard of the wrong type must not count as none. */
extern const struct schema schema_delete_options;

/* In the message of each cause that is no mistake of the user: known, but not built here. */
#define NOT_YET "is not supported yet"

/*
 * Check the whole of `obj` against its schema. null counts as absent. A list or object that is not
 * built gets one cause, at its own path; an empty one ({}, []) does, too.
 */
void schema_check(const struct schema *schema, const json_t *obj, struct causes *causes);

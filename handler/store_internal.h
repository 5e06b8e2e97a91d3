// SPDX-License-Identifier: Apache-2.0
/* What store.c and store_events.c share; others use store.h. */
#pragma once

#include "handler/sql.h"
#include "handler/store.h"

struct store {
	sqlite3 *objects;
	sqlite3 *runtime;
	uint64_t version;  /* the last that was given */
	uint64_t reserved; /* on disk: all below it may be given */
};

/* A column's JSON, and that of the first column of all rows; the caller's. A damaged one: -EBADMSG. */
int store_load_body(sqlite3_stmt *q, int column, json_t **ret, struct err *err);
int store_load_list(sqlite3_stmt *q, json_t **ret_array, struct err *err);

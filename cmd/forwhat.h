// SPDX-License-Identifier: Apache-2.0
/* What `virtpod wait --for` asks for: parsed, and compared with an object. Pure. */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <stdbool.h>

enum for_type { FOR_DELETE, FOR_CONDITION, FOR_FIELD };

struct for_what {
	enum for_type type;
	const char *text; /* as it was written, borrowed */
	char *path;	  /* owned: of the condition its type, of the field its path (lib/json.h) */
	char *value;	  /* owned; NULL: any value will do */
};

/* "delete", "condition=X[=V]" (X in any case), "jsonpath={.a.b[0]}[=V]". -EINVAL */
int for_what_parse(const char *text, struct for_what *ret, struct err *err);
void for_what_done(struct for_what *w);

/* object NULL: there is none. */
bool for_what_met(const struct for_what *w, const json_t *object);

/*
 * Not met now, but perhaps later? A VMI that has ended stays so; but a VirtualMachine's is made anew
 * under its name.
 */
bool for_what_can_come(const struct for_what *w, const json_t *object);

/* The object's condition that is waited for, borrowed; NULL: it has none, or none is waited for. */
const json_t *for_what_condition(const struct for_what *w, const json_t *object);

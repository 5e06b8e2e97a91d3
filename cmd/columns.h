// SPDX-License-Identifier: Apache-2.0
/* What a table shows of each kind: kubectl's columns. Pure but for the clock. */
#pragma once

#include "cmd/table.h"

#include "api/kind.h"

#include <jansson.h>

/* ns: with a column NAMESPACE first. The heading waits in the table, too. */
void columns_begin(struct table *t, const struct kind *k, bool ns, bool wide);
void columns_row(struct table *t, const struct kind *k, bool ns, bool wide, const json_t *object);

/* Make the columns wide enough for what usually comes, for tables that grow while people watch. */
void columns_leave_room(struct table *t, const struct kind *k, bool ns, bool wide);

/* What a row shows beside name and age, to see whether it is another row now; the caller's. */
char *columns_text(const struct kind *k, bool wide, const json_t *object);

/* Status of a condition ("True", …), borrowed; "" when it isn't there. */
const char *columns_condition(const json_t *object, const char *type);

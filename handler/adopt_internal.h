// SPDX-License-Identifier: Apache-2.0
/* Between handler/adopt.c, adopt_records.c and cleanup.c only: records of the runtime store as pods. */
#pragma once

#include "handler/handler.h"
#include "handler/pod.h"

/* fn gets every record, and may take it (adopt_revive). */
int adopt_each(struct handler *h, void (*fn)(struct handler *h, struct store_pod *record),
	       struct err *err);

/*
 * -EPROTO, or what the store says: a record can't be followed, and its guest runs. Before anything is done:
 * what stops the handler here has ended no guest.
 */
int adopt_check_records(struct handler *h, struct err *err);

/*
 * Groups with processes that no record knows, as when the runtime store was lost: whose they are nobody can
 * say, but they run, and are not ended unasked. -EBUSY.
 */
int adopt_refuse_unknown(struct handler *h, struct err *err);

/* The record, which is taken, as a pod again, with the object when it is still there. The handler's. */
struct pod *adopt_revive(struct handler *h, struct store_pod *record);

/*
 * A guest that ran is not a start that failed: how it ended is in its outcome file, also when no handler
 * was there. A launcher that lives is killed, and its exit goes the usual way.
 */
void adopt_give_up(struct pod *pod, const struct err *err);

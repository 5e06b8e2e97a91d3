// SPDX-License-Identifier: Apache-2.0
/*
 * Desired and observed into the next action, for one VMI: pure, level-triggered, a table that can be
 * read. The walk itself (handler/pod.c) is what acts; nothing here remembers anything.
 */
#pragma once

#include <stdbool.h>

enum observed {
	OBSERVED_NOTHING,  /* no pod */
	OBSERVED_STARTING, /* a pod walks forward */
	OBSERVED_RUNNING,
	OBSERVED_STOPPING,
	OBSERVED_UNDOING,
};

enum action {
	ACTION_NONE,
	ACTION_START,	 /* make a pod and walk forward */
	ACTION_SHUTDOWN, /* ask the guest to end, with the grace period in force */
	ACTION_REMOVE,	 /* the object goes: nothing of it is left to undo */
};

/*
 * deleted: the object carries a deletionTimestamp. final: its phase is Succeeded or Failed.
 */
enum action reconcile_next(bool deleted, bool final, enum observed observed);

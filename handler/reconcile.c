// SPDX-License-Identifier: Apache-2.0
#include "handler/reconcile.h"

enum action reconcile_next(bool deleted, bool final, enum observed observed)
{
	switch (observed) {
	case OBSERVED_NOTHING:
		if (deleted)
			return ACTION_REMOVE;
		return final ? ACTION_NONE : ACTION_START;
	case OBSERVED_STARTING:
	case OBSERVED_RUNNING:
	case OBSERVED_STOPPING: /* again: the grace period may have been shortened */
		return deleted ? ACTION_SHUTDOWN : ACTION_NONE;
	case OBSERVED_UNDOING:
		break;
	}
	return ACTION_NONE;
}

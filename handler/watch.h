// SPDX-License-Identifier: Apache-2.0
/* Watch streams: who has asked to hear of changes, and telling them (handler/watch.c). */
#pragma once

#include "handler/handler.h"

/* type: ADDED, MODIFIED, DELETED. object: the whole object with its status, borrowed. */
void watch_publish(struct handler *h, const char *type, const char *kind, const json_t *object);

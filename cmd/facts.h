// SPDX-License-Identifier: Apache-2.0
/*
 * An object as `virtpod describe` shows it: what it is, what a person asks of its kind, its conditions,
 * its events at the end. Pure; control characters become '?', whoever wrote them.
 */
#pragma once

#include "api/kind.h"

#include <jansson.h>
#include <stdio.h>
#include <time.h>

/* events: items of a list. vmis: of a Node those that are there, else NULL. */
void facts_print(FILE *to, const struct kind *k, const json_t *object, const json_t *events,
		 const json_t *vmis, time_t now);

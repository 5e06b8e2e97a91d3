// SPDX-License-Identifier: Apache-2.0
/* Ages as Kubernetes' tables write them (facts: upstream's rule for durations). Pure. */
#pragma once

#include <stddef.h>
#include <time.h>

#define AGE_MAX 32

/* "95s", "7m30s", "3h20m", "2d4h", "400d", "3y10d". Negative counts as 0. */
char *age_text(long long seconds, char buf[static AGE_MAX]);

/* A time like "2026-11-30T15:04:05Z"; NULL or anything else: -1. */
time_t age_time(const char *rfc3339);

/* Since such a time; of anything else "<unknown>". */
char *age_since(const char *rfc3339, time_t now, char buf[static AGE_MAX]);

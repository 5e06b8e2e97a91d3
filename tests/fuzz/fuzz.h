// SPDX-License-Identifier: Apache-2.0
/*
 * What the fuzz targets share. A target feeds one parser of outside input with whatever libFuzzer makes
 * of its corpus; AddressSanitizer and UBSan find what goes wrong in memory and arithmetic, fuzz_must
 * what the parser promises besides.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "lib/err.h"
#include "lib/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define fuzz_must(what)                                                                            \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			(void)fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__,   \
				      #what);                                                      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The input as text with its NUL, which ends at the first NUL in it; the caller's. */
static inline char *fuzz_text(const uint8_t *data, size_t len)
{
	return xstrndup((const char *)data, len);
}

/* r: what a parser returned; a refusal has its code in the error object and says why in one line. */
static inline void fuzz_said(int r, const struct err *err)
{
	_cleanup_free_ char *clean = xstrdup(err->msg);

	str_line(clean, '?');
	fuzz_must(r >= 0 || (err->code < 0 && err->msg[0] && str_eq(err->msg, clean)));
}

/* Run the loop until nothing is left that can be done at once. */
static inline void fuzz_loop(sd_event *event)
{
	while (sd_event_run(event, 0) > 0)
		;
}

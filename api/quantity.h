// SPDX-License-Identifier: Apache-2.0
/*
 * Kubernetes quantities ("500m", "1.5Gi", "1e3"), exactly: what the text says is kept as a decimal
 * number, rounded away from zero at 1n only. Held to tests/oracle/kubernetes/quantity.jsonl. What
 * does not fit 64 bits is refused where a number is asked for; Kubernetes wraps there.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

#define QUANTITY_TEXT_MAX 64 /* longest text taken, and any text made, with its NUL */

enum quantity_format {
	QUANTITY_DECIMAL_SI,	   /* n u m k M G T P E */
	QUANTITY_BINARY_SI,	   /* Ki Mi Gi Ti Pi Ei */
	QUANTITY_DECIMAL_EXPONENT, /* e3, E-3 */
};

struct quantity {
	unsigned __int128 magnitude; /* |value| = magnitude * 10^exponent; no factor of 10 in it */
	int exponent;		     /* >= -9; 0 for zero */
	bool negative;
	enum quantity_format format;
	char kept[QUANTITY_TEXT_MAX]; /* the text given, where it stands for itself; else "" */
};

/* -EINVAL: not a quantity; -ERANGE: more than 36 digits, or an exponent beyond 32 bits. */
int quantity_parse(const char *text, struct quantity *ret, struct err *err);

/* As it stands in a manifest: a string (blanks at its ends are dropped) or a number. */
int quantity_from_json(const json_t *value, struct quantity *ret, struct err *err);

/* In ones, or in thousandths, rounded away from zero. -ERANGE when that does not fit 64 bits. */
int quantity_value(const struct quantity *q, int64_t *ret);
int quantity_milli(const struct quantity *q, int64_t *ret);

int quantity_cmp(const struct quantity *a, const struct quantity *b); /* < 0, 0, > 0 */
int quantity_sign(const struct quantity *q);			      /* -1, 0, 1 */

/* Text as Kubernetes shows it after parsing ("+3" stays, "1000" is "1k"); the result is `buf`. */
char *quantity_canonical(const struct quantity *q, char buf[static QUANTITY_TEXT_MAX]);

/* Text made anew from number and format, whatever was given ("3", "1k"); the result is `buf`. */
char *quantity_recompute(const struct quantity *q, char buf[static QUANTITY_TEXT_MAX]);

/* A manifest's memory or disk size in bytes, and CPUs in thousandths; negative ones are -EINVAL. */
int quantity_bytes(const json_t *value, uint64_t *ret, struct err *err);
int quantity_cpus_milli(const json_t *value, uint64_t *ret, struct err *err);

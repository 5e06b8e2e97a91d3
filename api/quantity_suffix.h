// SPDX-License-Identifier: Apache-2.0
/* What quantity.c and quantity_parse.c share; others use api/quantity.h. */
#pragma once

#define QUANTITY_DIGITS 36 /* of a magnitude: fits 128 bits with two zeros more, for a suffix */

/* The suffix for base^exponent (10: -9..18 by 3; 2: 0..60 by 10), "" where there is none. */
const char *quantity_suffix(int base, int exponent);

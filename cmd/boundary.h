// SPDX-License-Identifier: Apache-2.0
/* The text form of `virtpod inspect`: docs/inspect.md's JSON in sections for people. Pure. */
#pragma once

#include <jansson.h>
#include <stdio.h>

void boundary_print(const json_t *inspect, FILE *to);

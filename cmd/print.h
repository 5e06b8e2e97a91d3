// SPDX-License-Identifier: Apache-2.0
/* Objects on stdout, in the form that -o asks for. */
#pragma once

#include "cmd/cli.h"

#include "api/kind.h"

#include <jansson.h>

/* A value as JSON (indented) or YAML. */
void print_value(enum output output, const json_t *value);

/* "virtualmachineinstance.kubevirt.io/demo", as -o name prints it. */
void print_name(const struct kind *k, const json_t *object);

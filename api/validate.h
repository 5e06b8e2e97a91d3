// SPDX-License-Identifier: Apache-2.0
/*
 * KubeVirt's admission rules for what is built, and refusals of values that are not supported yet
 * (their messages hold NOT_YET). Objects must have passed schema_check and been defaulted. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "api/cause.h"

void vmi_validate(const json_t *vmi, struct causes *causes);
void vm_validate(const json_t *vm, struct causes *causes);

/* metadata of any kind: names, labels, annotations of ours. */
void metadata_validate(const json_t *obj, bool singleton, struct causes *causes);

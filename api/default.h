// SPDX-License-Identifier: Apache-2.0
/*
 * Defaults, as KubeVirt's mutating webhooks set them on creation for amd64. Objects must have passed
 * schema_check. Differences on purpose are listed in tests/oracle/differences.md.
 */
#pragma once

#include <jansson.h>

/* null members and list items dropped at any depth: Kubernetes counts them as absent. */
void object_drop_nulls(json_t *obj);

void vmi_default(json_t *vmi);
void vm_default(json_t *vm);

/*
 * firmware.uuid of a VM, from its name alone, as KubeVirt's controller derives it; ours for a VMI
 * without VM, too, so that a guest keeps its identity over restarts. `buf` takes UUID_TEXT bytes.
 */
void firmware_uuid(const char *vm_name, char *buf);

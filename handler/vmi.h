// SPDX-License-Identifier: Apache-2.0
/* A VMI as others see it: the stored object joined with its status, written and announced together. */
#pragma once

#include "handler/handler.h"

#define VMI_KIND "virtualmachineinstances.kubevirt.io"

/*
 * Store this status and announce MODIFIED to the watchers; a guest's end also with the object, where
 * it outlives a reboot. A store that fails is logged, not fatal.
 */
void vmi_publish(struct handler *h, const json_t *vmi, const json_t *status);

/* Announce what could not be when it was stored. */
void vmi_publish_withheld(struct handler *h);

/* The object with its status, the newer resourceVersion of the two; the caller's. */
json_t *vmi_join(struct handler *h, const json_t *vmi);

/* The status alone, borrowed from nobody: the caller's; a fresh one when none is stored. */
json_t *vmi_status(struct handler *h, const json_t *vmi);

// SPDX-License-Identifier: Apache-2.0
/*
 * VirtualMachines: each one stands for a VMI of its name, which is made, made again or ended as the
 * run strategy says. The VM's own end is like a finalizer: it goes when its VMI has gone.
 */
#pragma once

#include "handler/handler.h"

/* Every VM once, before the VMIs' own round; asks for another round when it has changed something. */
void vms_reconcile(struct handler *h);

/* Does a VM wait for the time when it may be started again? */
bool vms_waiting(const struct handler *h);

void vms_close(struct handler *h);

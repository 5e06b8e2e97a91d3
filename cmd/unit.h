// SPDX-License-Identifier: Apache-2.0
/* The systemd unit virt-handler.service, by way of systemd's own bus interface. */
#pragma once

#include "lib/err.h"

#include <stdbool.h>

/* Does systemd run this host, and know the unit? */
bool unit_installed(void);

/* Start it and wait for the end of the job: as Type=notify says READY=1. -ENOTCONN with the job's end. */
int unit_start(struct err *err);

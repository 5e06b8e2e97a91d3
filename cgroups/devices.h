// SPDX-License-Identifier: Apache-2.0
/* The device allowlist as text of the v1 devices controller, and its checks. Pure. */
#pragma once

#include "cgroups/cgroup.h"

#define DEVICES_LINE_MAX 40

/* Device numbers have 12 and 20 bits (kdev_t.h); access is one to three letters of "rwm". */
int devices_check(const struct cgroup_device *d, struct err *err);

/* "c 10:232 rwm"; of the letters in access those that are set, in the kernel's order. */
void devices_format(const struct cgroup_device *d, char ret[static DEVICES_LINE_MAX]);

/*
 * What all entries of list[i]'s device together allow, as "rwm"; false when an earlier entry is of
 * the same device, so that a loop meets each device once. "1:*" and "1:3" are different devices.
 */
bool devices_merged(const struct cgroup_device *list, unsigned n, unsigned i,
		    char ret_access[static 4]);

/*
 * Does devices.list (`text`) say exactly what the list allows, entries of one device merged as the
 * kernel does it? -EIO names a line that differs.
 */
int devices_compare(const char *text, const struct cgroup_device *list, unsigned n,
		    struct err *err);

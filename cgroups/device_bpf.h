// SPDX-License-Identifier: Apache-2.0
/*
 * The device allowlist of a cgroup2 group, which has no files for it: a BPF program that the kernel
 * asks on each open and mknod (BPF_PROG_TYPE_CGROUP_DEVICE, Linux 4.15). Needs CAP_BPF and
 * CAP_NET_ADMIN. Programs of all groups up to the root must agree, so a child can't widen.
 */
#pragma once

#include "cgroups/cgroup.h"

#include <linux/bpf.h>

#define DEVICE_BPF_MAX_DEVICES 64
#define DEVICE_BPF_MAX_INSNS   (6 + 8 * DEVICE_BPF_MAX_DEVICES + 2)

/* Pure: the program for a list that devices_check accepts. -E2BIG beyond DEVICE_BPF_MAX_DEVICES. */
int device_bpf_build(const struct cgroup_device *list, unsigned n,
		     struct bpf_insn ret[static DEVICE_BPF_MAX_INSNS], unsigned *ret_n,
		     struct err *err);

/*
 * Build, load and attach in one go, beside programs that are there already (BPF_F_ALLOW_MULTI).
 * The group holds the program on its own; *ret_id is the id that device_bpf_query will show.
 */
int device_bpf_attach(int group_fd, const struct cgroup_device *list, unsigned n, uint32_t *ret_id,
		      struct err *err);

/*
 * Pure: the list that a program of device_bpf_build allows, a line each as devices_format writes it.
 * -EBADMSG: it is none of ours. *ret is the caller's.
 */
int device_bpf_decode(const struct bpf_insn *insns, unsigned n, char **ret);

/*
 * The same of what is attached to the group itself, out of the kernel's own copy of the program; a
 * program of somebody else's is a line "program ID". "a *:* rwm", as v1 says it, without any.
 */
int device_bpf_text(int group_fd, char **ret, struct err *err);

/* Ids of the device programs attached to the group itself, at most `max` (-ENOSPC: there are more). */
int device_bpf_query(int group_fd, uint32_t *ret_ids, unsigned max, unsigned *ret_n,
		     struct err *err);

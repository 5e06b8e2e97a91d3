// SPDX-License-Identifier: Apache-2.0
/*
 * Which layers of the boundary a pod gets. All of them, unless the user switched some off to measure
 * what they cost; docs/security.md says what each one stops and what its absence means.
 */
#pragma once

#include "lib/err.h"

#include <jansson.h>
#include <stdbool.h>

enum sandbox_seccomp { SANDBOX_SECCOMP_ENFORCE, SANDBOX_SECCOMP_AUDIT, SANDBOX_SECCOMP_OFF };

struct sandbox_layers {
	bool user, pid, mount, net, ipc, uts, cgroup; /* namespaces */
	bool capabilities;			      /* all five sets emptied, securebits locked */
	bool no_new_privs;
	bool dumpable_off; /* of the launcher; see docs/security.md for QEMU */
	enum sandbox_seccomp seccomp;
};

extern const struct sandbox_layers sandbox_layers_all;

/* As it travels in the "enter" request: one member per layer, none left out. The caller's to free. */
json_t *sandbox_layers_to_json(const struct sandbox_layers *layers);

/* Every layer must be there, with its type, and nothing else: -EINVAL otherwise. */
int sandbox_layers_from_json(const json_t *json, struct sandbox_layers *ret, struct err *err);

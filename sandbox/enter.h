// SPDX-License-Identifier: Apache-2.0
/* Launcher side of the boundary: what the pod's first process does to itself, once and for good. */
#pragma once

#include "lib/err.h"
#include "sandbox/binds.h"
#include "sandbox/layers.h"

#include <stdint.h>

struct sandbox_enter { /* everything in it is borrowed */
	struct sandbox_layers layers;
	const char *hostname; /* the pod's, with layers.uts */
	int dev_fd;	      /* mount from sandbox_dev_create, with layers.mount */
	const struct sandbox_bind *binds;
	size_t n_binds;
	uint64_t nofile; /* descriptors wanted; what the hard limit refuses is not an error */
};

/*
 * Walk the stages that enter.c writes down, each read back from the kernel. For a process made by
 * sandbox_spawn with the same layers, single-threaded. Irreversible: on failure the caller must
 * report *err and _exit, for it is then neither inside nor outside.
 */
int sandbox_enter(const struct sandbox_enter *enter, struct err *err);

// SPDX-License-Identifier: Apache-2.0
/* Between clone and execve of a pod's first process (internal to sandbox/; see spawn.c). */
#pragma once

#include "lib/err.h"
#include "sandbox/spawn.h"

#include <sys/types.h>

enum spawn_kind { SPAWN_STARTED, SPAWN_FAILED };

struct spawn_report { /* one frame from agent or child to the caller */
	enum spawn_kind kind;
	pid_t pid; /* STARTED, together with the pidfd */
	struct err err;
};

struct child_io {
	int report;
	int go_read, go_write; /* one byte: the maps are there; end of file: the agent failed */
	int null;
};

void spawn_report_failure(int sock, const struct err *err);

void child_run(const struct sandbox_spawn *spawn, struct child_io *io) __attribute__((noreturn));

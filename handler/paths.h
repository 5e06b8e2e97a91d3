// SPDX-License-Identifier: Apache-2.0
/*
 * Where virtpod keeps its files. Without --root: /var/lib/virtpod, /run/virtpod and
 * /etc/virtpod/manifests; with --root DIR: DIR/lib, DIR/run and DIR/etc/manifests, so that tests run
 * beside a real installation. The tag, a hash of the root's canonical path, is in the name of every
 * cgroup, link and id block of that root.
 */
#pragma once

#include "lib/err.h"

#define PATHS_TAG_LEN 8

struct paths {
	char *root; /* canonical; "/" without --root */
	char *lib;  /* absolute paths, for messages and for what is shown */
	char *run;
	char *manifests; /* need not be there */
	int lib_fd;	 /* owned, O_DIRECTORY */
	int run_fd;
	char tag[PATHS_TAG_LEN + 1]; /* hex */
};

/* Finds the directories, and makes them (0755, run 0711) when `make` says so. root NULL: the real one. */
int paths_open(const char *root, int make, struct paths *ret, struct err *err);

/* Their names alone: lib_fd and run_fd are -1, and nothing need be there but `root` itself. */
int paths_name(const char *root, struct paths *ret, struct err *err);

/* Is there such a root, its lib or its run? -ENOENT: none that was ever served. */
int paths_check(const char *root, struct err *err);

void paths_close(struct paths *p);

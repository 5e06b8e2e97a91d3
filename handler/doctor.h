// SPDX-License-Identifier: Apache-2.0
/*
 * Is this host ready for VMs? A table of checks, each with a verdict, what was found, what that means and how
 * to mend it; docs/doctor.md lists them. Checks read below the directory `root` ("/", or a test's); what has
 * to be tried instead was tried before, by doctor_try, and left nothing behind.
 */
#pragma once

#include "handler/handler.h"

#include "net/forward.h"

#include <jansson.h>
#include <stdint.h>

struct doctor_host {
	int root;     /* owned, O_DIRECTORY */
	bool is_root; /* else some of it can't be seen */
	struct paths paths;
	struct err paths_err; /* --root is not there (yet): paths are empty */
	bool (*kvm_works)(int fd);

	/* Each `err` holds no error where the try went well; -EACCES: it wants root. */
	struct err config_err; /* of the objects in the store; then none are in force */
	bool config_seen;      /* false, too: there is no store to see */
	struct cluster_config cluster;
	struct cpu_policy policy;
	cpu_set_t online;

	struct err cgroups_err; /* no hierarchies that pods could be in */
	bool cgroups_v2;
	struct err partition_err;

	struct err userns_err;	/* a user namespace */
	struct err memlock_err; /* locked memory without limit */
	uint64_t memlock;	/* the hard limit of it, bytes */
	uint64_t nofile;	/* hard limit of descriptors, as far as it can be raised */

	const char *qemu;		    /* NULL: there is none */
	char *qemu_version, *qemu_machines; /* owned; what it says to --version and -machine help */
	struct err qemu_err;		    /* why it doesn't say that */

	struct err forward_err;
	char forward_who[FORWARD_WHO_MAX]; /* "": nothing drops */
};

/* Open /, and try what is to be tried. `root` is --root's argument, or NULL. */
int doctor_try(const char *root, struct doctor_host *ret, struct err *err);
void doctor_done(struct doctor_host *h);

/* All findings, as docs/doctor.md has them; the caller's. */
json_t *doctor_report(const struct doctor_host *h);

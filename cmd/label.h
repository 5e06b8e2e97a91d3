// SPDX-License-Identifier: Apache-2.0
/* How people name objects: words of the command line. Pure. */
#pragma once

#include "api/label.h"
#include "lib/err.h"

#include <jansson.h>

/* Objects named by words: "KIND NAME…", "KIND/NAME…" or, with a default kind, bare names. */
struct target {
	const struct kind *kind;
	const char *name; /* in argv; NULL: all of the kind */
};

/*
 * The i-th target of argv[0..argc); 1 filled, 0 no more, -EINVAL with what is wrong. def: the kind of
 * a bare name (NULL: the first word must be a kind).
 */
int label_target(int argc, char **argv, const struct kind *def, int i, struct target *ret,
		 struct err *err);

/* Are all of them targets, and (need_name) each an object? Before anything is begun. -EINVAL */
int label_check(int argc, char **argv, const struct kind *def, bool need_name, struct err *err);

/* Exactly one VMI: NAME, vmi NAME, vmi/NAME, or vm/NAME, whose VMI has the same name. -EINVAL */
int label_one_vmi(int argc, char **argv, struct target *ret, struct err *err);

/* The kind of VMIs, which consoles and inspect are about. */
const struct kind *label_vmi(void);

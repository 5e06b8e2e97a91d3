// SPDX-License-Identifier: Apache-2.0
/*
 * Causes: what is wrong with an object, each with Kubernetes' reason and the field's path, so that
 * one answer names every error. Paths are those of lib/json.h.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/util.h"
#include "lib/yaml.h"

#define CAUSES_MAX 50 /* further ones are counted only */

enum cause_reason {
	CAUSE_INVALID,
	CAUSE_REQUIRED,
	CAUSE_NOT_SUPPORTED,
	CAUSE_DUPLICATE,
	CAUSE_NOT_FOUND,
	CAUSE_FORBIDDEN,
};

struct cause {
	enum cause_reason reason;
	char *field;   /* "" when the object as a whole is meant */
	char *message; /* what is wrong, what is right; does not repeat the field */
};

struct causes {
	struct cause list[CAUSES_MAX];
	size_t n;
	size_t more; /* found beyond CAUSES_MAX */
};

void causes_done(struct causes *c);
#define _cleanup_causes_ _cleanup_(causes_done)

/* The same field and message again are dropped. Long values in messages are the caller's to cut. */
void cause_add(struct causes *c, enum cause_reason reason, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

const char *cause_reason_name(enum cause_reason reason); /* "FieldValueInvalid", … */

/* "vm.yaml:17: spec.domain.cpu.cores: …"; doc may be NULL: no place then. The caller's to free. */
char *cause_text(const struct cause *cause, const struct yaml_doc *doc);

/* All of them as details.causes of a Kubernetes Status: [{reason, message, field}]. */
json_t *causes_to_json(const struct causes *c);

/* 0 when there are none; else -EINVAL with the first ones in one line. */
int causes_to_err(const struct causes *c, struct err *err);

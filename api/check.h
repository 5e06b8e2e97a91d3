// SPDX-License-Identifier: Apache-2.0
/* Between api/validate*.c only: the object being checked, and how a rule says that it is broken. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/cause.h"
#include "api/quantity.h"

struct check {
	const json_t *spec;	   /* of a VMI, or of a VM's template */
	const char *prefix;	   /* its path: "spec" or "spec.template.spec" */
	const json_t *annotations; /* may be NULL */
	const char *annotations_path;
	bool sized; /* memory comes from elsewhere */
	struct causes *causes;
};

/* `field` is relative to the spec, "" the spec itself. */
void check_add(const struct check *c, enum cause_reason reason, const char *field, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));

/* As check_add for something inside one list item: "LIST[i]" and `field`, which may be "". */
void check_item(const struct check *c, enum cause_reason reason, const char *list, size_t i,
		const char *field, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* A quantity; false when absent, or none (schema_check has said so). */
bool check_get(const struct check *c, const char *field, struct quantity *ret);
bool check_positive(const struct check *c, const char *field, struct quantity *ret);
const char *check_shown(const struct check *c, const char *field); /* its text, "" when absent */

void check_cpu(const struct check *c);	  /* validate_cpu.c */
void check_memory(const struct check *c); /* validate_memory.c: and NUMA, realtime */
void check_disks(const struct check *c);  /* validate_disks.c: disks and volumes */
void check_nets(const struct check *c);	  /* validate_nets.c: interfaces and networks */
void check_boot(const struct check *c);	  /* validate_boot.c: machine, firmware, kernel, watchdog */
void check_annotations(const struct check *c); /* validate_boot.c */

#define DISKS	   "domain.devices.disks"
#define INTERFACES "domain.devices.interfaces"
#define REQUESTS   "domain.resources.requests."
#define LIMITS	   "domain.resources.limits."

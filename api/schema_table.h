// SPDX-License-Identifier: Apache-2.0
/* How the tables in api/schema_*.c are written, and those that more than one of them uses. */
#pragma once

#include "api/schema.h"

/*
 * Built, or known and refused for now; _OF where a child table describes the value, _FOR where
 * something else serves for now.
 */
#define BUILT(name, type)                                                                          \
	{                                                                                          \
		name, type, true, NULL, NULL                                                       \
	}
#define BUILT_OF(name, type, child)                                                                \
	{                                                                                          \
		name, type, true, &(child), NULL                                                   \
	}
#define LATER(name, type)                                                                          \
	{                                                                                          \
		name, type, false, NULL, NULL                                                      \
	}
#define LATER_OF(name, type, child)                                                                \
	{                                                                                          \
		name, type, false, &(child), NULL                                                  \
	}
#define LATER_FOR(name, type, use)                                                                 \
	{                                                                                          \
		name, type, false, NULL, use                                                       \
	}
#define LATER_OF_FOR(name, type, child, use)                                                       \
	{                                                                                          \
		name, type, false, &(child), use                                                   \
	}

#define END_OF_FIELDS                                                                              \
	{                                                                                          \
		NULL, F_ANY, false, NULL, NULL                                                     \
	}
#define SCHEMA(...)                                                                                \
	{                                                                                          \
		(const struct field[]){__VA_ARGS__, END_OF_FIELDS}, NULL                           \
	}

extern const struct schema schema_vmi_spec;  /* schema_vmi.c */
extern const struct schema schema_resources; /* schema_vmi.c: requests and limits */
extern const struct schema schema_devices;   /* schema_devices.c */
extern const struct schema schema_volume;    /* schema_volumes.c */
extern const struct schema
	schema_data_volume;		    /* schema_volumes.c: an entry of dataVolumeTemplates */
extern const struct schema schema_metadata; /* schema_pod.c */
extern const struct schema schema_affinity; /* schema_pod.c */
extern const struct schema schema_toleration;	   /* schema_pod.c */
extern const struct schema schema_probe;	   /* schema_pod.c */
extern const struct schema schema_dns_config;	   /* schema_pod.c */
extern const struct schema schema_selector;	   /* schema_pod.c: matchLabels, matchExpressions */
extern const struct schema schema_topology_spread; /* schema_pod.c */
extern const struct schema schema_local_name;	   /* schema_pod.c: {name} */
extern const struct schema schema_enabled;	   /* schema_pod.c: {enabled} */

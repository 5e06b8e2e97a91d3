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

/* schema_vmi.c; resources: requests and limits */
extern const struct schema schema_vmi_spec, schema_resources;

/* schema_devices.c */
extern const struct schema schema_devices;

/* schema_volumes.c; data_volume: an entry of dataVolumeTemplates */
extern const struct schema schema_volume, schema_data_volume;

/* schema_pod.c; local_name: {name}, enabled: {enabled}, selector: of labels */
extern const struct schema schema_metadata, schema_local_name, schema_enabled, schema_selector,
	schema_affinity, schema_toleration, schema_topology_spread, schema_probe, schema_dns_config;

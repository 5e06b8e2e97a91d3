// SPDX-License-Identifier: Apache-2.0
/*
 * What is served, as Kubernetes' legacy discovery documents, made from the table of kinds; and the
 * version, which also tells a client of another version that it is one.
 */
#pragma once

#include "handler/routes.h"

#include <jansson.h>

json_t *discovery_version(void);
json_t *discovery_api(void);
json_t *discovery_groups(void);
json_t *discovery_group(const char *group);
json_t *discovery_resources(const char *group, const char *version);

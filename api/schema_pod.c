// SPDX-License-Identifier: Apache-2.0
/* What VMIs share with Kubernetes' pods: metadata, placement, probes, DNS. */
#include "api/schema_table.h"

static const struct schema owner_reference = SCHEMA(
	BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING), BUILT("name", F_STRING),
	BUILT("uid", F_STRING), BUILT("controller", F_BOOL), BUILT("blockOwnerDeletion", F_BOOL));

static const struct schema managed_fields =
	SCHEMA(BUILT("apiVersion", F_STRING), BUILT("fieldsType", F_STRING),
	       BUILT("fieldsV1", F_ANY), BUILT("manager", F_STRING), BUILT("operation", F_STRING),
	       BUILT("subresource", F_STRING), BUILT("time", F_STRING));

/* all but the first four are the server's: taken from a manifest, they do no harm */
const struct schema schema_metadata =
	SCHEMA(BUILT("name", F_STRING), BUILT("namespace", F_STRING), BUILT("labels", F_MAP),
	       BUILT("annotations", F_MAP), BUILT("generateName", F_STRING), BUILT("uid", F_STRING),
	       BUILT("resourceVersion", F_STRING), BUILT("generation", F_INT),
	       BUILT("creationTimestamp", F_STRING), BUILT("deletionTimestamp", F_STRING),
	       BUILT("deletionGracePeriodSeconds", F_INT), BUILT("selfLink", F_STRING),
	       BUILT("finalizers", F_STRINGS), BUILT_OF("ownerReferences", F_LIST, owner_reference),
	       BUILT_OF("managedFields", F_LIST, managed_fields));

const struct schema schema_local_name = SCHEMA(BUILT("name", F_STRING));
const struct schema schema_enabled = SCHEMA(BUILT("enabled", F_BOOL));

static const struct schema requirement =
	SCHEMA(BUILT("key", F_STRING), BUILT("operator", F_STRING), BUILT("values", F_STRINGS));

const struct schema schema_selector =
	SCHEMA(BUILT("matchLabels", F_MAP), BUILT_OF("matchExpressions", F_LIST, requirement));

static const struct schema node_term = SCHEMA(BUILT_OF("matchExpressions", F_LIST, requirement),
					      BUILT_OF("matchFields", F_LIST, requirement));
static const struct schema node_terms = SCHEMA(BUILT_OF("nodeSelectorTerms", F_LIST, node_term));
static const struct schema node_preference =
	SCHEMA(BUILT_OF("preference", F_OBJECT, node_term), BUILT("weight", F_INT));
static const struct schema pod_term =
	SCHEMA(BUILT_OF("labelSelector", F_OBJECT, schema_selector),
	       BUILT_OF("namespaceSelector", F_OBJECT, schema_selector),
	       BUILT("matchLabelKeys", F_STRINGS), BUILT("mismatchLabelKeys", F_STRINGS),
	       BUILT("namespaces", F_STRINGS), BUILT("topologyKey", F_STRING));
static const struct schema pod_preference =
	SCHEMA(BUILT_OF("podAffinityTerm", F_OBJECT, pod_term), BUILT("weight", F_INT));

static const struct schema node_affinity =
	SCHEMA(BUILT_OF("preferredDuringSchedulingIgnoredDuringExecution", F_LIST, node_preference),
	       BUILT_OF("requiredDuringSchedulingIgnoredDuringExecution", F_OBJECT, node_terms));
static const struct schema pod_affinity =
	SCHEMA(BUILT_OF("preferredDuringSchedulingIgnoredDuringExecution", F_LIST, pod_preference),
	       BUILT_OF("requiredDuringSchedulingIgnoredDuringExecution", F_LIST, pod_term));

const struct schema schema_affinity = SCHEMA(BUILT_OF("nodeAffinity", F_OBJECT, node_affinity),
					     BUILT_OF("podAffinity", F_OBJECT, pod_affinity),
					     BUILT_OF("podAntiAffinity", F_OBJECT, pod_affinity));

const struct schema schema_toleration =
	SCHEMA(BUILT("effect", F_STRING), BUILT("key", F_STRING), BUILT("operator", F_STRING),
	       BUILT("tolerationSeconds", F_INT), BUILT("value", F_STRING));

const struct schema schema_topology_spread = SCHEMA(
	BUILT_OF("labelSelector", F_OBJECT, schema_selector), BUILT("matchLabelKeys", F_STRINGS),
	BUILT("maxSkew", F_INT), BUILT("minDomains", F_INT), BUILT("nodeAffinityPolicy", F_STRING),
	BUILT("nodeTaintsPolicy", F_STRING), BUILT("topologyKey", F_STRING),
	BUILT("whenUnsatisfiable", F_STRING));

static const struct schema name_value = SCHEMA(BUILT("name", F_STRING), BUILT("value", F_STRING));
static const struct schema http_get =
	SCHEMA(BUILT("path", F_STRING), BUILT("port", F_PORT), BUILT("host", F_STRING),
	       BUILT("scheme", F_STRING), BUILT_OF("httpHeaders", F_LIST, name_value));
static const struct schema tcp_socket = SCHEMA(BUILT("port", F_PORT), BUILT("host", F_STRING));
static const struct schema exec = SCHEMA(BUILT("command", F_STRINGS));

const struct schema schema_probe =
	SCHEMA(BUILT_OF("exec", F_OBJECT, exec), BUILT_OF("httpGet", F_OBJECT, http_get),
	       BUILT_OF("tcpSocket", F_OBJECT, tcp_socket), BUILT("guestAgentPing", F_EMPTY),
	       BUILT("initialDelaySeconds", F_INT), BUILT("timeoutSeconds", F_INT),
	       BUILT("periodSeconds", F_INT), BUILT("successThreshold", F_INT),
	       BUILT("failureThreshold", F_INT));

const struct schema schema_dns_config =
	SCHEMA(BUILT("nameservers", F_STRINGS), BUILT("searches", F_STRINGS),
	       BUILT_OF("options", F_LIST, name_value));

const struct schema schema_plain = SCHEMA(BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING),
					  BUILT_OF("metadata", F_OBJECT, schema_metadata),
					  BUILT("spec", F_ANY), BUILT("status", F_ANY));

static const struct schema preconditions =
	SCHEMA(BUILT("uid", F_STRING), BUILT("resourceVersion", F_STRING));
const struct schema schema_delete_options = SCHEMA(
	BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING), BUILT("dryRun", F_STRINGS),
	BUILT("gracePeriodSeconds", F_INT), BUILT_OF("preconditions", F_OBJECT, preconditions),
	BUILT("propagationPolicy", F_STRING), LATER("orphanDependents", F_BOOL),
	LATER("ignoreStoreReadErrorWithClusterBreakingPotential", F_BOOL));

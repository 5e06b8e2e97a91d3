// SPDX-License-Identifier: Apache-2.0
/*
 * YAML (and JSON, which is YAML here) into jansson values that remember their lines. Scalars are
 * typed as Kubernetes' strict YAML to JSON conversion types them (YAML 1.1: yes, on and y are true,
 * 010 is 8, as keys, too), held to the vectors in tests/oracle/kubernetes/yaml.jsonl; what differs
 * on purpose stands in tests/oracle/differences.md.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/util.h"

#define YAML_BYTES_MAX (4u << 20) /* input, and text after aliases are expanded */
#define YAML_DEPTH_MAX 64	  /* nesting */
#define YAML_NODES_MAX 100000	  /* values and keys, after aliases are expanded, of one stream */

struct yaml_doc; /* one document: its value and where each part of it stands */

/*
 * Parse a whole stream into its documents; documents that are empty or null are left out, so *ret_n
 * may be 0 (with *ret_docs NULL). Pure. `name` goes in front of messages ("vm.yaml:17: ...").
 * -EFBIG above the limits, else -EINVAL. Free with yaml_docs_free.
 */
int yaml_parse(const char *name, const char *text, size_t len, struct yaml_doc ***ret_docs,
	       size_t *ret_n, struct err *err);

json_t *yaml_doc_root(const struct yaml_doc *doc);     /* borrowed; may be changed in place */
const char *yaml_doc_name(const struct yaml_doc *doc); /* borrowed */

/*
 * 1-based line of the value at a field path (lib/json.h), or with `key` of its key. For what is
 * absent, or where the path is none, the line of the nearest parent's key; "" is the document's first.
 */
unsigned yaml_doc_line(const struct yaml_doc *doc, const char *path, bool key);

void yaml_doc_free(struct yaml_doc *doc);
void yaml_docs_free(struct yaml_doc **docs, size_t n);

static inline void yaml_doc_freep(struct yaml_doc **doc)
{
	yaml_doc_free(*doc);
}
#define _cleanup_yaml_doc_ _cleanup_(yaml_doc_freep)

/*
 * Block-style YAML with sorted keys and a newline at its end, as `-o yaml` prints it. Read by
 * yaml_parse it gives the same value: strings that would be typed otherwise are quoted. The
 * caller's to free.
 */
char *yaml_dump(const json_t *value);

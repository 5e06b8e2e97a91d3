// SPDX-License-Identifier: Apache-2.0
/*
 * The tree of one YAML document as written: nothing typed or expanded yet, every node with its
 * line. Inside lib only; others use lib/yaml.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

enum yaml_kind { YAML_KIND_SCALAR, YAML_KIND_LIST, YAML_KIND_MAP, YAML_KIND_ALIAS };

struct yaml_node {
	enum yaml_kind kind;
	unsigned line;		  /* 1-based */
	char *text;		  /* scalar: as written, NUL-terminated, without NUL inside */
	size_t len;		  /* bytes of text */
	char *tag;		  /* scalar: explicit tag, or NULL */
	bool plain;		  /* scalar: unquoted and untagged */
	bool open;		  /* list or map that isn't finished: no alias may name it */
	struct yaml_node *target; /* alias: what it stands for (borrowed), never an alias itself */
	struct yaml_node **kids;  /* list: items; map: key, value, key, value ... (owned) */
	size_t n_kids;
	char *key; /* scalar or alias that is a map's key: its name once typed (yaml.c) */
};

struct yaml_tree {
	struct yaml_node **roots; /* one per document */
	size_t n;
};

/* Where input stands in messages: "vm.yaml:17: ...". Always returns `code`. */
int yaml_fail(struct err *err, int code, const char *name, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* All documents of a stream; limits and errors as yaml_parse. Free with yaml_tree_done. */
int yaml_tree_parse(const char *name, const char *text, size_t len, struct yaml_tree *ret,
		    struct err *err);

void yaml_tree_done(struct yaml_tree *tree);
void yaml_node_free(struct yaml_node *node);

/* Follow an alias; any other node is itself. */
static inline struct yaml_node *yaml_node_real(struct yaml_node *node)
{
	return node->kind == YAML_KIND_ALIAS ? node->target : node;
}

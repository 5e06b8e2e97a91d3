// SPDX-License-Identifier: Apache-2.0
/*
 * From a tree as written to a value: aliases copied out, `<<` merged in, scalars and keys typed.
 * The strict conversion: a key that is set twice, also by way of `<<`, is an error. Inside lib only.
 */
#pragma once

#include <jansson.h>

#include "lib/yaml_tree.h"

struct yaml_expansion {
	const char *name; /* of the input, for messages */
	struct err *err;
	size_t nodes, bytes; /* made so far; they count for the whole stream */
	unsigned depth;
};

/* The value of a node, the caller's; names its keys (yaml_node.key). Errors as yaml_parse. */
int yaml_expand(struct yaml_expansion *x, struct yaml_node *node, json_t **ret);

/*
 * Find a key in a mapping, or in the list of mappings that `<<` may name; also in what these merge
 * themselves. NULL if absent, and for keys that yaml_expand has not reached: so its limits hold
 * for this walk, too.
 */
struct yaml_node *yaml_find(struct yaml_node *node, const char *name, size_t len,
			    struct yaml_node **ret_value);

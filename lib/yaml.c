// SPDX-License-Identifier: Apache-2.0
/*
 * Documents: text into trees (yaml_tree.c), trees into values (yaml_expand.c). The tree stays with
 * its document: lines are looked up in it by path, so there is no second map of positions to grow
 * with the expansion of aliases.
 */
#include "lib/yaml.h"

#include "lib/json.h"
#include "lib/yaml_expand.h"

struct yaml_doc {
	char *name;
	json_t *root;
	struct yaml_node *tree;
};

/* The next document of the tree; its node moves into it. NULL in *ret when there is nothing. */
static int convert_doc(struct yaml_expansion *x, struct yaml_node **node, struct yaml_doc **ret)
{
	_cleanup_json_ json_t *root = NULL;
	struct yaml_doc *doc;
	int r = yaml_expand(x, *node, &root);

	if (r < 0 || json_is_null(root))
		return r;
	doc = xcalloc(1, sizeof *doc);
	doc->name = xstrdup(x->name);
	doc->root = TAKE_PTR(root);
	doc->tree = TAKE_PTR(*node);
	*ret = doc;
	return 0;
}

int yaml_parse(const char *name, const char *text, size_t len, struct yaml_doc ***ret_docs,
	       size_t *ret_n, struct err *err)
{
	struct yaml_expansion x = {.name = name, .err = err};
	struct yaml_tree tree = {};
	struct yaml_doc **docs = NULL;
	size_t n = 0;
	int r = yaml_tree_parse(name, text, len, &tree, err);

	if (r < 0)
		return r;
	if (tree.n)
		docs = xcalloc(tree.n, sizeof(struct yaml_doc *));
	for (size_t i = 0; r == 0 && i < tree.n; i++) {
		r = convert_doc(&x, &tree.roots[i], &docs[n]);
		n += docs[n] != NULL;
	}
	yaml_tree_done(&tree);
	if (r < 0 || n == 0) {
		yaml_docs_free(docs, n);
		docs = NULL;
	}
	if (r < 0)
		return r;
	*ret_docs = docs;
	*ret_n = n;
	return 0;
}

json_t *yaml_doc_root(const struct yaml_doc *doc)
{
	return doc->root;
}

const char *yaml_doc_name(const struct yaml_doc *doc)
{
	return doc->name;
}

unsigned yaml_doc_line(const struct yaml_doc *doc, const char *path, bool key)
{
	struct yaml_node *at = doc->tree, *at_key = at;
	struct json_step step;
	int r;

	while ((r = json_step_next(&path, &step)) > 0) {
		struct yaml_node *real = yaml_node_real(at), *next_key, *next = NULL;

		if (real->kind == YAML_KIND_MAP) {
			next_key = yaml_find(real, step.name, step.len, &next);
		} else if (real->kind == YAML_KIND_LIST && step.index >= 0 &&
			   (size_t)step.index < real->n_kids) {
			next = next_key = real->kids[step.index];
		}
		if (!next)
			return at_key->line;
		at_key = next_key;
		at = next;
	}
	return key || r < 0 ? at_key->line : at->line;
}

void yaml_doc_free(struct yaml_doc *doc)
{
	if (!doc)
		return;
	free(doc->name);
	json_decref(doc->root);
	yaml_node_free(doc->tree);
	free(doc);
}

void yaml_docs_free(struct yaml_doc **docs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		yaml_doc_free(docs[i]);
	free(docs);
}

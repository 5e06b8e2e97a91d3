// SPDX-License-Identifier: Apache-2.0
#include "lib/yaml_tree.h"

#include <errno.h>
#include <string.h>

#include "lib/util.h"
#include "lib/yaml.h"
#include "lib/yaml_syntax.h"

#define ANCHORS_MAX 512 /* per document; they are searched one by one */
#define TAGS_MAX    64	/* %TAG directives, or what looks like one */

struct anchor {
	char *name;
	struct yaml_node *node; /* borrowed */
};

struct builder {
	yaml_parser_t parser;
	struct yaml_text in;
	struct err *err;
	struct yaml_node *stack[YAML_DEPTH_MAX]; /* open lists and maps (borrowed) */
	size_t depth;
	size_t n_nodes;
	struct anchor anchors[ANCHORS_MAX];
	size_t n_anchors;
	struct yaml_tree tree;
};

int yaml_fail(struct err *err, int code, const char *name, unsigned line, const char *fmt, ...)
{
	char msg[ERR_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof msg, fmt, ap); /* a message that is cut is still a message */
	va_end(ap);
	if (line)
		return err_set(err, code, "%s:%u: %s", name, line, msg);
	return err_set(err, code, "%s: %s", name, msg);
}

void yaml_node_free(struct yaml_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->n_kids; i++)
		yaml_node_free(node->kids[i]); /* no deeper than YAML_DEPTH_MAX */
	free(node->kids);
	free(node->text);
	free(node->tag);
	free(node->key);
	free(node);
}

void yaml_tree_done(struct yaml_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++)
		yaml_node_free(tree->roots[i]);
	free(tree->roots);
	*tree = (struct yaml_tree){};
}

/* A new node in its place in the tree, which owns it from here on; NULL with the error set. */
static struct yaml_node *add(struct builder *b, const yaml_event_t *ev, enum yaml_kind kind)
{
	struct yaml_node *node, *up = b->depth ? b->stack[b->depth - 1] : NULL;
	struct yaml_node ***list = up ? &up->kids : &b->tree.roots;
	size_t *n = up ? &up->n_kids : &b->tree.n;
	unsigned line = yaml_line_of(&ev->start_mark);

	if (++b->n_nodes > YAML_NODES_MAX) {
		yaml_fail(b->err, -EFBIG, b->in.name, line,
			  "more than %d values and keys; split the file", YAML_NODES_MAX);
		return NULL;
	}
	if ((*n & (*n - 1)) == 0) /* a power of two: full */
		*list = xrealloc(*list, *n ? *n * 2 : 1, sizeof **list);
	node = xcalloc(1, sizeof *node);
	node->kind = kind;
	node->line = line;
	(*list)[(*n)++] = node;
	return node;
}

static int anchor(struct builder *b, struct yaml_node *node, const yaml_char_t *name)
{
	if (!name)
		return 0;
	if (b->n_anchors == ANCHORS_MAX)
		return yaml_fail(b->err, -EFBIG, b->in.name, node->line,
				 "more than %d anchors in one document", ANCHORS_MAX);
	b->anchors[b->n_anchors++] = (struct anchor){xstrdup((const char *)name), node};
	return 0;
}

static void forget_anchors(struct builder *b)
{
	while (b->n_anchors)
		free(b->anchors[--b->n_anchors].name);
}

static int alias(struct builder *b, const yaml_event_t *ev)
{
	const char *name = (const char *)ev->data.alias.anchor;
	struct yaml_node *node = add(b, ev, YAML_KIND_ALIAS);

	if (!node)
		return -EFBIG;
	for (size_t i = b->n_anchors; i-- && !node->target;) /* the latest of a name counts */
		if (str_eq(b->anchors[i].name, name))
			node->target = b->anchors[i].node;
	if (!node->target)
		return yaml_fail(b->err, -EINVAL, b->in.name, node->line,
				 "alias '*%s' has no anchor '&%s' above it", name, name);
	if (node->target->open)
		return yaml_fail(b->err, -EINVAL, b->in.name, node->line,
				 "alias '*%s' stands inside its own anchor (line %u)", name,
				 node->target->line);
	return 0;
}

static int scalar(struct builder *b, const yaml_event_t *ev)
{
	const char *text = (const char *)ev->data.scalar.value;
	struct yaml_node *node = add(b, ev, YAML_KIND_SCALAR);

	if (!node)
		return -EFBIG;
	node->len = ev->data.scalar.length;
	if (memchr(text, 0, node->len))
		return yaml_fail(b->err, -EINVAL, b->in.name, node->line,
				 "the text holds a NUL character (\\0); leave it out");
	node->text = xstrndup(text, node->len);
	node->tag = xstrdup((const char *)ev->data.scalar.tag);
	node->plain = ev->data.scalar.plain_implicit;
	return anchor(b, node, ev->data.scalar.anchor);
}

static int open_node(struct builder *b, const yaml_event_t *ev, enum yaml_kind kind,
		     const yaml_char_t *name)
{
	struct yaml_node *node = add(b, ev, kind);

	if (!node)
		return -EFBIG;
	if (b->depth == YAML_DEPTH_MAX)
		return yaml_fail(b->err, -EINVAL, b->in.name, node->line,
				 "nested deeper than %d levels", YAML_DEPTH_MAX);
	node->open = true;
	b->stack[b->depth++] = node;
	return anchor(b, node, name);
}

static int event(struct builder *b, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return scalar(b, ev);
	case YAML_ALIAS_EVENT:
		return alias(b, ev);
	case YAML_SEQUENCE_START_EVENT:
		return open_node(b, ev, YAML_KIND_LIST, ev->data.sequence_start.anchor);
	case YAML_MAPPING_START_EVENT:
		return open_node(b, ev, YAML_KIND_MAP, ev->data.mapping_start.anchor);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->stack[--b->depth]->open = false;
		return 0;
	case YAML_DOCUMENT_END_EVENT:
		forget_anchors(b);
		return 0;
	default:
		return 0;
	}
}

/* Every event of the stream; libyaml closes what it opened, so a good stream ends at depth 0. */
static int build(struct builder *b)
{
	bool end = false;
	int r = 0;

	if (!yaml_parser_initialize(&b->parser))
		return yaml_fail(b->err, -ENOMEM, b->in.name, 0, "out of memory");
	yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b->parser, (const unsigned char *)b->in.text, b->in.len);
	while (r == 0 && !end) {
		yaml_event_t ev;

		if (!yaml_parser_parse(&b->parser, &ev)) {
			r = yaml_syntax_error(&b->parser, &b->in, b->err);
			break;
		}
		end = ev.type == YAML_STREAM_END_EVENT;
		r = event(b, &ev);
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&b->parser);
	forget_anchors(b);
	return r;
}

/* libyaml compares each %TAG with all before it: a few megabytes of them are minutes. */
static int check_tags(const struct yaml_text *in, struct err *err)
{
	const char *p = in->text, *end = p + in->len;

	for (size_t n = 0; p < end && (p = memmem(p, (size_t)(end - p), "%TAG", 4)); p += 4)
		if (++n > TAGS_MAX)
			return yaml_fail(err, -EFBIG, in->name,
					 yaml_line_at(in, (size_t)(p - in->text)),
					 "more than %d times '%%TAG' in one stream; take them out",
					 TAGS_MAX);
	return 0;
}

int yaml_tree_parse(const char *name, const char *text, size_t len, struct yaml_tree *ret,
		    struct err *err)
{
	struct builder b = {.in = {name, text, len}, .err = err};
	const char *nul;
	int r;

	if (len > YAML_BYTES_MAX)
		return yaml_fail(err, -EFBIG, name, 0, "%zu bytes; at most %u are taken", len,
				 YAML_BYTES_MAX);
	nul = len ? memchr(text, 0, len) : NULL;
	if (nul)
		return yaml_fail(err, -EINVAL, name, yaml_line_at(&b.in, (size_t)(nul - text)),
				 "a NUL byte: this is a binary file, or UTF-16; save it as UTF-8");
	r = check_tags(&b.in, err);
	if (r == 0)
		r = build(&b);
	if (r < 0) {
		yaml_tree_done(&b.tree);
		return r;
	}
	*ret = b.tree;
	return 0;
}

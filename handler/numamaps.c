// SPDX-License-Identifier: Apache-2.0
#include "handler/numamaps.h"

#include "lib/json.h"
#include "lib/util.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ORDINARY_MAX ((uint64_t)16 << 30)

bool numamaps_wanted(const struct plan *plan)
{
	return plan->hugepage_size || (plan->n_cells && plan->memory_guest <= ORDINARY_MAX);
}

/* What a line says: "ADDRESS POLICY [file=…] [huge] [N0=PAGES …] kernelpagesize_kB=4". */
struct line {
	const char *policy;
	json_t *pages; /* {"0": pages} */
	bool huge;
	json_int_t page;
};

/* "N12=3": the kernel's; a file's name has its blanks and line ends escaped. */
static void node_word(const char *word, json_t *pages)
{
	size_t digits = strspn(word + 1, "0123456789");
	char node[8];

	if (*word != 'N' || !digits || digits >= sizeof node || word[1 + digits] != '=')
		return;
	(void)snprintf(node, sizeof node, "%.*s", (int)digits, word + 1);
	(void)json_object_set_new(pages, node, json_integer(strtoll(word + digits + 2, NULL, 10)));
}

static bool read_line(char *text, struct line *ret)
{
	char *save = NULL, *word = strtok_r(text, " ", &save);

	*ret = (struct line){.policy = word ? strtok_r(NULL, " ", &save) : NULL};
	if (!ret->policy)
		return false;
	ret->pages = json_object();
	while ((word = strtok_r(NULL, " ", &save))) {
		const char *size = str_after(word, "kernelpagesize_kB=");

		node_word(word, ret->pages);
		ret->huge |= str_eq(word, "huge");
		if (size && __builtin_mul_overflow(strtoll(size, NULL, 10), 1024, &ret->page))
			ret->page = 0;
	}
	return true;
}

/* The entry of this policy and page size, made when it isn't there. */
static json_t *entry_of(json_t *list, const struct line *line)
{
	json_t *entry;
	size_t i;

	json_array_foreach (list, i, entry)
		if (str_eq(json_str(entry, "policy"), line->policy) &&
		    json_integer_value(json_object_get(entry, "pageBytes")) == line->page)
			return entry;
	entry = json_pack("{s:s, s:I, s:{}}", "policy", line->policy, "pageBytes", line->page,
			  "nodes");
	(void)json_array_append_new(list, entry);
	return entry;
}

static void add(json_t *list, const struct line *line)
{
	json_t *nodes = json_object_get(entry_of(list, line), "nodes"), *pages;
	const char *node;

	json_object_foreach (line->pages, node, pages) {
		json_int_t sum = json_integer_value(json_object_get(nodes, node)), bytes;

		/* more than any machine has is not said at all */
		if (!__builtin_mul_overflow(json_integer_value(pages), line->page, &bytes) &&
		    !__builtin_add_overflow(sum, bytes, &sum))
			(void)json_object_set_new(nodes, node, json_integer(sum));
	}
}

json_t *numamaps_guest(const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	json_t *list = json_array();
	char *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		struct line line;

		if (!read_line(l, &line))
			continue;
		if (line.huge || str_after(line.policy, "bind"))
			add(list, &line);
		json_decref(line.pages);
	}
	return list;
}

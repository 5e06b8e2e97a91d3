// SPDX-License-Identifier: Apache-2.0
/*
 * Reference vectors (tests/oracle/): one JSON object a line, and the list of the cases that differ
 * on purpose. Tests run from the project's top folder. After "tests/unit/unit.h".
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/file.h"
#include "lib/json.h"

static inline char *oracle_read(const char *path)
{
	char *text = NULL;

	if (file_read_at(AT_FDCWD, path, 16u << 20, &text, NULL) < 0)
		fail_msg("%s is not there; run this from the top folder", path);
	return text;
}

/* Does the list name this case? vectors: "yaml", "quantity"...; input: the vector's own string. */
static inline bool oracle_differs(const char *list, const char *vectors, const json_t *input)
{
	/* the list writes cases as ASCII JSON */
	_cleanup_free_ char *text = json_dumps(input, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	_cleanup_free_ char *row = xasprintf("\n| %s | `%s` |", vectors, text);

	return strstr(list, row) != NULL;
}

/*
 * Call `check` for each vector of tests/oracle/PATH; it returns whether we agree, and fails by
 * itself for nothing. Disagreement outside the list fails, agreement inside it, too. *ret_n
 * counts the vectors that were run.
 */
static inline void oracle_run(const char *path, const char *vectors,
			      bool (*check)(const json_t *vector), size_t *ret_n)
{
	_cleanup_free_ char *file = xasprintf("tests/oracle/%s", path), *text = oracle_read(file);
	_cleanup_free_ char *list = oracle_read("tests/oracle/differences.md");
	size_t bad = 0;
	char *save = NULL;

	*ret_n = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		_cleanup_json_ json_t *vector = json_loads(line, JSON_ALLOW_NUL, NULL);
		const json_t *in = json_object_get(vector, "in");
		bool agrees, listed;

		assert_non_null(in);
		agrees = check(vector);
		listed = oracle_differs(list, vectors, in);
		if (agrees == listed) {
			print_error("%s: %s\n",
				    listed ? "agrees, but is listed as different" : "differs",
				    line);
			bad++;
		}
		(*ret_n)++;
	}
	assert_int_equal(bad, 0);
}

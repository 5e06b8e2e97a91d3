// SPDX-License-Identifier: Apache-2.0
/* Values as JSON and YAML: the same value again when it is read, and nothing that a terminal obeys. */
#include "tests/unit/unit.h"

#include "cmd/print.h"

#include "lib/file.h"
#include "lib/util.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *printed(enum output output, const json_t *value)
{
	_cleanup_fd_ int fd = memfd_create("out", MFD_CLOEXEC), out = dup(STDOUT_FILENO);
	char *text = NULL;

	(void)fflush(stdout);
	assert_true(dup2(fd, STDOUT_FILENO) >= 0);
	print_value(output, value);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(file_read_fd(fd, 4096, &text, NULL), 0);
	return text;
}

static void test_terminal_codes(void **state)
{
	json_t *value = json_pack("{s:s}", "\u00fc\xc2\x9b", "\x1b[2J \xc2\x9b\x7f\n\u00fc\u20ac");
	_cleanup_free_ char *json = printed(OUTPUT_JSON, value),
			    *yaml = printed(OUTPUT_YAML, value);
	json_t *again = json_loads(json, 0, NULL);

	(void)state;
	assert_true(json_equal(value, again));
	assert_string_equal(
		json,
		"{\n    \"\u00fc\\u009B\": \"\\u001B[2J \\u009B\\u007F\\n\u00fc\u20ac\"\n}\n");
	assert_null(strstr(yaml, "\xc2\x9b"));
	assert_null(strpbrk(yaml, "\x1b\x7f"));
	json_decref(value);
	json_decref(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terminal_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/outcome.h"
#include "lib/file.h"
#include "lib/util.h"

static int file_with(const void *data, size_t len)
{
	int fd = memfd_create("outcome", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, data, len), 0);
	return fd;
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	for (unsigned kind = OUTCOME_SHUTDOWN; kind <= OUTCOME_WATCHDOG; kind++) {
		_cleanup_fd_ int fd = file_with("", 0);
		struct outcome out = {.kind = (enum outcome_kind)kind, .exit_status = -9}, in;

		(void)snprintf(out.message, sizeof(out.message), "qemu: \"%s\" \\", "no");
		assert_int_equal(outcome_write(fd, &out, NULL), 0);
		assert_int_equal(outcome_read(fd, &in, NULL), 0);
		assert_int_equal(in.kind, kind);
		assert_int_equal(in.exit_status, -9);
		assert_string_equal(in.message, "qemu: \"no\" \\");
	}
}

static void longest_message_passes(void **state)
{
	_cleanup_fd_ int fd = file_with("", 0);
	struct outcome out = {.kind = OUTCOME_QEMU_FAILED}, in;

	(void)state;
	memset(out.message, '"', sizeof(out.message) - 1); /* two bytes each in JSON */
	assert_int_equal(outcome_write(fd, &out, NULL), 0);
	assert_int_equal(outcome_read(fd, &in, NULL), 0);
	assert_string_equal(in.message, out.message);
}

static void nothing_written_is_none(void **state)
{
	_cleanup_fd_ int fd = file_with("", 0);
	struct outcome in = {.kind = OUTCOME_CRASHED};

	(void)state;
	assert_int_equal(outcome_read(fd, &in, NULL), 0);
	assert_int_equal(in.kind, OUTCOME_NONE);
	assert_string_equal(outcome_name(in.kind), "None");
	assert_string_equal(outcome_name(OUTCOME_QEMU_FAILED), "QemuFailed");
}

/* Terminal codes and line breaks never reach a user, from either side. */
static void texts_are_cleaned(void **state)
{
	static const char evil[] = "{\"kind\":\"Killed\",\"exitStatus\":0,"
				   "\"message\":\"a\\u001b[2J\\nb\\u0080\"}";
	_cleanup_fd_ int fd = file_with(evil, strlen(evil)), own = file_with("", 0);
	struct outcome in, out = {.kind = OUTCOME_KILLED, .message = "a\033[2J\nb\xff"};

	(void)state;
	assert_int_equal(outcome_read(fd, &in, NULL), 0);
	assert_string_equal(in.message, "a?[2J?b??");
	assert_int_equal(outcome_write(own, &out, NULL), 0);
	assert_int_equal(outcome_read(own, &in, NULL), 0);
	assert_string_equal(in.message, "a?[2J?b?");
}

static void malformed_is_refused(void **state)
{
	static const char *const bad[] = {
		"x",
		"[]",
		"{}",
		"{\"kind\":\"Killed\",\"exitStatus\":0}",
		"{\"kind\":\"Killed\",\"exitStatus\":0,\"message\":\"\",\"more\":1}",
		"{\"kind\":\"None\",\"exitStatus\":0,\"message\":\"\"}",
		"{\"kind\":\"killed\",\"exitStatus\":0,\"message\":\"\"}",
		"{\"kind\":1,\"exitStatus\":0,\"message\":\"\"}",
		"{\"kind\":\"Killed\",\"exitStatus\":2147483648,\"message\":\"\"}",
		"{\"kind\":\"Killed\",\"exitStatus\":\"0\",\"message\":\"\"}",
		"{\"kind\":\"Killed\",\"exitStatus\":0,\"message\":null}",
		"{\"kind\":\"Killed\",\"exitStatus\":0,\"message\":\"\"}{}",
		"{\"kind\":\"Killed\",\"kind\":\"Crashed\",\"exitStatus\":0,\"message\":\"\"}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_fd_ int fd = file_with(bad[i], strlen(bad[i]));
		struct outcome in = {.exit_status = 77};
		struct err err = {0};

		assert_int_equal(outcome_read(fd, &in, &err), -EBADMSG);
		assert_memory_equal(err.msg, "outcome: ", 9);
		assert_int_equal(in.exit_status, 77); /* untouched */
	}
}

static void sizes_are_bounded(void **state)
{
	_cleanup_free_ char *text = xcalloc(1, OUTCOME_MAX + 2);
	static const char head[] = "{\"kind\":\"Killed\",\"exitStatus\":0,\"message\":\"";
	struct outcome in;
	struct err err = {0};

	(void)state;
	memset(text, ' ', OUTCOME_MAX + 1);
	{
		_cleanup_fd_ int fd = file_with(text, OUTCOME_MAX + 1);

		assert_int_equal(outcome_read(fd, &in, &err), -EBADMSG);
		assert_string_equal(err.msg, "outcome: longer than 4096 bytes");
	}
	memset(text, 'm', 1000);
	memcpy(text, head, strlen(head));
	memcpy(text + 998, "\"}", 2);
	{
		_cleanup_fd_ int fd = file_with(text, 1000);

		assert_int_equal(outcome_read(fd, &in, NULL), -EBADMSG);
	}
}

static void unreadable_is_an_error(void **state)
{
	struct outcome in, out = {.kind = OUTCOME_KILLED};

	(void)state;
	assert_int_equal(outcome_read(-1, &in, NULL), -EBADF);
	assert_int_equal(outcome_write(-1, &out, NULL), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read), cmocka_unit_test(longest_message_passes),
		cmocka_unit_test(nothing_written_is_none), cmocka_unit_test(texts_are_cleaned),
		cmocka_unit_test(malformed_is_refused),	   cmocka_unit_test(sizes_are_bounded),
		cmocka_unit_test(unreadable_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "launcher/conlog.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_size;
}

/* Numbered lines: what is left is a whole number of them from the end, without a gap. */
static void test_keeps_the_newer_half(void **state)
{
	int fd = memfd_create("log", MFD_CLOEXEC), again = dup(fd);
	struct conlog l;
	struct err err = {0};
	static char text[CONLOG_MAX + 1];
	unsigned n, first;
	char line[17];

	(void)state;
	assert_int_equal(conlog_open(fd, &l, &err), 0);
	for (n = 0; n < CONLOG_MAX / 16 * 3 / 2; n++) {
		(void)snprintf(line, sizeof line, "%015u\n", n);
		conlog_write(&l, line, 16);
		assert_true(l.size <= CONLOG_MAX);
	}
	assert_int_equal(size_of(again), l.size);
	assert_true(l.size >= CONLOG_MAX / 2);
	assert_int_equal(pread(again, text, CONLOG_MAX, 0), l.size);
	first = (unsigned)strtoul(text, NULL, 10);
	for (unsigned i = 0; i < l.size / 16; i++)
		assert_int_equal(strtoul(text + 16ull * i, NULL, 10), first + i);
	assert_int_equal(first + l.size / 16, n);
	conlog_done(&l);
	(void)close(again);
}

static void test_appends(void **state)
{
	int fd = memfd_create("log", MFD_CLOEXEC), again = dup(fd);
	struct conlog l;
	struct err err = {0};
	char buf[16] = "";

	(void)state;
	assert_int_equal(write(fd, "old ", 4), 4);
	assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	assert_int_equal(conlog_open(fd, &l, &err), 0);
	conlog_write(&l, "new", 3);
	assert_int_equal(pread(again, buf, sizeof buf, 0), 7);
	assert_string_equal(buf, "old new");
	conlog_done(&l);
	(void)close(again);
}

static void test_wrong_files(void **state)
{
	struct conlog l = {.fd = -5};
	struct err err = {0};

	(void)state;
	assert_int_equal(conlog_open(open("/dev/null", O_RDWR | O_CLOEXEC), &l, &err), -EINVAL);
	err = (struct err){0};
	assert_int_equal(conlog_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), &l, &err),
			 -EINVAL);
	assert_int_equal(l.fd, -5);
}

/* A full file system: the line is lost, the next one is written again. */
static void test_full_disk(void **state)
{
	int fd = memfd_create("log", MFD_CLOEXEC | MFD_ALLOW_SEALING), again = dup(fd);
	struct conlog l;
	struct err err = {0};

	(void)state;
	assert_int_equal(conlog_open(fd, &l, &err), 0);
	conlog_write(&l, "a", 1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	conlog_write(&l, "b", 1);
	assert_true(l.broken);
	assert_int_equal(l.size, 1);
	assert_int_equal(size_of(again), 1);
	conlog_done(&l);
	(void)close(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_the_newer_half),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_wrong_files),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

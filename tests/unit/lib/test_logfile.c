// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "lib/logfile.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX (1u << 16)

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
	struct logfile l;
	static char text[MAX + 1];
	unsigned n, first;
	char line[17];

	(void)state;
	assert_int_equal(logfile_open(fd, MAX, &l), 0);
	for (n = 0; n < MAX / 16 * 3 / 2; n++) {
		(void)snprintf(line, sizeof line, "%015u\n", n);
		assert_int_equal(logfile_write(&l, line, 16), 0);
		assert_true(l.size <= MAX);
	}
	assert_int_equal(size_of(again), l.size);
	assert_true(l.size >= MAX / 2);
	assert_int_equal(pread(again, text, MAX, 0), l.size);
	first = (unsigned)strtoul(text, NULL, 10);
	for (unsigned i = 0; i < l.size / 16; i++)
		assert_int_equal(strtoul(text + 16ull * i, NULL, 10), first + i);
	assert_int_equal(first + l.size / 16, n);
	logfile_done(&l);
	(void)close(again);
}

static void test_appends(void **state)
{
	int fd = memfd_create("log", MFD_CLOEXEC), again = dup(fd);
	struct logfile l;
	char buf[16] = "";

	(void)state;
	assert_int_equal(write(fd, "old ", 4), 4);
	assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	assert_int_equal(logfile_open(fd, MAX, &l), 0);
	assert_int_equal(logfile_write(&l, "new", 3), 0);
	assert_int_equal(pread(again, buf, sizeof buf, 0), 7);
	assert_string_equal(buf, "old new");
	logfile_done(&l);
	(void)close(again);
}

static void test_wrong_files(void **state)
{
	struct logfile l = {.fd = -5};

	(void)state;
	assert_int_equal(logfile_open(open("/dev/null", O_RDWR | O_CLOEXEC), MAX, &l), -EINVAL);
	assert_int_equal(logfile_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), MAX, &l),
			 -EINVAL);
	assert_int_equal(l.fd, -5);
}

/* A full file system: the line is lost, the next one is written again. */
static void test_full_disk(void **state)
{
	int fd = memfd_create("log", MFD_CLOEXEC | MFD_ALLOW_SEALING), again = dup(fd);
	struct logfile l;

	(void)state;
	assert_int_equal(logfile_open(fd, MAX, &l), 0);
	assert_int_equal(logfile_write(&l, "a", 1), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	assert_int_equal(logfile_write(&l, "b", 1), -EPERM);
	assert_int_equal(logfile_write(&l, "b", 1), 0); /* reported once */
	assert_true(l.broken);
	assert_int_equal(l.size, 1);
	assert_int_equal(size_of(again), 1);
	logfile_done(&l);
	(void)close(again);
}

/* A reader that keeps up gets each line once, however often the older half goes. */
static void test_follows(void **state)
{
	int fd = memfd_create("log", MFD_CLOEXEC), again = dup(fd);
	uint64_t pos = 0;
	struct logfile l;
	char line[17], got[65];
	ssize_t n;

	(void)state;
	assert_int_equal(logfile_open(fd, MAX, &l), 0);
	for (unsigned i = 0; i < MAX / 16 * 5; i++) {
		(void)snprintf(line, sizeof line, "%015u\n", i);
		assert_int_equal(logfile_write(&l, line, 16), 0);
		n = logfile_read(again, MAX, &pos, got, 64);
		assert_int_equal(n, 16);
		assert_memory_equal(got, line, 16);
		assert_int_equal(logfile_read(again, MAX, &pos, got, 64), 0);
	}
	assert_true(l.size <= MAX);
	logfile_done(&l);
	(void)close(again);
}

static void test_tail(void **state)
{
	static const struct {
		const char *text;
		uint64_t lines, pos;
	} cases[] = {
		{"", 3, 0},	     {"a\nb\nc\n", 1, 4}, {"a\nb\nc\n", 2, 2},
		{"a\nb\nc\n", 9, 0}, {"a\nb\nc", 1, 4},	  {"a\nb\nc", 2, 2},
		{"\n\n\n", 2, 1},    {"a\nb", 0, 3},	  {"", 0, 0},
	};
	uint64_t pos;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = memfd_create("log", MFD_CLOEXEC);

		assert_true(write(fd, cases[i].text, strlen(cases[i].text)) >= 0);
		assert_int_equal(logfile_tail(fd, MAX, cases[i].lines, &pos), 0);
		assert_int_equal(pos, cases[i].pos);
		/* a terabyte of nothing costs no more than the bound */
		assert_int_equal(ftruncate(fd, 1ll << 40), 0);
		assert_int_equal(logfile_tail(fd, MAX, 9, &pos), 0);
		assert_int_equal(pos, 0);
		(void)close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_the_newer_half),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_wrong_files),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_tail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

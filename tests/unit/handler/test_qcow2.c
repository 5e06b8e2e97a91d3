// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "handler/qcow2.h"

#include <errno.h>
#include <string.h>

/* A version 3 header of an image of 1 GiB, as qemu-img writes it (fields that are checked). */
static void good_header(unsigned char h[QCOW2_HEADER_BYTES])
{
	memset(h, 0, QCOW2_HEADER_BYTES);
	memcpy(h, "QFI\xfb", 4);
	h[7] = 3;
	h[23] = 16;
	h[28] = 0x40; /* 0x40000000, big-endian, at offset 24 */
}

static void assert_refused(const unsigned char *h, size_t len, const char *words)
{
	struct err err = {0};
	uint64_t size = 42;

	assert_int_equal(qcow2_check(h, len, &size, &err), -EINVAL);
	assert_non_null(strstr(err.msg, words));
	assert_int_equal(size, 42); /* outputs are untouched on failure */
}

static void test_good(void **state)
{
	unsigned char h[QCOW2_HEADER_BYTES];
	struct err err = {0};
	uint64_t size = 0;

	(void)state;
	good_header(h);
	assert_int_equal(qcow2_check(h, sizeof h, &size, &err), 0);
	assert_int_equal(size, 1ull << 30);
	assert_true(qcow2_magic(h, sizeof h));
	assert_false(qcow2_magic(h, 3));
	assert_false(qcow2_magic("raw!", 4));
}

static void test_names_other_files(void **state)
{
	unsigned char h[QCOW2_HEADER_BYTES];

	(void)state;
	good_header(h);
	h[15] = 1;
	assert_refused(h, sizeof h, "backing file");
	good_header(h);
	h[79] = 4;
	assert_refused(h, sizeof h, "data file");
}

static void test_nonsense(void **state)
{
	unsigned char h[QCOW2_HEADER_BYTES];

	(void)state;
	good_header(h);
	assert_refused(h, QCOW2_HEADER_BYTES - 1, "no qcow2 header");
	good_header(h);
	h[0] = 'q';
	assert_refused(h, sizeof h, "no qcow2 header");
	good_header(h);
	h[7] = 4;
	assert_refused(h, sizeof h, "version 4");
	good_header(h);
	h[35] = 2;
	assert_refused(h, sizeof h, "encrypted");
	good_header(h);
	h[72] = 0x80;
	assert_refused(h, sizeof h, "unknown here");
	good_header(h);
	h[23] = 22;
	assert_refused(h, sizeof h, "cluster bits");
	h[23] = 8;
	assert_refused(h, sizeof h, "cluster bits");
}

/* Version 2 has no feature bits: what stands at their place belongs to something else. */
static void test_version_2(void **state)
{
	unsigned char h[QCOW2_HEADER_BYTES];
	struct err err = {0};
	uint64_t size = 0;

	(void)state;
	good_header(h);
	h[7] = 2;
	h[79] = 4;
	assert_int_equal(qcow2_check(h, sizeof h, &size, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_names_other_files),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_version_2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

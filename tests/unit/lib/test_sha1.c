// SPDX-License-Identifier: Apache-2.0
/* SHA-1 against FIPS 180-4's examples and every padding length; base64 against RFC 4648, section 10. */
#include "tests/unit/unit.h"

#include "lib/base64.h"
#include "lib/sha1.h"

#include <stdio.h>
#include <string.h>

static char *hex(const void *data, size_t len, char buf[41])
{
	uint8_t digest[SHA1_SIZE];

	sha1(data, len, digest);
	for (size_t i = 0; i < sizeof digest; i++)
		(void)snprintf(buf + 2 * i, 3, "%02x", digest[i]);
	return buf;
}

static void test_examples(void **state)
{
	char buf[41];

	(void)state;
	assert_string_equal(hex("abc", 3, buf), "a9993e364706816aba3e25717850c26c9cd0d89d");
	assert_string_equal(hex("", 0, buf), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_string_equal(
		hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, buf),
		"84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

/* Digests of 0, 1, … 129 letters 'a', hashed one after another: every length of the last block. */
static void test_padding(void **state)
{
	char text[130], all[130 * SHA1_SIZE], buf[41];

	(void)state;
	memset(text, 'a', sizeof text);
	for (size_t n = 0; n < sizeof text; n++)
		sha1(text, n, (uint8_t *)all + n * SHA1_SIZE);
	assert_string_equal(hex(all, sizeof all, buf), "f4def80e0e53c803b671aed255f87d83c3a1fe29");
}

static void test_base64(void **state)
{
	static const char *const vectors[][2] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
	};
	char buf[BASE64_SIZE(6)];

	(void)state;
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		assert_string_equal(base64_encode(vectors[i][0], strlen(vectors[i][0]), buf),
				    vectors[i][1]);
	assert_string_equal(base64_encode("\xff\xfe\xfd", 3, buf), "//79");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

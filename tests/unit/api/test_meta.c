// SPDX-License-Identifier: Apache-2.0
/* Metadata, ids and times; UUIDs from names. */
#include "tests/unit/unit.h"

#include <string.h>

#include "api/default.h"
#include "api/meta.h"
#include "api/text.h"
#include "api/uuid.h"
#include "lib/util.h"
#include "tests/unit/api/objects.h"

static void parts_of_an_object(void **state)
{
	_cleanup_json_ json_t *full = json_of("metadata:\n  name: a\n  namespace: lab\n  uid: u\n"
					      "  annotations: {virtpod.io/x: z}\n");
	_cleanup_json_ json_t *empty = json_of("metadata: {namespace: \"\"}\n");

	(void)state;
	assert_string_equal(object_name(full), "a");
	assert_string_equal(object_namespace(full), "lab");
	assert_string_equal(object_uid(full), "u");
	assert_string_equal(object_annotation(full, "virtpod.io/x"), "z");
	assert_null(object_annotation(full, "virtpod"));
	assert_string_equal(object_name(empty), "");
	assert_string_equal(object_namespace(empty), "default");
	assert_string_equal(object_uid(NULL), "");
	assert_null(object_annotation(empty, "x"));
}

static void times(void **state)
{
	char text[TIME_TEXT];

	(void)state;
	assert_string_equal(time_format(0, text), "1970-01-01T00:00:00Z");
	assert_string_equal(time_format(1798761599, text), "2026-12-31T23:59:59Z");
	assert_string_equal(time_format(253402300800, text), "1970-01-01T00:00:00Z");
	assert_int_equal(strlen(time_now(text)), TIME_TEXT - 1);
	assert_true(strcmp(text, "2026-01-01T00:00:00Z") > 0);
}

static void new_ids_differ(void **state)
{
	char a[UUID_TEXT], b[UUID_TEXT];

	(void)state;
	assert_true(text_ok(uid_new(a), TEXT_UUID));
	assert_true(text_ok(uid_new(b), TEXT_UUID));
	assert_string_not_equal(a, b);
}

/* RFC 9562, appendix A.4; and padding that just fits, fills or passes one block of SHA-1. */
static void ids_from_names(void **state)
{
	static const uint8_t dns[16] = {0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1,
					0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
	static const struct {
		size_t len;
		const char *uuid;
	} cases[] = {
		{39, "7253fc29-94f2-5719-8cbd-5f2f8b9f8949"},
		{40, "b74e0d0e-7567-588e-a4e9-00115db94cc9"},
		{48, "c31e39cf-72eb-537e-b647-70d0935683ab"},
		{200, "201c3639-79c3-5762-aa42-b438cb5e3434"},
	};
	char name[201], uuid[UUID_TEXT];

	(void)state;
	assert_string_equal(uuid_from_name(dns, "www.example.com", uuid),
			    "2ed6657d-e927-568b-95e1-2665a8aea6a2");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(name, 'x', cases[i].len);
		name[cases[i].len] = '\0';
		firmware_uuid(name, uuid);
		assert_string_equal(uuid, cases[i].uuid);
	}
	firmware_uuid("demo", uuid);
	assert_string_equal(uuid, "c89d1344-ee03-5c55-99bd-5df16b72bea0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_an_object),
		cmocka_unit_test(times),
		cmocka_unit_test(new_ids_differ),
		cmocka_unit_test(ids_from_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "lib/mac.h"
#include "lib/util.h"

static void texts(void **state)
{
	static const char *const bad[] = {
		"",
		"02",
		"02:00:5e:10:00",
		"02:00:5e:10:00:01:02",
		"02:00:5e:10:00:0g",
		"02:00:5e:10:00:1",
		"02.00.5e.10.00.01",
		"02:00:5e:10:00:01 ",
		"0200:5e:10:00:01:",
	};
	uint8_t mac[6];
	char text[MAC_TEXT_MAX];

	(void)state;
	assert_int_equal(mac_parse("02:00:5E:1f:00:Ab", mac), 0);
	assert_string_equal(mac_format(mac, text), "02:00:5e:1f:00:ab");
	assert_int_equal(mac_parse("02-00-5e-10-00-01", mac), 0);
	assert_string_equal(mac_format(mac, text), "02:00:5e:10:00:01");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(mac_parse(bad[i], mac), -EINVAL);
	assert_string_equal(mac_format(mac, text), "02:00:5e:10:00:01"); /* untouched */
}

static void what_guests_may_have(void **state)
{
	static const struct {
		uint8_t mac[6];
		int ret;
	} cases[] = {
		{{0, 0, 0, 0, 0, 0}, -EINVAL},
		{{0, 0, 0, 0, 0, 1}, 0},
		{{1, 0, 0x5e, 0, 0, 1}, -EINVAL},
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -EINVAL},
		{{0xfe, 0x54, 0, 0, 0, 1}, -EINVAL},
		{{0xfc, 0x54, 0, 0, 0, 1}, 0},
		{{0x52, 0x54, 0, 0x12, 0x34, 0x56}, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(mac_check(cases[i].mac, NULL), cases[i].ret);
}

/* Fixed values: guests keep their addresses over upgrades of this program. */
static void derived_is_stable(void **state)
{
	static const char *const names[][3] = {
		{"default", "demo", "lan"},  {"default", "demol", "an"},
		{"defaultdemo", "", "lan"},  {"default", "demo", "lan1"},
		{"default", "demo1", "lan"}, {"default1", "demo", "lan"},
	};
	uint8_t macs[ARRAY_SIZE(names)][6];
	char text[MAC_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		mac_derive(names[i][0], names[i][1], names[i][2], macs[i]);
		assert_int_equal(macs[i][0], 0x02);
		assert_int_equal(mac_check(macs[i], NULL), 0);
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(macs[i], macs[k], 6);
	}
	assert_string_equal(mac_format(macs[0], text), "02:ba:15:c9:a5:fb");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(what_guests_may_have),
		cmocka_unit_test(derived_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

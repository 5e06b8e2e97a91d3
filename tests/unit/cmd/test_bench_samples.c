// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/bench_samples.h"

#include "lib/json.h"
#include "lib/util.h"

static void add(struct samples *s, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		samples_add(s, values[i]);
}

static void test_median(void **state)
{
	static const int64_t odd[] = {900, -5, 7}, even[] = {10, 40, 1, 21};
	struct samples s = {0}, t = {0};
	struct summary sum;

	(void)state;
	add(&s, odd, ARRAY_SIZE(odd));
	sum = samples_summary(&s);
	assert_int_equal(sum.median, 7);
	assert_int_equal(sum.min, -5);
	assert_int_equal(sum.max, 900);
	assert_int_equal(sum.n, 3);
	assert_int_equal(s.v[0], 900); /* in the order of the rounds still */
	add(&t, even, ARRAY_SIZE(even));
	assert_int_equal(samples_summary(&t).median, 15);
	samples_done(&s);
	samples_done(&t);
	assert_int_equal(s.n, 0);
}

static void test_json(void **state)
{
	static const int64_t one[] = {42};
	_cleanup_json_ json_t *none = NULL, *some = NULL;
	struct samples s = {0};

	(void)state;
	none = samples_json(&s);
	assert_true(json_is_null(none));
	add(&s, one, 1);
	some = samples_json(&s);
	assert_int_equal(json_u64(some, "median", 0), 42);
	assert_int_equal(json_u64(some, "min", 0), 42);
	assert_int_equal(json_u64(some, "max", 0), 42);
	assert_int_equal(json_u64(some, "n", 0), 1);
	samples_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

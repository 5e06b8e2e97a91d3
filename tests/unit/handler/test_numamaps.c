// SPDX-License-Identifier: Apache-2.0
/* numa_maps as kernels 6.1 and 6.18 write it. */
#include "tests/unit/unit.h"

#include "handler/numamaps.h"

#include "lib/json.h"

static void is(const char *maps, const char *wanted)
{
	json_t *found = numamaps_guest(maps), *json = json_loads(wanted, 0, NULL);

	assert_non_null(json);
	if (!json_equal(found, json)) {
		_cleanup_free_ char *text = json_text(found);

		fail_msg("found %s, wanted %s", text, wanted);
	}
	json_decref(found);
	json_decref(json);
}

/* QEMU's own memory, of any node, is not the guest's. */
static void nothing_special(void **state)
{
	(void)state;
	is("", "[]");
	is("55d0d8000000 default file=/usr/bin/qemu-system-x86_64 mapped=1 N0=1 "
	   "kernelpagesize_kB=4\n"
	   "7f0000000000 default anon=2 dirty=2 N0=1 N1=1 kernelpagesize_kB=4\n"
	   "7fff00000000 prefer:0 stack anon=2 dirty=2 N0=2 kernelpagesize_kB=4\n",
	   "[]");
}

static void huge_pages(void **state)
{
	(void)state;
	is("7fac90e00000 default file=/memfd:memory-backend-memfd\\040(deleted) huge dirty=96 "
	   "N0=90 N12=6 kernelpagesize_kB=2048\n",
	   "[{\"policy\": \"default\", \"pageBytes\": 2097152, \"nodes\": {\"0\": 188743680, "
	   "\"12\": 12582912}}]");
	/* mapped, and not there yet */
	is("7fac90e00000 bind:1 file=/memfd:x huge\n",
	   "[{\"policy\": \"bind:1\", \"pageBytes\": 0, \"nodes\": {}}]");
}

/* A mapping that the kernel has in several parts is one. */
static void parts_add_up(void **state)
{
	(void)state;
	is("7f0000000000 bind:0-1 anon=2 dirty=2 active=0 N0=1 N1=1 kernelpagesize_kB=4\n"
	   "7f0000100000 default anon=9 N0=9 kernelpagesize_kB=4\n"
	   "7f0000200000 bind:0-1 anon=3 dirty=3 N1=3 kernelpagesize_kB=4\n"
	   "7f0000300000 bind:2 anon=1 N2=1 kernelpagesize_kB=4\n",
	   "[{\"policy\": \"bind:0-1\", \"pageBytes\": 4096, \"nodes\": {\"0\": 4096, \"1\": "
	   "16384}}, {\"policy\": \"bind:2\", \"pageBytes\": 4096, \"nodes\": {\"2\": 4096}}]");
}

static void words_that_are_no_nodes(void **state)
{
	(void)state;
	is("7f0000000000\n\n7f0000000000 bind:0 file=N1=5 N=3 Nx=2 N1 N123456789=1 N2=2 "
	   "kernelpagesize_kB=4\n",
	   "[{\"policy\": \"bind:0\", \"pageBytes\": 4096, \"nodes\": {\"2\": 8192}}]");
}

static void more_than_any_machine_has(void **state)
{
	(void)state;
	is("7f0 bind:0 N0=9223372036854775807 N1=1 kernelpagesize_kB=4\n"
	   "7f1 bind:0 N1=2251799813685247 kernelpagesize_kB=4\n"
	   "7f2 bind:0 N2=1 kernelpagesize_kB=9223372036854775807\n",
	   "[{\"policy\": \"bind:0\", \"pageBytes\": 4096, \"nodes\": {\"1\": 4096}}, "
	   "{\"policy\": \"bind:0\", \"pageBytes\": 0, \"nodes\": {\"2\": 0}}]");
}

static void too_much_to_walk(void **state)
{
	struct plan plan = {.memory_guest = (uint64_t)16 << 30};

	(void)state;
	assert_false(numamaps_wanted(&plan)); /* it may be anywhere */
	plan.n_cells = 1;
	assert_true(numamaps_wanted(&plan));
	plan.memory_guest++;
	assert_false(numamaps_wanted(&plan));
	plan.hugepage_size = 2 << 20;
	assert_true(numamaps_wanted(&plan));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_special),
		cmocka_unit_test(huge_pages),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(too_much_to_walk),
		cmocka_unit_test(words_that_are_no_nodes),
		cmocka_unit_test(more_than_any_machine_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "lib/json.h"
#include "sandbox/layers.h"

#include <errno.h>
#include <string.h>

static void there_and_back(void **state)
{
	struct sandbox_layers in = sandbox_layers_all, out;
	struct err err = {0};
	_cleanup_json_ json_t *json = NULL;

	(void)state;
	in.uts = false;
	in.seccomp = SANDBOX_SECCOMP_AUDIT;
	json = sandbox_layers_to_json(&in);
	assert_int_equal(sandbox_layers_from_json(json, &out, &err), 0);
	assert_false(out.uts);
	assert_true(out.user && out.pid && out.mount && out.net && out.ipc && out.cgroup);
	assert_true(out.capabilities && out.no_new_privs && out.dumpable_off);
	assert_int_equal(out.seccomp, SANDBOX_SECCOMP_AUDIT);
}

/* The default layers with one member replaced (or removed) must be refused, naming it. */
static void assert_refused(const char *name, json_t *value_consume)
{
	_cleanup_json_ json_t *json = sandbox_layers_to_json(&sandbox_layers_all);
	struct sandbox_layers out = {.uts = true};
	struct err err = {0};

	if (value_consume)
		json_object_set_new(json, name, value_consume);
	else
		json_object_del(json, name);
	assert_int_equal(sandbox_layers_from_json(json, &out, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "sandbox"));
	assert_true(out.uts); /* untouched */
	assert_false(out.user);
}

static void what_is_not_exact_is_refused(void **state)
{
	struct sandbox_layers out;
	struct err err = {0};

	(void)state;
	assert_refused("user", NULL);
	assert_refused("user", json_integer(1));
	assert_refused("user", json_null());
	assert_refused("seccomp", json_string("maybe"));
	assert_refused("seccomp", json_true());
	assert_refused("seccomp", NULL);
	assert_refused("more", json_true());
	assert_int_equal(sandbox_layers_from_json(NULL, &out, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(what_is_not_exact_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "lib/util.h"
#include "sandbox/binds.h"

#include <errno.h>

static void only_qemu_itself_is_required(void **state)
{
	struct sandbox_bind binds[SANDBOX_MAX_BINDS];
	struct err err = {0};
	bool ld_cache = false;
	size_t n = 0;

	(void)state;
	assert_int_equal(sandbox_binds_for_qemu("/usr/libexec/qemu-kvm", binds, &n, &err), 0);
	assert_in_range(n, 5, SANDBOX_MAX_BINDS);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(sandbox_bind_check(&binds[i], &err), 0);
		assert_int_equal(binds[i].optional, i != n - 1);
		ld_cache = ld_cache || str_eq(binds[i].source, "/etc/ld.so.cache");
		/* nothing to run but QEMU, nothing of the host's configuration but the loader's */
		assert_null(str_after(binds[i].source, "/usr/bin"));
		assert_true(!str_after(binds[i].source, "/etc") ||
			    str_eq(binds[i].source, "/etc/ld.so.cache"));
	}
	assert_true(ld_cache);
	assert_string_equal(binds[n - 1].source, "/usr/libexec/qemu-kvm");
}

static void odd_paths_are_refused(void **state)
{
	static const char *const odd[] = {"",	   "/",	    "qemu", "/a/../b", "/a/./b",
					  "/a//b", "/a/",   "/a b", "/a\nb",   "/a\\b",
					  "/../a", "/a/..", "/.",   "./a"};
	static const char *const fine[] = {"/a", "/a/b", "/a/..b", "/a/.b", "/a/b..."};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct sandbox_bind bind = {.source = odd[i]};
		struct err err = {0};

		if (sandbox_bind_check(&bind, &err) != -EINVAL)
			fail_msg("'%s' is accepted", odd[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fine); i++) {
		struct sandbox_bind bind = {.source = fine[i]};
		struct err err = {0};

		if (sandbox_bind_check(&bind, &err) != 0)
			fail_msg("'%s' is refused", fine[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_qemu_itself_is_required),
		cmocka_unit_test(odd_paths_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

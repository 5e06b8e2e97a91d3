// SPDX-License-Identifier: Apache-2.0
/* Host ids of pods: this root's block, nobody twice, nothing that the host has given away. */
#include "tests/unit/handler/lab.h"

#include "handler/ids.h"

static uint32_t allocate(struct lab *l)
{
	uint32_t id = 0;

	if (ids_allocate(&l->h, &id, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	return id;
}

static void test_block(void **state)
{
	struct lab *l = *state;
	uint32_t first;

	(void)snprintf(l->h.paths.tag, sizeof l->h.paths.tag, "12340000");
	assert_int_equal(allocate(l), 0x70000000);
	(void)snprintf(l->h.paths.tag, sizeof l->h.paths.tag, "1234ffff");
	first = allocate(l);
	assert_int_equal(first, 0x7ffff000); /* the last block ends below 2^31 */
	(void)snprintf(l->h.paths.tag, sizeof l->h.paths.tag, "12340001");
	assert_int_equal(allocate(l), 0x70001000);
}

static void test_nobody_twice(void **state)
{
	struct lab *l = *state;
	struct pod *a = lab_pod(l, UID_A, "a"), *b = lab_pod(l, UID_B, "b");
	uint32_t first = allocate(l);

	a->record.host_id = first;
	assert_int_equal(allocate(l), first + 1);
	b->record.host_id = first + 1;
	assert_int_equal(allocate(l), first + 2);
	pod_free(a);
	assert_int_equal(allocate(l), first); /* free again */
}

static void test_all_in_use(void **state)
{
	struct lab *l = *state;
	uint32_t first = allocate(l), id = 77;

	for (uint32_t i = 0; i < 4096; i++)
		lab_pod(l, UID_A, "a")->record.host_id = first + i;
	assert_int_equal(ids_allocate(&l->h, &id, &l->err), -EBUSY);
	assert_non_null(strstr(l->err.msg, "no free user id"));
	assert_int_equal(id, 77);
}

/* A file of the host replaced for this process alone: it has a mount namespace of its own. */
static void replace(struct lab *l, const char *path, const char *text)
{
	_cleanup_free_ char *file = xasprintf("%s/replacement", l->root);

	assert_int_equal(file_replace_at(AT_FDCWD, file, text, strlen(text), 0644), 0);
	if (mount(file, path, NULL, MS_BIND, NULL) < 0)
		fail_msg("%s: %s", path, strerror(errno));
}

static void test_delegated(void **state)
{
	struct lab *l = *state;
	uint32_t first = allocate(l);
	_cleanup_free_ char *text =
		xasprintf("# users: none\n\nnobody\nann:%u:10\nbob:%u:1\n", first, first + 12);

	replace(l, "/etc/subuid", text);
	assert_int_equal(allocate(l), first + 10);
	lab_pod(l, UID_A, "a")->record.host_id = first + 10;
	lab_pod(l, UID_B, "b")->record.host_id = first + 11;
	assert_int_equal(allocate(l), first + 13);
	replace(l, "/etc/subgid", "ann:0:4294967295\n"); /* groups count, too */
	assert_int_equal(ids_allocate(&l->h, &first, &l->err), -EBUSY);
	assert_int_equal(umount2("/etc/subgid", MNT_DETACH), 0);
	assert_int_equal(umount2("/etc/subuid", MNT_DETACH), 0);
}

/* What can't be read may delegate anything. */
static void test_unreadable(void **state)
{
	struct lab *l = *state;
	_cleanup_free_ char *big = xcalloc(1, (1 << 20) + 2);
	uint32_t id = 77;

	memset(big, '\n', (1 << 20) + 1);
	replace(l, "/etc/subuid", big);
	assert_int_equal(ids_allocate(&l->h, &id, &l->err), -EFBIG);
	assert_non_null(strstr(l->err.msg, "/etc/subuid"));
	assert_int_equal(id, 77);
	assert_int_equal(umount2("/etc/subuid", MNT_DETACH), 0);
}

static void test_passwd(void **state)
{
	struct lab *l = *state;
	uint32_t first = allocate(l);
	_cleanup_free_ char *text =
		xasprintf("root:x:0:0:root:/root:/bin/sh\nvm:x:%u:0::/:/bin/false\n", first);

	replace(l, "/etc/passwd", text);
	assert_int_equal(allocate(l), first + 1);
	assert_int_equal(umount2("/etc/passwd", MNT_DETACH), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_block),     TEST(test_nobody_twice), TEST(test_all_in_use),
		TEST(test_delegated), TEST(test_unreadable),   TEST(test_passwd),
	};

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Nothing outside our own groups can be named: hostile uids through every public function, and
 * names of groups and files below them.
 */
#include "tests/unit/cgroups/fixture.h"

#include "cgroups/group.h"
#include "cgroups/members.h"

static char long_uid[301];
static const char embedded_nul[] = UID_A "\0/../x"; /* C sees the valid part only */

static const char *const hostile[] = {
	"",
	".",
	"..",
	"../x",
	"/",
	"../../pids",
	"0a0a0a0a-1111-4222-8333-00000000000",
	UID_A "0",
	UID_A "/",
	UID_A "\n",
	UID_A "/../../x",
	"0A0A0A0A-1111-4222-8333-000000000001",
	"0a0a0a0a-1111-4222-8333-00000000000\n",
	"0a0a0a0a-1111-4222-8333\n000000000001",
	"0a0a0a0a-1111-4222-8333/000000000001",
	"0a0a0a0a/../..-4222-8333-00000000001",
	"0a0a0a0a1111422283330000000000000001",
	"------------------------------------",
	"0a0a0a0a-1111-4222-8333-0000000000\xc3\xa9",
	"%s%s%s%s-%s%s-%s%s-%s%s-%s%s%s%s%s%s",
	long_uid,
	NULL,
};

static void refuse_everywhere(struct fixture *f, const char *uid)
{
	struct cgroup_pod_spec spec = fix_spec(uid);
	cpu_set_t cpus = spec.emu;
	json_t *j = NULL;
	bool yes;
	int fd = -1;

	assert_int_equal(cgroup_pod_create(f->host, &spec, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_enter(f->host, uid, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_place(f->host, uid, getpid(), CGROUP_EMU, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, uid, &cpus, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_has_task(f->host, uid, getpid(), &yes, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_kill(f->host, uid, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_events(f->host, uid, &fd, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_empty(f->host, uid, &yes, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_destroy(f->host, uid, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_read(f->host, uid, &j, NULL), -EINVAL);
	assert_int_equal(fd, -1);
}

static void test_hostile_uids(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	char left[512];

	memset(long_uid, 'a', sizeof long_uid - 1);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		refuse_everywhere(f, hostile[i]);
	assert_false(fix_find_group(left, sizeof left));
	/* the same with a pod there that could be hit */
	fix_create(f, &spec);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		refuse_everywhere(f, hostile[i]);
	assert_true(fix_group_there("pids", "/pod-" UID_A));
}

static void test_error_names_the_uid_and_what_is_right(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	assert_int_equal(cgroup_pod_destroy(f->host, "../x", &err), -EINVAL);
	assert_string_equal(
		err.msg,
		"cgroup: '../x' is no pod uid: a lower-case UUID of 36 characters is wanted");
}

static struct tree *open_tree(void)
{
	struct err err = {0};
	struct tree *t = NULL;

	if (tree_open(fix_tag, &t, &err) < 0)
		fail_msg("%s", err.msg);
	return t;
}

static void test_paths(void **state)
{
	struct tree *t = open_tree();
	char path[TREE_PATH_MAX], want[TREE_PATH_MAX];

	(void)state;
	assert_int_equal(tree_path(t, NODE_TOP, NULL, path, NULL), 0);
	(void)snprintf(want, sizeof want, "virtpod-%s", fix_tag);
	assert_string_equal(path, want);
	assert_int_equal(tree_path(t, NODE_POD, embedded_nul, path, NULL), 0);
	(void)snprintf(want, sizeof want, "virtpod-%s/pod-" UID_A, fix_tag);
	assert_string_equal(path, want);
	assert_int_equal(tree_path(t, NODE_VCPU, UID_A, path, NULL), 0);
	(void)snprintf(want, sizeof want, "virtpod-%s/pod-" UID_A "/vcpu", fix_tag);
	assert_string_equal(path, want);
	assert_int_equal(tree_path(t, NODE_SIDE, UID_A, path, NULL), 0);
	(void)snprintf(want, sizeof want, "virtpod-%s." UID_A ".vcpu", fix_tag);
	assert_string_equal(path, want);
	tree_free(t);
}

static void test_names_back_to_uids(void **state)
{
	struct tree *t = open_tree();
	char uid[TREE_UID_LEN + 1] = "unset";
	char name[128];

	(void)state;
	assert_false(tree_uid_of(t, NODE_TOP, "pod-", uid));
	assert_false(tree_uid_of(t, NODE_TOP, "pod-x", uid));
	assert_false(tree_uid_of(t, NODE_TOP, "pod-" UID_A "x", uid));
	assert_false(tree_uid_of(t, NODE_TOP, UID_A, uid));
	assert_false(tree_uid_of(t, NODE_ROOT, "virtpod-deadbeef." UID_A ".vcpu", uid));
	(void)snprintf(name, sizeof name, "virtpod-%s." UID_A, fix_tag);
	assert_false(tree_uid_of(t, NODE_ROOT, name, uid));
	assert_string_equal(uid, "unset");
	assert_true(tree_uid_of(t, NODE_TOP, "pod-" UID_B, uid));
	assert_string_equal(uid, UID_B);
	(void)snprintf(name, sizeof name, "virtpod-%s." UID_A ".vcpu", fix_tag);
	assert_true(tree_uid_of(t, NODE_ROOT, name, uid));
	assert_string_equal(uid, UID_A);
	tree_free(t);
}

static void test_root_is_read_only_and_files_are_plain_names(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct tree *t = open_tree();
	struct group root = {t, HIER_CPUSET, NODE_ROOT, NULL};
	struct group pod = {t, HIER_CPUSET, NODE_POD, UID_A};
	_cleanup_free_ char *text = NULL;
	int fd = -1;

	fix_create(f, &spec);
	assert_int_equal(group_read(&root, "cpuset.cpus", &text, NULL), 0);
	assert_int_equal(group_write(&root, "tasks", "0", NULL), -EPERM);
	assert_int_equal(group_open(&root, "tasks", O_RDWR, &fd, NULL), -EPERM);
	assert_int_equal(group_make(&root, NULL), -EPERM);
	assert_int_equal(group_remove(&root, NULL), -EPERM);
	assert_int_equal(group_write(&pod, "../tasks", "0", NULL), -EINVAL);
	assert_int_equal(group_write(&pod, "../../cpuset.cpus", "0", NULL), -EINVAL);
	assert_int_equal(group_open(&pod, "/etc/passwd", O_RDONLY, &fd, NULL), -EINVAL);
	assert_int_equal(group_open(&pod, "..", O_RDONLY, &fd, NULL), -EINVAL);
	assert_int_equal(fd, -1);
	tree_free(t);
}

static void test_members_text(void **state)
{
	struct tree *t = open_tree();
	struct group pod = {t, HIER_PIDS, NODE_POD, UID_A};
	struct group uni = {t, HIER_UNIFIED, NODE_POD, UID_A};
	char text[512];

	(void)state;
	(void)snprintf(text, sizeof text, "8:pids:/virtpod-%s/pod-" UID_A "\n", fix_tag);
	assert_true(members_at(text, &pod));
	assert_false(members_at(text, &uni));
	(void)snprintf(text, sizeof text, "8:hugetlb,pids:/virtpod-%s/pod-" UID_A "/x\n", fix_tag);
	assert_false(members_at(text, &pod));
	assert_true(members_below(text, &pod));
	(void)snprintf(text, sizeof text, "8:pids:/virtpod-%s/pod-" UID_A "x\n", fix_tag);
	assert_false(members_below(text, &pod));
	(void)snprintf(text, sizeof text, "8:pids:/x/virtpod-%s/pod-" UID_A "\n", fix_tag);
	assert_false(members_below(text, &pod));
	(void)snprintf(text, sizeof text, "8:xpids:/virtpod-%s/pod-" UID_A "\n", fix_tag);
	assert_false(members_below(text, &pod));
	(void)snprintf(text, sizeof text, "8:pids:/\n0::/virtpod-%s/pod-" UID_A, fix_tag);
	assert_false(members_at(text, &pod));
	assert_true(members_at(text, &uni));
	(void)snprintf(text, sizeof text, "1:name=:/virtpod-%s/pod-" UID_A "\n", fix_tag);
	assert_false(members_at(text, &uni));
	assert_false(members_at("", &pod));
	assert_false(members_at("8:pids", &pod));
	assert_false(members_at(":::\n::\n:\n", &uni));
	tree_free(t);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		T(test_hostile_uids),
		T(test_error_names_the_uid_and_what_is_right),
		T(test_paths),
		T(test_names_back_to_uids),
		T(test_root_is_read_only_and_files_are_plain_names),
		T(test_members_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}

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
	assert_int_equal(cgroup_pod_enter(f->host, uid, /* born= */ false, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_place(f->host, uid, getpid(), CGROUP_EMU, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_set_emu_cpus(f->host, uid, &cpus, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_has_task(f->host, uid, getpid(), &yes, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_kill(f->host, uid, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_events(f->host, uid, &fd, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_partition_events(f->host, uid, CGROUP_EMU, &fd, NULL), -EINVAL);
	assert_int_equal(cgroup_pod_repair(f->host, uid, NULL, NULL, NULL), -EINVAL);
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

/* Trees of both kinds, whatever this host is; no path of them is opened. */
static const struct tree of_v1 = {.tag = "0123abcd"}, of_v2 = {.v2 = true, .tag = "0123abcd"};

static void test_paths(void **state)
{
	static const struct {
		enum tree_node node;
		const char *v1, *v2;
	} want[] = {
		{NODE_ROOT, ".", "."},
		{NODE_TOP, "virtpod-0123abcd", "virtpod-0123abcd"},
		{NODE_POD, "virtpod-0123abcd/pod-" UID_A, "virtpod-0123abcd/pod-" UID_A},
		{NODE_EMU, "virtpod-0123abcd/pod-" UID_A "/emu",
		 "virtpod-0123abcd/pod-" UID_A "/emu"},
		{NODE_VCPU, "virtpod-0123abcd/pod-" UID_A "/vcpu",
		 "virtpod-0123abcd/pod-" UID_A "/vcpu"},
		{NODE_SIDE, "virtpod-0123abcd." UID_A ".vcpu", "virtpod-0123abcd." UID_A},
		{NODE_SIDE_EMU, NULL, "virtpod-0123abcd." UID_A "/emu"},
		{NODE_SIDE_VCPU, NULL, "virtpod-0123abcd." UID_A "/vcpu"},
	};
	char path[TREE_PATH_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		if (want[i].v1) {
			assert_int_equal(tree_path(&of_v1, want[i].node, UID_A, path, NULL), 0);
			assert_string_equal(path, want[i].v1);
		}
		assert_int_equal(tree_path(&of_v2, want[i].node, embedded_nul, path, NULL), 0);
		assert_string_equal(path, want[i].v2);
		if (want[i].node > NODE_TOP)
			assert_int_equal(tree_path(&of_v2, want[i].node, "..", path, NULL),
					 -EINVAL);
	}
}

static void test_names_back_to_uids(void **state)
{
	static const char side[] = "virtpod-0123abcd." UID_A;
	static const char v1_side[] = "virtpod-0123abcd." UID_A ".vcpu";
	const struct tree *const trees[] = {&of_v1, &of_v2};
	char uid[TREE_UID_LEN + 1] = "unset";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		const struct tree *t = trees[i];

		assert_false(tree_uid_of(t, NODE_TOP, "pod-", uid));
		assert_false(tree_uid_of(t, NODE_TOP, "pod-x", uid));
		assert_false(tree_uid_of(t, NODE_TOP, "pod-" UID_A "x", uid));
		assert_false(tree_uid_of(t, NODE_TOP, "emu", uid));
		assert_false(tree_uid_of(t, NODE_TOP, UID_A, uid));
		assert_false(tree_uid_of(t, NODE_ROOT, "virtpod-0123abcd", uid));
		assert_false(tree_uid_of(t, NODE_ROOT, "virtpod-0123abcd." UID_A ".", uid));
		assert_false(tree_uid_of(t, NODE_ROOT, "virtpod-0123abcd." UID_A "0", uid));
		assert_false(tree_uid_of(t, NODE_ROOT, "virtpod-deadbeef." UID_A ".vcpu", uid));
		assert_false(tree_uid_of(t, NODE_ROOT, "virtpod-deadbeef." UID_A, uid));
		/* a name of the other kind of host is none of ours */
		assert_false(tree_uid_of(t, NODE_ROOT, t->v2 ? v1_side : side, uid));
		assert_string_equal(uid, "unset");
		assert_true(tree_uid_of(t, NODE_TOP, "pod-" UID_B, uid));
		assert_string_equal(uid, UID_B);
		assert_true(tree_uid_of(t, NODE_ROOT, t->v2 ? side : v1_side, uid));
		assert_string_equal(uid, UID_A);
		(void)snprintf(uid, sizeof uid, "unset");
	}
}

static void test_root_is_read_only_and_files_are_plain_names(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct tree *t = open_tree();
	enum tree_hier hier = fix_v2 ? HIER_UNIFIED : HIER_CPUSET;
	struct group root = {t, hier, NODE_ROOT, NULL};
	struct group pod = {t, hier, NODE_POD, UID_A};
	const char *tasks = fix_either("tasks", "cgroup.procs");
	const char *cpus = fix_either("cpuset.cpus", "cpuset.cpus.effective");
	_cleanup_free_ char *up = xasprintf("../%s", tasks), *up2 = xasprintf("../../%s", cpus);
	_cleanup_free_ char *text = NULL;
	int fd = -1;

	fix_create(f, &spec);
	assert_int_equal(group_read(&root, cpus, &text, NULL), 0);
	assert_int_equal(group_write(&root, tasks, "0", NULL), -EPERM);
	assert_int_equal(group_open(&root, tasks, O_RDWR, &fd, NULL), -EPERM);
	assert_int_equal(group_make(&root, NULL), -EPERM);
	assert_int_equal(group_remove(&root, NULL), -EPERM);
	assert_int_equal(group_write(&pod, up, "0", NULL), -EINVAL);
	assert_int_equal(group_write(&pod, up2, "0", NULL), -EINVAL);
	assert_int_equal(group_open(&pod, "/etc/passwd", O_RDONLY, &fd, NULL), -EINVAL);
	assert_int_equal(group_open(&pod, "..", O_RDONLY, &fd, NULL), -EINVAL);
	assert_int_equal(fd, -1);
	tree_free(t);
}

static void test_members_text(void **state)
{
	char nothing[] = ""; /* what /proc/PID/cgroup has before our paths; no fd here is used */
	struct tree v1 = {.root = {nothing, nothing, nothing, nothing, nothing, nothing}};
	struct tree *t = &v1;
	struct group pod = {t, HIER_PIDS, NODE_POD, UID_A};
	struct group uni = {t, HIER_UNIFIED, NODE_POD, UID_A};
	char text[512];

	(void)state;
	memcpy(v1.tag, fix_tag, sizeof v1.tag);
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
}

/* Threaded children are below the pod, in either place; it is one pod whatever the place. */
static void test_members_text_of_v2(void **state)
{
	char nothing[] = "";
	struct tree v2 = {.v2 = true, .tag = "0123abcd", .root = {nothing}};
	struct group pod = {&v2, HIER_UNIFIED, NODE_POD, UID_A};
	struct group side = {&v2, HIER_UNIFIED, NODE_SIDE, UID_A};
	struct group side_emu = {&v2, HIER_UNIFIED, NODE_SIDE_EMU, UID_A};
	static const char in_pod[] = "0::/virtpod-0123abcd/pod-" UID_A "/vcpu\n";
	static const char in_side[] = "0::/virtpod-0123abcd." UID_A "/emu\n";
	static const char in_v1_side[] = "0::/virtpod-0123abcd." UID_A ".vcpu\n";

	(void)state;
	for (int i = HIER_UNIFIED + 1; i < HIER_MAX; i++)
		v2.fd[i] = -1;
	assert_true(members_below(in_pod, &pod));
	assert_false(members_at(in_pod, &pod));
	assert_false(members_below(in_pod, &side));
	assert_true(members_below(in_side, &side));
	assert_true(members_at(in_side, &side_emu));
	assert_false(members_below(in_side, &pod));
	assert_false(members_below(in_v1_side, &side));
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
		T(test_members_text_of_v2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}

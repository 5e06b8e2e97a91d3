// SPDX-License-Identifier: Apache-2.0
/*
 * What works in the cgroup2 tree without any controller: device programs and threaded groups. The
 * pod's own v1 device list allows everything here, so that only the program can refuse.
 */
#include "tests/unit/cgroups/fixture.h"

#include "cgroups/device_bpf.h"
#include "cgroups/threaded.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static struct tree *tree;

static int setup(void **state)
{
	return fix_setup(state) < 0 || tree_open(fix_tag, &tree, NULL) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	tree_free(tree);
	return fix_teardown(state);
}

/* A pod whose v1 list lets all character and block devices of majors 1 and 7 through. */
static void create_open_pod(struct fixture *f, int *ret_fd)
{
	static const struct cgroup_device all[] = {{'c', 1, 0, true, "rwm"},
						   {'b', 1, 0, true, "rwm"}};
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct group g = {tree, HIER_UNIFIED, NODE_POD, UID_A};

	spec.devices = all;
	spec.n_devices = ARRAY_SIZE(all);
	fix_create(f, &spec);
	assert_int_equal(group_open_dir(&g, ret_fd, NULL), 0);
}

enum { NULL_READ = 1, NULL_WRITE = 2, NULL_MAKE = 4, ZERO_READ = 8, ZERO_MAKE = 16, RAM_MAKE = 32 };

/* Sets `bit` when the call behind `r` worked; anything but EPERM is no answer. */
static int note(int r, int bit)
{
	if (r < 0 && errno != EPERM)
		_exit(EXIT_FAILED);
	return r < 0 ? 0 : bit;
}

static int try_all(void *arg)
{
	_cleanup_fd_ int fd = open(fix_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const mode_t c = S_IFCHR | 0600, b = S_IFBLK | 0600;
	int bits;

	(void)arg;
	bits = note(open("/dev/null", O_RDONLY | O_CLOEXEC), NULL_READ);
	bits |= note(open("/dev/null", O_WRONLY | O_CLOEXEC), NULL_WRITE);
	bits |= note(open("/dev/zero", O_RDONLY | O_CLOEXEC), ZERO_READ);
	bits |= note(mknodat(fd, "null", c, makedev(1, 3)), NULL_MAKE);
	bits |= note(mknodat(fd, "zero", c, makedev(1, 5)), ZERO_MAKE);
	bits |= note(mknodat(fd, "ram3", b, makedev(1, 3)), RAM_MAKE);
	(void)unlinkat(fd, "null", 0);
	(void)unlinkat(fd, "zero", 0);
	(void)unlinkat(fd, "ram3", 0);
	return bits;
}

static int allowed(struct fixture *f)
{
	int status = fix_wait(f, fix_spawn(f, UID_A, try_all, NULL));

	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int allowed_by(struct fixture *f, const struct cgroup_device *list, unsigned n)
{
	_cleanup_fd_ int fd = -1;
	struct err err = {0};
	uint32_t id;
	int bits;

	create_open_pod(f, &fd);
	if (device_bpf_attach(fd, list, n, &id, &err) < 0)
		fail_msg("%s", err.msg);
	bits = allowed(f);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	return bits;
}

static void test_program_decides(void **state)
{
	struct fixture *f = *state;
	const struct cgroup_device null_all[] = {{'c', 1, 3, false, "rwm"}};
	const struct cgroup_device mixed[] = {{'c', 10, 232, false, "rwm"},
					      {'c', 1, 3, false, "r"},
					      {'b', 1, 3, false, "m"},
					      {'c', 1, 5, false, "rw"}};
	const struct cgroup_device any[] = {{'c', 1, 0, true, "rm"}};
	_cleanup_fd_ int fd = -1;
	struct err err = {0};

	/* without a program nothing is refused: what follows is the program's doing */
	create_open_pod(f, &fd);
	assert_int_equal(allowed(f), 63);
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);

	assert_int_equal(allowed_by(f, NULL, 0), 0);
	assert_int_equal(allowed_by(f, null_all, 1), NULL_READ | NULL_WRITE | NULL_MAKE);
	assert_int_equal(allowed_by(f, mixed, 4), NULL_READ | RAM_MAKE | ZERO_READ);
	assert_int_equal(allowed_by(f, any, 1), NULL_READ | NULL_MAKE | ZERO_READ | ZERO_MAKE);
}

static int open_null_rw(void *arg)
{
	(void)arg;
	return note(open("/dev/null", O_RDWR | O_CLOEXEC), 1);
}

static int null_rw_by(struct fixture *f, const struct cgroup_device *list, unsigned n)
{
	_cleanup_fd_ int fd = -1;
	struct err err = {0};
	uint32_t id;
	int status;

	create_open_pod(f, &fd);
	assert_int_equal(device_bpf_attach(fd, list, n, &id, &err), 0);
	status = fix_wait(f, fix_spawn(f, UID_A, open_null_rw, NULL));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	return WEXITSTATUS(status);
}

/* Opening for both needs both, but not from one entry: the v1 controller says the same. */
static void test_read_and_write_together(void **state)
{
	struct fixture *f = *state;
	const struct cgroup_device list[] = {{'c', 1, 3, false, "r"}, {'c', 1, 3, false, "w"}};

	assert_int_equal(null_rw_by(f, &list[0], 1), 0);
	assert_int_equal(null_rw_by(f, &list[1], 1), 0);
	assert_int_equal(null_rw_by(f, list, 2), 1);
}

static void test_query_and_second_program(void **state)
{
	struct fixture *f = *state;
	const struct cgroup_device both[] = {{'c', 1, 3, false, "r"}, {'c', 1, 5, false, "r"}};
	uint32_t first = 0, second = 0, ids[4];
	_cleanup_fd_ int fd = -1;
	struct err err = {0};
	unsigned n = 77;

	create_open_pod(f, &fd);
	assert_int_equal(device_bpf_query(fd, ids, 4, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(device_bpf_attach(fd, both, 2, &first, &err), 0);
	assert_int_equal(device_bpf_query(fd, ids, 4, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(ids[0], first);
	assert_int_equal(allowed(f), NULL_READ | ZERO_READ);
	/* a second one can only narrow */
	assert_int_equal(device_bpf_attach(fd, both, 1, &second, &err), 0);
	assert_int_equal(device_bpf_query(fd, ids, 4, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(ids[1], second);
	assert_int_equal(allowed(f), NULL_READ);
	assert_int_equal(device_bpf_query(fd, ids, 1, &n, &err), -ENOSPC);
}

static void test_build_limits(void **state)
{
	static struct bpf_insn insns[DEVICE_BPF_MAX_INSNS];
	static struct cgroup_device list[DEVICE_BPF_MAX_DEVICES + 1];
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(list); i++)
		list[i] = (struct cgroup_device){'c', i, i, false, "rwm"};
	assert_int_equal(device_bpf_build(list, DEVICE_BPF_MAX_DEVICES, insns, &n, NULL), 0);
	assert_int_equal(n, DEVICE_BPF_MAX_INSNS);
	assert_int_equal(device_bpf_build(list, ARRAY_SIZE(list), insns, &n, NULL), -E2BIG);
	list[0].access = "x";
	assert_int_equal(device_bpf_build(list, 1, insns, &n, NULL), -EINVAL);
}

static void test_largest_program_loads(void **state)
{
	struct fixture *f = *state;
	static struct cgroup_device list[DEVICE_BPF_MAX_DEVICES];

	for (unsigned i = 0; i < ARRAY_SIZE(list); i++)
		list[i] = (struct cgroup_device){'c', 100 + i, i, false, "rwm"};
	list[ARRAY_SIZE(list) - 1] = (struct cgroup_device){'c', 1, 5, false, "r"};
	assert_int_equal(allowed_by(f, list, ARRAY_SIZE(list)), ZERO_READ);
}

static void test_attach_wants_a_group(void **state)
{
	_cleanup_fd_ int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = {0};
	uint32_t id = 5;

	(void)state;
	assert_int_equal(device_bpf_attach(fd, NULL, 0, &id, &err), -EBADF);
	assert_non_null(strstr(err.msg, "attaching"));
	assert_int_equal(id, 5);
}

static void *idle_thread(void *arg)
{
	pid_t tid = gettid();

	if (write(*(int *)arg, &tid, sizeof tid) != sizeof tid)
		_exit(EXIT_FAILED);
	(void)fix_idle(NULL);
	return NULL;
}

static int two_threads(void *arg)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, idle_thread, arg) ? EXIT_FAILED : fix_idle(NULL);
}

static void test_threaded_groups(void **state)
{
	struct fixture *f = *state;
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};
	char want[16];
	int p[2];
	pid_t pid, tid, stranger;
	bool ours;

	fix_create(f, &spec);
	assert_int_equal(threaded_make(tree, UID_A, NODE_EMU, &err), 0);
	assert_int_equal(threaded_make(tree, UID_A, NODE_VCPU, &err), 0);
	assert_string_equal(fix_file("unified", "/pod-" UID_A "/vcpu", "cgroup.type"), "threaded");
	assert_string_equal(fix_file("unified", "/pod-" UID_A, "cgroup.type"), "domain threaded");
	assert_int_equal(threaded_make(tree, UID_A, NODE_VCPU, &err), -EEXIST);
	err_clear(&err);

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fix_spawn(f, UID_A, two_threads, &p[1]);
	assert_int_equal(read(p[0], &tid, sizeof tid), sizeof tid);
	assert_int_equal(threaded_move(tree, UID_A, NODE_VCPU, tid, &err), 0);
	assert_int_equal(threaded_move(tree, UID_A, NODE_EMU, pid, &err), 0);
	(void)snprintf(want, sizeof want, "%d", tid);
	assert_string_equal(fix_file("unified", "/pod-" UID_A "/vcpu", "cgroup.threads"), want);
	(void)snprintf(want, sizeof want, "%d", pid);
	assert_string_equal(fix_file("unified", "/pod-" UID_A "/emu", "cgroup.threads"), want);
	assert_int_equal(cgroup_pod_has_task(f->host, UID_A, tid, &ours, &err), 0);
	assert_true(ours);

	stranger = fix_spawn(f, NULL, fix_idle, NULL);
	assert_int_equal(threaded_move(tree, UID_A, NODE_VCPU, stranger, &err), -EOPNOTSUPP);
	err_clear(&err);
	assert_int_equal(threaded_move(tree, UID_A, NODE_POD, tid, &err), -EINVAL);
	err_clear(&err);

	/* kill and removal reach into the children */
	assert_int_equal(cgroup_pod_kill(f->host, UID_A, &err), 0);
	assert_true(WIFSIGNALED(fix_wait(f, pid)));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);
	(void)close(p[0]);
	(void)close(p[1]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		T(test_program_decides),	  T(test_read_and_write_together),
		T(test_query_and_second_program), T(test_build_limits),
		T(test_largest_program_loads),	  T(test_attach_wants_a_group),
		T(test_threaded_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}

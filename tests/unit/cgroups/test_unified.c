// SPDX-License-Identifier: Apache-2.0
/*
 * What works in the cgroup2 tree without any controller, on both kinds of hosts: device programs and
 * threaded groups. The pods have no list of devices here, so that only the test's program can refuse.
 */
#include "tests/unit/cgroups/fixture.h"

#include "cgroups/device_bpf.h"
#include "cgroups/threaded.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

static void create_open_pod(struct fixture *f, int *ret_fd)
{
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct group g = {tree, HIER_UNIFIED, NODE_POD, UID_A};

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

static bool text_is(int fd, const char *want)
{
	_cleanup_free_ char *text = NULL;
	struct err err = {0};

	if (device_bpf_text(fd, &text, &err) < 0)
		fail_msg("%s", err.msg);
	if (!str_eq(text, want))
		print_error("it says: %s\n", text);
	return str_eq(text, want);
}

/* Somebody else's program, which allows all; its id. */
static uint32_t attach_foreign(int group_fd, unsigned n_insns)
{
	static struct bpf_insn insns[4096];
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {0};
	int prog;

	for (unsigned i = 0; i < n_insns; i++)
		insns[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1};
	insns[n_insns - 1] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = n_insns;
	attr.license = (uintptr_t) "GPL";
	prog = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
	assert_true(prog >= 0);
	attr = (union bpf_attr){0};
	attr.info.bpf_fd = (uint32_t)prog;
	attr.info.info_len = sizeof info;
	attr.info.info = (uintptr_t)&info;
	assert_int_equal(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof attr), 0);
	attr = (union bpf_attr){0};
	attr.target_fd = (uint32_t)group_fd;
	attr.attach_bpf_fd = (uint32_t)prog;
	attr.attach_type = BPF_CGROUP_DEVICE;
	attr.attach_flags = BPF_F_ALLOW_MULTI;
	assert_int_equal(syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof attr), 0);
	(void)close(prog);
	return info.id;
}

/* What is attached, out of the kernel: exactly the list, entries of one device merged. */
static void test_text(void **state)
{
	struct fixture *f = *state;
	const struct cgroup_device list[] = {{'c', 1, 3, false, "r"},
					     {'c', 10, 232, false, "mwr"},
					     {'b', 7, 0, true, "rm"},
					     {'c', 1, 3, false, "w"}};
	_cleanup_fd_ int fd = -1, again = -1;
	_cleanup_free_ char *want = NULL;
	struct err err = {0};
	uint32_t id, foreign, large;

	create_open_pod(f, &fd);
	assert_true(text_is(fd, "a *:* rwm"));
	assert_int_equal(device_bpf_attach(fd, list, ARRAY_SIZE(list), &id, &err), 0);
	assert_true(text_is(fd, "c 1:3 rw\nc 10:232 rwm\nb 7:* rm"));
	/* nobody's list but a program's, small or too large for any of ours: it has no words here */
	foreign = attach_foreign(fd, 2);
	large = attach_foreign(fd, DEVICE_BPF_MAX_INSNS + 1);
	want = xasprintf("c 1:3 rw\nc 10:232 rwm\nb 7:* rm\nprogram %u\nprogram %u", foreign,
			 large);
	assert_true(text_is(fd, want));
	assert_int_equal(cgroup_pod_destroy(f->host, UID_A, &err), 0);

	create_open_pod(f, &again);
	assert_int_equal(device_bpf_attach(again, NULL, 0, &id, &err), 0);
	assert_true(text_is(again, ""));
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

/* v2 makes them with the pod; on v1 nothing but these functions does. */
static void create_threaded_pod(struct fixture *f)
{
	struct cgroup_pod_spec spec = fix_spec(UID_A);
	struct err err = {0};

	CPU_SET((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, &spec.vcpu);
	fix_create(f, &spec);
	if (fix_v2)
		return;
	assert_int_equal(threaded_make(tree, UID_A, NODE_EMU, &err), 0);
	assert_int_equal(threaded_make(tree, UID_A, NODE_VCPU, &err), 0);
}

static void test_threaded_groups(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};
	char want[16];
	int p[2];
	pid_t pid, tid, stranger;
	bool ours;

	create_threaded_pod(f);
	assert_string_equal(fix_file("unified", "/pod-" UID_A "/vcpu", "cgroup.type"), "threaded");
	assert_string_equal(fix_file("unified", "/pod-" UID_A "/emu", "cgroup.type"), "threaded");
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
		T(test_query_and_second_program), T(test_text),
		T(test_largest_program_loads),	  T(test_attach_wants_a_group),
		T(test_threaded_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return fix_main(run);
}

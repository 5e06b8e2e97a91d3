// SPDX-License-Identifier: Apache-2.0
/* The host's list of exclusive CPUs, shared by roots: what stands, what is void, what is damaged. */
#include "tests/unit/handler/lab.h"

#include "handler/cpuset.h"
#include "handler/hostcpus.h"
#include "handler/proc.h"

#include "lib/cpus.h"

#include <sys/file.h>

/* Two roots of one host. */
struct pair {
	struct lab *a, *b;
	struct err err;
};

static int setup(void **state)
{
	struct pair *p = xcalloc(1, sizeof *p);

	p->a = lab_open("pack:1 core:8 pu:1");
	p->b = lab_open("pack:1 core:8 pu:1");
	free((char *)(uintptr_t)p->b->h.cpus_file);
	p->b->h.cpus_file = xstrdup(p->a->h.cpus_file);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	lab_close(p->a);
	lab_close(p->b);
	free(p);
	return 0;
}

static int take(struct pair *p, struct lab *l, const char *uid, const char *cpus)
{
	cpu_set_t set;

	assert_int_equal(cpus_parse(cpus, &set), 0);
	err_clear(&p->err);
	return hostcpus_take(&l->h, uid, "default/vm", &set, &p->err);
}

static void assert_others(struct pair *p, struct lab *l, const char *want)
{
	struct cpu_holders holders = {0};
	char text[CPUS_TEXT_MAX];
	cpu_set_t all;

	err_clear(&p->err);
	if (hostcpus_others(&l->h, &holders, &p->err) < 0)
		fail_msg("%s", p->err.msg);
	CPU_ZERO(&all);
	for (unsigned i = 0; i < holders.n; i++)
		CPU_OR(&all, &all, &holders.list[i].cpus);
	assert_string_equal(cpus_format(&all, text), want);
	cpuset_holders_done(&holders);
}

static char *read_file(struct pair *p)
{
	char *text = NULL;

	assert_int_equal(file_read_at(AT_FDCWD, p->a->h.cpus_file, 1 << 20, &text, NULL), 0);
	return text;
}

static void write_file(struct pair *p, const char *text)
{
	assert_int_equal(file_replace_at(AT_FDCWD, p->a->h.cpus_file, text, strlen(text), 0600), 0);
}

/* An entry of a handler that is gone. */
static void write_entry(struct pair *p, struct lab *of, const char *uid, const char *cpus)
{
	_cleanup_free_ char *text =
		xasprintf("[{\"tag\":\"%s\",\"uid\":\"%s\",\"root\":\"/x\",\"vm\":\"ns/vm\","
			  "\"cpus\":\"%s\",\"handler\":%d,\"handlerStart\":1}]",
			  of->h.paths.tag, uid, cpus, (int)getpid());

	write_file(p, text);
}

static void test_take_and_free(void **state)
{
	struct pair *p = *state;

	assert_others(p, p->a, "");
	assert_int_equal(take(p, p->a, UID_A, "2-3"), 0);
	assert_others(p, p->a, ""); /* one's own are in one's own ledger */
	assert_others(p, p->b, "2-3");
	assert_int_equal(take(p, p->b, UID_B, "3-4"), -EBUSY);
	assert_non_null(strstr(p->err.msg, "CPUs 3 were taken by default/vm of --root "));
	assert_non_null(strstr(p->err.msg, p->a->root));
	assert_others(p, p->a, ""); /* a refusal takes nothing */
	assert_int_equal(take(p, p->b, UID_B, "4-5"), 0);
	assert_int_equal(hostcpus_free(&p->a->h, UID_A, &p->err), 0);
	assert_int_equal(hostcpus_free(&p->a->h, UID_A, &p->err), 0); /* again is fine */
	assert_others(p, p->b, "");
	assert_others(p, p->a, "4-5");
}

/* Several pods of one root; taking again replaces. Another root's entry of the same uid is not ours. */
static void test_entries_are_told_apart(void **state)
{
	struct pair *p = *state;

	assert_int_equal(take(p, p->a, UID_A, "1"), 0);
	assert_int_equal(take(p, p->a, UID_B, "2"), 0);
	assert_int_equal(take(p, p->a, UID_A, "3"), 0);
	assert_others(p, p->b, "2-3");
	assert_int_equal(take(p, p->b, UID_A, "4"), 0);
	assert_int_equal(hostcpus_free(&p->b->h, UID_A, &p->err), 0);
	assert_others(p, p->b, "2-3");
	assert_int_equal(hostcpus_free(&p->a->h, UID_A, &p->err), 0);
	assert_others(p, p->b, "2");
}

/* kill -9 of the handler before the pod had a cgroup: the claim is void, and leaves the file. */
static void test_void(void **state)
{
	struct pair *p = *state;
	_cleanup_free_ char *text = NULL;

	write_entry(p, p->a, UID_A, "2-3");
	assert_others(p, p->b, "");
	assert_int_equal(take(p, p->b, UID_B, "2"), 0);
	text = read_file(p);
	assert_null(strstr(text, UID_A));
}

/* The same, but the pod is there: it holds its CPUs with no handler at all. */
static void test_pod_without_handler(void **state)
{
	struct pair *p = *state;
	struct cgroup_pod_spec spec = {.uid = UID_A};

	CPU_SET(0, &spec.emu);
	assert_int_equal(cgroup_pod_create(p->a->h.cgroups, &spec, &p->err), 0);
	write_entry(p, p->a, UID_A, "2-3");
	assert_others(p, p->b, "2-3");
	assert_int_equal(take(p, p->b, UID_B, "3"), -EBUSY);
	assert_int_equal(cgroup_pod_destroy(p->a->h.cgroups, UID_A, &p->err), 0);
	assert_others(p, p->b, "");
}

/* Nothing that a handler wrote: no CPU is given until somebody has looked. */
static void test_damaged(void **state)
{
	static const char *const texts[] = {
		"[",
		"{}",
		"nonsense",
		"[1]",
		"[{}]",
		"[{\"tag\":\"x\"}]",
		"[{\"tag\":\"x\",\"uid\":\"u\",\"root\":\"/\",\"vm\":\"v\",\"cpus\":\"no\"}]",
	};
	struct pair *p = *state;
	struct cpu_holders holders = {0};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_file(p, texts[i]);
		assert_int_equal(take(p, p->a, UID_A, "2"), -EBADMSG);
		assert_non_null(strstr(p->err.msg, p->a->h.cpus_file));
		assert_non_null(strstr(p->err.msg, "remove it"));
		assert_int_equal(hostcpus_others(&p->a->h, &holders, &p->err), -EBADMSG);
		assert_int_equal(holders.n, 0);
	}
	write_file(p, "");
	assert_int_equal(take(p, p->a, UID_A, "2"), 0);
}

/* Does the kernel say that this process waits for a flock(2)? */
static bool waits_for_lock(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	char waiter[64];

	assert_int_equal(file_read_at(AT_FDCWD, "/proc/locks", 1 << 20, &text, NULL), 0);
	(void)snprintf(waiter, sizeof waiter, "-> FLOCK  ADVISORY  WRITE %d ", (int)pid);
	return strstr(text, waiter);
}

/* Look and write are one step: who holds the lock keeps others from looking, too. */
static void test_lock(void **state)
{
	struct pair *p = *state;
	_cleanup_free_ char *path = xasprintf("%s.lock", p->a->h.cpus_file);
	int fd, status;
	pid_t pid;

	assert_int_equal(take(p, p->a, UID_A, "2"), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = fd_close(fd); /* the lock is the description's: the parent's stays */
		_exit(take(p, p->b, UID_B, "2") < 0 ? 1 : 0);
	}
	while (!waits_for_lock(pid))
		assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* it must not get by */
	write_file(p, "[]"); /* CPU 2 is freed meanwhile: what it has not read yet, it can't miss */
	fd = fd_close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_take_and_free), TEST(test_entries_are_told_apart),
		TEST(test_void),	  TEST(test_pod_without_handler),
		TEST(test_damaged),	  TEST(test_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Step qemu: what the launcher is given, and that its word on threads is taken only where the kernel says
 * the same: its own child, the child's threads, all of them in the pod's groups.
 */
#include "tests/unit/handler/lab.h"

#include "handler/launcher.h"
#include "handler/status.h"
#include "handler/steps.h"
#include "handler/vmi.h"

#include "api/wire.h"
#include "lib/sock.h"
#include "tests/unit/launcher/plan_fixture.h"

#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct fixture {
	struct lab *lab;
	struct pod *pod;
	pid_t launcher;
	struct lab_process qemu;     /* the launcher's child */
	struct lab_process outsider; /* another child of it, not in the pod's groups */
	int peer;
};

/* Its children close what they have from us once they have reported: then the pipe ends. */
static void start_launcher(struct fixture *f)
{
	struct lab_process p;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	f->launcher = fork();
	assert_true(f->launcher >= 0);
	if (f->launcher == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fork() == 0)
			lab_be_process(f->lab, UID_A, fds[1]);
		if (fork() == 0)
			lab_be_process(f->lab, NULL, fds[1]);
		(void)close_range(3, ~0u, 0);
		while (pause() < 0)
			;
	}
	(void)close(fds[1]);
	while (read(fds[0], &p, sizeof p) == sizeof p)
		*(p.in_pod ? &f->qemu : &f->outsider) = p;
	assert_true(f->qemu.pid && f->outsider.pid);
	(void)close(fds[0]);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	struct cgroup_pod_spec spec = {.uid = UID_A};
	struct lab *l = f->lab = lab_open(NULL);
	int pair[2];

	CPU_SET(0, &spec.emu);
	if (cgroup_pod_create(l->h.cgroups, &spec, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	start_launcher(f);
	l->h.qemu = "/usr/bin/qemu";
	f->pod = lab_pod(l, UID_A, "a");
	f->pod->plan = plan_fixture();
	f->pod->record.plan = plan_to_json(f->pod->plan);
	f->pod->record.pid = f->launcher;
	f->pod->record.step = pod_step_index("qemu");
	f->pod->dir_fd = open(l->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->pod->pidfd = pidfd_open(f->launcher, 0);
	assert_int_equal(launcher_watch_exit(f->pod, &l->err), 0);
	assert_int_equal(sock_pair(SOCK_SEQPACKET, pair), 0);
	f->peer = pair[1];
	assert_int_equal(launcher_set_channel(f->pod, pair[0], &l->err), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	(void)kill(f->launcher, SIGKILL);
	(void)waitpid(f->launcher, NULL, 0); /* the handler may have been first */
	(void)fd_close(f->peer);
	lab_close(f->lab);
	free(f);
	return 0;
}

/* The step's request; its descriptors, in the order of its names, are the caller's. */
static json_t *start(struct fixture *f, int fds[static 4], size_t *ret_n)
{
	json_t *msg = NULL;

	if (step_qemu(f->pod, &f->lab->err) != STEP_WAIT)
		fail_msg("%s", f->lab->err.msg);
	assert_int_equal(wire_recv(f->peer, &msg, fds, 4, ret_n, &f->lab->err), 1);
	assert_string_equal(json_str(msg, "request"), "start");
	return msg;
}

static void test_request(void **state)
{
	struct fixture *f = *state;
	int fds[5], before = lab_count_fds();
	struct stat st;
	json_t *msg;
	size_t n;

	f->pod->plan->serial_log = true;
	pod_add_fd(f->pod, open("/dev/null", O_RDWR | O_CLOEXEC), "tap:blue:0");
	msg = start(f, fds, &n);
	assert_int_equal(n, 4);
	assert_string_equal(json_str(msg, "fds[3]"), "qemuLog");
	assert_string_equal(json_str(msg, "fds[0]"), "tap:blue:0");
	assert_string_equal(json_str(msg, "fds[1]"), "outcome");
	assert_string_equal(json_str(msg, "fds[2]"), "consoleLog");
	assert_string_equal(json_str(msg, "qemu"), "/usr/bin/qemu");
	assert_true(json_equal(json_object_get(msg, "plan"), f->pod->record.plan));
	assert_int_equal(fstat(fds[1], &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	/* the handler keeps none: locks and taps end with QEMU. One more is the request's timer */
	assert_int_equal(f->pod->n_fds, 0);
	assert_in_range(lab_count_fds(), before, before + 1);
	json_decref(msg);
}

/* The launcher's answer: does the step end well? Otherwise the reason, "" while it does. */
static void answer(struct fixture *f, json_t *reply, char *ret, size_t size)
{
	struct lab *l = f->lab;
	int fds[4];
	size_t n;
	json_t *msg = start(f, fds, &n);

	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	(void)json_object_set(reply, "id", json_object_get(msg, "id"));
	assert_int_equal(wire_send(f->peer, reply, NULL, 0, &l->err), 0);
	json_decref(reply);
	json_decref(msg);
	while (f->pod->state == POD_STARTING && f->pod->record.step == pod_step_index("qemu"))
		assert_true(sd_event_run(l->h.event, UINT64_MAX) >= 0);
	(void)snprintf(ret, size, "%s", f->pod->failure.msg);
}

static json_t *reply(pid_t qemu, pid_t vcpu, int vcpus)
{
	json_t *list = json_array();

	for (int i = 0; i < vcpus; i++)
		(void)json_array_append_new(list, json_integer(vcpu));
	return json_pack("{s:b, s:i, s:o}", "ok", 1, "qemuPid", qemu, "vcpus", list);
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	char why[ERR_MSG_MAX];

	answer(f, reply(f->qemu.pid, f->qemu.thread, 1), why, sizeof why);
	assert_string_equal(why, "");
	assert_int_equal(f->pod->qemu_pid, f->qemu.pid);
	assert_int_equal(f->pod->vcpu_tids[0], f->qemu.thread);
	assert_int_equal(f->pod->state, POD_STARTING);
	assert_int_equal(f->pod->record.step, pod_step_index("run")); /* pin had nothing to do */
}

/* Each lie ends the start. */
static void test_lies(void **state)
{
	for (int i = 0; i < 8; i++) {
		struct fixture *f;
		char why[ERR_MSG_MAX];
		json_t *r;

		(void)setup(state);
		f = *state;
		r = i == 0   ? reply(getpid(), getpid(), 1)		     /* not its child */
		    : i == 1 ? reply(1, 1, 1)				     /* nor that */
		    : i == 2 ? reply(f->outsider.pid, f->outsider.thread, 1) /* not the pod's */
		    : i == 3 ? reply(f->qemu.pid, f->outsider.thread, 1)     /* no thread of it */
		    : i == 4 ? reply(f->qemu.pid, f->qemu.thread, 2)	     /* a VM of one vCPU */
		    : i == 5 ? reply(f->qemu.pid, 0, 1)
		    : i == 6 ? reply(f->qemu.pid, f->qemu.pid, 1) /* its main thread */
			     : json_pack("{s:b}", "ok", 1);
		answer(f, r, why, sizeof why);
		if (!strstr(why,
			    i == 4 ? "QEMU has 2 vCPU threads, the VM has 1" : "launcher names"))
			fail_msg("lie %d: '%s'", i, why);
		assert_int_equal(f->pod->state, POD_UNDOING);
		(void)teardown(state);
	}
	(void)setup(state); /* for the teardown that follows */
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_request),
		TEST(test_threads),
		cmocka_unit_test_teardown(test_lies, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

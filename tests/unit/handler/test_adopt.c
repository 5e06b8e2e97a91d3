// SPDX-License-Identifier: Apache-2.0
/*
 * After kill -9 of a handler: what the next one makes of each record. The launchers are processes of the
 * test that listen where virt-launcher would and answer as they are told.
 */
#include "tests/unit/handler/lab.h"

#include "handler/adopt.h"
#include "handler/poddir.h"
#include "handler/proc.h"
#include "handler/status.h"
#include "handler/steps.h"
#include "handler/vmi.h"

#include "api/wire.h"
#include "lib/sock.h"
#include "tests/unit/launcher/plan_fixture.h"

#include <sys/socket.h>

struct fixture {
	struct lab *lab;
	struct store_pod record;
	int dir;      /* the pod's directory */
	int listener; /* its launcher.sock */
	int peer;     /* the launcher's end of the handler's connection */
	pid_t launcher;
	struct lab_process qemu;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	struct plan *plan = plan_fixture();
	struct lab *l = lab_open(NULL);

	f->lab = l;
	f->listener = f->peer = -1;
	free(plan->uid);
	plan->uid = xstrdup(UID_A);
	f->record = (struct store_pod){.uid = xstrdup(UID_A),
				       .ns = xstrdup("default"),
				       .name = xstrdup("demo"),
				       .step = pod_step_index("run"),
				       .host_id = 4242,
				       .plan = plan_to_json(plan)};
	plan_free(plan);
	if (poddir_create(&l->h, UID_A, &f->dir, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->launcher > 0) {
		(void)kill(f->launcher, SIGKILL);
		(void)waitpid(f->launcher, NULL, 0); /* the handler may have been first */
	}
	(void)fd_close(f->dir);
	(void)fd_close(f->listener);
	(void)fd_close(f->peer);
	store_pod_done(&f->record);
	(void)poddir_destroy(&f->lab->h, UID_A, NULL);
	lab_close(f->lab);
	free(f);
	return 0;
}

static json_t *vmi_of(void)
{
	return json_pack("{s:{s:s, s:s, s:s}}", "metadata", "uid", UID_A, "namespace", "default",
			 "name", "demo");
}

static void put_vmi(struct fixture *f, const char *phase)
{
	_cleanup_json_ json_t *vmi = vmi_of(), *status = status_new(vmi);
	struct lab *l = f->lab;

	assert_int_equal(store_put(l->h.store, VMI_KIND, "default", "demo", vmi, &l->err), 0);
	status_set_phase(status, phase);
	vmi_publish(&l->h, vmi, status);
}

static json_t *status_of(struct fixture *f)
{
	_cleanup_json_ json_t *vmi = vmi_of();

	return vmi_status(&f->lab->h, vmi);
}

/* A launcher with a child that is its QEMU. Neither does anything: the test talks for them. */
static void start_launcher(struct fixture *f)
{
	struct cgroup_pod_spec spec = {.uid = UID_A};
	struct lab *l = f->lab;
	int fds[2];

	CPU_SET(0, &spec.emu);
	if (cgroup_pod_create(l->h.cgroups, &spec, &l->err) < 0)
		fail_msg("%s", l->err.msg);
	assert_int_equal(sock_listen_at(f->dir, "launcher.sock", SOCK_SEQPACKET, &f->listener), 0);
	assert_int_equal(pipe(fds), 0);
	f->launcher = fork();
	assert_true(f->launcher >= 0);
	if (f->launcher == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fork() == 0)
			lab_be_process(l, UID_A, fds[1]);
		(void)close_range(3, ~0u, 0);
		while (pause() < 0)
			;
	}
	(void)close(fds[1]);
	assert_int_equal(read(fds[0], &f->qemu, sizeof f->qemu), sizeof f->qemu);
	assert_int_equal(read(fds[0], fds, 1), 0); /* both have closed what they had from us */
	(void)close(fds[0]);
	f->record.pid = f->launcher;
	f->record.pid_start = proc_start(f->launcher);
}

static void adopt(struct fixture *f)
{
	struct lab *l = f->lab;

	assert_int_equal(store_pod_put(l->h.store, &f->record, &l->err), 0);
	if (adopt_all(&l->h, &l->err) < 0)
		fail_msg("%s", l->err.msg);
}

static void answer(struct fixture *f, json_t *reply)
{
	_cleanup_json_ json_t *msg = NULL;
	int fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
	struct err err = {0};
	size_t n = 0;

	assert_true(fd >= 0);
	assert_int_equal(wire_recv(fd, &msg, NULL, 0, &n, &err), 1);
	assert_string_equal(json_str(msg, "request"), "status");
	(void)json_object_set(reply, "id", json_object_get(msg, "id"));
	assert_int_equal(wire_send(fd, reply, NULL, 0, &err), 0);
	json_decref(reply);
	f->peer = fd;
}

static void until_gone(struct fixture *f)
{
	while (pod_find(&f->lab->h, UID_A))
		assert_true(sd_event_run(f->lab->h.event, UINT64_MAX) >= 0);
}

static void assert_gone(struct fixture *f, const char *phase, const char *words)
{
	_cleanup_json_ json_t *status = status_of(f);
	_cleanup_free_ char *text = json_text(status);
	struct store_pod *pods = NULL;
	size_t n = 77;

	assert_null(pod_find(&f->lab->h, UID_A));
	assert_string_equal(json_str(status, "phase"), phase);
	if (!strstr(text, words))
		fail_msg("%s lacks '%s'", text, words);
	assert_int_equal(store_pods(f->lab->h.store, &pods, &n, &f->lab->err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(faccessat(f->lab->h.paths.run_fd, "pods/" UID_A, F_OK, 0), -1);
}

static void write_outcome(struct fixture *f)
{
	static const char text[] =
		"{\"kind\":\"Shutdown\",\"exitStatus\":0,\"message\":\"slept well\"}";

	assert_int_equal(file_replace_at(f->dir, "outcome", text, strlen(text), 0600), 0);
}

static void answer_status(struct fixture *f, const char *status)
{
	answer(f, json_pack("{s:b, s:s, s:i, s:[i], s:[]}", "ok", 1, "status", status, "qemuPid",
			    f->qemu.pid, "vcpus", f->qemu.thread, "iothreads"));
}

/* It runs and answers: it is ours again, untouched. */
static void test_adopted(void **state)
{
	struct fixture *f = *state;
	struct pod *pod;

	put_vmi(f, "Running");
	start_launcher(f);
	adopt(f);
	answer_status(f, "running");
	pod = pod_find(&f->lab->h, UID_A);
	while (pod_find(&f->lab->h, UID_A) && !pod->vcpu_tids[0])
		assert_true(sd_event_run(f->lab->h.event, UINT64_MAX) >= 0);
	assert_ptr_equal(pod_find(&f->lab->h, UID_A), pod);
	assert_int_equal(pod->state, POD_RUNNING);
	assert_int_equal(pod->qemu_pid, f->qemu.pid);
	assert_int_equal(pod->vcpu_tids[0], f->qemu.thread);
	assert_int_equal(pod->record.host_id, 4242);
	assert_int_equal(pod->grace_seconds, 30);
	assert_int_equal(waitpid(f->launcher, NULL, WNOHANG), 0);
}

/* Words that the kernel does not confirm: not adopted, so ended. */
static void test_lies(void **state)
{
	struct {
		pid_t qemu, vcpu;
		int n;
	} lies[] = {{0, 0, 1}, {1, 1, 1}, {-1, 0, 1}, {0, -1, 1}, {0, 0, 2}, {0, 0, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct fixture *f;
		json_t *vcpus = json_array(), *reply;

		(void)setup(state);
		f = *state;
		put_vmi(f, "Running");
		start_launcher(f);
		adopt(f);
		/* 0 stands for the truth where a later member lies; for the first lie it is 0 itself */
		for (int k = 0; k < lies[i].n; k++)
			(void)json_array_append_new(
				vcpus, json_integer(lies[i].vcpu ? lies[i].vcpu : f->qemu.thread));
		reply = json_pack("{s:b, s:i, s:o}", "ok", 1, "qemuPid",
				  i == 0 || lies[i].qemu ? lies[i].qemu : f->qemu.pid, "vcpus",
				  vcpus);
		answer(f, reply);
		until_gone(f);
		assert_gone(f, "Failed", "Crashed");
		(void)teardown(state);
	}
	(void)setup(state); /* for the teardown that follows */
}

/* Nobody listens any more, though the process lives. */
static void test_no_listener(void **state)
{
	struct fixture *f = *state;

	put_vmi(f, "Running");
	start_launcher(f);
	f->listener = fd_close(f->listener);
	adopt(f);
	until_gone(f);
	assert_gone(f, "Failed", "launcher.sock: Connection refused");
}

/* It ended while there was no handler: its outcome counts, not that nobody was there to see. */
static void test_ended_meanwhile(void **state)
{
	struct fixture *f = *state;

	put_vmi(f, "Running");
	start_launcher(f);
	write_outcome(f);
	assert_int_equal(kill(f->launcher, SIGKILL), 0);
	assert_int_equal(waitpid(f->launcher, NULL, 0), f->launcher);
	adopt(f);
	assert_gone(f, "Succeeded", "slept well");
}

/* The same at the very moment: dead and not yet reaped, its listener closed. */
static void test_ending_now(void **state)
{
	struct fixture *f = *state;
	siginfo_t info;

	put_vmi(f, "Running");
	start_launcher(f);
	write_outcome(f);
	f->listener = fd_close(f->listener);
	assert_int_equal(kill(f->launcher, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)f->launcher, &info, WEXITED | WNOWAIT), 0);
	adopt(f);
	until_gone(f);
	assert_gone(f, "Succeeded", "slept well");
}

/* The number belongs to another process by now, to this one: it must not be killed for it. */
static void test_reused_number(void **state)
{
	struct fixture *f = *state;

	put_vmi(f, "Running");
	f->record.pid = getpid();
	f->record.pid_start = proc_start(getpid()) + 1;
	adopt(f);
	assert_gone(f, "Failed", "its launcher was killed");
}

static void test_cut_short(void **state)
{
	struct fixture *f = *state;

	put_vmi(f, "Scheduling");
	start_launcher(f);
	f->record.step = pod_step_index("spawn");
	adopt(f);
	until_gone(f);
	assert_gone(f, "Failed", "cut short at step 'spawn'");
}

/* Before it was let go nobody may take it for running; and 'run' alone does not say that it was. */
static void test_not_let_go(void **state)
{
	struct fixture *f = *state;

	put_vmi(f, "Scheduled");
	start_launcher(f);
	adopt(f);
	answer_status(f, "prelaunch");
	until_gone(f);
	assert_gone(f, "Failed", "had not been let go");
}

/* It was let go, and nobody could say so: the handler died, or had no room for the status. */
static void test_let_go_unsaid(void **state)
{
	_cleanup_json_ json_t *status = NULL;
	struct fixture *f = *state;
	struct pod *pod;

	put_vmi(f, "Scheduled");
	start_launcher(f);
	adopt(f);
	answer_status(f, "paused");
	pod = pod_find(&f->lab->h, UID_A);
	while (pod_find(&f->lab->h, UID_A) && !str_eq(json_str(pod->status, "phase"), "Running"))
		assert_true(sd_event_run(f->lab->h.event, UINT64_MAX) >= 0);
	assert_ptr_equal(pod_find(&f->lab->h, UID_A), pod);
	status = status_of(f);
	assert_string_equal(json_str(status, "phase"), "Running");
	assert_int_equal(waitpid(f->launcher, NULL, WNOHANG), 0);
}

/* The runtime store was lost: what runs is nobody's to end. */
static void test_no_record(void **state)
{
	struct fixture *f = *state;
	struct lab *l = f->lab;

	put_vmi(f, "Running");
	start_launcher(f);
	assert_int_equal(adopt_all(&l->h, &l->err), -EBUSY);
	assert_non_null(strstr(l->err.msg, "pod " UID_A " has processes"));
	assert_non_null(strstr(l->err.msg, "virtpod cleanup --force"));
	assert_int_equal(waitpid(f->launcher, NULL, WNOHANG), 0);
	assert_int_equal(kill(f->qemu.pid, 0), 0);
}

/* Its queue of connections is full: it is tried again later. */
static void test_full_queue(void **state)
{
	struct fixture *f = *state;
	int waiting, r = 0;

	put_vmi(f, "Running");
	start_launcher(f);
	assert_int_equal(listen(f->listener, 0), 0);
	while (r == 0) /* they stay until the test program ends */
		r = sock_connect_at(f->dir, "launcher.sock", SOCK_SEQPACKET | SOCK_NONBLOCK,
				    &waiting);
	assert_int_equal(r, -EAGAIN);
	adopt(f);
	assert_non_null(pod_find(&f->lab->h, UID_A));
	assert_non_null(status_condition(pod_find(&f->lab->h, UID_A)->status, "Synchronized"));
	assert_int_equal(waitpid(f->launcher, NULL, WNOHANG), 0);
}

/* A step that this version does not know: all is undone. */
static void test_unknown_step(void **state)
{
	struct fixture *f = *state;

	put_vmi(f, "Scheduled");
	start_launcher(f);
	f->record.step = 1000;
	adopt(f);
	answer_status(f, "none");
	until_gone(f);
	assert_gone(f, "Failed", "");
}

/* A plan of another version that this one can't read: the guest runs on, and no handler starts. */
static void test_unreadable_plan(void **state)
{
	struct fixture *f = *state;
	struct lab *l = f->lab;

	put_vmi(f, "Running");
	start_launcher(f);
	(void)json_object_set_new(f->record.plan, "accel", json_string("other"));
	assert_int_equal(store_pod_put(l->h.store, &f->record, &l->err), 0);
	assert_int_equal(adopt_all(&l->h, &l->err), -EPROTO);
	assert_non_null(strstr(l->err.msg, "default/demo runs by a plan of another version"));
	assert_null(l->h.pods);
	assert_int_equal(kill(f->qemu.pid, 0), 0);
	/* once it is dead, it is rubble */
	(void)kill(f->launcher, SIGKILL);
	assert_int_equal(waitpid(f->launcher, NULL, 0), f->launcher);
	f->launcher = 0;
	adopt(f);
	until_gone(f);
	assert_gone(f, "Failed", "");
}

/*
 * No object of that uid any more, and a plan that says nothing: the store was lost. What runs is not ended
 * for it; what is dead is undone all the same.
 */
static void test_no_object(void **state)
{
	struct fixture *f = *state;
	struct lab *l = f->lab;

	start_launcher(f);
	assert_int_equal(store_pod_put(l->h.store, &f->record, &l->err), 0);
	assert_int_equal(adopt_all(&l->h, &l->err), -EPROTO);
	assert_non_null(strstr(l->err.msg, "store.db does not have it"));
	assert_int_equal(kill(f->qemu.pid, 0), 0);
	(void)kill(f->launcher, SIGKILL);
	assert_int_equal(waitpid(f->launcher, NULL, 0), f->launcher);
	f->launcher = 0;
	json_decref(f->record.plan);
	f->record.plan = json_object();
	adopt(f);
	until_gone(f);
	assert_gone(f, "Failed", "");
}

/* CPUs of a start that was cut short are free again. */
static void test_ledger_is_freed(void **state)
{
	struct fixture *f = *state;
	struct cpu_assignment one = {.n_vcpus = 1, .vcpu = {1}}, held;
	struct lab *l = f->lab;
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	put_vmi(f, "Scheduling");
	f->record.step = pod_step_index("cgroup");
	assert_int_equal(store_pod_put(l->h.store, &f->record, &l->err), 0);
	assert_int_equal(store_cpus_take(l->h.store, UID_A, &one, &l->err), 0);
	adopt(f);
	assert_int_equal(store_cpus_of(l->h.store, UID_A, &held, &l->err), 0);
	assert_int_equal(held.n_vcpus, 0);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_adopted),	    cmocka_unit_test_teardown(test_lies, teardown),
		TEST(test_no_listener),	    TEST(test_ended_meanwhile),
		TEST(test_ending_now),	    TEST(test_reused_number),
		TEST(test_cut_short),	    TEST(test_not_let_go),
		TEST(test_unknown_step),    TEST(test_unreadable_plan),
		TEST(test_let_go_unsaid),   TEST(test_no_record),
		TEST(test_full_queue),	    TEST(test_no_object),
		TEST(test_ledger_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

// SPDX-License-Identifier: Apache-2.0
/* The launcher's whole loop, with every layer of the boundary switched off, over a QEMU of our own. */
#include "tests/unit/launcher/fake_qemu.h"
#include "tests/unit/launcher/pod.h"

static struct pod pod;

static int setup(void **state)
{
	(void)state;
	pod_open(&pod, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pod_close(&pod);
	return 0;
}

/* Two vCPUs, as the fake reports them; its behaviour is the VM's name. */
static struct plan *plan_for(const char *mode)
{
	struct plan *p = plan_fixture();

	free(p->name);
	p->name = xstrdup(mode);
	p->sockets = 2;
	return p;
}

static void run(const char *mode)
{
	pod_enter(&pod);
	pod_start_ok(&pod, plan_for(mode));
	pod_ok(&pod, "continue", NULL, NULL, 0);
}

static json_t *grace(int seconds)
{
	return json_pack("{s:i}", "graceSeconds", seconds);
}

/* A client's end of a console that the launcher took. */
static int attach_console(void)
{
	int sv[2];

	assert_int_equal(sock_pair(SOCK_STREAM, sv), 0);
	pod_ok(&pod, "console", json_pack("{s:[s]}", "fds", "client"), &sv[1], 1);
	(void)close(sv[1]);
	pod_receive_limit(sv[0]);
	return sv[0];
}

static void read_exactly(int fd, const char *want)
{
	char buf[64] = "";
	size_t n = strlen(want), got = 0;

	while (got < n) {
		ssize_t r = read(fd, buf + got, n - got);

		assert_true(r > 0);
		got += (size_t)r;
	}
	assert_string_equal(buf, want);
}

static void test_whole_life(void **state)
{
	_cleanup_json_ json_t *reply = NULL, *status = NULL;
	_cleanup_free_ char *log = NULL;
	struct outcome o;
	char c;
	int console;

	(void)state;
	pod_enter(&pod);
	reply = pod_start(&pod, plan_for("plain"), NULL, NULL, 0);
	assert_true(json_flag(reply, "ok", false));
	assert_int_equal(json_array_size(json_object_get(reply, "vcpus")), 2);
	assert_int_equal(json_u64(reply, "vcpus[1]", 0), 12);
	assert_int_equal(json_array_size(json_object_get(reply, "iothreads")), 0);
	assert_true(json_u64(reply, "qemuPid", 0) > 1);
	pod_ok(&pod, "continue", NULL, NULL, 0);
	assert_true(pod_saw(&pod, "RESUME"));
	status = pod_call(&pod, "status", NULL, NULL, 0);
	assert_string_equal(json_str(status, "status"), "running");
	assert_string_equal(json_str(status, "plan.name"), "plain");
	assert_int_equal(json_u64(status, "qemuPid", 0), json_u64(reply, "qemuPid", 1));

	console = attach_console();
	read_exactly(console, "hello ");
	assert_int_equal(write(console, "echo", 4), 4);
	read_exactly(console, "echo");

	pod_ok(&pod, "shutdown", grace(30), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_SHUTDOWN);
	assert_int_equal(o.exit_status, 0);
	assert_true(pod_saw(&pod, "SHUTDOWN"));
	assert_int_equal(read(console, &c, 1), 0);
	(void)close(console);
	assert_int_equal(file_read_at(pod.dirfd, "console.log", 100, &log, NULL), 0);
	assert_string_equal(log, "hello echo");
}

static void test_threads_come_late(void **state)
{
	_cleanup_json_ json_t *reply = NULL;

	(void)state;
	pod_enter(&pod);
	reply = pod_start(&pod, plan_for("late"), NULL, NULL, 0);
	assert_int_equal(json_array_size(json_object_get(reply, "vcpus")), 2);
}

static void test_deaf_guest(void **state)
{
	uint64_t begun;
	struct outcome o;

	(void)state;
	run("deaf");
	begun = pod_now_ms();
	pod_ok(&pod, "shutdown", grace(1), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_KILLED);
	assert_true(pod_now_ms() - begun >= 1000);
	assert_true(pod_saw(&pod, "SHUTDOWN"));
}

static void test_grace_is_shortened(void **state)
{
	struct outcome o;

	(void)state;
	run("deaf");
	pod_ok(&pod, "shutdown", grace(3600), NULL, 0);
	pod_ok(&pod, "shutdown", grace(0), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_KILLED);
}

static void test_kill(void **state)
{
	struct outcome o;

	(void)state;
	run("deaf");
	pod_ok(&pod, "kill", NULL, NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_KILLED);
	assert_int_equal(o.exit_status, -SIGKILL);
}

/* A guest that never ran hears no ACPI: it is not waited for. */
static void test_shutdown_before_continue(void **state)
{
	struct outcome o;

	(void)state;
	pod_enter(&pod);
	pod_start_ok(&pod, plan_for("deaf"));
	pod_ok(&pod, "shutdown", grace(3600), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_KILLED);
}

static void test_sigterm_is_shutdown(void **state)
{
	struct outcome o;

	(void)state;
	run("plain");
	assert_int_equal(kill(pod.pid, SIGTERM), 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_SHUTDOWN);
}

static void start_fails(const char *mode, const char *words)
{
	_cleanup_json_ json_t *reply = NULL;
	struct outcome o;

	pod_enter(&pod);
	reply = pod_start(&pod, plan_for(mode), NULL, NULL, 0);
	assert_false(json_flag(reply, "ok", true));
	if (!strstr(json_str(reply, "error"), words))
		fail_msg("'%s' is not in: %s", words, json_str(reply, "error"));
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_QEMU_FAILED);
	assert_non_null(strstr(o.message, words));
}

static void test_dies_at_start(void **state)
{
	(void)state;
	start_fails("dies", "fake: first line; fake: cannot do it");
}

static void test_dies_during_start(void **state)
{
	(void)state;
	start_fails("dies-later", "out of cheese");
}

static void test_speaks_nonsense(void **state)
{
	(void)state;
	start_fails("nonsense", "QMP");
}

/* QEMU has its standard three, its monitor and its console; nothing of the launcher's. */
static void test_qemu_descriptors(void **state)
{
	(void)state;
	start_fails("fds", "fds std std std serial qmp end");
}

static void test_no_such_qemu(void **state)
{
	_cleanup_json_ json_t *reply = NULL;

	(void)state;
	(void)snprintf(pod.qemu, sizeof pod.qemu, "/nonexistent/qemu");
	pod_enter(&pod);
	reply = pod_start(&pod, plan_for("plain"), NULL, NULL, 0);
	assert_false(json_flag(reply, "ok", true));
	assert_non_null(strstr(json_str(reply, "error"), "/nonexistent/qemu"));
	assert_non_null(strstr(json_str(reply, "error"), "No such file"));
	/* nothing has happened yet: it may be tried again */
	assert_true(readlink("/proc/self/exe", pod.qemu, sizeof pod.qemu - 1) > 0);
	pod_start_ok(&pod, plan_for("plain"));
}

static void test_qemu_killed_from_outside(void **state)
{
	_cleanup_json_ json_t *status = NULL;
	struct outcome o;

	(void)state;
	run("plain");
	status = pod_call(&pod, "status", NULL, NULL, 0);
	assert_int_equal(kill((pid_t)json_u64(status, "qemuPid", 0), SIGKILL), 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_CRASHED);
	assert_int_equal(o.exit_status, -SIGKILL);
}

static void reconnect(void)
{
	assert_int_equal(sock_connect_at(pod.dirfd, "launcher", SOCK_SEQPACKET, &pod.channel), 0);
	pod_receive_limit(pod.channel);
}

static void test_handler_comes_back(void **state)
{
	_cleanup_json_ json_t *status = NULL;
	struct outcome o;

	(void)state;
	run("plain");
	(void)close(pod.channel);
	reconnect();
	status = pod_call(&pod, "status", NULL, NULL, 0);
	assert_string_equal(json_str(status, "status"), "running");
	assert_string_equal(json_str(status, "plan.name"), "plain");
	assert_int_equal(json_array_size(json_object_get(status, "vcpus")), 2);
	pod_ok(&pod, "shutdown", grace(30), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_SHUTDOWN);
}

/* The new handler replaces the old one, whose channel ends. */
static void test_handler_is_replaced(void **state)
{
	char c;
	int old;

	(void)state;
	run("plain");
	old = pod.channel;
	reconnect();
	pod_ok(&pod, "status", NULL, NULL, 0);
	assert_int_equal(recv(old, &c, 1, 0), 0);
	(void)close(old);
}

/* A reply that the old handler waited for is not the new one's. */
static void test_replies_are_not_inherited(void **state)
{
	_cleanup_json_ json_t *status = NULL;
	int console;
	pid_t qemu;

	(void)state;
	pod_enter(&pod);
	pod_send_start(&pod, plan_for("held"), NULL, NULL, 0);
	status = pod_call(&pod, "status", NULL, NULL, 0);
	assert_string_equal(json_str(status, "status"), "starting");
	qemu = (pid_t)json_u64(status, "qemuPid", 0);
	console = attach_console();
	read_exactly(console, "held ");
	(void)close(console);
	(void)close(pod.channel);
	reconnect();
	pod_ok(&pod, "status", NULL, NULL, 0);
	assert_int_equal(kill(qemu, SIGUSR1), 0);
	do {
		json_decref(status);
		status = pod_call(&pod, "status", NULL, NULL, 0);
	} while (str_eq(json_str(status, "status"), "starting"));
	assert_int_equal(json_array_size(json_object_get(status, "vcpus")), 2);
	pod_ok(&pod, "continue", NULL, NULL, 0);
}

static void test_guest_ends_without_handler(void **state)
{
	struct outcome o;

	(void)state;
	run("plain");
	pod.channel = fd_close(pod.channel);
	assert_int_equal(kill(pod.pid, SIGTERM), 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_SHUTDOWN);
}

static void test_handler_lost_before_start(void **state)
{
	(void)state;
	pod_enter(&pod);
	pod.channel = fd_close(pod.channel);
	assert_int_equal(pod_end(&pod, NULL), 1);
}

static void test_frame_that_is_none(void **state)
{
	(void)state;
	run("plain");
	assert_int_equal(sock_send(pod.channel, "[1]", 3, NULL, 0), 0);
	(void)close(pod.channel);
	reconnect(); /* the guest lives on */
	pod_ok(&pod, "status", NULL, NULL, 0);
}

static void test_one_console_client(void **state)
{
	int first, sv[2];
	char c;

	(void)state;
	run("plain");
	first = attach_console();
	assert_int_equal(sock_pair(SOCK_STREAM, sv), 0);
	pod_refused(&pod, "console", json_pack("{s:[s]}", "fds", "client"), &sv[1], 1, "in use");
	(void)close(sv[1]);
	assert_int_equal(read(sv[0], &c, 1), 0);
	(void)close(sv[0]);
	read_exactly(first, "hello ");
	(void)close(first);
	pod_ok(&pod, "status", NULL, NULL, 0); /* its end is seen before or with this */
	first = attach_console();
	read_exactly(first, "hello "); /* the scrollback, again */
	(void)close(first);
}

static void test_wrong_requests(void **state)
{
	_cleanup_json_ json_t *reply = NULL, *again = NULL;
	const char *const names[] = {"disk:nobody"};
	struct outcome o;

	(void)state;
	reply = pod_start(&pod, plan_for("plain"), NULL, NULL, 0);
	assert_non_null(strstr(json_str(reply, "error"), "has not been entered"));
	pod_enter(&pod);
	pod_refused(&pod, "enter", pod_enter_fields(&pod), NULL, 0, "already");
	pod_refused(&pod, "continue", NULL, NULL, 0, "no QEMU");
	pod_refused(&pod, "dance", NULL, NULL, 0, "no such request");
	pod_refused(&pod, "status", json_pack("{s:[s]}", "fds", "x"), NULL, 0, "0 descriptors");
	pod_refused(&pod, "shutdown", json_pack("{s:i}", "graceSeconds", -1), NULL, 0, "grace");
	pod_refused(&pod, "start", json_pack("{s:s}", "qemu", pod.qemu), NULL, 0, "outcome");
	again = pod_start(&pod, plan_for("plain"), names, &pod.outcome, 1);
	assert_non_null(strstr(json_str(again, "error"), "disk:nobody"));
	pod_start_ok(&pod, plan_for("plain"));
	json_decref(again);
	again = pod_start(&pod, plan_for("plain"), NULL, NULL, 0);
	assert_non_null(strstr(json_str(again, "error"), "already"));
	/* and all that did no harm to the VM */
	pod_ok(&pod, "continue", NULL, NULL, 0);
	pod_ok(&pod, "shutdown", grace(30), NULL, 0);
	assert_int_equal(pod_end(&pod, &o), 0);
	assert_int_equal(o.kind, OUTCOME_SHUTDOWN);
}

/* Nothing may go on in a process that is half inside. */
static void test_failed_enter_is_the_end(void **state)
{
	(void)state;
	pod_refused(&pod, "enter", json_pack("{s:s, s:{}}", "version", VIRTPOD_VERSION, "sandbox"),
		    NULL, 0, "enter: sandbox");
	assert_int_equal(pod_end(&pod, NULL), 1);
}

static void test_other_version(void **state)
{
	json_t *fields = pod_enter_fields(&pod);

	(void)state;
	(void)json_object_set_new(fields, "version", json_string("9.9.9"));
	pod_refused(&pod, "enter", fields, NULL, 0,
		    "virt-launcher is of version " VIRTPOD_VERSION ", virt-handler of 9.9.9");
	assert_int_equal(pod_end(&pod, NULL), 1);
}

/* As a handler spoke that did not say it. */
static void test_no_version(void **state)
{
	json_t *fields = pod_enter_fields(&pod);

	(void)state;
	(void)json_object_del(fields, "version");
	pod_refused(&pod, "enter", fields, NULL, 0, "virt-handler of an older one");
	assert_int_equal(pod_end(&pod, NULL), 1);
}

static void test_end_without_vm(void **state)
{
	(void)state;
	pod_enter(&pod);
	pod_ok(&pod, "kill", NULL, NULL, 0);
	assert_int_equal(pod_end(&pod, NULL), 0);
}

/* Only QEMU is left among the launcher's children once the orphans have been reaped. */
static void test_orphans_are_reaped(void **state)
{
	_cleanup_free_ char *path = NULL;
	unsigned left = 0;

	(void)state;
	run("orphan");
	path = xasprintf("/proc/%d/task/%d/children", pod.pid, pod.pid);
	for (unsigned i = 0; i < 2000; i++) {
		_cleanup_free_ char *text = NULL;

		pod_ok(&pod, "status", NULL, NULL, 0);
		assert_int_equal(file_read_at(AT_FDCWD, path, 4096, &text, NULL), 0);
		left = 0;
		for (const char *c = text; *c; c++)
			left += *c == ' ';
		if (left == 1)
			break;
	}
	assert_int_equal(left, 1);
}

int main(int argc, char **argv)
{
#define LIFE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		LIFE(test_whole_life),
		LIFE(test_threads_come_late),
		LIFE(test_deaf_guest),
		LIFE(test_grace_is_shortened),
		LIFE(test_kill),
		LIFE(test_shutdown_before_continue),
		LIFE(test_sigterm_is_shutdown),
		LIFE(test_dies_at_start),
		LIFE(test_dies_during_start),
		LIFE(test_speaks_nonsense),
		LIFE(test_qemu_descriptors),
		LIFE(test_no_such_qemu),
		LIFE(test_qemu_killed_from_outside),
		LIFE(test_handler_comes_back),
		LIFE(test_handler_is_replaced),
		LIFE(test_replies_are_not_inherited),
		LIFE(test_guest_ends_without_handler),
		LIFE(test_handler_lost_before_start),
		LIFE(test_frame_that_is_none),
		LIFE(test_one_console_client),
		LIFE(test_wrong_requests),
		LIFE(test_failed_enter_is_the_end),
		LIFE(test_other_version),
		LIFE(test_no_version),
		LIFE(test_end_without_vm),
		LIFE(test_orphans_are_reaped),
	};

	if (argc > 1 && strcmp(argv[1], "-name") == 0)
		fake_qemu_main(argc, argv);
	(void)alarm(180); /* a hang is a failure */
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The handler's side of a launcher's life against launchers that end, lie, shout and are silent. The
 * steps are stand-ins for handler/steps.c, which is not linked: one that waits, whose undo kills.
 */
#include "tests/unit/handler/lab.h"

#include "handler/channel.h"
#include "handler/launcher.h"
#include "handler/podlog.h"
#include "handler/status.h"
#include "handler/vmi.h"

#include "api/wire.h"
#include "lib/sock.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int run_nothing(struct pod *pod, struct err *err)
{
	(void)pod;
	(void)err;
	return STEP_WAIT;
}

/* As the undo of 'spawn' does it. */
static int undo_kill(struct pod *pod, struct err *err)
{
	(void)err;
	if (pod->pidfd < 0)
		return 0;
	launcher_kill(pod);
	return STEP_WAIT;
}

const struct pod_step pod_steps[] = {{"spawn", run_nothing, undo_kill}};
const int pod_n_steps = 1;

int pod_step_index(const char *name)
{
	return str_eq(name, "spawn") ? 0 : -1;
}

/* A launcher in a child process, of which the test itself is the voice. */
struct fake {
	struct pod *pod; /* gone once the handler has done with it */
	pid_t pid;
	int peer; /* the launcher's end of the channel */
	int listener;
};

static struct fake fake_open(struct lab *l, const char *uid, enum pod_state pod_state)
{
	struct fake f = {.pod = lab_pod(l, uid, uid)};
	_cleanup_free_ char *dir = xasprintf("pods/%s", uid);
	int pair[2], ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	f.pid = fork();
	assert_true(f.pid >= 0);
	if (f.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close_range(3, ~0u,
				  0); /* other fakes' ends must close when the test says so */
		while (pause() < 0)
			;
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0); /* it has closed all it had from us */
	(void)close(ready[0]);
	assert_int_equal(mkdir_p_at(l->h.paths.run_fd, dir, 0700), 0);
	f.pod->dir_fd = openat(l->h.paths.run_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(
		sock_listen_at(f.pod->dir_fd, "launcher.sock", SOCK_SEQPACKET, &f.listener), 0);
	assert_int_equal(sock_pair(SOCK_SEQPACKET, pair), 0);
	f.peer = pair[1];
	f.pod->state = pod_state;
	f.pod->pidfd = pidfd_open(f.pid, 0);
	f.pod->record.pid = f.pid;
	assert_int_equal(launcher_watch_exit(f.pod, &l->err), 0);
	assert_int_equal(launcher_set_channel(f.pod, pair[0], &l->err), 0);
	return f;
}

static void fake_close(struct fake *f)
{
	(void)kill(f->pid, SIGKILL);
	(void)waitpid(f->pid, NULL, 0); /* the handler may have been first */
	f->peer = fd_close(f->peer);
	f->listener = fd_close(f->listener);
}

/* Run the loop until the pod has gone; the alarm is for the test that waits in vain. */
static void until_gone(struct lab *l, const char *uid)
{
	while (pod_find(&l->h, uid))
		assert_true(sd_event_run(l->h.event, UINT64_MAX) >= 0);
}

static json_t *status_of(struct lab *l, const char *uid)
{
	_cleanup_json_ json_t *vmi = json_pack("{s:{s:s}}", "metadata", "uid", uid);

	return vmi_status(&l->h, vmi);
}

static void assert_status(struct lab *l, const char *uid, const char *phase, const char *words)
{
	_cleanup_json_ json_t *status = status_of(l, uid);
	_cleanup_free_ char *text = json_text(status);

	assert_string_equal(json_str(status, "phase"), phase);
	if (!strstr(text, words))
		fail_msg("%s lacks '%s'", text, words);
}

/* Events of this reason whose message holds the words: how many, and how often the last was counted. */
static size_t events_of(struct lab *l, const char *reason, const char *words, uint64_t *ret_count)
{
	_cleanup_json_ json_t *list = NULL;
	const json_t *event;
	size_t i, n = 0;

	assert_int_equal(store_event_list(l->h.store, NULL, &list, &l->err), 0);
	json_array_foreach (list, i, event) {
		if (!str_eq(json_str(event, "reason"), reason) ||
		    !strstr(json_str(event, "message"), words))
			continue;
		n++;
		*ret_count = json_u64(event, "count", 0);
	}
	return n;
}

static void assert_event(struct lab *l, const char *reason, const char *words)
{
	uint64_t count = 0;

	assert_int_equal(events_of(l, reason, words, &count), 1);
	assert_int_equal(count, 1);
}

static void write_outcome(struct fake *f, const char *text)
{
	assert_int_equal(file_replace_at(f->pod->dir_fd, "outcome", text, strlen(text), 0600), 0);
}

/* --- exit ------------------------------------------------------------------------------------ */

static void test_exit(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_RUNNING);

	write_outcome(&f, "{\"kind\":\"Shutdown\",\"exitStatus\":0,\"message\":\"bye\"}");
	assert_int_equal(kill(f.pid, SIGKILL), 0);
	until_gone(l, UID_A);
	assert_status(l, UID_A, "Succeeded", "bye");
	assert_int_equal(waitpid(f.pid, NULL, 0), -1); /* no zombie is left */
	assert_int_equal(errno, ECHILD);
	fake_close(&f);
}

/* No outcome, or nothing that a launcher of ours would write: the guest's end is not known as good. */
static void test_exit_without_outcome(void **state)
{
	static const char *const outcomes[] = {
		NULL,
		"",
		"nonsense",
		"{\"kind\":\"Triumph\",\"exitStatus\":0,\"message\":\"\"}",
		"{\"kind\":\"Shutdown\"}",
	};
	struct lab *l = *state;

	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		struct fake f = fake_open(l, UID_A, POD_RUNNING);

		if (outcomes[i])
			write_outcome(&f, outcomes[i]);
		assert_int_equal(kill(f.pid, SIGKILL), 0);
		until_gone(l, UID_A);
		assert_status(l, UID_A, "Failed", "its launcher was killed");
		fake_close(&f);
		assert_int_equal(rm_rf_at(l->h.paths.run_fd, "pods/" UID_A), 0);
	}
}

/* The kernel ends a process of the pod's for its memory limit: the reason is told, whoever is silent. */
static void test_out_of_memory(void **state)
{
	struct lab *l = *state;
	struct cgroup_pod_spec spec = {.uid = UID_A, .limits = {.memory_max = 16 << 20}};
	struct fake f;
	pid_t eater;
	int status;

	CPU_SET(0, &spec.emu);
	assert_int_equal(cgroup_pod_create(l->h.cgroups, &spec, &l->err), 0);
	f = fake_open(l, UID_A, POD_RUNNING);
	f.pod->plan = xcalloc(1, sizeof *f.pod->plan);
	f.pod->plan->memory_limit = 16 << 20;
	eater = fork();
	assert_true(eater >= 0);
	if (eater == 0) {
		char *p;

		if (cgroup_pod_enter(l->h.cgroups, UID_A, /* born= */ false, NULL) < 0)
			_exit(1);
		p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
		memset(p, 1, 64 << 20);
		_exit(2);
	}
	assert_int_equal(waitpid(eater, &status, 0), eater);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(kill(f.pid, SIGKILL), 0);
	until_gone(l, UID_A);
	assert_status(l, UID_A, "Failed", "the pod's memory limit of 16 MiB was reached");
	assert_event(l, "Stopped",
		     "crashed: killed by the kernel: the pod's memory limit of 16 MiB");
	fake_close(&f);
}

/* QEMU has ended and its launcher does not care: the pod is ended all the same. */
static void test_qemu_ends_alone(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_RUNNING);

	f.pod->qemu_pid = fork();
	assert_true(f.pod->qemu_pid >= 0);
	if (f.pod->qemu_pid == 0)
		_exit(0);
	assert_int_equal(launcher_watch_qemu(f.pod, &l->err), 0);
	until_gone(l, UID_A); /* five seconds' patience, then SIGKILL */
	assert_status(l, UID_A, "Failed", "does not do its work");
	fake_close(&f);
}

static void test_exit_while_starting(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_STARTING);

	write_outcome(&f, "{\"kind\":\"QemuFailed\",\"exitStatus\":1,\"message\":\"no such cpu\"}");
	assert_int_equal(kill(f.pid, SIGKILL), 0);
	until_gone(l, UID_A);
	assert_status(l, UID_A, "Failed", "the launcher ended: no such cpu");
	fake_close(&f);
	f = fake_open(l, UID_B, POD_STARTING);
	assert_int_equal(kill(f.pid, SIGKILL), 0);
	until_gone(l, UID_B);
	assert_status(l, UID_B, "Failed", "the launcher ended: without a word");
	fake_close(&f);
}

/* One that an earlier handler started is no child of this one. */
static void test_exit_of_an_adopted_one(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_RUNNING);
	int fds[2];
	pid_t pid, child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		pid = fork();
		if (pid == 0)
			while (pause() < 0)
				;
		_exit(write(fds[1], &pid, sizeof pid) == sizeof pid ? 0 : 1);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(read(fds[0], &pid, sizeof pid), sizeof pid);
	(void)close(fds[0]);
	(void)close(fds[1]);
	f.pod->exit_source = sd_event_source_disable_unref(f.pod->exit_source);
	(void)fd_close(f.pod->pidfd);
	f.pod->pidfd = pidfd_open(pid, 0);
	assert_int_equal(launcher_watch_exit(f.pod, &l->err), 0);
	launcher_kill(f.pod);
	until_gone(l, UID_A);
	assert_int_equal(kill(f.pid, 0), 0); /* the child that was not it lives */
	fake_close(&f);
}

/* Its death is what the undo waits for. */
static void test_fail_kills(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_STARTING);
	struct err why = {.code = -EIO, .msg = "a later step failed"};

	pod_fail(f.pod, &why);
	assert_ptr_equal(pod_find(&l->h, UID_A), f.pod);
	until_gone(l, UID_A);
	assert_status(l, UID_A, "Failed", "a later step failed");
	fake_close(&f);
}

/* --- log ------------------------------------------------------------------------------------- */

static int saved_stderr = -1;

static void log_to(int fd)
{
	saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
}

static char *log_end(int fd)
{
	char *text = NULL;

	assert_true(dup2(saved_stderr, STDERR_FILENO) >= 0);
	saved_stderr = fd_close(saved_stderr);
	assert_true(lseek(fd, 0, SEEK_SET) == 0);
	assert_int_equal(file_read_fd(fd, 1 << 24, &text, NULL), 0);
	return text;
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		n++;
	return n;
}

static int watch_log(struct lab *l, struct pod *pod)
{
	int fd;

	if (pod->dir_fd < 0) {
		assert_int_equal(mkdirat(l->h.paths.run_fd, pod->record.name, 0700), 0);
		pod->dir_fd = openat(l->h.paths.run_fd, pod->record.name,
				     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	assert_int_equal(podlog_create(pod, &fd, &l->err), 0);
	assert_int_equal(podlog_watch(pod, &l->err), 0);
	return fd;
}

static int count_in_log(const struct pod *pod, const char *word)
{
	_cleanup_free_ char *text = NULL;

	assert_int_equal(file_read_at(pod->dir_fd, "launcher.log", 1 << 20, &text, NULL), 0);
	return (int)count(text, word);
}

/* What one of them shouts is cut in the handler's log, said to be cut, and costs the other one no line. */
static void test_log(void **state)
{
	struct lab *l = *state;
	struct pod *a = lab_pod(l, UID_A, "loud"), *b = lab_pod(l, UID_B, "quiet");
	int loud = watch_log(l, a), quiet = watch_log(l, b);
	int file = memfd_create("log", MFD_CLOEXEC);
	_cleanup_free_ char *text = NULL;

	for (int i = 0; i < 500; i++)
		assert_int_equal(write(loud, "shout\n", 6), 6);
	log_to(file);
	while (a->log_lines <= 100 || sd_event_run(l->h.event, 0) > 0)
		assert_true(sd_event_run(l->h.event, UINT64_MAX) >= 0);
	assert_int_equal(write(quiet, "one\0\x1b[2Jword\n", 13), 13);
	while (b->log_lines < 1)
		assert_true(sd_event_run(l->h.event, UINT64_MAX) >= 0);
	text = log_end(file);
	/* of a whole life no more than these are in the handler's log, and all in its own */
	assert_int_equal(count(text, "default/loud: shout\n"), 100);
	assert_int_equal(count(text, "default/loud: more lines are in virtpod logs -c launcher"),
			 1);
	assert_int_equal(count(text, "default/quiet: one  [2Jword\n"), 1);
	assert_int_equal(count_in_log(a, "Z shout\n"), 500);
	assert_int_equal(count_in_log(b, "Z one  [2Jword\n"), 1);
	(void)fd_close(loud);
	(void)fd_close(quiet);
	(void)fd_close(file);
}

/* A pipe that is full keeps the loop from nothing: the other pod's end is seen before it is empty. */
static void test_log_flood(void **state)
{
	struct lab *l = *state;
	struct fake loud = fake_open(l, UID_A, POD_RUNNING),
		    other = fake_open(l, UID_B, POD_RUNNING);
	int log = watch_log(l, loud.pod), null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t size = 1 << 20;
	char *shout = xcalloc(1, size);
	int left = 0;

	memset(shout, '\n', size);
	assert_int_equal(fcntl(log, F_SETPIPE_SZ, (int)size), (int)size);
	assert_int_equal(write(log, shout, size), size);
	free(shout);
	log_to(null);
	assert_int_equal(kill(other.pid, SIGKILL), 0);
	until_gone(l, UID_B);
	assert_int_equal(ioctl(log, FIONREAD, &left), 0);
	assert_true((size_t)left > size / 2);
	assert_int_equal(kill(loud.pid, SIGKILL), 0);
	until_gone(l, UID_A);
	free(log_end(null));
	(void)fd_close(log);
	(void)fd_close(null);
	fake_close(&loud);
	fake_close(&other);
}

/* --- channel --------------------------------------------------------------------------------- */

static void test_breaks_the_rules(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_RUNNING);

	assert_int_equal(sock_send(f.peer, "nonsense", 8, NULL, 0), 0);
	until_gone(l, UID_A);
	assert_status(l, UID_A, "Failed", "Crashed");
	fake_close(&f);
}

/* However often a guest or a launcher says it, it is one event that counts slowly, in our words. */
static void test_event_flood(void **state)
{
	static const char *const said[] = {
		"{\"event\":\"qmp\",\"name\":\"GUEST_PANICKED\",\"data\":{\"info\":\"\\u001b[2J\"}"
		"}",
		"{\"event\":\"qmp\",\"name\":\"BLOCK_IO_ERROR\",\"data\":{\"node-name\":\"disk0\"}"
		"}",
		"{\"event\":\"qmp\",\"name\":\"BLOCK_IO_ERROR\",\"data\":{\"node-name\":\"disk1\"}"
		"}",
		"{\"event\":\"qmp\",\"name\":\"BLOCK_IO_ERROR\",\"data\":{\"node-name\":\"disk-1\"}"
		"}",
		"{\"event\":\"qmp\",\"name\":\"BLOCK_IO_ERROR\",\"data\":{\"node-name\":[\"disk0\"]"
		"}}",
		"{\"event\":\"qmp\",\"name\":\"BLOCK_IO_ERROR\",\"data\":7}",
		"{\"event\":\"qmp\",\"name\":\"RESET\",\"data\":{}}",
	};
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_RUNNING);
	struct plan *plan = f.pod->plan = xcalloc(1, sizeof *plan);
	_cleanup_json_ json_t *list = NULL;
	uint64_t count;

	plan->n_disks = 1;
	plan->disks[0].name = xstrdup("root");
	for (size_t i = 0; i < 2 * ARRAY_SIZE(said); i++) {
		const char *text = said[i % ARRAY_SIZE(said)];

		assert_int_equal(sock_send(f.peer, text, strlen(text), NULL, 0), 0);
		lab_settle(l);
	}
	assert_event(l, "GuestPanicked", "The guest panicked.");
	assert_event(l, "IOerror", "I/O error at the disk: root");
	assert_event(l, "IOerror", "I/O error at the disk: unknown");
	assert_int_equal(events_of(l, "IOerror", "", &count), 2);
	assert_int_equal(store_event_list(l->h.store, NULL, &list, &l->err), 0);
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(kill(f.pid, SIGKILL), 0);
	until_gone(l, UID_A);
	assert_event(l, "Stopped", "crashed: its launcher was killed");
	fake_close(&f);
}

static int accept_on(struct fake *f)
{
	int fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Closed without cause: connected to once more, and it goes on with that. */
static void test_reconnects(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_RUNNING);
	_cleanup_json_ json_t *msg = NULL;
	size_t n = 0;

	f.peer = fd_close(f.peer);
	assert_true(sd_event_run(l->h.event, UINT64_MAX) >= 0);
	f.peer = accept_on(&f);
	assert_non_null(f.pod->channel);
	pod_shutdown(f.pod, 4294967295u);
	assert_int_equal(wire_recv(f.peer, &msg, NULL, 0, &n, &l->err), 1);
	assert_string_equal(json_str(msg, "request"), "shutdown");
	/* more than the wire takes: as long as it takes, not a refusal */
	assert_true(json_u64(msg, "graceSeconds", 0) == WIRE_GRACE_MAX_SECONDS);
	assert_int_equal(kill(f.pid, SIGKILL), 0);
	until_gone(l, UID_A);
	fake_close(&f);
}

/*
 * Two that live and can't be talked to: one closes whatever is opened, the other's queue of connections
 * is full. Neither makes the handler wait or busy; both are ended after the five seconds of grace.
 */
static void test_unreachable(void **state)
{
	struct lab *l = *state;
	struct fake a = fake_open(l, UID_A, POD_RUNNING), b = fake_open(l, UID_B, POD_RUNNING);
	int queued;

	assert_int_equal(listen(b.listener, 0), 0);
	assert_int_equal(sock_connect_at(b.pod->dir_fd, "launcher.sock", SOCK_SEQPACKET, &queued),
			 0);
	a.peer = fd_close(a.peer);
	b.peer = fd_close(b.peer);
	lab_settle(l);
	(void)fd_close(accept_on(&a));
	lab_settle(l);
	assert_null(a.pod->channel);
	assert_null(b.pod->channel);
	assert_int_equal(kill(a.pid, 0), 0);
	/* the second connection was the last: nobody waits in a's queue */
	assert_int_equal(fcntl(a.listener, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(accept(a.listener, NULL, NULL), -1);
	assert_int_equal(errno, EAGAIN);
	until_gone(l, UID_A);
	until_gone(l, UID_B);
	assert_status(l, UID_A, "Failed", "Crashed");
	(void)fd_close(queued);
	fake_close(&a);
	fake_close(&b);
}

static json_t *last_reply;

static int take_reply(struct pod *pod, const json_t *reply, struct err *err)
{
	(void)pod;
	last_reply = json_deep_copy(reply);
	return json_flag(reply, "fine", false) ? 0 : err_set(err, -EBADMSG, "not fine");
}

static void ask(struct lab *l, struct fake *f, unsigned timeout)
{
	_cleanup_json_ json_t *msg = NULL;
	size_t n = 0;

	assert_int_equal(
		launcher_step_request(f->pod, "start", NULL, NULL, 0, timeout, take_reply, &l->err),
		STEP_WAIT);
	assert_int_equal(wire_recv(f->peer, &msg, NULL, 0, &n, &l->err), 1);
	assert_string_equal(json_str(msg, "request"), "start");
}

static void answer(struct lab *l, struct fake *f, const char *text)
{
	assert_int_equal(sock_send(f->peer, text, strlen(text), NULL, 0), 0);
	assert_true(sd_event_run(l->h.event, UINT64_MAX) >= 0);
}

static void test_step_reply(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_STARTING);

	ask(l, &f, 60);
	answer(l, &f, "{\"id\":1,\"ok\":true,\"fine\":true}");
	assert_true(json_flag(last_reply, "fine", false));
	json_decref(last_reply);
	assert_int_equal(f.pod->state, POD_RUNNING); /* it was the last step */
	fake_close(&f);
	until_gone(l, UID_A);
}

static void test_step_refused(void **state)
{
	static const char *const answers[][2] = {
		{"{\"id\":1,\"ok\":true}", "not fine"},
		{"{\"id\":1,\"ok\":false,\"error\":\"no room\"}", "no room"},
		{"{\"id\":2,\"ok\":true}", "a reply to nothing"},
		{"[]", ""},
	};
	struct lab *l = *state;

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct fake f = fake_open(l, UID_A, POD_STARTING);

		last_reply = NULL;
		ask(l, &f, 60);
		answer(l, &f, answers[i][0]);
		json_decref(last_reply);
		until_gone(l, UID_A);
		assert_status(l, UID_A, "Failed", answers[i][1]);
		fake_close(&f);
		assert_int_equal(store_status_put(l->h.store, UID_A, NULL, &l->err), 0);
	}
}

/* Silence has an end, and what comes after it changes nothing. */
static void test_step_silence(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_STARTING);

	ask(l, &f, 1);
	while (pod_find(&l->h, UID_A) && f.pod->state == POD_STARTING)
		assert_true(sd_event_run(l->h.event, UINT64_MAX) >= 0);
	(void)sock_send(f.peer, "{\"id\":1,\"ok\":true}", 18, NULL, 0);
	until_gone(l, UID_A);
	assert_status(l, UID_A, "Failed", "no reply in time");
	fake_close(&f);
}

static void test_step_hangup(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_STARTING);

	ask(l, &f, 60);
	f.peer = fd_close(f.peer);
	until_gone(l, UID_A);
	assert_status(l, UID_A, "Failed", "closed its end");
	fake_close(&f);
}

/* Deleted, and the launcher does nothing of what it is asked: killed when its time is over. */
static void test_shutdown_refused(void **state)
{
	struct lab *l = *state;
	struct fake f = fake_open(l, UID_A, POD_RUNNING);

	pod_shutdown(f.pod, 30);
	assert_int_equal(f.pod->state, POD_STOPPING);
	answer(l, &f, "{\"id\":1,\"ok\":false,\"error\":\"no\"}");
	until_gone(l, UID_A);
	fake_close(&f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_exit),
		TEST(test_exit_without_outcome),
		TEST(test_out_of_memory),
		TEST(test_qemu_ends_alone),
		TEST(test_exit_while_starting),
		TEST(test_exit_of_an_adopted_one),
		TEST(test_fail_kills),
		TEST(test_log),
		TEST(test_log_flood),
		TEST(test_breaks_the_rules),
		TEST(test_event_flood),
		TEST(test_reconnects),
		TEST(test_unreachable),
		TEST(test_step_reply),
		TEST(test_step_refused),
		TEST(test_step_silence),
		TEST(test_step_hangup),
		TEST(test_shutdown_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

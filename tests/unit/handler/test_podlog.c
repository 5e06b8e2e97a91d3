// SPDX-License-Identifier: Apache-2.0
/* Logs over the API: which, how much of it, until when, and what stays when a pod has gone. */
#include "tests/unit/handler/api.h"

#include "handler/logstream.h"
#include "handler/ownlog.h"
#include "handler/podlog.h"

#include "api/meta.h"

#include <sys/stat.h>

#define LOG "/apis/subresources.virtpod.io/v1/namespaces/default/virtualmachineinstances/vm/log"

struct fixture {
	struct api *a;
	char uid[UUID_TEXT];
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	_cleanup_free_ char *body = vmi_text("vm", "x");
	_cleanup_json_ json_t *vmi = NULL;

	f->a = api_open(NULL);
	assert_int_equal(api_call(f->a, "POST", VMIS, body, &vmi), 201);
	(void)snprintf(f->uid, sizeof f->uid, "%s", object_uid(vmi));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	api_close(f->a);
	free(f);
	return 0;
}

/* A descriptor of pods/UID/NAME or, kept, logs/UID/NAME, that is made. */
static int make(struct fixture *f, bool live, const char *name, const char *text)
{
	_cleanup_free_ char *dir = xasprintf("%s/%s", live ? "pods" : "logs", f->uid);
	_cleanup_free_ char *file = xasprintf("%s/%s", dir, name);
	int at = live ? f->a->h.paths.run_fd : f->a->h.paths.lib_fd, fd;

	assert_int_equal(mkdir_p_at(at, dir, 0700), 0);
	fd = openat(at, file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	return fd;
}

static struct client *ask(struct fixture *f, const char *query, int code)
{
	_cleanup_free_ char *path = xasprintf(LOG "%s", query), *header = NULL;
	struct client *c = client_open(f->a);

	client_request(c, "GET", path, "", NULL);
	assert_int_equal(client_header(c, &header), code);
	if (code == 200)
		assert_non_null(strstr(header, "Content-Type: text/plain\r\n"));
	return c;
}

static void expect(struct client *c, const char *line)
{
	_cleanup_free_ char *got = client_line(c);

	if (!line)
		assert_null(got);
	else
		assert_string_equal(got, line);
}

static void test_which(void **state)
{
	static const char *const which[] = {"console", "qemu", "launcher"};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(which); i++) {
		_cleanup_free_ char *name = xasprintf("%s.log", which[i]);
		_cleanup_free_ char *text = xasprintf("of %s\n", which[i]);
		_cleanup_free_ char *query = xasprintf("?container=%s", which[i]);
		_cleanup_free_ char *line = xasprintf("of %s", which[i]);
		struct client *c;

		(void)fd_close(make(f, /* live= */ i % 2, name, text));
		c = ask(f, query, 200);
		expect(c, line);
		expect(c, NULL);
		client_close(c);
	}
	client_close(ask(f, "", 200)); /* the console's */
	client_close(ask(f, "?container=compute", 400));
	client_close(ask(f, "?container=..%2fvm", 400));
	client_close(ask(f, "?tailLines=-1", 400));
}

static void test_absent(void **state)
{
	struct fixture *f = *state;
	_cleanup_json_ json_t *status = NULL;

	assert_int_equal(api_call(f->a, "GET", LOG, NULL, &status), 409);
	assert_non_null(strstr(json_str(status, "message"), "it has no log 'console' yet"));
	assert_null(strstr(json_str(status, "message"), "cannot be fulfilled"));
	json_decref(status);
	assert_int_equal(api_call(f->a, "GET",
				  "/apis/subresources.virtpod.io/v1/namespaces/default/"
				  "virtualmachineinstances/nobody/log",
				  NULL, &status),
			 404);
}

/* What a launcher says goes on terminals, by its log and by ours. */
static void test_launcher_lines(void **state)
{
	static const char said[] = "\u00fc \xc2\x9b"
				   "2J \x9b"
				   "2J \x1b[2J\0x\nsecond";
	struct fixture *f = *state;
	struct pod pod = {.h = &f->a->h,
			  .dir_fd = -1,
			  .record = {.uid = f->uid, .ns = (char[]){"a"}, .name = (char[]){"b"}}};
	_cleanup_free_ char *text = NULL;
	int out;

	(void)fd_close(make(f, /* live= */ true, "launcher.log", ""));
	text = xasprintf("pods/%s", f->uid);
	pod.dir_fd = openat(f->a->h.paths.run_fd, text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(podlog_create(&pod, &out, NULL), 0);
	assert_int_equal(podlog_watch(&pod, NULL), 0);
	assert_int_equal(write(out, said, sizeof said - 1), sizeof said - 1);
	while (!pod.log_part_len)
		api_turn(f->a);
	free(TAKE_PTR(text));
	assert_int_equal(file_read_at(pod.dir_fd, "launcher.log", 4096, &text, NULL), 0);
	assert_string_equal(strchr(text, ' '), " \u00fc  2J ?2J  [2J x\n");
	(void)sd_event_source_disable_unref(pod.log_source);
	logfile_done(&pod.log);
	(void)fd_close(pod.dir_fd);
	(void)fd_close(out);
}

static void test_tail(void **state)
{
	struct fixture *f = *state;
	struct client *c;

	(void)fd_close(make(f, /* live= */ false, "console.log", "a\nb\nc\n"));
	c = ask(f, "?tailLines=0", 200);
	expect(c, NULL);
	client_close(c);
	c = ask(f, "?tailLines=2", 200);
	expect(c, "b");
	expect(c, "c");
	expect(c, NULL);
	client_close(c);
}

/* What comes while somebody follows, over the point where the older half goes, until the pod ends. */
static void test_follow(void **state)
{
	struct fixture *f = *state;
	int fd = make(f, /* live= */ true, "launcher.log", "first\n");
	struct client *c = ask(f, "?container=launcher&follow=true", 200);
	struct logfile log;

	expect(c, "first");
	assert_int_equal(logfile_open(fd, LAUNCHER_LOG_MAX, &log), 0);
	for (int i = 0; i < 40; i++) {
		_cleanup_free_ char *line = xasprintf("%016384d\n", i);

		assert_int_equal(logfile_write(&log, line, strlen(line)), 0);
		line[strlen(line) - 1] = 0;
		expect(c, line);
	}
	assert_true(log.size < LAUNCHER_LOG_MAX);
	assert_int_equal(logfile_write(&log, "last\n", 5), 0);
	logstreams_end(&f->a->h, "another");
	logstreams_end(&f->a->h, f->uid);
	expect(c, "last");
	expect(c, NULL);
	logfile_done(&log);
	client_close(c);
}

/* Who does not follow gets an end, also of a file that a launcher let grow, or lets grow as it is read. */
static void test_snapshot(void **state)
{
	struct fixture *f = *state;
	int fd = make(f, /* live= */ true, "launcher.log", "");
	struct client *c;
	char *line;
	size_t n = 0;

	for (unsigned i = 0; i < 4 * LAUNCHER_LOG_MAX / 128; i++)
		assert_int_equal(dprintf(fd, "%0127d\n", 0), 128);
	c = ask(f, "?container=launcher", 200);
	while ((line = client_line(c))) {
		n += strlen(line) + 1;
		free(line);
	}
	assert_int_equal(n, LAUNCHER_LOG_MAX);
	(void)fd_close(fd);
	client_close(c);
}

/* A client that leaves, and a server that ends, while a log is followed. */
static void test_leaves(void **state)
{
	struct fixture *f = *state;
	int fd = make(f, /* live= */ true, "console.log", "x\n");
	struct client *c = ask(f, "?follow=true", 200), *d = ask(f, "?follow=true", 200);

	expect(c, "x");
	expect(d, "x");
	client_close(c);
	assert_int_equal(fd_write_all(fd, "y\n", 2), 0);
	expect(d, "y");
	client_close(c = ask(f, "", 200));
	(void)fd_close(fd);
	client_close(d); /* and the server ends with it */
}

static void test_orphans(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *own = xasprintf("logs/%s/console.log", f->uid);

	(void)fd_close(make(f, /* live= */ false, "console.log", "x"));
	assert_int_equal(mkdir_p_at(f->a->h.paths.lib_fd, "logs/0a0a0a0a-gone", 0700), 0);
	podlog_drop_orphans(&f->a->h);
	assert_int_equal(faccessat(f->a->h.paths.lib_fd, own, F_OK, 0), 0);
	assert_int_equal(faccessat(f->a->h.paths.lib_fd, "logs/0a0a0a0a-gone", F_OK, 0), -1);
	podlog_drop(&f->a->h, f->uid);
	assert_int_equal(faccessat(f->a->h.paths.lib_fd, own, F_OK, 0), -1);
	podlog_drop(&f->a->h, f->uid);
}

/* The handler's own log: one older file beside it, whoever else's stderr stays as it is. */
static void test_own(void **state)
{
	struct fixture *f = *state;
	int run = f->a->h.paths.run_fd, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	int fd = openat(run, "handler.log", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct stat old = {0}, new = {0};
	ssize_t n;

	assert_int_equal(ftruncate(fd, OWNLOG_MAX), 0);
	ownlog_bound(&f->a->h); /* not ours */
	(void)fstatat(run, "handler.log.1", &old, 0);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	ownlog_bound(&f->a->h);
	n = write(STDERR_FILENO, "new\n", 4);
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(err, STDERR_FILENO);
	assert_int_equal(n, 4);
	assert_int_equal(old.st_ino, 0);
	assert_int_equal(fstatat(run, "handler.log", &new, 0), 0);
	assert_int_equal(fstatat(run, "handler.log.1", &old, 0), 0);
	assert_int_equal(new.st_size, 4);
	assert_int_equal(old.st_size, OWNLOG_MAX);
	(void)fd_close(fd);
	(void)fd_close(out);
	(void)fd_close(err);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_which),	   TEST(test_absent),  TEST(test_tail),
		TEST(test_launcher_lines), TEST(test_follow),  TEST(test_snapshot),
		TEST(test_leaves),	   TEST(test_orphans), TEST(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Image locks among ourselves, and against a real QEMU in both directions. */
#include "tests/unit/handler/lab.h"

#include "handler/imagelock.h"

#include <poll.h>
#include <sys/socket.h>

#define QEMU "/usr/bin/qemu-system-x86_64"

struct fixture {
	char dir[96], path[112];
	pid_t qemu;
	int qmp; /* the QEMU's monitor */
	struct handler h;
	struct pod pod; /* whose disk it is to be; no other when it is alone */
	struct err err;
};

static int setup(void **state)
{
	static char uid[] = UID_B;
	struct fixture *f = xcalloc(1, sizeof *f);

	f->qmp = -1;
	f->pod.record.uid = uid;
	f->pod.h = &f->h;
	f->h.pods = &f->pod;
	(void)snprintf(f->dir, sizeof f->dir, "%s/lock-XXXXXX", lab_dir);
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof f->path, "%s/disk.img", f->dir);
	assert_int_equal(file_replace_at(AT_FDCWD, f->path, "", 0, 0600), 0);
	assert_int_equal(truncate(f->path, 1 << 20), 0);
	*state = f;
	return 0;
}

static void end_qemu(struct fixture *f)
{
	if (f->qemu <= 0)
		return;
	(void)kill(f->qemu, SIGKILL);
	(void)waitpid(f->qemu, NULL, 0);
	f->qemu = 0;
	f->qmp = fd_close(f->qmp);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	end_qemu(f);
	free(f);
	return 0;
}

static int open_image(struct fixture *f, int mode)
{
	int fd = open(f->path, mode | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int take(struct fixture *f, int fd, bool write, bool shareable)
{
	err_clear(&f->err);
	return imagelock_take(&f->pod, fd, f->path, write, shareable, &f->err);
}

struct use {
	bool write, shareable;
};

/* Two uses of one image: may they be at the same time? Each in both orders. */
static void test_matrix(void **state)
{
	static const struct {
		struct use a, b;
		int result;
	} cases[] = {
		{{true, false}, {true, false}, -EBUSY}, {{true, false}, {false, false}, -EBUSY},
		{{false, false}, {false, false}, 0},	{{true, true}, {true, true}, 0},
		{{true, true}, {true, false}, -EBUSY},	{{true, true}, {false, false}, -EBUSY},
		{{false, true}, {true, true}, 0},	{{false, true}, {true, false}, 0},
		{{false, true}, {false, false}, 0},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases) * 2; i++) {
		struct use a = i % 2 ? cases[i / 2].b : cases[i / 2].a;
		struct use b = i % 2 ? cases[i / 2].a : cases[i / 2].b;
		int one = open_image(f, a.write ? O_RDWR : O_RDONLY);
		int two = open_image(f, b.write ? O_RDWR : O_RDONLY);

		assert_int_equal(take(f, one, a.write, a.shareable), 0);
		if (take(f, two, b.write, b.shareable) != cases[i / 2].result)
			fail_msg("case %zu: not %d", i, cases[i / 2].result);
		/* who was refused leaves nothing behind once it has closed the file */
		two = fd_close(two);
		two = open_image(f, O_RDONLY);
		one = fd_close(one);
		assert_int_equal(take(f, two, false, false), 0);
		(void)fd_close(two);
	}
}

/* The lock is the description's: copies keep it, in whichever process, until the last is closed. */
static void test_last_holder(void **state)
{
	struct fixture *f = *state;
	int fd = open_image(f, O_RDWR), copy = dup(fd), other = open_image(f, O_RDWR);

	assert_int_equal(take(f, fd, true, false), 0);
	fd = fd_close(fd);
	assert_int_equal(take(f, other, true, false), -EBUSY);
	copy = fd_close(copy);
	other = fd_close(other);
	other = open_image(f, O_RDWR);
	assert_int_equal(take(f, other, true, false), 0);
	(void)fd_close(other);
}

static void says(const struct fixture *f, const char *who)
{
	_cleanup_free_ char *text =
		xasprintf("%s: in use by %s; two writers would destroy it", f->path, who);

	assert_string_equal(f->err.msg, text);
}

/* Held by this process alone: by a disk of the same VM, by one of another that starts, by nobody's. */
static void test_own(void **state)
{
	static char uid[] = UID_A, ns[] = "default", name[] = "first";
	struct fixture *f = *state;
	int one = open_image(f, O_RDWR), two = open_image(f, O_RDWR);
	struct pod_fd fds[] = {{"kernel", two}, {"disk:root", one}};
	struct pod other = {.h = &f->h, .record = {.uid = uid, .ns = ns, .name = name}};

	assert_int_equal(take(f, one, true, false), 0);
	assert_int_equal(take(f, two, true, false), -EBUSY);
	says(f, "another disk or VM that starts now");
	f->pod.next = &other;
	other.fds = fds;
	other.n_fds = ARRAY_SIZE(fds);
	assert_int_equal(take(f, two, true, false), -EBUSY);
	says(f, "VM default/first");
	f->pod.fds = fds;
	f->pod.n_fds = ARRAY_SIZE(fds);
	assert_int_equal(take(f, two, true, false), -EBUSY);
	says(f, "disk 'root' of this VM");
	(void)fd_close(one);
	(void)fd_close(two);
}

/* A name that would be no text, or more than one line, is made one. */
static void test_holder_with_an_ugly_name(void **state)
{
	struct fixture *f = *state;
	int fds[2], other = open_image(f, O_RDWR);
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		struct err err = {0};
		int fd = open(f->path, O_RDWR);

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_NAME, "a\n\xff\x1b[mb");
		if (imagelock_take(&f->pod, fd, f->path, true, false, &err) < 0 ||
		    write(fds[1], "x", 1) != 1)
			_exit(1);
		while (pause() < 0)
			;
	}
	(void)close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	(void)close(fds[0]);
	assert_int_equal(take(f, other, true, false), -EBUSY);
	assert_non_null(strstr(f->err.msg, "(a???[mb)"));
	(void)fd_close(other);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Start a QEMU with the image as a disk; returns once it answers, or false when it refused. */
static bool start_qemu(struct fixture *f, const char *disk_options)
{
	_cleanup_free_ char *drive = xasprintf("file=%s,if=none,id=d,format=raw,file.locking=on%s",
					       f->path, disk_options);
	static const char ask[] =
		"{\"execute\":\"qmp_capabilities\"}{\"execute\":\"query-status\"}";
	char chardev[64], text[4096];
	int pair[2];
	ssize_t n;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	(void)snprintf(chardev, sizeof chardev, "socket,id=m,fd=%d", pair[1]);
	f->qemu = fork();
	assert_true(f->qemu >= 0);
	if (f->qemu == 0) {

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(pair[0]);
		(void)execl(QEMU, QEMU, "-S", "-nodefaults", "-no-user-config", "-display", "none",
			    "-accel", "tcg", "-m", "64", "-chardev", chardev, "-mon",
			    "chardev=m,mode=control", "-drive", drive, "-device",
			    "virtio-blk-pci,drive=d", (char *)NULL);
		_exit(127);
	}
	(void)close(pair[1]);
	f->qmp = pair[0];
	/* it answers once the machine is built, so with the locks taken; the greeting may come before */
	(void)send(f->qmp, ask, sizeof ask - 1, MSG_NOSIGNAL); /* one that refused is gone */
	while ((n = read(f->qmp, text, sizeof text - 1)) > 0) {
		text[n] = 0;
		if (strstr(text, "prelaunch"))
			return true;
	}
	end_qemu(f);
	return false;
}

static void test_qemu_first(void **state)
{
	struct fixture *f = *state;
	_cleanup_fd_ int writer = open_image(f, O_RDWR), reader = open_image(f, O_RDONLY);
	_cleanup_free_ char *holder = NULL;
	int fd;

	assert_true(start_qemu(f, ""));
	holder = xasprintf("process %d (qemu-system-x86", (int)f->qemu);
	assert_int_equal(take(f, writer, true, false), -EBUSY);
	if (!strstr(f->err.msg, holder))
		fail_msg("%s", f->err.msg);
	assert_int_equal(take(f, reader, false, false), -EBUSY);
	end_qemu(f);
	fd = open_image(f, O_RDWR);
	writer = fd_close(writer);
	reader = fd_close(reader);
	assert_int_equal(take(f, fd, true, false), 0);
	(void)fd_close(fd);
}

static void test_qemu_reads_first(void **state)
{
	struct fixture *f = *state;
	int fd = open_image(f, O_RDWR);

	assert_true(start_qemu(f, ",readonly=on"));
	assert_int_equal(take(f, fd, true, false), -EBUSY);
	fd = fd_close(fd);
	fd = open_image(f, O_RDONLY);
	assert_int_equal(take(f, fd, false, false), 0);
	(void)fd_close(fd);
}

static void test_we_first(void **state)
{
	struct fixture *f = *state;
	int fd = open_image(f, O_RDWR);

	assert_int_equal(take(f, fd, true, false), 0);
	assert_false(start_qemu(f, ""));
	assert_false(start_qemu(f, ",readonly=on"));
	fd = fd_close(fd);
	assert_true(start_qemu(f, "")); /* and it was our lock that kept it off */
}

static void test_we_read_first(void **state)
{
	struct fixture *f = *state;
	int fd = open_image(f, O_RDONLY);

	assert_int_equal(take(f, fd, false, false), 0);
	assert_false(start_qemu(f, ""));
	assert_true(start_qemu(f, ",readonly=on"));
	(void)fd_close(fd);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_matrix),     TEST(test_last_holder),
		TEST(test_own),	       TEST(test_holder_with_an_ugly_name),
		TEST(test_qemu_first), TEST(test_qemu_reads_first),
		TEST(test_we_first),   TEST(test_we_read_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

// SPDX-License-Identifier: Apache-2.0
/* Step disks: what is opened, made, checked and locked, and that undo leaves nothing held. */
#include "tests/unit/handler/lab.h"

#include "handler/imagelock.h"
#include "handler/qcow2.h"
#include "handler/steps.h"

#include <sys/mman.h>
#include <sys/stat.h>

#define QEMU_IMG "/usr/bin/qemu-img"
#define MIB	 (1ull << 20)

static struct pod *new_pod(struct lab *l)
{
	struct pod *pod = lab_pod(l, UID_A, "a");

	pod->plan = xcalloc(1, sizeof *pod->plan);
	return pod;
}

/* A hostDisk NAME in the root's directory; more fields are the caller's to set. */
static struct plan_disk *host_disk(struct lab *l, struct pod *pod, const char *name)
{
	struct plan_disk *d = &pod->plan->disks[pod->plan->n_disks++];

	d->source = SOURCE_HOST_DISK;
	d->name = xasprintf("d%u", pod->plan->n_disks);
	d->path = xasprintf("%s/%s", l->root, name);
	return d;
}

static void put(struct plan_disk *d, const char *text)
{
	assert_int_equal(file_replace_at(AT_FDCWD, d->path, text, strlen(text), 0600), 0);
	assert_int_equal(truncate(d->path, 1024), 0); /* whole sectors */
}

static int do_step(struct lab *l, struct pod *pod)
{
	err_clear(&l->err);
	return step_disks(pod, &l->err);
}

static void must_do(struct lab *l, struct pod *pod)
{
	if (do_step(l, pod) < 0)
		fail_msg("%s", l->err.msg);
}

static void undo(struct pod *pod)
{
	struct err err = {0};

	assert_int_equal(undo_disks(pod, &err), 0);
	assert_int_equal(pod->n_fds, 0);
	assert_int_equal(undo_disks(pod, &err), 0);
}

static void assert_fails(struct lab *l, struct pod *pod, int code, const char *words)
{
	assert_int_equal(do_step(l, pod), code);
	if (!strstr(l->err.msg, words))
		fail_msg("'%s' lacks '%s'", l->err.msg, words);
	undo(pod);
}

static bool is_free(const struct pod *pod, const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDWR | O_CLOEXEC);
	struct err err = {0};

	return imagelock_take(pod, fd, path, true, false, &err) == 0;
}

/* Run qemu-img on the image behind a descriptor: the exit status. */
static int qemu_img(int image, const char *verb)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		char path[32];

		(void)dup2(open("/dev/null", O_WRONLY), 1);
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", dup(image));
		(void)execl(QEMU_IMG, QEMU_IMG, verb, "-U", "-f", "qcow2", path, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_open(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l);
	struct plan_disk *rw = host_disk(l, pod, "a.img"), *ro = host_disk(l, pod, "b.img");
	int before = lab_count_fds();

	put(rw, "data");
	put(ro, "data");
	ro->readonly = true;
	must_do(l, pod);
	assert_int_equal(pod->n_fds, 2);
	assert_string_equal(pod->fds[0].name, "disk:d1");
	assert_string_equal(pod->fds[1].name, "disk:d2");
	assert_int_equal(fcntl(pod->fds[0].fd, F_GETFL) & O_ACCMODE, O_RDWR);
	assert_int_equal(fcntl(pod->fds[1].fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(fcntl(pod->fds[0].fd, F_GETFD) & FD_CLOEXEC);
	assert_false(is_free(pod, rw->path));
	assert_false(is_free(pod, ro->path));
	undo(pod);
	assert_true(is_free(pod, rw->path));
	assert_true(is_free(pod, ro->path));
	assert_int_equal(lab_count_fds(), before);
}

static void test_in_use(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l), *other = new_pod(l);
	struct plan_disk *d = host_disk(l, pod, "a.img");

	put(d, "data");
	(void)host_disk(l, other, "a.img");
	must_do(l, pod);
	assert_fails(l, other, -EBUSY, "a.img: in use by VM default/a;");
	undo(pod);
	(void)host_disk(l, pod, "a.img"); /* twice in one VM */
	assert_fails(l, pod, -EBUSY, "a.img: in use by disk 'd1' of this VM;");
	must_do(l, other);
}

static void test_not_an_image(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l);
	struct plan_disk *d = host_disk(l, pod, "a.img");

	assert_fails(l, pod, -ENOENT, "a.img");
	assert_int_equal(mkdir(d->path, 0700), 0);
	assert_fails(l, pod, -EISDIR, "a.img");
	d->readonly = true;
	assert_fails(l, pod, -EINVAL, "neither a regular file nor a block device");
	assert_int_equal(rmdir(d->path), 0);
	assert_int_equal(mkfifo(d->path, 0600), 0);
	assert_fails(l, pod, -EINVAL, "neither a regular file nor a block device");
}

/* The name decides the format; a content of the other one is refused, never guessed. */
static void test_formats(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l);
	struct plan_disk *d = host_disk(l, pod, "a.img");
	_cleanup_fd_ int fd = open(d->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	unsigned char backing[8] = {[7] = 104};

	assert_int_equal(qcow2_create(fd, MIB, &l->err), 0);
	assert_fails(l, pod, -EINVAL, "holds a qcow2 image, but its name says raw");
	d->format = FORMAT_QCOW2;
	must_do(l, pod);
	undo(pod);
	assert_int_equal(pwrite(fd, backing, sizeof backing, 8), sizeof backing);
	assert_fails(l, pod, -EINVAL, "names a backing file");
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_fails(l, pod, -EINVAL, "no qcow2 header");
	assert_true(is_free(pod, d->path));
}

static void test_create(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l);
	struct plan_disk *raw = host_disk(l, pod, "a.img"), *cow = host_disk(l, pod, "a.qcow2");
	struct stat st;

	raw->create = cow->create = true;
	raw->capacity = 3 * MIB + 512;
	cow->capacity = 100 * MIB;
	cow->format = FORMAT_QCOW2;
	must_do(l, pod);
	assert_int_equal(fstat(pod->fds[0].fd, &st), 0);
	assert_int_equal(st.st_size, 3 * MIB + 512);
	assert_int_equal(st.st_blocks, 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(qemu_img(pod->fds[1].fd, "check"), 0);
	assert_int_equal(pwrite(pod->fds[0].fd, "kept", 4, 0), 4);
	undo(pod);
	raw->capacity = 9 * MIB; /* it is there now: neither resized nor emptied */
	must_do(l, pod);
	assert_int_equal(fstat(pod->fds[0].fd, &st), 0);
	assert_int_equal(st.st_size, 3 * MIB + 512);
	assert_true(st.st_blocks > 0);
}

static void test_create_refused(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l);
	struct plan_disk *d = host_disk(l, pod, "a.img");

	d->create = true;
	assert_fails(l, pod, -EINVAL, "needs capacity");
	d->capacity = MIB;
	d->readonly = true;
	assert_fails(l, pod, -ENOENT, "a.img"); /* an empty disk to read makes no sense */
	d->readonly = false;
	d->capacity = UINT64_MAX >> 1;
	d->format = FORMAT_QCOW2;
	assert_fails(l, pod, -EFBIG, "a.img");
	assert_int_equal(access(d->path, F_OK), -1); /* half-made ones are taken away */
	free(d->path);
	d->path = xasprintf("%s/absent/a.img", l->root);
	d->capacity = MIB;
	assert_fails(l, pod, -ENOENT, "can't create it");
}

static void test_empty_disk(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l);
	_cleanup_free_ char *volumes = xasprintf("%s/volumes", l->h.paths.lib);
	struct stat st;

	for (unsigned i = 0; i < 2; i++) {
		struct plan_disk *d = host_disk(l, pod, "");

		free(d->path);
		d->path = NULL;
		d->source = SOURCE_EMPTY_DISK;
		d->capacity = 5 * MIB;
		d->format = i ? FORMAT_RAW : FORMAT_QCOW2;
	}
	must_do(l, pod);
	assert_int_equal(fstat(pod->fds[0].fd, &st), 0);
	assert_int_equal(st.st_nlink, 0); /* it ends with its last holder, whatever crashes */
	assert_int_equal(qemu_img(pod->fds[0].fd, "check"), 0);
	assert_int_equal(fstat(pod->fds[1].fd, &st), 0);
	assert_int_equal(st.st_size, 5 * MIB);
	undo(pod);
	assert_int_equal(rmdir(volumes), 0); /* nothing was left in it */
}

static void test_kernel(void **state)
{
	struct lab *l = *state;
	struct pod *pod = new_pod(l);
	int before = lab_count_fds();

	pod->plan->kernel_image = xstrdup("guest");
	pod->plan->kernel_path = xstrdup("/vmlinuz");
	pod->plan->initrd_path = xstrdup("/initrd");
	assert_fails(l, pod, -ENOENT, "image \"guest\" is not on this host");
	assert_int_equal(mkdir_p_at(l->h.paths.lib_fd, "images/guest", 0700), 0);
	assert_int_equal(file_replace_at(l->h.paths.lib_fd, "images/guest/vmlinuz", "k", 1, 0600),
			 0);
	assert_fails(l, pod, -ENOENT, "/initrd"); /* the kernel's descriptor goes, too */
	images_drop(&l->h);
	assert_int_equal(lab_count_fds(), before);
	assert_int_equal(file_replace_at(l->h.paths.lib_fd, "images/guest/initrd", "i", 1, 0600),
			 0);
	must_do(l, pod);
	assert_int_equal(pod->n_fds, 2);
	assert_string_equal(pod->fds[0].name, "kernel");
	assert_string_equal(pod->fds[1].name, "initrd");
	assert_true(fcntl(pod->fds[1].fd, F_GET_SEALS) & F_SEAL_WRITE);
}

/* By QEMU's own tools: of several sizes, an image that is sound and as large as it says. */
static void test_qcow2(void **state)
{
	static const uint64_t sizes[] = {1, 512, 5 * MIB, 512 * MIB, 512 * MIB + 1, 8ull << 40};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_fd_ int fd = memfd_create("image", MFD_CLOEXEC);
		unsigned char head[QCOW2_HEADER_BYTES];
		struct err err = {0};
		uint64_t size = 0;
		struct stat st;

		assert_int_equal(qcow2_create(fd, sizes[i], &err), 0);
		assert_int_equal(qemu_img(fd, "check"), 0);
		assert_int_equal(pread(fd, head, sizeof head, 0), sizeof head);
		assert_int_equal(qcow2_check(head, sizeof head, &size, &err), 0);
		assert_int_equal(size, (sizes[i] + 511) / 512 * 512);
		assert_int_equal(fstat(fd, &st), 0);
		assert_true(st.st_blocks * 512 <= 4 * 4096);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open),       TEST(test_in_use), TEST(test_not_an_image),
		TEST(test_formats),    TEST(test_create), TEST(test_create_refused),
		TEST(test_empty_disk), TEST(test_kernel), cmocka_unit_test(test_qcow2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

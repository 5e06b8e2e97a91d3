// SPDX-License-Identifier: Apache-2.0
/* Files of images: what is found, what is not left, what a pod can do with the result. */
#include "tests/unit/handler/lab.h"

#include "handler/images.h"

#include <sys/mman.h>
#include <sys/stat.h>

static void put(struct lab *l, const char *path, const char *text)
{
	_cleanup_free_ char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	assert_int_equal(mkdir_p_at(l->h.paths.lib_fd, dir, 0755), 0);
	assert_int_equal(file_replace_at(l->h.paths.lib_fd, path, text, strlen(text), 0600), 0);
}

static void link_to(struct lab *l, const char *target, const char *path)
{
	assert_int_equal(symlinkat(target, l->h.paths.lib_fd, path), 0);
}

static int load(struct lab *l, const char *reference, const char *path, int *ret)
{
	err_clear(&l->err);
	return images_load(&l->h, reference, path, ret, &l->err);
}

static void assert_loads(struct lab *l, const char *reference, const char *path, const char *text)
{
	char buf[64] = "";
	int fd = -1;

	if (load(l, reference, path, &fd) < 0)
		fail_msg("%s", l->err.msg);
	assert_int_equal(pread(fd, buf, sizeof buf - 1, 0), strlen(text));
	assert_string_equal(buf, text);
	(void)fd_close(fd);
}

static void assert_refused(struct lab *l, const char *reference, const char *path, int code,
			   const char *words)
{
	int fd = -77;

	assert_int_equal(load(l, reference, path, &fd), code);
	assert_int_equal(fd, -77);
	if (!strstr(l->err.msg, words))
		fail_msg("'%s' lacks '%s'", l->err.msg, words);
}

static void test_load(void **state)
{
	struct lab *l = *state;
	int before = lab_count_fds();

	put(l, "images/quay.example/guest:v1/boot/vmlinuz", "kernel");
	assert_loads(l, "quay.example/guest:v1", "/boot/vmlinuz", "kernel");
	images_drop(&l->h);
	assert_int_equal(lab_count_fds(), before);
}

static ino_t inode_of_copy(struct lab *l)
{
	struct stat st;
	int fd;

	assert_int_equal(load(l, "i", "/vmlinuz", &fd), 0);
	assert_int_equal(fstat(fd, &st), 0);
	(void)fd_close(fd);
	return st.st_ino;
}

/* One copy for all VMs, and a new one when the file is another. */
static void test_copied_once(void **state)
{
	struct lab *l = *state;
	ino_t first;

	put(l, "images/i/vmlinuz", "kernel");
	first = inode_of_copy(l);
	assert_true(inode_of_copy(l) == first);
	put(l, "images/i/vmlinuz", "Kernel");
	assert_true(inode_of_copy(l) != first);
	assert_loads(l, "i", "/vmlinuz", "Kernel");
	images_drop(&l->h);
}

/* Kept for a while when the last VM has gone, then not; and while there is one it stays. */
static void test_unused(void **state)
{
	struct lab *l = *state;
	struct pod pod = {0};
	uint64_t now, when;
	ino_t first;

	put(l, "images/i/vmlinuz", "kernel");
	first = inode_of_copy(l);
	images_unused(&l->h);
	assert_true(inode_of_copy(l) == first);
	assert_true(sd_event_now(l->h.event, CLOCK_MONOTONIC, &now) >= 0);
	assert_int_equal(sd_event_source_get_time(l->h.images_timer, &when), 0);
	assert_in_range(when, now + 20000000, now + 60000000);
	l->h.pods = &pod;
	assert_int_equal(sd_event_source_set_time(l->h.images_timer, 0), 0);
	assert_true(sd_event_run(l->h.event, UINT64_MAX) > 0);
	assert_non_null(l->h.images);
	l->h.pods = NULL;
	images_unused(&l->h);
	assert_int_equal(sd_event_source_set_time(l->h.images_timer, 0), 0);
	assert_true(sd_event_run(l->h.event, UINT64_MAX) > 0);
	assert_null(l->h.images);
	assert_null(l->h.images_timer);
}

/* The pod opens it again by /proc/self/fd, as another user, and changes nothing. */
static void test_sealed(void **state)
{
	struct lab *l = *state;
	char path[64];
	struct stat st;
	int fd;

	put(l, "images/i/vmlinuz", "kernel");
	assert_int_equal(load(l, "i", "/vmlinuz", &fd), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0444);
	assert_int_equal(fcntl(fd, F_GET_SEALS),
			 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	assert_int_equal(pwrite(fd, "K", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 1), -1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	(void)fd_close(open(path, O_RDONLY | O_CLOEXEC));
	(void)fd_close(fd);
}

static void test_absent(void **state)
{
	struct lab *l = *state;
	_cleanup_free_ char *cure = xasprintf("%s/images/i", l->h.paths.lib);

	assert_refused(l, "i", "/vmlinuz", -ENOENT, "not on this host"); /* no images/ at all yet */
	assert_refused(l, "i", "/vmlinuz", -ENOENT, cure);
	put(l, "images/file/x", "x");
	assert_refused(l, "i", "/vmlinuz", -ENOENT, "not on this host");
	assert_refused(l, "", "/x", -ENOENT, "not on this host");
	assert_refused(l, "file/x", "/x", -ENOENT, "not on this host"); /* a file is no image */
	assert_refused(l, "file", "/vmlinuz", -ENOENT, "image \"file\": /vmlinuz");
}

/* The store and other VMs' volumes lie beside images/: no reference may lead there. */
static void test_no_way_out(void **state)
{
	struct lab *l = *state;

	put(l, "images/i/vmlinuz", "kernel");
	put(l, "volumes/v/secret", "secret");
	link_to(l, "../volumes", "images/link");
	link_to(l, "../../volumes/v/secret", "images/i/secret");
	link_to(l, "/etc/passwd", "images/i/passwd");
	assert_refused(l, "..", "/volumes/v/secret", -EINVAL, "below");
	assert_refused(l, "../volumes", "/v/secret", -EINVAL, "below");
	assert_refused(l, "i/../../volumes", "/v/secret", -EINVAL, "below");
	assert_refused(l, "/etc", "/passwd", -EINVAL, "below");
	assert_refused(l, "link", "/v/secret", -EINVAL, "symbolic link");
	assert_refused(l, "i", "/../../volumes/v/secret", -ENOENT, "/../../volumes");
	assert_refused(l, "i", "/secret", -ENOENT, "/secret");
	assert_refused(l, "i", "/passwd", -ENOENT, "/passwd");
	assert_refused(l, "i", "/proc/self/exe", -ENOENT, "/proc");
}

/* As in a distribution: /vmlinuz is a link, absolute or not, inside the image. */
static void test_links_inside(void **state)
{
	struct lab *l = *state;

	put(l, "images/i/boot/vmlinuz-6.1", "kernel");
	link_to(l, "boot/vmlinuz-6.1", "images/i/vmlinuz");
	link_to(l, "/boot/vmlinuz-6.1", "images/i/kernel");
	link_to(l, "loop", "images/i/loop");
	assert_loads(l, "i", "/vmlinuz", "kernel");
	assert_loads(l, "i", "/kernel", "kernel");
	assert_refused(l, "i", "/loop", -ELOOP, "/loop");
}

static void test_not_a_file(void **state)
{
	struct lab *l = *state;
	_cleanup_free_ char *fifo = xasprintf("%s/images/i/fifo", l->h.paths.lib);
	_cleanup_free_ char *big = xasprintf("%s/images/i/big", l->h.paths.lib);

	put(l, "images/i/empty", "");
	put(l, "images/i/big", "");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(truncate(big, 1024ll * 1024 * 1024 + 1), 0);
	assert_refused(l, "i", "/empty", -EINVAL, "regular file of 1 byte to 1 GiB");
	assert_refused(l, "i", "/big", -EINVAL, "regular file of 1 byte to 1 GiB");
	assert_refused(l, "i", "/fifo", -EINVAL, "regular file"); /* and does not wait for it */
	assert_refused(l, "i", "/", -EINVAL, "regular file");
}

/* A name longer than a memfd's may be. */
static void test_long_name(void **state)
{
	struct lab *l = *state;
	char path[280] = "images/i/";

	memset(path + strlen(path), 'n', 251);
	put(l, path, "kernel");
	assert_loads(l, "i", path + strlen("images/i"), "kernel");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_load),	TEST(test_sealed),     TEST(test_absent),
		TEST(test_copied_once), TEST(test_no_way_out), TEST(test_links_inside),
		TEST(test_not_a_file),	TEST(test_long_name),  TEST(test_unused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

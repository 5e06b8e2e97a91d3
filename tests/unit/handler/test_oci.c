// SPDX-License-Identifier: Apache-2.0
/* Files of OCI layouts: layers over layers, whiteouts, platforms, and layouts that are none. */
#include "tests/unit/handler/lab.h"

#include "handler/images.h"
#include "handler/oci.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#define HEX(c)	  c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c
#define MANIFEST  HEX("aa")
#define OTHER	  HEX("bb")
#define LOWER	  HEX("01")
#define UPPER	  HEX("02")
#define BLOB(hex) "images/i/blobs/sha256/" hex
#define LAYER(h)                                                                                   \
	"{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar+gzip\",\"digest\":\"sha256:" h    \
	"\"}"

struct entry {
	const char *name, *text; /* text NULL: a symbolic link */
};

static void put(struct lab *l, const char *path, const char *text)
{
	_cleanup_free_ char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	assert_int_equal(mkdir_p_at(l->h.paths.lib_fd, dir, 0700), 0);
	assert_int_equal(file_replace_at(l->h.paths.lib_fd, path, text, strlen(text), 0600), 0);
}

static void put_layer(struct lab *l, const char *path, const struct entry *entries, size_t n)
{
	_cleanup_free_ char *full = xasprintf("%s/%s", l->h.paths.lib, path);
	struct archive *a = archive_write_new();

	put(l, path, "");
	assert_int_equal(archive_write_set_format_pax_restricted(a), ARCHIVE_OK);
	assert_int_equal(archive_write_add_filter_gzip(a), ARCHIVE_OK);
	assert_int_equal(archive_write_open_filename(a, full), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++) {
		struct archive_entry *e = archive_entry_new();
		const char *text = entries[i].text;

		archive_entry_set_pathname(e, entries[i].name);
		archive_entry_set_perm(e, 0644);
		archive_entry_set_filetype(e, text ? AE_IFREG : AE_IFLNK);
		archive_entry_set_size(e, text ? (la_int64_t)strlen(text) : 0);
		if (!text)
			archive_entry_set_symlink(e, "/etc/passwd");
		assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
		if (text)
			(void)archive_write_data(a, text, strlen(text));
		archive_entry_free(e);
	}
	assert_int_equal(archive_write_free(a), ARCHIVE_OK);
}

static void put_layout(struct lab *l)
{
	put(l, "images/i/oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
	put(l, "images/i/index.json", "{\"manifests\":[{\"digest\":\"sha256:" MANIFEST "\"}]}");
	put(l, BLOB(MANIFEST), "{\"layers\":[" LAYER(LOWER) "," LAYER(UPPER) "]}");
	put_layer(l, BLOB(LOWER),
		  (struct entry[]){{"boot/vmlinuz", "old"},
				   {"./boot/initrd", "initrd"},
				   {"gone/file", "x"},
				   {"opaque/file", "x"},
				   {"bootleg", "x"}},
		  5);
	put_layer(l, BLOB(UPPER),
		  (struct entry[]){{"boot/vmlinuz", "new"},
				   {".wh.gone", ""},
				   {"opaque/.wh..wh..opq", ""},
				   {"link", NULL},
				   {"empty", ""}},
		  5);
}

static int load(struct lab *l, const char *path, char ret[static 32])
{
	int fd = -1, r;
	ssize_t n;

	err_clear(&l->err);
	r = images_load(&l->h, "i", path, &fd, &l->err);
	if (r < 0)
		return r;
	n = pread(fd, ret, 31, 0);
	assert_true(n >= 0);
	ret[n] = 0;
	assert_true(fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE);
	(void)fd_close(fd);
	return 0;
}

static void assert_text(struct lab *l, const char *path, const char *text)
{
	char got[32];

	if (load(l, path, got) < 0)
		fail_msg("%s", l->err.msg);
	assert_string_equal(got, text);
}

static void assert_refused(struct lab *l, const char *path, int code, const char *words)
{
	char got[32];

	assert_int_equal(load(l, path, got), code);
	if (!strstr(l->err.msg, words))
		fail_msg("'%s' lacks '%s'", l->err.msg, words);
}

static void test_layers(void **state)
{
	struct lab *l = *state;

	put_layout(l);
	assert_text(l, "/boot/vmlinuz", "new");
	assert_text(l, "/boot/initrd", "initrd");
	assert_text(l, "/bootleg", "x"); /* no whiteout of "boot" */
	assert_refused(l, "/gone/file", -ENOENT, "image \"i\": /gone/file: no layer");
	assert_refused(l, "/opaque/file", -ENOENT, "no layer");
	assert_refused(l, "/link", -EINVAL, "no regular file");
	assert_refused(l, "/empty", -EFBIG, "1 byte to 1024 MiB");
}

/* Copies are kept by path, and made anew when the layout is another. */
static void test_new_index(void **state)
{
	struct lab *l = *state;

	put_layout(l);
	assert_text(l, "/boot/vmlinuz", "new");
	put(l, BLOB(OTHER), "{\"layers\":[" LAYER(LOWER) "]}");
	put(l, "images/i/index.json", "{\"manifests\":[{\"digest\":\"sha256:" OTHER "\"}]}");
	assert_text(l, "/boot/vmlinuz", "old");
}

/* A list of platforms, as many registries give it: an index in the index. */
static void test_platforms(void **state)
{
	struct lab *l = *state;

	put_layout(l);
	put(l, BLOB(OTHER),
	    "{\"manifests\":[{\"digest\":\"sha256:" LOWER "\",\"platform\":{\"architecture\":"
	    "\"arm64\"}},{\"digest\":\"sha256:" MANIFEST
	    "\",\"platform\":{\"architecture\":\"amd64\"}}]}");
	put(l, "images/i/index.json", "{\"manifests\":[{\"digest\":\"sha256:" OTHER "\"}]}");
	assert_text(l, "/boot/vmlinuz", "new");
	put(l, "images/i/index.json",
	    "{\"manifests\":[{\"digest\":\"sha256:" MANIFEST
	    "\",\"platform\":{\"architecture\":\"arm64\"}}]}");
	assert_refused(l, "/boot/vmlinuz", -EBADMSG, "no image for amd64");
	put(l, "images/i/index.json", "{\"manifests\":[{\"digest\":\"sha256:" OTHER "\"}]}");
	put(l, BLOB(OTHER), "{\"manifests\":[{\"digest\":\"sha256:" OTHER "\"}]}"); /* itself */
	assert_refused(l, "/boot/vmlinuz", -EBADMSG, "an index of indexes");
}

static void test_nonsense(void **state)
{
	static const char *const indexes[] = {
		"",
		"[]",
		"{}",
		"{\"manifests\":[]}",
		"{\"manifests\":[{}]}",
		"{\"manifests\":[{\"digest\":\"sha256:../../../../../../etc/passwd\"}]}",
		"{\"manifests\":[{\"digest\":\"md5:" MANIFEST "\"}]}",
		"{\"manifests\":[{\"digest\":\"sha256:" UPPER "\"}]}", /* a layer is no manifest */
	};
	struct lab *l = *state;
	char got[32];

	put_layout(l);
	for (size_t i = 0; i < ARRAY_SIZE(indexes); i++) {
		put(l, "images/i/index.json", indexes[i]);
		assert_true(load(l, "/boot/vmlinuz", got) < 0);
		assert_non_null(strstr(l->err.msg, "image \"i\": /boot/vmlinuz: "));
	}
	put_layout(l);
	put(l, BLOB(UPPER), "no archive at all");
	assert_refused(l, "/boot/vmlinuz", -EBADMSG, "layer: ");
	put(l, BLOB(MANIFEST), "{\"layers\":[" LAYER(OTHER) "]}");
	put(l, "images/i/index.json", "{\"manifests\":[{\"digest\":\"sha256:" MANIFEST "\"}] }");
	assert_refused(l, "/boot/vmlinuz", -ENOENT, "blobs/sha256/bb");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, lab_setup, lab_teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_layers),
		TEST(test_new_index),
		TEST(test_platforms),
		TEST(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return lab_main(run);
}

// SPDX-License-Identifier: Apache-2.0
#include "handler/oci.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JSON_MAX   (4 * 1024 * 1024) /* of an index or a manifest; the specification's advice */
#define LAYERS_MAX 256
#define ALGORITHM  "sha256:"

#ifndef __x86_64__
#error "OCI's name of this architecture is missing"
#endif
#define ARCHITECTURE "amd64"

bool oci_is_layout(int dirfd)
{
	return faccessat(dirfd, "oci-layout", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* "blobs/sha256/…" of a descriptor; its digest is the only name that a blob has. */
static int blob_path(const json_t *descriptor, char **ret, struct err *err)
{
	const char *digest = json_str(descriptor, "digest");
	const char *hex = digest ? str_after(digest, ALGORITHM) : NULL;

	if (!hex || strlen(hex) != 64 || strspn(hex, "0123456789abcdef") != 64)
		return err_set(err, -EBADMSG,
			       "a descriptor's digest is '%.80s', must be " ALGORITHM
			       " and 64 hexadecimal digits",
			       digest ? digest : "");
	*ret = xasprintf("blobs/sha256/%s", hex);
	return 0;
}

/* The manifest for this machine: the only one, or the one whose platform says so. */
static const json_t *choose(const json_t *index)
{
	const json_t *list = json_object_get(index, "manifests"), *m;
	size_t i;

	json_array_foreach (list, i, m) {
		const char *arch = json_str(m, "platform.architecture");

		if (arch ? str_eq(arch, ARCHITECTURE) : json_array_size(list) == 1)
			return m;
	}
	return NULL;
}

int oci_parse(const char *text, size_t len, json_t **ret, char **ret_next, struct err *err)
{
	_cleanup_json_ json_t *doc = NULL;
	int r = json_parse(text, len, JSON_MAX, &doc, err);

	if (r < 0)
		return r;
	if (json_object_get(doc, "manifests")) {
		const json_t *m = choose(doc);

		return m ? blob_path(m, ret_next, err)
			 : err_set(err, -EBADMSG,
				   "no image for " ARCHITECTURE ", or several without platform");
	}
	if (!json_is_array(json_object_get(doc, "layers")) ||
	    json_array_size(json_object_get(doc, "layers")) > LAYERS_MAX)
		return err_set(err, -EBADMSG, "the manifest has no list of at most %d layers",
			       LAYERS_MAX);
	*ret = TAKE_PTR(doc);
	return 1;
}

/* An index may point to an index (a list of platforms), once. */
static int read_manifest(int dirfd, json_t **ret, struct err *err)
{
	_cleanup_free_ char *path = xstrdup("index.json");

	for (int depth = 0; depth < 3; depth++) {
		_cleanup_free_ char *text = NULL;
		char *next = NULL;
		size_t len = 0;
		int r = file_read_at(dirfd, path, JSON_MAX, &text, &len);

		r = r < 0 ? err_errno(err, r, "%s", path) : oci_parse(text, len, ret, &next, err);
		if (r < 0 && text)
			err_prefix(err, "%s", path);
		if (r != 0)
			return r < 0 ? r : 0;
		free(path);
		path = next;
	}
	return err_set(err, -EBADMSG, "an index of indexes of indexes");
}

/* --- layers ---------------------------------------------------------------------------------- */

enum found { FOUND_NOTHING, FOUND_FILE, FOUND_WHITEOUT };

static void archive_freep(struct archive **a)
{
	(void)archive_read_free(*a); /* read only: nothing can be lost */
}

static const char *plain_name(const char *name)
{
	while (*name == '/' || (name[0] == '.' && name[1] == '/'))
		name++;
	return name;
}

/* Does this entry say that lower layers' `path` is gone: a whiteout of it or of a parent, or an opaque parent? */
static bool takes_away(const char *entry, const char *path)
{
	const char *slash = strrchr(entry, '/');
	size_t dir = slash ? (size_t)(slash - entry) + 1 : 0;
	const char *name = str_after(entry + dir, ".wh.");
	size_t n;

	if (!name || strncmp(entry, path, dir) != 0)
		return false;
	if (str_eq(name, ".wh..opq"))
		return true;
	n = strlen(name);
	return strncmp(path + dir, name, n) == 0 && (path[dir + n] == '/' || path[dir + n] == 0);
}

static int copy_entry(struct archive *a, struct archive_entry *entry, int to, uint64_t max,
		      struct err *err)
{
	if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
		return err_set(err, -EINVAL,
			       "is no regular file in the image: name the file itself");
	if (!archive_entry_size_is_set(entry) || archive_entry_size(entry) <= 0 ||
	    (uint64_t)archive_entry_size(entry) > max)
		return err_set(err, -EFBIG, "must be a file of 1 byte to %llu MiB",
			       (unsigned long long)max >> 20);
	if (ftruncate(to, 0) < 0 || archive_read_data_into_fd(a, to) != ARCHIVE_OK)
		return err_set(err, -EBADMSG, "%s",
			       archive_error_string(a) ? archive_error_string(a) : "can't be read");
	return 0;
}

/* An upper layer's own file counts even beside a whiteout of the same name: those are of lower layers. */
static int search_layer(int blob, const char *path, int to, uint64_t max, enum found *ret,
			struct err *err)
{
	_cleanup_(archive_freep) struct archive *a = archive_read_new();
	enum found found = FOUND_NOTHING;
	struct archive_entry *entry;
	int r;

	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(a) < ARCHIVE_WARN ||
	    archive_read_open_fd(a, blob, 64 * 1024) != ARCHIVE_OK)
		return err_set(err, -EBADMSG, "layer: %s", a ? archive_error_string(a) : "memory");
	while ((r = archive_read_next_header(a, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		const char *name = archive_entry_pathname(entry);

		name = plain_name(name ? name : "");
		if (str_eq(name, path)) {
			*ret = FOUND_FILE;
			return copy_entry(a, entry, to, max, err);
		}
		if (takes_away(name, path))
			found = FOUND_WHITEOUT;
	}
	if (r != ARCHIVE_EOF)
		return err_set(err, -EBADMSG, "layer: %s", archive_error_string(a));
	*ret = found;
	return 0;
}

static int open_layer(int dirfd, const json_t *descriptor, int *ret, struct err *err)
{
	_cleanup_free_ char *path = NULL;
	int fd, r = blob_path(descriptor, &path, err);

	if (r < 0)
		return r;
	fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	*ret = fd;
	return 0;
}

int oci_extract(int dirfd, const char *path, int to, uint64_t max, struct err *err)
{
	_cleanup_json_ json_t *manifest = NULL;
	const json_t *layers;
	int r = read_manifest(dirfd, &manifest, err);

	if (r < 0)
		return r;
	path = plain_name(path);
	layers = json_object_get(manifest, "layers");
	for (size_t i = json_array_size(layers); i-- > 0;) {
		enum found found = FOUND_NOTHING;
		_cleanup_fd_ int blob = -1;

		r = open_layer(dirfd, json_array_get(layers, i), &blob, err);
		if (r == 0)
			r = search_layer(blob, path, to, max, &found, err);
		if (r < 0 || found == FOUND_FILE)
			return r;
		if (found == FOUND_WHITEOUT)
			break;
	}
	return err_set(err, -ENOENT, "no layer of the image has it");
}

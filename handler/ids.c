// SPDX-License-Identifier: Apache-2.0
#include "handler/ids.h"

#include "handler/pod.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define IDS_FIRST      0x70000000u /* 1879048192: see systemd's UIDS-GIDS */
#define IDS_PER_ROOT   4096u
#define IDS_ROOT_COUNT 65536u
#define IDS_FILE_MAX   (1 << 20)

/* Does a line "name:first:count" of /etc/subuid or subgid cover this id? */
static bool in_sub_ranges(const char *text, uint32_t id)
{
	for (const char *l = text; l && *l; l = strchr(l, '\n') ? strchr(l, '\n') + 1 : NULL) {
		const char *first = strchr(l, ':');
		const char *count = first ? strchr(first + 1, ':') : NULL;
		unsigned long long a, n;

		if (!count)
			continue;
		a = strtoull(first + 1, NULL, 10);
		n = strtoull(count + 1, NULL, 10);
		if (id >= a && id - a < n)
			return true;
	}
	return false;
}

/* NULL text on hosts without the file: they delegate no ids. */
static int read_ranges(const char *path, char **ret, struct err *err)
{
	int r = file_read_at(AT_FDCWD, path, IDS_FILE_MAX, ret, NULL);

	return r < 0 && r != -ENOENT ? err_errno(err, r, "%s", path) : 0;
}

static bool in_use(const struct handler *h, uint32_t id)
{
	for (const struct pod *p = h->pods; p; p = p->next)
		if (p->record.host_id == id)
			return true;
	return getpwuid(id) || getgrgid(id);
}

static uint32_t first_of(const char *tag)
{
	uint32_t block = (uint32_t)strtoul(tag, NULL, 16) % IDS_ROOT_COUNT;

	return IDS_FIRST + block * IDS_PER_ROOT;
}

int ids_allocate(struct handler *h, uint32_t *ret, struct err *err)
{
	uint32_t first = first_of(h->paths.tag);
	_cleanup_free_ char *subuid = NULL, *subgid = NULL;
	int r = read_ranges("/etc/subuid", &subuid, err);

	if (r == 0)
		r = read_ranges("/etc/subgid", &subgid, err);
	if (r < 0)
		return r;
	for (uint32_t id = first; id < first + IDS_PER_ROOT; id++)
		if (!in_use(h, id) && !in_sub_ranges(subuid, id) && !in_sub_ranges(subgid, id)) {
			*ret = id;
			return 0;
		}
	return err_set(err, -EBUSY,
		       "no free user id from %u to %u: all are in use, in passwd or in /etc/subuid",
		       first, first + IDS_PER_ROOT - 1);
}

/* Has a line "name:x:ID:…" of passwd or group this id? */
static bool in_names(const char *text, uint32_t id)
{
	for (const char *l = text; l && *l; l = strchr(l, '\n') ? strchr(l, '\n') + 1 : NULL) {
		const char *x = memchr(l, ':', strcspn(l, "\n"));
		const char *number = x ? memchr(x + 1, ':', strcspn(x + 1, "\n")) : NULL;

		if (number && strtoull(number + 1, NULL, 10) == id)
			return true;
	}
	return false;
}

int ids_look(int root, const char *tag, struct ids_block *ret, struct err *err)
{
	static const struct {
		const char *path;
		bool (*has)(const char *text, uint32_t id);
	} files[] = {{"etc/passwd", in_names},
		     {"etc/group", in_names},
		     {"etc/subuid", in_sub_ranges},
		     {"etc/subgid", in_sub_ranges}};
	struct ids_block b = {.first = first_of(tag), .n = IDS_PER_ROOT};
	bool taken[IDS_PER_ROOT] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *text = NULL;
		int r = file_read_at(root, files[i].path, IDS_FILE_MAX, &text, NULL);

		if (r < 0 && r != -ENOENT)
			return err_errno(err, r, "/%s", files[i].path);
		for (uint32_t id = 0; id < b.n; id++)
			taken[id] |= files[i].has(text, b.first + id);
	}
	for (uint32_t id = 0; id < b.n; id++)
		b.taken += taken[id];
	*ret = b;
	return 0;
}

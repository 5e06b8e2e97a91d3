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
	int r = file_read_at(AT_FDCWD, path, 1 << 20, ret, NULL);

	return r < 0 && r != -ENOENT ? err_errno(err, r, "%s", path) : 0;
}

static bool in_use(const struct handler *h, uint32_t id)
{
	for (const struct pod *p = h->pods; p; p = p->next)
		if (p->record.host_id == id)
			return true;
	return getpwuid(id) || getgrgid(id);
}

int ids_allocate(struct handler *h, uint32_t *ret, struct err *err)
{
	uint32_t block = (uint32_t)strtoul(h->paths.tag, NULL, 16) % IDS_ROOT_COUNT;
	uint32_t first = IDS_FIRST + block * IDS_PER_ROOT;
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

// SPDX-License-Identifier: Apache-2.0
#include "handler/hostcpus.h"

#include "handler/cpuset.h"
#include "handler/proc.h"

#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOSTCPUS_FILE "/run/virtpod.cpus"
#define HOSTCPUS_MAX  (1024 * 1024)

static int open_locked(int *ret, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	fd = open(HOSTCPUS_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, -errno, HOSTCPUS_FILE);
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 022))
		return err_set(err, -EPERM,
			       HOSTCPUS_FILE ": not a file of root's alone; remove it");
	/* held for a few file operations only: waiting for another handler is short */
	if (flock(fd, LOCK_EX) < 0)
		return err_errno(err, -errno, HOSTCPUS_FILE ": lock");
	*ret = TAKE_FD(fd);
	return 0;
}

/* The pod's cgroup is there, or its handler is: the claim stands. */
static bool stands(const json_t *entry)
{
	_cleanup_free_ char *tag = xstrdup(json_str(entry, "tag"));
	const char *uid = json_str(entry, "uid");
	struct cgroup_host *groups = NULL;
	struct err err = {0};
	bool found = false;
	char **uids = NULL;
	size_t n = 0;

	if (!tag || !uid)
		return false;
	if (proc_is((pid_t)json_u64(entry, "handler", 0), json_u64(entry, "handlerStart", 0)))
		return true;
	if (cgroup_host_open(tag, &groups, &err) < 0)
		return true; /* can't tell: rather refuse a CPU than give it twice */
	if (cgroup_list(groups, &uids, &n, &err) < 0)
		found = true;
	for (size_t i = 0; i < n; i++)
		found |= str_eq(uids[i], uid);
	cgroup_list_free(uids, n);
	cgroup_host_free(groups);
	return found;
}

/* Entries that stand, an empty list from an empty or damaged file of another boot. */
static json_t *load(int fd)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *all = NULL;
	json_t *list = json_array(), *entry;
	struct err err = {0};
	size_t len, i;

	if (file_read_fd(fd, HOSTCPUS_MAX, &text, &len) < 0 ||
	    json_parse(text, len, HOSTCPUS_MAX, &all, &err) < 0)
		return list;
	json_array_foreach (all, i, entry)
		if (stands(entry))
			(void)json_array_append(list, entry);
	return list;
}

static int save(int fd, const json_t *list, struct err *err)
{
	_cleanup_free_ char *text = json_text(list);
	int r = 0;

	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r == 0)
		r = fd_write_all(fd, text, strlen(text));
	return r < 0 ? err_errno(err, r, HOSTCPUS_FILE ": write") : 0;
}

static bool is_ours(const struct handler *h, const json_t *entry)
{
	return str_eq(json_str(entry, "tag"), h->paths.tag);
}

int hostcpus_others(struct handler *h, struct cpu_holders *holders, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	_cleanup_json_ json_t *list = NULL;
	int r = open_locked(&fd, err);
	json_t *entry;
	size_t i;

	if (r < 0)
		return r;
	list = load(fd);
	json_array_foreach (list, i, entry) {
		const char *text = json_str(entry, "cpus");
		cpu_set_t cpus;

		if (is_ours(h, entry) || !text || cpus_parse(text, &cpus) < 0)
			continue;
		holders->list = xrealloc(holders->list, holders->n + 1, sizeof *holders->list);
		holders->list[holders->n++] = (struct cpu_holder){
			.name = xasprintf("%s of --root %s", json_str(entry, "vm"),
					  json_str(entry, "root")),
			.cpus = cpus};
	}
	return 0;
}

static void remove_ours(const struct handler *h, json_t *list, const char *uid)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *entry = json_array_get(list, i);

		if (is_ours(h, entry) && str_eq(json_str(entry, "uid"), uid))
			(void)json_array_remove(list, i);
	}
}

int hostcpus_take(struct handler *h, const char *uid, const char *vm, const cpu_set_t *cpus,
		  struct err *err)
{
	_cleanup_fd_ int fd = -1;
	_cleanup_json_ json_t *list = NULL;
	char text[CPUS_TEXT_MAX];
	int r = open_locked(&fd, err);
	json_t *entry;
	size_t i;

	if (r < 0)
		return r;
	list = load(fd);
	json_array_foreach (list, i, entry) {
		const char *held = json_str(entry, "cpus");
		cpu_set_t theirs, both;

		if (is_ours(h, entry) || !held || cpus_parse(held, &theirs) < 0)
			continue;
		CPU_AND(&both, &theirs, cpus);
		if (CPU_COUNT(&both))
			return err_set(err, -EBUSY,
				       "CPUs %s were taken by %s of --root %s in this moment; "
				       "start the VM again",
				       cpus_format(&both, text), json_str(entry, "vm"),
				       json_str(entry, "root"));
	}
	remove_ours(h, list, uid);
	entry = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "tag", h->paths.tag, "root",
			  h->paths.root, "uid", uid, "vm", vm, "cpus", cpus_format(cpus, text),
			  "handler", (json_int_t)getpid(), "handlerStart",
			  (json_int_t)proc_start(getpid()));
	(void)json_array_append_new(list, entry);
	return save(fd, list, err);
}

int hostcpus_free(struct handler *h, const char *uid, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	_cleanup_json_ json_t *list = NULL;
	int r = open_locked(&fd, err);

	if (r < 0)
		return r;
	list = load(fd);
	remove_ours(h, list, uid);
	return save(fd, list, err);
}

// SPDX-License-Identifier: Apache-2.0
#include "handler/hostcpus.h"

#include "handler/cpuset.h"
#include "handler/proc.h"

#include "lib/cpus.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#define HOSTCPUS_FILE "/run/virtpod.cpus"
#define HOSTCPUS_MAX  (1024 * 1024)

static const char *file_of(const struct handler *h)
{
	return h->cpus_file ? h->cpus_file : HOSTCPUS_FILE;
}

/*
 * The lock is a file of its own: the list itself is replaced as a whole, so that a handler that is killed
 * while it writes leaves the old list or the new one.
 */
static int lock(const struct handler *h, int *ret, struct err *err)
{
	_cleanup_free_ char *path = xasprintf("%s.lock", file_of(h));
	_cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r;

	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	/* held for a few file operations only: waiting for another handler is short */
	do
		r = flock(fd, LOCK_EX) < 0 ? -errno : 0;
	while (r == -EINTR);
	if (r < 0)
		return err_errno(err, r, "%s", path);
	*ret = TAKE_FD(fd);
	return 0;
}

/* The pod's cgroup is there, or its handler is: the claim stands. */
static bool stands(const json_t *entry)
{
	const char *tag = json_str(entry, "tag"), *uid = json_str(entry, "uid");
	struct cgroup_host *groups = NULL;
	bool found = false;
	char **uids = NULL;
	size_t n = 0;

	if (proc_is((pid_t)json_u64(entry, "handler", 0), json_u64(entry, "handlerStart", 0)))
		return true;
	if (cgroup_host_open(tag, &groups, NULL) < 0)
		return true; /* can't tell: rather refuse a CPU than give it twice */
	if (cgroup_list(groups, &uids, &n, NULL) < 0)
		found = true;
	for (size_t i = 0; i < n; i++)
		found |= str_eq(uids[i], uid);
	cgroup_list_free(uids, n);
	cgroup_host_free(groups);
	return found;
}

static bool is_entry(const json_t *entry)
{
	const char *cpus = json_str(entry, "cpus");
	cpu_set_t set;

	return json_str(entry, "tag") && json_str(entry, "uid") && json_str(entry, "vm") &&
	       json_str(entry, "root") && cpus && cpus_parse(cpus, &set) == 0;
}

static int damaged(const struct handler *h, struct err *err)
{
	return err_set(err, -EBADMSG,
		       "%s: damaged, so that nobody knows which CPUs other roots' VMs hold: stop "
		       "these VMs, then remove it",
		       file_of(h));
}

/* Entries that stand; none where there is no file yet. */
static int load(const struct handler *h, json_t **ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *all = NULL, *list = json_array();
	json_t *entry;
	size_t len, i;
	int r = file_read_at(AT_FDCWD, file_of(h), HOSTCPUS_MAX, &text, &len);

	if (r < 0 && r != -ENOENT)
		return err_errno(err, r, "%s", file_of(h));
	if (r == 0 && len && /* who empties the file means it */
	    (json_parse(text, len, HOSTCPUS_MAX, &all, NULL) < 0 || !json_is_array(all)))
		return damaged(h, err);
	json_array_foreach (all, i, entry) {
		if (!is_entry(entry))
			return damaged(h, err);
		if (stands(entry))
			(void)json_array_append(list, entry);
	}
	*ret = TAKE_PTR(list);
	return 0;
}

static int lock_and_load(const struct handler *h, int *ret_lock, json_t **ret, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r = lock(h, &fd, err);

	if (r == 0)
		r = load(h, ret, err);
	if (r == 0)
		*ret_lock = TAKE_FD(fd);
	return r;
}

static int save(const struct handler *h, const json_t *list, struct err *err)
{
	_cleanup_free_ char *text = json_text(list);
	int r = file_replace_at(AT_FDCWD, file_of(h), text, strlen(text), 0600);

	return r < 0 ? err_errno(err, r, "%s: write", file_of(h)) : 0;
}

static bool is_ours(const struct handler *h, const json_t *entry)
{
	return str_eq(json_str(entry, "tag"), h->paths.tag);
}

int hostcpus_others(struct handler *h, struct cpu_holders *holders, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	_cleanup_json_ json_t *list = NULL;
	int r = lock_and_load(h, &fd, &list, err);
	json_t *entry;
	size_t i;

	if (r < 0)
		return r;
	json_array_foreach (list, i, entry) {
		cpu_set_t cpus;

		if (is_ours(h, entry) || cpus_parse(json_str(entry, "cpus"), &cpus) < 0)
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

		if (is_ours(h, entry) && (!uid || str_eq(json_str(entry, "uid"), uid)))
			(void)json_array_remove(list, i);
	}
}

int hostcpus_take(struct handler *h, const char *uid, const char *vm, const cpu_set_t *cpus,
		  struct err *err)
{
	_cleanup_fd_ int fd = -1;
	_cleanup_json_ json_t *list = NULL;
	char text[CPUS_TEXT_MAX];
	int r = lock_and_load(h, &fd, &list, err);
	json_t *entry;
	size_t i;

	if (r < 0)
		return r;
	json_array_foreach (list, i, entry) {
		cpu_set_t theirs, both;

		if (is_ours(h, entry) || cpus_parse(json_str(entry, "cpus"), &theirs) < 0)
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
	return save(h, list, err);
}

int hostcpus_free(struct handler *h, const char *uid, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	_cleanup_json_ json_t *list = NULL;
	struct err why = {0};
	int r = lock_and_load(h, &fd, &list, &why);

	if (r == -EBADMSG) { /* its cure is to stop VMs and to remove it: this must not stop that */
		log_warning("%s", why.msg);
		return 0;
	}
	if (r < 0)
		return err_set(err, r, "%s", why.msg);
	remove_ours(h, list, uid);
	return save(h, list, err);
}

/* --- follow ---------------------------------------------------------------------------------- */

static int others_cpus(struct handler *h, cpu_set_t *ret, struct err *err)
{
	_cleanup_(cpuset_holders_done) struct cpu_holders holders = {0};
	int r = hostcpus_others(h, &holders, err);

	if (r < 0)
		return r;
	CPU_ZERO(ret);
	for (unsigned i = 0; i < holders.n; i++)
		CPU_OR(ret, ret, &holders.list[i].cpus);
	return 0;
}

static int on_file(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct handler *h = userdata;
	struct err err = {0};
	cpu_set_t now;

	(void)source;
	if (event->len && !str_eq(event->name, strrchr(file_of(h), '/') + 1))
		return 0;
	if (others_cpus(h, &now, &err) < 0 || CPU_EQUAL(&now, &h->others_cpus)) {
		if (err.code)
			log_error("%s", err.msg);
		return 0; /* most changes are our own */
	}
	h->others_cpus = now;
	if (cpuset_apply_shared(h, &err) < 0)
		log_error("%s", err.msg);
	return 0;
}

int hostcpus_watch(struct handler *h, struct err *err)
{
	const char *slash = strrchr(file_of(h), '/');
	_cleanup_free_ char *dir = xstrndup(file_of(h), (size_t)(slash - file_of(h)));
	struct err why = {0};
	int r = others_cpus(h, &h->others_cpus, &why);

	/* until it is mended no CPU is given, but VMs that run can be served and stopped */
	if (r == -EBADMSG)
		log_error("%s", why.msg);
	else if (r < 0)
		return err_set(err, r, "%s", why.msg);
	r = sd_event_add_inotify(h->event, &h->cpus_watch, dir, IN_MOVED_TO | IN_DELETE, on_file,
				 h);
	return r < 0 ? err_errno(err, r, "%s: watch", dir) : 0;
}

void hostcpus_unwatch(struct handler *h)
{
	h->cpus_watch = sd_event_source_disable_unref(h->cpus_watch);
}

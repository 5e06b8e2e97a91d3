// SPDX-License-Identifier: Apache-2.0
#include "handler/podlog.h"

#include "handler/logstream.h"
#include "handler/vmi.h"

#include "api/meta.h"
#include "api/wire.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe that is never empty must not keep the loop from the rest. */
#define READS_PER_SECOND 64

/* So many lines of a launcher are in the handler's own log, too; that one serves all VMs. */
#define LINES_IN_OURS 100

#define PIPE "launcher.pipe"

static const struct {
	const char *name, *file;
	uint64_t max;
} logs[] = {
	{"console", "console.log", WIRE_CONSOLE_LOG_MAX},
	{"qemu", "qemu.log", WIRE_QEMU_LOG_MAX},
	{"launcher", "launcher.log", LAUNCHER_LOG_MAX},
};

/* --- the launcher's words ---------------------------------------------------------------------- */

/* Whoever reads the file has a terminal. */
static void log_line(struct pod *pod, char *line)
{
	_cleanup_free_ char *text = NULL;
	char now[TIME_TEXT];

	str_line(line, ' ');
	if (pod->log_lines < LINES_IN_OURS)
		log_info("%s/%s: %s", pod->record.ns, pod->record.name, line);
	else if (pod->log_lines == LINES_IN_OURS)
		log_info("%s/%s: more lines are in virtpod logs -c launcher only", pod->record.ns,
			 pod->record.name);
	if (pod->log_lines <= LINES_IN_OURS)
		pod->log_lines++;
	text = xasprintf("%s %s\n", time_now(now), line);
	(void)logfile_write(&pod->log, text,
			    strlen(text)); /* the pod has filled its own directory */
}

/* Each line that is whole; of one that does not end, as much as there is room for. */
static void take_lines(struct pod *pod)
{
	char *at = pod->log_part, *end;
	size_t left = pod->log_part_len;

	while ((end = memchr(at, '\n', left))) {
		*end = 0;
		if (*at)
			log_line(pod, at);
		left -= (size_t)(end + 1 - at);
		at = end + 1;
	}
	if (left == sizeof pod->log_part - 1) {
		at[left] = 0;
		log_line(pod, at);
		left = 0;
	}
	memmove(pod->log_part, at, left);
	pod->log_part_len = left;
}

static int on_log(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct pod *pod = userdata;
	char *to = pod->log_part + pod->log_part_len;
	ssize_t n = read(fd, to, sizeof pod->log_part - 1 - pod->log_part_len);

	(void)revents;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
		return 0;
	}
	for (ssize_t i = 0; i < n; i++)
		if (!to[i]) /* lines become texts */
			to[i] = ' ';
	pod->log_part_len += (size_t)n;
	take_lines(pod);
	return 0;
}

static int open_own(struct pod *pod, struct err *err)
{
	int fd = openat(pod->dir_fd, "launcher.log", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			0600);
	int r = fd < 0 ? -errno : logfile_open(fd, LAUNCHER_LOG_MAX, &pod->log);

	return r < 0 ? err_errno(err, r, "%s/pods/%s/launcher.log", pod->h->paths.run,
				 pod->record.uid)
		     : 0;
}

static int pipe_error(const struct pod *pod, int r, struct err *err)
{
	return err_errno(err, r, "%s/pods/%s/" PIPE, pod->h->paths.run, pod->record.uid);
}

int podlog_create(struct pod *pod, int *ret, struct err *err)
{
	int fd = -1;

	if (mkfifoat(pod->dir_fd, PIPE, 0600) == 0)
		fd = openat(pod->dir_fd, PIPE, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return pipe_error(pod, -errno, err);
	*ret = fd;
	return 0;
}

static int open_pipe(const struct pod *pod)
{
	int fd = openat(pod->dir_fd, PIPE, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))) {
		(void)fd_close(fd);
		errno = EBADF;
		return -1;
	}
	return fd;
}

int podlog_watch(struct pod *pod, struct err *err)
{
	int fd = open_pipe(pod), r;

	r = fd < 0 ? -errno
		   : sd_event_add_io(pod->h->event, &pod->log_source, fd, EPOLLIN, on_log, pod);
	if (r < 0) {
		(void)fd_close(fd);
		return pipe_error(pod, r, err);
	}
	(void)sd_event_source_set_io_fd_own(pod->log_source, true);
	r = sd_event_source_set_ratelimit(pod->log_source, 1000000, READS_PER_SECOND);
	if (r < 0)
		return err_errno(err, r, "launcher's log");
	(void)sd_event_source_set_description(pod->log_source, "launcher log");
	return open_own(pod, err);
}

/* --- kept ------------------------------------------------------------------------------------ */

/* At most its bound, whatever the launcher has made of it. */
static int copy(int from_dir, int to_dir, size_t i)
{
	_cleanup_fd_ int from = openat(from_dir, logs[i].file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	_cleanup_fd_ int to = -1;
	size_t left = logs[i].max;
	ssize_t n = 1;

	if (from < 0)
		return errno == ENOENT ? 0 : -errno;
	to = openat(to_dir, logs[i].file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (to < 0)
		return -errno;
	while (left && n > 0) {
		n = sendfile(to, from, NULL, left);
		left -= n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? -errno : 0;
}

static int keep(struct pod *pod)
{
	_cleanup_free_ char *sub = xasprintf("logs/%s", pod->record.uid);
	_cleanup_fd_ int to = -1;
	int r = mkdir_p_at(pod->h->paths.lib_fd, sub, 0700);

	if (r < 0)
		return r;
	to = openat(pod->h->paths.lib_fd, sub, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		return -errno;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(logs); i++)
		r = copy(pod->dir_fd, to, i);
	return r;
}

/* Is its object there, and to stay? */
static bool wanted(const struct pod *pod)
{
	_cleanup_json_ json_t *vmi = NULL;

	return store_get(pod->h->store, VMI_KIND, pod->record.ns, pod->record.name, &vmi, NULL) ==
		       0 &&
	       str_eq(object_uid(vmi), pod->record.uid) &&
	       !json_get(vmi, "metadata.deletionTimestamp");
}

void podlog_keep(struct pod *pod)
{
	int r = 0;

	if (pod->dir_fd >= 0 && wanted(pod))
		r = keep(pod);
	if (r < 0)
		log_warning("%s/%s: its logs can't be kept in %s/logs: %s, ignoring",
			    pod->record.ns, pod->record.name, pod->h->paths.lib, strerror(-r));
	logstreams_end(pod->h, pod->record.uid);
}

void podlog_drop(struct handler *h, const char *uid)
{
	_cleanup_free_ char *sub = xasprintf("logs/%s", uid);
	int r = rm_rf_at(h->paths.lib_fd, sub);

	if (r < 0)
		log_warning("%s/%s: %s, ignoring", h->paths.lib, sub, strerror(-r));
}

void podlog_drop_orphans(struct handler *h)
{
	_cleanup_dir_ DIR *dir = NULL;
	_cleanup_json_ json_t *list = NULL, *uids = json_object();
	struct err err = {0};
	struct dirent *de;
	json_t *vmi;
	size_t i;
	int r = dir_open_at(h->paths.lib_fd, "logs", &dir);

	if (r < 0 && r != -ENOENT)
		log_warning("%s/logs: %s, ignoring", h->paths.lib, strerror(-r));
	if (r < 0)
		return;
	if (store_list(h->store, VMI_KIND, NULL, &list, &err) < 0) {
		log_error("%s", err.msg);
		return;
	}
	json_array_foreach (list, i, vmi)
		(void)json_object_set_new(uids, object_uid(vmi), json_true());
	while ((de = readdir(dir)))
		if (de->d_name[0] != '.' && !json_object_get(uids, de->d_name))
			podlog_drop(h, de->d_name);
}

/* --- read ------------------------------------------------------------------------------------ */

int podlog_open(struct handler *h, const char *uid, const char *which, struct podlog *ret,
		struct err *err)
{
	_cleanup_free_ char *live = NULL, *kept = NULL;
	size_t i = 0;
	int fd;

	while (i < ARRAY_SIZE(logs) && !str_eq(logs[i].name, which))
		i++;
	if (i == ARRAY_SIZE(logs))
		return err_set(err, -EINVAL,
			       "container %.100s is not valid; choose console, qemu or launcher",
			       which);
	live = xasprintf("%s/pods/%s/%s", h->paths.run, uid, logs[i].file);
	kept = xasprintf("%s/logs/%s/%s", h->paths.lib, uid, logs[i].file);
	fd = open(live, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT) {
		free(TAKE_PTR(live));
		fd = open(kept, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (fd < 0 && errno == ENOENT)
		return err_set(err, -ENOENT, "it has no log '%s'", which);
	if (fd < 0)
		return err_errno(err, -errno, "log '%s'", which);
	*ret = (struct podlog){.fd = fd, .max = logs[i].max, .live = TAKE_PTR(live)};
	return 0;
}

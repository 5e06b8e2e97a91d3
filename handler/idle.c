// SPDX-License-Identifier: Apache-2.0
#include "handler/idle.h"

#include "handler/server.h"
#include "handler/vms.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/stat.h>
#include <time.h>

/* Long enough that the next command of a script finds it still there. */
#define IDLE_SECONDS 5

static bool has_work(struct handler *h)
{
	_cleanup_json_ json_t *vmis = NULL;
	struct err err = {0};

	if (h->pods || vms_waiting(h) || !server_idle(h))
		return true;
	/* a VM that waits for its CPUs is work, too */
	return store_list(h->store, "virtualmachineinstances.kubevirt.io", NULL, &vmis, &err) < 0 ||
	       json_array_size(vmis) > 0;
}

/* Somebody removed the root under our hands: nobody can reach this handler any more. */
static bool is_orphan(const struct handler *h)
{
	struct stat st;

	return fstat(h->lock_fd, &st) == 0 && st.st_nlink == 0;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct handler *h = userdata;

	(void)usec;
	if (is_orphan(h)) {
		log_error("%s was removed: exit", h->paths.run);
		return sd_event_exit(h->event, 0);
	}
	if (has_work(h)) {
		h->idle_ticks = 0;
	} else if (++h->idle_ticks >= IDLE_SECONDS) {
		log_info("nothing to do: exit");
		return sd_event_exit(h->event, 0);
	}
	(void)sd_event_source_set_time_relative(source, 1000000);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int idle_watch(struct handler *h, struct err *err)
{
	int r = sd_event_add_time_relative(h->event, NULL, CLOCK_MONOTONIC, 1000000,
					   /* accuracy= */ 100000, on_tick, h);

	return r < 0 ? err_errno(err, r, "idle timer") : 0;
}

void idle_leave_cgroups(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	while (mounts && (m = getmntent(mounts))) {
		_cleanup_free_ char *path = NULL;

		if (!str_eq(m->mnt_type, "cgroup") && !str_eq(m->mnt_type, "cgroup2"))
			continue;
		path = xasprintf("%s/cgroup.procs", m->mnt_dir);
		if (file_write_at(AT_FDCWD, path, "0") < 0)
			log_debug("%s: can't move there, ignoring", path);
	}
	if (mounts)
		(void)endmntent(mounts);
}

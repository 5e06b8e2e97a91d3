// SPDX-License-Identifier: Apache-2.0
#include "handler/cleanup.h"

#include "handler/adopt_internal.h"
#include "handler/hostcpus.h"
#include "handler/launcher.h"
#include "handler/leftovers.h"
#include "handler/poddir.h"
#include "handler/proc.h"
#include "handler/steps.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define END_SECONDS 60 /* a process in the kernel's hands may never end */

/* As adoption does, but for talking to the launcher. */
static void revive_one(struct handler *h, struct store_pod *record)
{
	struct pod *pod = adopt_revive(h, record);
	struct err err = {0};

	if (pod->record.step < pod_step_index("run"))
		return;
	pod->state = POD_RUNNING; /* its guest may have been let go */
	if (poddir_open(h, pod->record.uid, &pod->dir_fd, &err) < 0)
		log_warning("%s, ignoring", err.msg);
	/* gone, or a zombie that nobody reaps: then there is no pidfd, which is what is asked below */
	if (proc_pidfd((pid_t)pod->record.pid, pod->record.pid_start, &pod->pidfd) == 0 &&
	    proc_has_ended(pod->pidfd))
		pod->pidfd = fd_close(pod->pidfd);
}

static int refuse_running(const struct handler *h, struct err *err)
{
	for (const struct pod *p = h->pods; p; p = p->next)
		if (p->pidfd >= 0)
			return err_set(err, -EBUSY,
				       "%s/%s runs (process %lld): shut it down with 'virtpod "
				       "delete vmi', or kill all that runs with --force",
				       p->record.ns, p->record.name, (long long)p->record.pid);
	return 0;
}

static void end_one(struct pod *pod)
{
	struct err err = {0};

	if (pod->state == POD_RUNNING && pod->pidfd >= 0) {
		launcher_kill_for(pod, OUTCOME_KILLED, "virtpod cleanup");
		if (launcher_watch_exit(pod, &err) < 0)
			pod_end(pod); /* which tries again */
		return;
	}
	if (pod->state == POD_STARTING)
		(void)err_set(&err, -ECANCELED, "its start was cut short at step '%s'",
			      pod_steps[pod->record.step].name);
	else
		(void)err_set(&err, -ECANCELED, "it had ended");
	adopt_give_up(pod, &err);
}

static int on_end_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	bool *late = userdata;

	(void)source;
	(void)usec;
	*late = true;
	return 0;
}

static int wait_until_gone(struct handler *h, struct err *err)
{
	bool late = false;
	int r = sd_event_add_time_relative(h->event, NULL, CLOCK_MONOTONIC,
					   END_SECONDS * 1000000ull,
					   /* accuracy= */ 0, on_end_timer, &late);

	while (r >= 0 && h->pods && !late)
		r = sd_event_run(h->event, UINT64_MAX);
	if (r < 0)
		return err_errno(err, r, "event loop");
	if (h->pods)
		return err_set(err, -EIO,
			       "%s/%s can't be removed in %d s: what it said last is why",
			       h->pods->record.ns, h->pods->record.name, END_SECONDS);
	return 0;
}

int cleanup_all(struct handler *h, bool force, struct err *err)
{
	struct pod *next;
	int r = adopt_each(h, revive_one, err), resist;

	if (r == 0 && !force)
		r = refuse_running(h, err);
	if (r == 0 && !force)
		r = adopt_refuse_unknown(h, err);
	if (r < 0)
		return r;
	for (struct pod *p = h->pods; p; p = next) {
		next = p->next; /* one of which nothing is left is freed at once */
		end_one(p);
	}
	r = wait_until_gone(h, err);
	if (r < 0)
		return r;
	resist = leftovers_remove(h);
	if (resist)
		return err_set(err, -EIO, "%d things can't be removed: see above", resist);
	r = hostcpus_free(h, /* uid= */ NULL, err);
	if (r < 0)
		return r;
	/* nobody is behind it any more */
	(void)unlinkat(h->paths.run_fd, "handler.sock", 0);
	log_info("%s: nothing of it is left in the kernel", h->paths.run);
	return 0;
}

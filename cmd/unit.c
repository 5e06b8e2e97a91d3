// SPDX-License-Identifier: Apache-2.0
#include "cmd/unit.h"

#include "lib/util.h"

#include <errno.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#define UNIT	 "virt-handler.service"
#define SYSTEMD	 "org.freedesktop.systemd1"
#define MANAGER	 SYSTEMD ".Manager"
#define OBJECT	 "/org/freedesktop/systemd1"
#define START_US (90u * 1000000) /* systemd's own default for a start */

struct job {
	char *path; /* NULL until StartUnit has answered */
	char result[32];
	char *ended; /* path of a job that ended before */
};

bool unit_installed(void)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

	return sd_booted() > 0 && sd_bus_open_system(&bus) >= 0 &&
	       sd_bus_call_method(bus, SYSTEMD, OBJECT, MANAGER, "GetUnitFileState", NULL, &reply,
				  "s", UNIT) >= 0;
}

/* JobRemoved(u id, o job, s unit, s result), for every job of the host. */
static int on_job_removed(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct job *job = userdata;
	const char *path, *unit, *result;
	uint32_t id;

	(void)error;
	if (sd_bus_message_read(m, "uoss", &id, &path, &unit, &result) < 0 || !str_eq(unit, UNIT))
		return 0;
	free(job->ended);
	job->ended = xstrdup(path);
	(void)snprintf(job->result, sizeof job->result, "%s", result);
	return 0;
}

static int start_job(sd_bus *bus, struct job *job, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *path = NULL;
	int r;

	/* before StartUnit, so that a job that ends at once is heard */
	r = sd_bus_match_signal(bus, NULL, SYSTEMD, OBJECT, MANAGER, "JobRemoved", on_job_removed,
				job);
	if (r >= 0)
		r = sd_bus_call_method(bus, SYSTEMD, OBJECT, MANAGER, "Subscribe", error, NULL, "");
	if (r >= 0)
		r = sd_bus_call_method(bus, SYSTEMD, OBJECT, MANAGER, "StartUnit", error, &reply,
				       "ss", UNIT, "replace");
	if (r >= 0)
		r = sd_bus_message_read(reply, "o", &path);
	if (r >= 0)
		job->path = xstrdup(path);
	return r;
}

static int wait_job(sd_bus *bus, const struct job *job)
{
	int r;

	while (!str_eq(job->ended, job->path)) {
		r = sd_bus_process(bus, NULL);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		r = sd_bus_wait(bus, START_US);
		if (r <= 0)
			return r < 0 ? r : -ETIMEDOUT;
	}
	return 0;
}

int unit_start(struct err *err)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	struct job job = {0};
	int r = sd_bus_open_system(&bus);

	if (r >= 0)
		r = start_job(bus, &job, &error);
	if (r >= 0)
		r = wait_job(bus, &job);
	if (r < 0)
		r = err_set(err, -ENOTCONN, "systemd could not start " UNIT ": %s",
			    error.message ? error.message : strerror(-r));
	else if (!str_eq(job.result, "done"))
		r = err_set(err, -ENOTCONN,
			    "systemd could not start " UNIT " (%s); see journalctl -u " UNIT,
			    job.result);
	free(job.path);
	free(job.ended);
	return r < 0 ? r : 0;
}

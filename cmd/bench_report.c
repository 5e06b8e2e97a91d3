// SPDX-License-Identifier: Apache-2.0
/* The figures as JSON (docs/bench.md), and that JSON as a table for people. */
#include "cmd/bench.h"
#include "cmd/table.h"

#include "lib/json.h"
#include "lib/util.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define QUIET_PER_CPU 0.5

static long cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

double bench_quiet_load(void)
{
	return QUIET_PER_CPU * (double)cpus();
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *host_json(const struct bench *b, double load_before)
{
	struct utsname u = {0};
	double after = 0;

	(void)uname(&u);
	(void)getloadavg(&after, 1);
	return json_pack("{s:i, s:f, s:f, s:s, s:s, s:s, s:s}", "cpus", (int)cpus(), "loadBefore",
			 load_before, "loadAfter", after, "kernel", u.release, "qemu", b->qemu,
			 "accel", b->plan->accel == ACCEL_KVM ? "kvm" : "tcg", "version",
			 VIRTPOD_VERSION);
}

static json_t *steps_json(const struct bench *b)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < b->n_steps; i++)
		(void)json_array_append_new(steps, json_pack("{s:s, s:o}", "name", b->steps[i].name,
							     "us", samples_json(&b->steps[i].us)));
	return steps;
}

static json_t *ratio_json(const struct bench *b)
{
	double bare = (double)samples_summary(&b->bare).median;

	return bare > 0 ? json_real((double)samples_summary(&b->virtpod).median / bare)
			: json_null();
}

json_t *bench_json(const struct bench *b, double load_before)
{
	json_t *start =
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "bare", samples_json(&b->bare),
			  "bareReady", samples_json(&b->bare_ready), "noBare",
			  text_or_null(b->no_bare), "virtpod", samples_json(&b->virtpod), "ours",
			  samples_json(&b->ours), "ratio", ratio_json(b), "steps", steps_json(b));
	json_t *boundary = json_pack(
		"{s:o, s:o, s:o, s:o, s:o}", "virtpod", samples_json(&b->boundary), "undo",
		samples_json(&b->boundary_undo), "namespaces", samples_json(&b->namespaces), "crun",
		samples_json(&b->crun), "noCrun", text_or_null(b->no_crun));
	json_t *gone = json_pack("{s:o, s:o}", "processes", samples_json(&b->gone_processes), "all",
				 samples_json(&b->gone_all));
	json_t *memory =
		json_pack("{s:o, s:o, s:o}", "launchers", samples_json(&b->launchers), "handler",
			  samples_json(&b->handler), "noMemory", text_or_null(b->no_memory));

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "host", host_json(b, load_before), "start",
			 start, "boundary", boundary, "delete", gone, "memory", memory);
}

/* --- for people -------------------------------------------------------------------------------- */

#define CELL 32

static void number(const json_t *summary, const char *key, double unit, char ret[static CELL])
{
	const json_t *v = json_object_get(summary, key);

	if (json_is_integer(v))
		(void)snprintf(ret, CELL, "%.1f", (double)json_integer_value(v) / unit);
	else
		(void)strcpy(ret, "-");
}

static void row(struct table *t, const char *name, const json_t *summary, double unit,
		const char *why)
{
	char median[CELL], least[CELL], most[CELL];

	number(summary, "median", unit, median);
	number(summary, "min", unit, least);
	number(summary, "max", unit, most);
	table_row(t, (const char *const[]){name, median, least, most, why});
}

#define MS  1000.0
#define KIB 1024.0

static void start_rows(struct table *t, const json_t *start)
{
	const json_t *step, *ratio = json_object_get(start, "ratio");
	char text[CELL];
	size_t i;

	row(t, "QEMU alone, fork to running", json_object_get(start, "bare"), MS,
	    json_str(start, "noBare"));
	row(t, "virtpod, request to Running", json_object_get(start, "virtpod"), MS, NULL);
	if (json_is_real(ratio)) {
		(void)snprintf(text, sizeof text, "%.2f", json_real_value(ratio));
		table_row(t,
			  (const char *const[]){"  ratio of the medians", text, NULL, NULL, NULL});
	}
	row(t, "  ours: the difference, by rounds", json_object_get(start, "ours"), MS, NULL);
	json_array_foreach (json_object_get(start, "steps"), i, step) {
		_cleanup_free_ char *name = xasprintf("  step %s", json_str(step, "name"));

		row(t, str_eq(json_str(step, "name"), "total") ? "  all steps" : name,
		    json_object_get(step, "us"), MS, NULL);
	}
}

void bench_table(const json_t *report, FILE *to)
{
	struct table t;

	(void)fprintf(to, "%s, %s, %lld CPUs, load %.2f before and %.2f after\n\n",
		      json_str(report, "host.qemu"), json_str(report, "host.accel"),
		      (long long)json_u64(report, "host.cpus", 0),
		      json_real_value(json_get(report, "host.loadBefore")),
		      json_real_value(json_get(report, "host.loadAfter")));
	table_init(&t, 5);
	table_row(&t, (const char *const[]){"milliseconds", "median", "min", "max", NULL});
	start_rows(&t, json_object_get(report, "start"));
	row(&t, "boundary alone", json_get(report, "boundary.virtpod"), MS, NULL);
	row(&t, "  its undo", json_get(report, "boundary.undo"), MS, NULL);
	row(&t, "  namespaces alone", json_get(report, "boundary.namespaces"), MS, NULL);
	row(&t, "crun run", json_get(report, "boundary.crun"), MS,
	    json_str(report, "boundary.noCrun"));
	row(&t, "delete, until its processes are gone", json_get(report, "delete.processes"), MS,
	    NULL);
	row(&t, "delete, until all is gone", json_get(report, "delete.all"), MS, NULL);
	table_row(&t, (const char *const[]){"", NULL, NULL, NULL, NULL});
	table_row(&t, (const char *const[]){"KiB", "median", "min", "max", NULL});
	row(&t, "a launcher's private memory, 2 VMs up", json_get(report, "memory.launchers"), KIB,
	    json_str(report, "memory.noMemory"));
	row(&t, "handler's private dirty, 10 VMs up", json_get(report, "memory.handler"), KIB,
	    json_str(report, "memory.noMemory"));
	table_flush(&t, to);
	table_done(&t);
}

// SPDX-License-Identifier: Apache-2.0
/* `virtpod bench start`: what a start costs beside QEMU's own, measured here and now. */
#include "cmd/bench.h"
#include "cmd/opts.h"
#include "cmd/print.h"

#include "lib/err.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_DEFAULT 20
#define ROUNDS_MAX     1000

uint64_t bench_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* can't fail for this clock */
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* The handler's own word on its steps, by its clock, which is ours, too. */
static void note_steps(struct bench *b, const json_t *vmi, uint64_t began, uint64_t running)
{
	json_t *steps = json_get(vmi, "status[virtpod.io/startMicroseconds]");
	uint64_t at = json_u64(vmi, "status[virtpod.io/startBegan]", 0);
	const char *name;
	json_t *us;
	size_t i = 0;

	bench_span(b, TRACK_REQUEST, "request to Running", began, running);
	bench_span(b, TRACK_HANDLER, "start", at, at + json_u64(steps, "total", 0));
	json_object_foreach (steps, name, us) {
		uint64_t took = (uint64_t)json_integer_value(us);

		if (i == BENCH_STEPS_MAX)
			break;
		if (!str_eq(name, "total"))
			bench_span(b, TRACK_HANDLER, name, at, at + took);
		at += took;
		if (!b->steps[i].name)
			b->steps[i].name = xstrdup(name);
		samples_add(&b->steps[i++].us, (int64_t)took);
	}
	b->n_steps = i;
}

static int read_qemu(struct bench *b, const char *name, struct err *err)
{
	char path[64], exe[PATH_MAX] = "";
	pid_t pid;
	int r = bench_vm_pid(b, name, "qemu", &pid, err);

	if (r < 0)
		return r;
	(void)snprintf(path, sizeof path, "/proc/%d/exe", pid);
	if (readlink(path, exe, sizeof exe - 1) < 0)
		return err_errno(err, -errno, "%s", path);
	b->qemu = xstrdup(exe);
	return 0;
}

/* The first VM fills caches for all that follow, and says which QEMU it is. */
static int warm_up(struct bench *b, struct err *err)
{
	_cleanup_json_ json_t *vmi = NULL;
	uint64_t a, z;
	int r = bench_vm_start(b, "bench-0", &vmi, &a, &z, err);

	if (r == 0)
		r = read_qemu(b, "bench-0", err);
	return r < 0 ? r : bench_vm_delete(b, "bench-0", &a, &z, err);
}

static int one_round(struct bench *b, struct err *err)
{
	_cleanup_json_ json_t *vmi = NULL;
	uint64_t began, running, processes, all;
	int r = b->no_bare ? 0 : bench_bare(b, err);

	if (r == 0)
		r = bench_vm_start(b, "bench-0", &vmi, &began, &running, err);
	if (r < 0)
		return r;
	samples_add(&b->virtpod, (int64_t)(running - began));
	if (!b->no_bare)
		samples_add(&b->ours, (int64_t)(running - began) - b->bare.v[b->bare.n - 1]);
	note_steps(b, vmi, began, running);
	r = bench_vm_delete(b, "bench-0", &processes, &all, err);
	if (r < 0)
		return r;
	samples_add(&b->gone_processes, (int64_t)processes);
	samples_add(&b->gone_all, (int64_t)all);
	return 0;
}

static int measure(struct bench *b, size_t rounds, struct err *err)
{
	int r = warm_up(b, err);

	for (size_t i = 0; r == 0 && i < rounds; i++)
		r = bench_stopped(b) ? -ECANCELED : one_round(b, err);
	if (r == 0)
		r = bench_boundary(b, rounds, err);
	if (r == 0)
		r = bench_crun(b, rounds, err);
	return r < 0 ? r : bench_memory(b, err);
}

static void bench_done(struct bench *b)
{
	struct samples *all[] = {&b->bare,	 &b->bare_ready, &b->virtpod,
				 &b->ours,	 &b->boundary,	 &b->boundary_undo,
				 &b->namespaces, &b->crun,	 &b->gone_processes,
				 &b->gone_all,	 &b->launchers,	 &b->handler};

	bench_close(b);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		samples_done(all[i]);
	for (size_t i = 0; i < b->n_steps; i++) {
		samples_done(&b->steps[i].us);
		free(b->steps[i].name);
	}
	free(b->no_crun);
	free(b->no_memory);
	json_decref(b->trace);
}

/* Our roots go with us, and their images are the user's: so an error names the user's root. */
static void name_users_root(const struct bench *b, const struct cli *cli, struct err *err)
{
	_cleanup_(paths_close) struct paths users = {.lib_fd = -1, .run_fd = -1};
	_cleanup_free_ char *own = xasprintf("%s/lib", b->root ? b->root : "");
	const char *const ours[] = {b->here.paths.lib, own};

	if (!b->root || paths_name(cli->root, &users, NULL) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		char *at = ours[i] ? strstr(err->msg, ours[i]) : NULL;
		struct err theirs = {0};

		if (!at)
			continue;
		(void)err_set(&theirs, err->code, "%.*s%s%s", (int)(at - err->msg), err->msg,
			      users.lib, at + strlen(ours[i]));
		*err = theirs;
	}
}

static int start(struct cli *cli, const struct texts *files, size_t rounds, const char *trace)
{
	_cleanup_(bench_done) struct bench b = {.trace = trace ? json_array() : NULL};
	_cleanup_json_ json_t *report = NULL;
	struct err err = {0};
	double load = 0;
	int r = bench_open(&b, cli, files, &err);
	(void)getloadavg(&load, 1);
	if (r == 0 && load > bench_quiet_load())
		log_warning("the load is %.2f here: other work is measured, too; compare ratios, "
			    "or come again when the host is quiet",
			    load);
	if (r == 0)
		r = measure(&b, rounds, &err);
	if (bench_stopped(&b)) {
		log_error("bench start: interrupted, nothing is reported");
		return EXIT_FAILED;
	}
	if (r == 0 && trace)
		r = bench_trace_write(&b, trace, &err);
	if (r < 0) {
		name_users_root(&b, cli, &err);
		return cli_fail(&err);
	}
	report = bench_json(&b, load);
	if (cli->output == OUTPUT_TABLE)
		bench_table(report, stdout);
	else
		print_value(cli->output, report);
	return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct texts files = {0};
	const char *trace = NULL;
	long rounds = ROUNDS_DEFAULT;
	const struct opt own[] = {{"filename", 'f', OPT_TEXTS, &files},
				  {"rounds", 0, OPT_COUNT, &rounds},
				  {"trace", 0, OPT_TEXT, &trace}};
	int code, at = opts_parse(cli, command_bench.usage, own, ARRAY_SIZE(own), false, argc, argv,
				  &code);

	if (at >= 0 && (at + 1 != argc || !str_eq(argv[at], "start"))) {
		_cleanup_free_ char *me = cli_me(NULL);

		log_error("bench: say what: %s bench start", me);
		code = EXIT_USAGE;
	} else if (at >= 0 && (rounds < 1 || rounds > ROUNDS_MAX)) {
		log_error("bench start: --rounds %ld: must be 1 to %d", rounds, ROUNDS_MAX);
		code = EXIT_USAGE;
	} else if (at >= 0) {
		code = start(cli, &files, (size_t)rounds, trace);
	}
	texts_done(&files);
	return code;
}

const struct command command_bench = {
	"bench",
	"measure what a start costs beside QEMU's own",
	"usage: virtpod bench start [-f FILE…] [--rounds N] [--trace FILE]\n"
	"\n"
	"  -f FILE       the VMI to start, with its configuration; without it, a small one with "
	"the\n"
	"                image virtpod/demo-guest, which `make run` makes below build/demo-root\n"
	"  --rounds N    how often each thing is measured (20); medians, least and most are shown\n"
	"  --trace FILE  every round as a trace that Chrome and Perfetto open\n"
	"\n"
	"Starts QEMU alone and as a VM in turns, in a root and with a handler of its own below\n"
	"--root's lib folder; then the pod's boundary alone, crun where it is, and memory. "
	"Nothing\n"
	"is left, also after Ctrl-C; what a killed one left goes when the next one begins. Other "
	"work\non the host is measured, too.\n",
	run,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML),
};

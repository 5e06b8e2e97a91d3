// SPDX-License-Identifier: Apache-2.0
/* What launchers and handler hold for themselves, as /proc/PID/smaps_rollup adds it up. */
#include "cmd/bench.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define TEXT_MAX 16384
#define NAME	 24

/* "Key:   123 kB" in bytes; 0 when it is not there. */
static int64_t field(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoll(at + strlen(key), NULL, 10) * 1024 : 0;
}

static int read_rollup(pid_t pid, bool clean_too, int64_t *ret, struct err *err)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/smaps_rollup", pid), *text = NULL;
	int r = file_read_at(AT_FDCWD, path, TEXT_MAX, &text, NULL);

	if (r < 0)
		return err_errno(err, r, "%s", path);
	*ret = field(text, "\nPrivate_Dirty:") + (clean_too ? field(text, "\nPrivate_Clean:") : 0);
	return 0;
}

static uint64_t available(void)
{
	_cleanup_free_ char *text = NULL;

	return file_read_at(AT_FDCWD, "/proc/meminfo", TEXT_MAX, &text, NULL) < 0
		       ? 0
		       : (uint64_t)field(text, "\nMemAvailable:");
}

static void name_of(unsigned i, char ret[static NAME])
{
	(void)snprintf(ret, NAME, "bench-%u", i);
}

static int launchers(struct bench *b, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < BENCH_LAUNCHER_VMS; i++) {
		char name[NAME];
		pid_t pid;
		int64_t bytes;

		name_of(i, name);
		r = bench_vm_pid(b, name, "launcher", &pid, err);
		if (r == 0)
			r = read_rollup(pid, /* clean_too= */ true, &bytes, err);
		if (r == 0)
			samples_add(&b->launchers, bytes);
	}
	return r;
}

static int bring_up(struct bench *b, unsigned *ret_up, struct err *err)
{
	int r = 0;

	for (*ret_up = 0; r == 0 && *ret_up < BENCH_HANDLER_VMS;) {
		_cleanup_json_ json_t *vmi = NULL;
		uint64_t began, running;
		char name[NAME];

		name_of(*ret_up, name);
		r = bench_stopped(b) ? -ECANCELED
				     : bench_vm_start(b, name, &vmi, &began, &running, err);
		*ret_up += r == 0;
		if (r == 0 && *ret_up == BENCH_LAUNCHER_VMS)
			r = launchers(b, err);
	}
	return r;
}

int bench_memory(struct bench *b, struct err *err)
{
	uint64_t need = b->plan->memory_limit * BENCH_HANDLER_VMS;
	unsigned up = 0;
	int64_t bytes;
	int r;

	if (b->plan->dedicated_cpus)
		b->no_memory = xstrdup("the VM wants CPUs of its own: ten of them need too many");
	else if (available() < need)
		b->no_memory = xasprintf("ten VMs need %llu MiB of free memory",
					 (unsigned long long)need >> 20);
	if (b->no_memory)
		return 0;
	r = bring_up(b, &up, err);
	if (r == 0)
		r = bench_find_handler(b, err);
	if (r == 0)
		r = read_rollup(b->handler_pid, /* clean_too= */ false, &bytes, err);
	if (r == 0)
		samples_add(&b->handler, bytes);
	while (up-- > 0 && r == 0) {
		uint64_t processes, all;
		char name[NAME];

		name_of(up, name);
		r = bench_vm_delete(b, name, &processes, &all, err);
	}
	return r;
}

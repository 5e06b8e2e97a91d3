// SPDX-License-Identifier: Apache-2.0
/*
 * Spans in Chrome's trace event format (object form): complete events "X" with ts and dur in
 * microseconds of CLOCK_MONOTONIC, one thread id per track, and "M" events that name them.
 */
#include "cmd/bench.h"

#include "lib/util.h"

#include <errno.h>

static const char *const tracks[] = {
	[TRACK_BARE] = "QEMU bare",	     [TRACK_REQUEST] = "virtpod: request",
	[TRACK_HANDLER] = "virtpod: steps",  [TRACK_DELETE] = "virtpod: delete",
	[TRACK_BOUNDARY] = "boundary alone",
};

void bench_span(struct bench *b, enum bench_track track, const char *name, uint64_t from,
		uint64_t to)
{
	if (!b->trace)
		return;
	(void)json_array_append_new(b->trace, json_pack("{s:s, s:s, s:i, s:i, s:I, s:I}", "name",
							name, "ph", "X", "pid", 1, "tid",
							(int)track, "ts", (json_int_t)from, "dur",
							(json_int_t)(to > from ? to - from : 0)));
}

int bench_trace_write(const struct bench *b, const char *path, struct err *err)
{
	json_t *events = json_array(), *all;
	int r, why;

	for (size_t i = 1; i < ARRAY_SIZE(tracks); i++)
		(void)json_array_append_new(events,
					    json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name",
						      "thread_name", "ph", "M", "pid", 1, "tid",
						      (int)i, "args", "name", tracks[i]));
	(void)json_array_extend(events, b->trace);
	all = json_pack("{s:s, s:o}", "displayTimeUnit", "ms", "traceEvents", events);
	errno = 0;
	r = json_dump_file(all, path, JSON_COMPACT);
	why = errno ? errno : EIO;
	json_decref(all);
	return r < 0 ? err_errno(err, -why, "--trace %s: can't be written", path) : 0;
}

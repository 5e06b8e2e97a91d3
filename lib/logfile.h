// SPDX-License-Identifier: Apache-2.0
/*
 * A log that never grows beyond its bound: then the older half goes, and writing continues in the same
 * file, which somebody else may have opened and be reading.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct logfile {
	int fd; /* owned; -1: no log */
	uint64_t size, max;
	bool broken; /* the last write failed */
};

/* Eats the fd, which must be a regular file open for reading and writing (-EINVAL); appends to it. */
int logfile_open(int fd_consume, uint64_t max, struct logfile *ret);
void logfile_done(struct logfile *l);

/*
 * At most max / 2 bytes. What can't be written is lost; a negative errno for the first of such losses in
 * a row, so that it is reported once.
 */
int logfile_write(struct logfile *l, const char *data, size_t len);

/*
 * What is at *pos of a log of that bound, while it is written: *pos moves with what is dropped. 0: nothing
 * more for now. A reader that is more than max / 2 behind misses some.
 */
ssize_t logfile_read(int fd, uint64_t max, uint64_t *pos, char *buf, size_t size);

/* Where the last `lines` lines of such a log begin; what is beyond its bound is not looked at. */
int logfile_tail(int fd, uint64_t max, uint64_t lines, uint64_t *ret_pos);

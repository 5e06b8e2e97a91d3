// SPDX-License-Identifier: Apache-2.0
/* Log lines to stderr, one per event, with the journal's "<n>" prefix when stderr is the journal. */
#pragma once

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* ident: program name put in front of each line (borrowed, must live on). */
void log_open(const char *ident, enum log_level max);
void log_with_times(void); /* from now on, when stderr is a file: that has none of its own */
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)	 log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)	 log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

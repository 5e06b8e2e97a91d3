// SPDX-License-Identifier: Apache-2.0
/*
 * A throw-away host for tests as root: the test program itself moves to network and mount namespaces
 * of its own, so that nothing it makes can outlive it, however it ends.
 */
#pragma once

#include "tests/unit/unit.h"

#include "lib/util.h"
#include "net/read.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LAB_TAG		"lab0"
#define LAB_PATIENCE_MS 10000 /* for what the kernel does a moment later: far more than it needs */

static int lab_dir = -1; /* where namespaces are pinned */

/* group setup */
static inline int lab_enter(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNS | CLONE_NEWNET) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/mnt", "tmpfs", MS_NODEV | MS_NOSUID, "mode=0700") < 0) {
		print_error("a network test needs root: %s\n", strerror(errno));
		return -1;
	}
	lab_dir = open("/mnt", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return lab_dir < 0 ? -1 : 0;
}

static inline int lab_leave(void **state)
{
	(void)state;
	lab_dir = fd_close(lab_dir);
	return 0;
}

#define assert_ok(err, call)                                                                       \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %s", #call, (err)->msg);                                     \
	} while (0)

/* the call fails with `code` and says `words` */
#define assert_refused(code, words, err, call)                                                     \
	do {                                                                                       \
		err_clear(err);                                                                    \
		assert_int_equal(call, code);                                                      \
		if (!strstr((err)->msg, words))                                                    \
			fail_msg("'%s' does not say '%s'", (err)->msg, words);                     \
		err_clear(err);                                                                    \
	} while (0)

static inline int64_t lab_now_ms(void)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &ts), 0);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static inline ino_t lab_here(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/net", &st), 0);
	return st.st_ino;
}

static inline int lab_count_fds(void)
{
	_cleanup_dir_ DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	return n;
}

static inline json_t *lab_links(int netns_fd)
{
	struct err err = {0};
	json_t *links = NULL;

	assert_ok(&err, net_read_links(netns_fd, &links, &err));
	return links;
}

/* borrowed from `links`; NULL when there is none of that name */
static inline json_t *lab_link(json_t *links, const char *name)
{
	json_t *l;
	size_t i;

	json_array_foreach (links, i, l)
		if (str_eq(json_string_value(json_object_get(l, "name")), name))
			return l;
	return NULL;
}

/* does link `name` have at least what `want` (jansson text with ' for ") says? */
static inline void lab_expect(json_t *links, const char *name, const char *want)
{
	_cleanup_free_ char *text = xstrdup(want);
	json_t *l = lab_link(links, name), *all, *v;
	const char *key;

	if (!l)
		fail_msg("no link '%s'", name);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	all = json_loads(text, 0, NULL);
	assert_non_null(all);
	json_object_foreach (all, key, v) {
		json_t *got = json_object_get(l, key);
		_cleanup_free_ char *got_text = got ? json_dumps(got, JSON_ENCODE_ANY) : NULL;
		_cleanup_free_ char *want_text = json_dumps(v, JSON_ENCODE_ANY);
		/* null: the field must be absent */
		if (json_is_null(v) ? got != NULL : !json_equal(v, got))
			fail_msg("link '%s': %s is %s, expected %s", name, key,
				 got_text ? got_text : "absent", want_text);
	}
	json_decref(all);
}

/*
 * Everything that must be the same when a thing has been undone. Not the operational state: the
 * kernel's link watch sets it some time later.
 */
static inline char *lab_dump(void)
{
	json_t *links = lab_links(-1), *l;
	char *text;
	size_t i;

	json_array_foreach (links, i, l)
		json_object_del(l, "operState");
	text = json_dumps(links, JSON_SORT_KEYS | JSON_INDENT(1));

	json_decref(links);
	return text;
}

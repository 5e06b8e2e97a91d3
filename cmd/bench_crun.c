// SPDX-License-Identifier: Apache-2.0
/*
 * crun for scale: `crun run` of the same static program, with the configuration that `crun spec`
 * writes, so its own namespaces, mounts, capabilities and group. Time runs from before the fork until
 * crun has ended, by when it has removed its container.
 */
#include "cmd/bench.h"

#include "lib/child.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONFIG_MAX 65536

/* In the child: crun with its words in `log`, both relative to the folder `dir`. */
static void become_crun(int dir, int log, char *const *argv)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fchdir(dir) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		return;
	(void)execvp(argv[0], argv);
}

/* crun's exit status, or 127 when there is none. */
static int run_crun(struct bench *b, int dir, int log, char *const *argv, uint64_t *ret_us,
		    struct err *err)
{
	uint64_t began = bench_now();
	_cleanup_fd_ int pidfd = -1;
	siginfo_t info;
	pid_t pid = child_fork(&pidfd);
	int r;

	if (pid == 0) {
		become_crun(dir, log, argv);
		_exit(127);
	}
	if (pid < 0)
		return err_errno(err, pid, "crun");
	r = bench_wait(b, pidfd, BENCH_ANSWER_MS, "crun", &info, err);
	if (r < 0)
		return r;
	*ret_us = bench_now() - began;
	return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static int write_config(int dir, struct err *err)
{
	_cleanup_free_ char *text = NULL, *changed = NULL;
	_cleanup_json_ json_t *config = NULL;
	size_t len;
	int r = file_read_at(dir, "config.json", CONFIG_MAX, &text, &len);

	if (r < 0)
		return err_errno(err, r, "crun's config.json");
	r = json_parse(text, len, CONFIG_MAX, &config, err);
	if (r < 0)
		return r;
	(void)json_path_set(config, "process.args", json_pack("[s]", "/true"));
	(void)json_path_set(config, "process.terminal", json_false());
	changed = json_text(config);
	r = file_write_at(dir, "config.json", changed);
	return r < 0 ? err_errno(err, r, "crun's config.json") : 0;
}

static int make_bundle(int dir, struct err *err)
{
	_cleanup_fd_ int rootfs = -1;
	int r = mkdir_p_at(dir, "rootfs", 0755);

	if (r < 0)
		return err_errno(err, r, "crun's rootfs");
	rootfs = openat(dir, "rootfs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return rootfs < 0 ? err_errno(err, -errno, "crun's rootfs")
			  : bench_true_write(rootfs, "true", err);
}

/* The last line of what crun said; NULL: nothing. */
static char *last_words(int dir)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	char clean[200];

	if (file_read_at(dir, "log", CONFIG_MAX, &text, &len) < 0 || !len)
		return NULL;
	while (len && text[len - 1] == '\n')
		text[--len] = 0;
	str_printable(strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text, clean, sizeof clean);
	return xstrdup(clean);
}

static void not_possible(struct bench *b, int dir, const char *what, int status)
{
	_cleanup_free_ char *words = last_words(dir);

	/* 127 is the loader's, too, which then says what it lacks */
	b->no_crun = status == 127 && !words ? xstrdup("crun is not installed")
					     : xasprintf("%s: exit status %d: %s", what, status,
							 words ? words : "without a word");
}

static int measure(struct bench *b, int dir, int log, size_t rounds, struct err *err)
{
	char *spec[] = {(char[]){"crun"}, (char[]){"spec"}, NULL};
	char *run[] = {(char[]){"crun"}, (char[]){"--root"},	    (char[]){"state"},
		       (char[]){"run"},	 (char[]){"virtpod-bench"}, NULL};
	uint64_t us;
	int r = run_crun(b, dir, log, spec, &us, err);

	if (r > 0)
		not_possible(b, dir, "crun spec", r);
	if (r == 0)
		r = write_config(dir, err);
	for (size_t i = 0; r == 0 && i < rounds; i++) {
		if (bench_stopped(b))
			return -ECANCELED;
		r = run_crun(b, dir, log, run, &us, err);
		if (r > 0)
			not_possible(b, dir, "crun run", r);
		if (r == 0)
			samples_add(&b->crun, (int64_t)us);
	}
	return r < 0 ? r : 0;
}

int bench_crun(struct bench *b, size_t rounds, struct err *err)
{
	_cleanup_fd_ int dir = -1, log = -1;
	int r = mkdir_p_at(b->here.paths.lib_fd, "crun", 0755);

	if (r < 0)
		return err_errno(err, r, "%s/crun", b->here.paths.lib);
	dir = openat(b->here.paths.lib_fd, "crun", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	log = dir < 0 ? -1 : openat(dir, "log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0)
		return err_errno(err, -errno, "%s/crun", b->here.paths.lib);
	r = make_bundle(dir, err);
	return r < 0 ? r : measure(b, dir, log, rounds, err);
}

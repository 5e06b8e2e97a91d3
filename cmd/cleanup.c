// SPDX-License-Identifier: Apache-2.0
/*
 * The one command that is for a root without a handler: virt-handler does the work, in the foreground and
 * without serving anything (handler_clean).
 */
#include "cmd/cleanup.h"

#include "cmd/autostart.h"
#include "cmd/opts.h"

#include "lib/child.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_child(int pidfd)
{
	siginfo_t info = {0};

	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
		;
	if (info.si_code == CLD_EXITED)
		return info.si_status;
	log_error("cleanup: virt-handler died of signal %d (%s); do it again", info.si_status,
		  strsignal(info.si_status));
	return EXIT_FAILED;
}

int cleanup_root(const struct cli *cli, bool force, struct err *err)
{
	char exe[PATH_MAX], cleanup[] = "--cleanup", root[] = "--root", forced[] = "--force",
			    say_more[] = "-v";
	_cleanup_free_ char *dir = xstrdup(cli->root ? cli->root : "");
	char *argv[7] = {exe, cleanup}, *env[] = {NULL};
	_cleanup_fd_ int pidfd = -1;
	size_t n = 2;
	pid_t pid;
	int r = autostart_find(exe, err);

	if (r < 0)
		return r;
	if (force)
		argv[n++] = forced;
	if (cli->verbose)
		argv[n++] = say_more;
	if (cli->root) {
		argv[n++] = root;
		argv[n++] = dir;
	}
	pid = child_fork(&pidfd);
	if (pid < 0)
		return err_errno(err, pid, "cleanup: fork");
	if (pid == 0) {
		(void)execve(exe, argv, env);
		_exit(EXIT_FAILED);
	}
	return wait_child(pidfd);
}

static int run(struct cli *cli, int argc, char **argv)
{
	bool force = false;
	const struct opt own[] = {{"force", 0, OPT_FLAG, &force}};
	struct err err = {0};
	int code, r,
		at = opts_parse(cli, command_cleanup.usage, own, ARRAY_SIZE(own),
				/* first_word_ends= */ false, argc, argv, &code);

	if (at < 0)
		return code;
	if (at < argc) {
		log_error("cleanup: '%s': it takes no names; --root says what is cleaned",
			  argv[at]);
		return EXIT_USAGE;
	}
	r = cleanup_root(cli, force, &err);
	return r < 0 ? cli_fail(&err) : r;
}

const struct command command_cleanup = {
	"cleanup",
	"remove what a crash left of a root that no handler serves",
	"usage: virtpod cleanup [--force]\n"
	"\n"
	"Cgroups, links, namespaces, mounts, processes and held CPUs of a root whose virt-handler "
	"ended and\n"
	"will not come again; a handler that starts does the same by itself. Objects and images "
	"stay.\n"
	"Refused while a handler serves the root, or a VM of it runs.\n"
	"\n"
	"  --force  kill VMs that run\n",
	run,
	0,
};

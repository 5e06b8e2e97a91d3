// SPDX-License-Identifier: Apache-2.0
#include "lib/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3 /* since Linux 5.4; glibc 2.36 */
#endif

pid_t child_fork(int *ret_pidfd)
{
	int pidfd, e;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		return 0;
	/* by number: glibc has had wrappers since 2.36 only */
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		e = errno;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return -e;
	}
	*ret_pidfd = pidfd;
	return pid;
}

int child_signal(int pidfd, int sig)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) < 0 ? -errno : 0;
}

void child_reap(int pidfd)
{
	siginfo_t si;

	while (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &si, WEXITED) < 0 && errno == EINTR)
		;
}

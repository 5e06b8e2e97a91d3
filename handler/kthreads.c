// SPDX-License-Identifier: Apache-2.0
#include "handler/kthreads.h"

#include "handler/proc.h"

#include "lib/file.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define CHILDREN     "proc/2/task/2/children"
#define RISK	     "kernel threads kvm-pit may run on dedicated CPUs: "
#define CHILDREN_MAX (1024 * 1024) /* bytes: some 150 000 threads */

static bool is_pit(const char *pid)
{
	char path[64], name[32];

	(void)snprintf(path, sizeof path, "/proc/%.16s/comm", pid);
	return file_read_line_at(AT_FDCWD, path, name, sizeof name) == 0 &&
	       str_after(name, "kvm-pit/");
}

static void confine(char *pids, const cpu_set_t *shared)
{
	char *save = NULL;

	for (char *w = strtok_r(pids, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
		pid_t pid = (pid_t)strtol(w, NULL, 10);

		if (is_pit(w) && sched_setaffinity(pid, sizeof *shared, shared) < 0 &&
		    errno != ESRCH)
			log_warning("kernel thread %d (kvm-pit): affinity: %s, ignoring", pid,
				    strerror(errno));
	}
}

int kthreads_list(int root, char **ret, struct err *err)
{
	int r = file_read_at(root, CHILDREN, CHILDREN_MAX, ret, NULL);

	if (r == -ENOENT)
		return err_set(err, r,
			       RISK "no /" CHILDREN ", which lists the kernel's threads: "
				    "take a kernel with CONFIG_PROC_CHILDREN");
	if (r == -EFBIG)
		return err_set(err, r,
			       RISK "/" CHILDREN " has more than the %d bytes that are "
				    "read: let fewer VMs run here",
			       CHILDREN_MAX);
	return r < 0 ? err_errno(err, r, RISK "/" CHILDREN) : 0;
}

static int find(char **ret, struct err *err)
{
	_cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return err_errno(err, -errno, "/");
	if (!proc_sees_kernel())
		return err_set(err, -ESRCH,
			       RISK "process 2 is not kthreadd: start virt-handler in "
				    "the host's pid namespace");
	return kthreads_list(root, ret, err);
}

void kthreads_confine(const cpu_set_t *shared)
{
	static bool said;
	_cleanup_free_ char *pids = NULL;
	struct err err = {0};

	if (find(&pids, &err) == 0) {
		confine(pids, shared);
	} else if (!said) {
		log_warning("%s, ignoring", err.msg);
		said = true;
	}
}

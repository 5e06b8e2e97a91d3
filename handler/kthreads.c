// SPDX-License-Identifier: Apache-2.0
#include "handler/kthreads.h"

#include "lib/file.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define CHILDREN_MAX (1024 * 1024)

static bool name_is(const char *pid, const char *prefix)
{
	char path[64], name[32];

	(void)snprintf(path, sizeof path, "/proc/%.16s/comm", pid);
	return file_read_line_at(AT_FDCWD, path, name, sizeof name) == 0 && str_after(name, prefix);
}

void kthreads_confine(const cpu_set_t *shared)
{
	_cleanup_free_ char *text = NULL;
	char *save = NULL;

	/* all kernel threads are children of process 2; inside a pid namespace it is somebody else */
	if (!name_is("2", "kthreadd") ||
	    file_read_at(AT_FDCWD, "/proc/2/task/2/children", CHILDREN_MAX, &text, NULL) < 0)
		return;
	for (char *w = strtok_r(text, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
		pid_t pid = (pid_t)strtol(w, NULL, 10);

		if (name_is(w, "kvm-pit/") && sched_setaffinity(pid, sizeof *shared, shared) < 0 &&
		    errno != ESRCH)
			log_warning("kernel thread %d (kvm-pit): affinity: %s, ignoring", pid,
				    strerror(errno));
	}
}

// SPDX-License-Identifier: Apache-2.0
#include "handler/ownlog.h"

#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "handler.log"

void ownlog_bound(struct handler *h)
{
	_cleanup_fd_ int fd = -1;
	struct stat now, file;

	if (fstat(STDERR_FILENO, &now) < 0 || !S_ISREG(now.st_mode) || now.st_size < OWNLOG_MAX ||
	    fstatat(h->paths.run_fd, NAME, &file, AT_SYMLINK_NOFOLLOW) < 0 ||
	    file.st_ino != now.st_ino || file.st_dev != now.st_dev)
		return;
	if (renameat(h->paths.run_fd, NAME, h->paths.run_fd, NAME ".1") == 0)
		fd = openat(h->paths.run_fd, NAME,
			    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		log_warning("%s/" NAME ": %s: it grows beyond its bound", h->paths.run,
			    strerror(errno));
}

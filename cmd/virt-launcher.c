// SPDX-License-Identifier: Apache-2.0
#include "api/wire.h"
#include "launcher/launcher.h"
#include "lib/log.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#ifdef __SANITIZE_ADDRESS__
/*
 * A build with AddressSanitizer looks for leaks at the end of a process: by a thread that stops the others
 * with ptrace and reads /proc, and a pod has neither. Unit tests look for them in launcher_run.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

static bool is_seqpacket(int fd)
{
	socklen_t len = sizeof(int);
	int type = 0;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

static int usage(FILE *to, int status)
{
	(void)fprintf(to, "usage: virt-launcher [--help | --version]\n"
			  "First process of a VM's pod; started by virt-handler, see "
			  "virt-launcher(8).\n");
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};
	struct err err = {0};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h')
			return usage(stdout, 0);
		if (c != 'V')
			return usage(stderr, 2);
		(void)puts("virt-launcher " VIRTPOD_VERSION);
		return 0;
	}
	if (optind < argc)
		return usage(stderr, 2);
	if (!is_seqpacket(WIRE_FD_CHANNEL) || !is_seqpacket(WIRE_FD_LISTENER)) {
		(void)fprintf(stderr, "virt-launcher: descriptors 3 and 4 are not the handler's "
				      "sockets; virt-launcher is started by virt-handler\n");
		return 2;
	}
	/* they came through execve; QEMU must not inherit them */
	(void)fcntl(WIRE_FD_CHANNEL, F_SETFD, FD_CLOEXEC);
	(void)fcntl(WIRE_FD_LISTENER, F_SETFD, FD_CLOEXEC);
	log_open("virt-launcher", LOG_LEVEL_INFO);
	if (launcher_run(WIRE_FD_CHANNEL, WIRE_FD_LISTENER, &err) < 0) {
		log_error("%s", err.msg);
		return 1;
	}
	return 0;
}

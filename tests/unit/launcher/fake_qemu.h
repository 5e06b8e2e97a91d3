// SPDX-License-Identifier: Apache-2.0
/*
 * A QEMU that is none: speaks QMP on the descriptor that its command line names, and behaves as the
 * VM's name says. The test program executes itself with QEMU's arguments to become it.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util.h"

static int fake_qmp = -1, fake_serial = -1;
static const char *fake_mode = "";

static void fake_say(const char *line)
{
	/* one write: SIGTERM's handler must not put its event into the middle of a line */
	(void)dprintf(fake_qmp, "%s\r\n", line);
}

static bool fake_is(const char *mode)
{
	return strcmp(fake_mode, mode) == 0;
}

static void fake_end(const char *reason)
{
	_cleanup_free_ char *event = xasprintf(
		"{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": false, \"reason\": \"%s\"}}",
		reason);

	fake_say(event);
	_exit(0);
}

static void fake_on_sigterm(int sig)
{
	(void)sig;
	fake_end("host-signal");
}

/* One grandchild that loses its parent and ends: somebody must reap it. */
static void fake_orphan(void)
{
	if (fork() == 0) {
		(void)!fork(); /* both end; the grandchild's parent may be gone first or not */
		_exit(0);
	}
}

static void fake_return(const char *line, const char *value)
{
	const char *id = strstr(line, "\"id\":");
	_cleanup_free_ char *answer =
		xasprintf("{\"return\": %s, \"id\": %d}", value, id ? atoi(id + 5) : 0);

	fake_say(answer);
}

static void fake_cpus(const char *line)
{
	static unsigned asked;

	if (fake_is("dies-later")) {
		(void)!write(2, "fake: out of cheese\n", 20);
		_exit(3);
	}
	if (fake_is("held")) {
		sigset_t usr1;
		int sig;

		(void)sigemptyset(&usr1);
		(void)sigaddset(&usr1, SIGUSR1);
		(void)!write(fake_serial, "held ", 5);
		(void)sigwait(&usr1, &sig);
	}
	if (fake_is("late") && asked++ == 0)
		fake_return(line, "[{\"thread-id\": 11}]");
	else if (fake_is("lies")) /* the launcher's */
		fake_return(line, "[{\"thread-id\": 1}]");
	else if (fake_is("babbles"))
		fake_return(line, "{\"thread-id\": \"none\"}");
	else
		fake_return(line, "[{\"thread-id\": 11}, {\"thread-id\": 12}]");
}

static void fake_command(const char *line)
{
	if (strstr(line, "\"query-cpus-fast\"")) {
		fake_cpus(line);
	} else if (strstr(line, "\"query-iothreads\"")) {
		fake_return(line, "[]");
	} else if (strstr(line, "\"query-status\"")) {
		fake_return(line, "{\"status\": \"running\"}");
	} else if (strstr(line, "\"cont\"")) {
		fake_say("{\"event\": \"RESUME\"}");
		fake_return(line, "{}");
		(void)!write(fake_serial, "hello ", 6);
	} else if (strstr(line, "\"system_powerdown\"")) {
		fake_return(line, "{}");
		if (!fake_is("deaf"))
			fake_end("guest-shutdown");
	} else {
		fake_return(line, "{}");
	}
}

static void fake_serve(void)
{
	char buf[4096];
	ssize_t n;

	for (;;) {
		fd_set set;

		FD_ZERO(&set);
		FD_SET(fake_qmp, &set);
		FD_SET(fake_serial, &set);
		if (select((fake_qmp > fake_serial ? fake_qmp : fake_serial) + 1, &set, NULL, NULL,
			   NULL) < 0)
			continue;
		if (FD_ISSET(fake_serial, &set)) {
			n = read(fake_serial, buf, sizeof buf);
			if (n > 0)
				(void)!write(fake_serial, buf, (size_t)n); /* echo */
		}
		if (!FD_ISSET(fake_qmp, &set))
			continue;
		n = read(fake_qmp, buf, sizeof buf - 1);
		if (n <= 0)
			_exit(0);
		buf[n] = 0;
		for (char *save = NULL, *l = strtok_r(buf, "\n", &save); l;
		     l = strtok_r(NULL, "\n", &save))
			fake_command(l);
	}
}

static int fake_fd(int argc, char **argv, const char *before)
{
	for (int i = 1; i < argc; i++) {
		const char *n = str_after(argv[i], before);

		if (n)
			return atoi(n);
	}
	return -1;
}

/* The descriptors that are open, to stderr. */
static void fake_list_fds(void)
{
	char text[512] = "fds", link[64], name[32];

	for (int fd = 0; fd < 64; fd++) {
		(void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		if (readlink(name, link, sizeof link) < 0)
			continue;
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), " %s",
			       fd == fake_qmp	   ? "qmp"
			       : fd == fake_serial ? "serial"
			       : fd < 3		   ? "std"
						   : "other");
	}
	(void)!write(2, text, strlen(text));
	(void)!write(2, " end\n", 5);
	_exit(1);
}

static void fake_qemu_main(int argc, char **argv)
{
	sigset_t usr1;
	char *mode = strchr(argv[2], '_'); /* guest=default_MODE,debug-threads=on */

	fake_mode = strndup(mode + 1, strcspn(mode + 1, ","));
	fake_qmp = fake_fd(argc, argv, "socket,id=qmp,fd=");
	fake_serial = fake_fd(argc, argv, "socket,id=serial0,fd=");
	if (fake_is("dies")) {
		(void)!write(2, "fake: first line\nfake: cannot do it\n", 36);
		_exit(1);
	}
	if (fake_is("hangs") || fake_is("mute"))
		for (;;)
			(void)pause();
	if (fake_is("spews"))
		for (unsigned i = 0; i < 200000; i++)
			(void)dprintf(2, "fake: \033[31m\23332m\302\23333mline %u\n", i);
	if (fake_is("huge"))
		for (;;)
			(void)!write(fake_qmp, "{\"a\": \"aaaaaaaaaaaaaaaa", 24);
	if (fake_is("deep"))
		for (;;)
			(void)!write(fake_qmp, "[[[[[[[[[[[[[[[[", 16);
	if (fake_is("fds"))
		fake_list_fds();
	if (fake_is("orphan"))
		fake_orphan();
	(void)sigemptyset(&usr1);
	(void)sigaddset(&usr1, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &usr1, NULL); /* "held" waits for it */
	(void)signal(SIGTERM, fake_on_sigterm);
	fake_say(fake_is("nonsense") ? "SSH-2.0-dropbear"
				     : "{\"QMP\": {\"version\": {}, \"capabilities\": []}}");
	fake_serve();
}

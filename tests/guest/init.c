// SPDX-License-Identifier: Apache-2.0
/*
 * PID 1 of the test guest. It mounts the kernel's file systems, loads the modules that /modules
 * lists, sets addresses, says on the console what it found and then serves commands there.
 * Options on the kernel's command line:
 *   virtpod.ip=NIC/ADDR/PREFIX[,…]  static IPv4 address; NIC is a name, or 0, 1, … without lo
 *   virtpod.acpi=ignore             the power button changes nothing
 *   virtpod.do=COMMAND              one of the shell's commands, after the ready line
 */
#include "lib/file.h"
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LIST_MAX	   65536
#define KLOG_CONSOLE_LEVEL 8 /* syslog(2): SYSLOG_ACTION_CONSOLE_LEVEL */

struct options {
	char *ip; /* fields borrow from the command line */
	const char *run;
};

static void complain(const struct err *err)
{
	printf("virtpod-guest: error: %s\n", err->msg);
}

static void mount_all(void)
{
	static const char *const mounts[][2] = {
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}};

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		struct err err = {0};

		(void)mkdir_p_at(AT_FDCWD, mounts[i][1], 0755); /* mount says it better */
		if (mount(mounts[i][0], mounts[i][1], mounts[i][0], MS_NOSUID, NULL) < 0) {
			(void)err_errno(&err, -errno, "mount %s", mounts[i][1]);
			complain(&err);
		}
	}
}

static void module_load(const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err err = {0};

	/* ENODEV: a driver that wants to see its hardware first, and there is none */
	if (fd >= 0 && (syscall(SYS_finit_module, fd, "", 0) == 0 || errno == ENODEV))
		return;
	(void)err_errno(&err, -errno, "module %s", path);
	complain(&err);
}

/*
 * One path per line, dependencies first. The kernel ends each load only when asynchronous probes
 * have ended, too, so afterwards every disk is there.
 */
static void modules_load(void)
{
	_cleanup_free_ char *list = NULL;
	char *rest, *path;

	if (file_read_at(AT_FDCWD, "/modules", LIST_MAX, &list, NULL) < 0)
		return; /* a kernel with everything built in */
	rest = list;
	while ((path = strsep(&rest, "\n")))
		if (*path)
			module_load(path);
}

static void options_parse(char *cmdline, struct options *ret)
{
	char *word;

	while ((word = strsep(&cmdline, " \n"))) {
		if (str_after(word, "virtpod.ip="))
			ret->ip = strchr(word, '=') + 1;
		else if (str_after(word, "virtpod.do="))
			ret->run = str_after(word, "virtpod.do=");
		else if (str_eq(word, "virtpod.acpi=ignore"))
			acpi_ignore(true);
		else if (str_after(word, "virtpod."))
			printf("virtpod-guest: error: unknown option '%s'\n", word);
	}
}

static void network_up(char *specs)
{
	struct err err = {0};
	char *spec;

	if (nic_up("lo", &err) < 0)
		complain(&err);
	while ((spec = strsep(&specs, ","))) {
		err_clear(&err);
		if (nic_configure(spec, &err) < 0)
			complain(&err);
	}
}

static void banner(void)
{
	char names[NICS_MAX][IF_NAMESIZE];
	struct utsname u;
	int n = nic_list(names);

	(void)uname(&u); /* cannot fail with a valid pointer */
	printf("virtpod-guest: Linux %s, %d CPUs, %ld MiB, NICs:", u.release, get_nprocs(),
	       mem_kib("MemTotal:") / 1024);
	for (int i = 0; i < n; i++)
		printf(" %s", names[i]);
	printf("\n");
}

int main(void)
{
	_cleanup_free_ char *cmdline = NULL;
	struct options o = {0};

	(void)setvbuf(stdout, NULL, _IOLBF, 0); /* else lines come late, but come */
	mount_all();
	modules_load();
	if (file_read_at(AT_FDCWD, "/proc/cmdline", LIST_MAX, &cmdline, NULL) >= 0)
		options_parse(cmdline, &o);
	network_up(o.ip);
	banner();
	loop_listen();
	/* from here on only panics may stand between a command and its answer */
	(void)klogctl(KLOG_CONSOLE_LEVEL, NULL, 1);
	printf("virtpod-guest: ready\n");
	if (o.run) {
		_cleanup_free_ char *line = xstrdup(o.run);

		(void)shell_run(line); /* a child, if any, is reaped by the loop */
	}
	loop_run();
}

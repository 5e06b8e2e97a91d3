// SPDX-License-Identifier: Apache-2.0
/*
 * How the guest ends: by command, by the ACPI power button, by a crash, or not at all. The kernel's
 * `button` driver shows the ACPI button as an input device named "Power Button"; a keyboard has a
 * power key, too, so the key alone does not tell.
 */
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <unistd.h>

static bool ignored;

static bool is_power_button(int fd)
{
	unsigned char keys[KEY_MAX / 8 + 1] = {0};
	char name[64] = "";

	if (ioctl(fd, EVIOCGNAME(sizeof name - 1), name) < 0 ||
	    ioctl(fd, EVIOCGBIT(EV_KEY, sizeof keys), keys) < 0)
		return false;
	return strstr(name, "Power Button") && (keys[KEY_POWER / 8] & (1U << KEY_POWER % 8));
}

int button_open_all(int ret_fds[BUTTONS_MAX])
{
	_cleanup_dir_ DIR *dir = opendir("/dev/input");
	struct dirent *de;
	int n = 0;

	while (dir && n < BUTTONS_MAX && (de = readdir(dir))) {
		_cleanup_fd_ int fd = -1;

		if (!str_after(de->d_name, "event"))
			continue;
		fd = openat(dirfd(dir), de->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && is_power_button(fd))
			ret_fds[n++] = TAKE_FD(fd);
	}
	return n;
}

bool button_pressed(int fd)
{
	struct input_event ev;
	bool pressed = false;

	while (read(fd, &ev, sizeof ev) == (ssize_t)sizeof ev)
		pressed |= ev.type == EV_KEY && ev.code == KEY_POWER && ev.value == 1;
	return pressed;
}

/* Returns only when the kernel refuses, with why. */
static int end(int how)
{
	(void)fflush(stdout); /* the console may be gone: the machine goes, too */
	sync();
	return reboot(how) < 0 ? -errno : 0;
}

void button_obey(void)
{
	struct pollfd console = {STDOUT_FILENO, POLLOUT, 0};

	/* a host that doesn't read the console must not keep the machine from powering off */
	if (poll(&console, 1, 0) > 0)
		printf("virtpod-guest: power button%s\n", ignored ? " ignored" : "");
	if (!ignored)
		(void)end(RB_POWER_OFF); /* still here: the next press tries again */
}

void acpi_ignore(bool ignore)
{
	ignored = ignore;
}

int cmd_acpi(int argc, char **argv, struct err *err)
{
	(void)argc; /* the table's signature */
	if (!str_eq(argv[0], "ignore") && !str_eq(argv[0], "obey"))
		return err_set(err, -EINVAL, "'%s' is neither ignore nor obey", argv[0]);
	acpi_ignore(str_eq(argv[0], "ignore"));
	return 0;
}

int cmd_poweroff(int argc, char **argv, struct err *err)
{
	(void)argc, (void)argv; /* the table's signature */
	return err_errno(err, end(RB_POWER_OFF), "power off");
}

int cmd_reboot(int argc, char **argv, struct err *err)
{
	(void)argc, (void)argv; /* the table's signature */
	return err_errno(err, end(RB_AUTOBOOT), "reboot");
}

int cmd_panic(int argc, char **argv, struct err *err)
{
	_cleanup_fd_ int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);

	(void)argc, (void)argv; /* the table's signature */
	if (fd < 0 || write(fd, "c", 1) < 0)
		return err_errno(err, -errno, "/proc/sysrq-trigger");
	return err_set(err, -EIO, "the kernel survived");
}

int cmd_hang(int argc, char **argv, struct err *err)
{
	(void)argc, (void)argv, (void)err; /* the table's signature */
	for (;;)
		(void)pause(); /* the button's driver still works, but nobody listens */
}

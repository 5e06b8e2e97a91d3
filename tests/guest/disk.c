// SPDX-License-Identifier: Apache-2.0
/*
 * Disks: what the guest sees of them, and text at an offset. Text is stored with a NUL behind it and
 * goes to and comes from the medium, not the page cache, so that host and guest see each other's
 * writes.
 */
#include "lib/file.h"
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#define TEXT_MAX 512

static const char *bus_of(const char *disk)
{
	_cleanup_free_ char *link = xasprintf("/sys/block/%s", disk);
	_cleanup_free_ char *path = realpath(link, NULL);

	if (!path)
		return "unknown";
	if (strstr(path, "/ata"))
		return "sata";
	if (strstr(path, "/target"))
		return "scsi";
	return strstr(path, "/virtio") ? "virtio" : "unknown";
}

/* virtio has the serial as text; SCSI and ATA as the vital product data page 0x80, 4 bytes of head. */
static void serial_print(const char *disk)
{
	_cleanup_free_ char *page = xasprintf("/sys/block/%s/device/vpd_pg80", disk), *data = NULL;
	char text[64];
	size_t len, from = 4;

	line_read(text, sizeof text, "/sys/block/%s/serial", disk);
	if (*text || file_read_at(AT_FDCWD, page, 256, &data, &len) < 0) {
		printf("%s", text);
		return;
	}
	while (len && (!data[len - 1] || isspace((unsigned char)data[len - 1])))
		len--;
	while (from < len && isspace((unsigned char)data[from]))
		from++;
	for (; from < len; from++)
		putchar(isprint((unsigned char)data[from]) ? data[from] : '?');
}

static void disk_print(const char *disk)
{
	char sectors[24], ro[4];

	line_read(sectors, sizeof sectors, "/sys/block/%s/size", disk);
	line_read(ro, sizeof ro, "/sys/block/%s/ro", disk);
	/* sysfs counts in 512-byte sectors whatever the disk's own are */
	printf("disk=%s bytes=%lld ro=%s bus=%s serial=", disk, atoll(sectors) * 512, ro,
	       bus_of(disk));
	serial_print(disk);
	printf("\n");
}

static int is_disk(const struct dirent *de)
{
	return de->d_name[0] != '.' && !str_after(de->d_name, "loop");
}

int cmd_disks(int argc, char **argv, struct err *err)
{
	struct dirent **found;
	int n = scandir("/sys/block", &found, is_disk, alphasort);

	(void)argc, (void)argv; /* the table's signature */
	if (n < 0)
		return err_errno(err, -errno, "/sys/block");
	for (int i = 0; i < n; i++) {
		disk_print(found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return 0;
}

static int disk_open(char **argv, int flags, int *ret_fd, long *ret_offset, struct err *err)
{
	_cleanup_free_ char *path = xasprintf("/dev/%s", argv[0]);
	int r = num_parse(argv[1], "offset", 0, LONG_MAX - TEXT_MAX, ret_offset, err), fd;

	if (r < 0)
		return r;
	if (strchr(argv[0], '/'))
		return err_set(err, -EINVAL, "'%s' is not a disk's name", argv[0]);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	*ret_fd = fd;
	return 0;
}

int cmd_read(int argc, char **argv, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	char text[TEXT_MAX];
	long offset;
	ssize_t n;
	int r = disk_open(argv, O_RDONLY, &fd, &offset, err);

	(void)argc; /* the table's signature */
	if (r < 0)
		return r;
	if (ioctl(fd, BLKFLSBUF, 0) < 0)
		return err_errno(err, -errno, "dropping the cache of '%s'", argv[0]);
	n = pread(fd, text, sizeof text, offset);
	if (n < 0)
		return err_errno(err, -errno, "reading '%s' at %ld", argv[0], offset);
	if (n == 0)
		return err_set(err, -ENXIO, "'%s' ends before %ld", argv[0], offset);
	printf("text=");
	for (ssize_t i = 0; i < n && text[i]; i++)
		putchar(isprint((unsigned char)text[i]) ? text[i] : '?');
	printf("\n");
	return 0;
}

int cmd_write(int argc, char **argv, struct err *err)
{
	size_t len = strlen(argv[2]) + 1;
	_cleanup_fd_ int fd = -1;
	long offset;
	ssize_t n;
	int r;

	(void)argc; /* the table's signature */
	if (len > TEXT_MAX)
		return err_set(err, -EINVAL, "text longer than %d bytes", TEXT_MAX - 1);
	r = disk_open(argv, O_WRONLY, &fd, &offset, err);
	if (r < 0)
		return r;
	n = pwrite(fd, argv[2], len, offset);
	if (n < 0 || fsync(fd) < 0)
		return err_errno(err, -errno, "writing '%s' at %ld", argv[0], offset);
	if ((size_t)n < len)
		return err_set(err, -ENOSPC, "'%s' ends before %ld", argv[0], offset + (long)len);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "sandbox/mount.h"

#include "lib/util.h"

int mount_new(const char *fs, const struct mount_option *options, size_t n, unsigned attrs,
	      int *ret, struct err *err)
{
	_cleanup_fd_ int ctx = sys_fsopen(fs);
	int fd;

	if (ctx < 0)
		return err_errno(err, ctx, "sandbox: opening file system '%s'", fs);
	for (size_t i = 0; i < n; i++) {
		int r = sys_fsconfig_string(ctx, options[i].key, options[i].value);

		if (r < 0)
			return err_errno(err, r, "sandbox: %s: option %s=%s", fs, options[i].key,
					 options[i].value);
	}
	fd = sys_fsmount(ctx, attrs);
	if (fd < 0)
		return err_errno(err, fd, "sandbox: making a new %s", fs);
	*ret = fd;
	return 0;
}

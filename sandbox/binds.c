// SPDX-License-Identifier: Apache-2.0
#include "sandbox/binds.h"

#include "lib/util.h"

#include <errno.h>
#include <string.h>

/* Everything but QEMU itself is optional: each distribution has a part of it, none has all. */
static const char *const for_qemu[] = {
	"/etc/ld.so.cache",
	/* Debian 12 */
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/ipxe",      /* option ROMs, linked from /usr/share/qemu */
	"/usr/share/qemu",    /* firmware, keymaps; on RHEL 9 the firmware descriptors */
	"/usr/share/seabios", /* both */
	/* RHEL 9; /usr/lib64 holds the dynamic loader's fixed name in both */
	"/usr/lib64",
	"/usr/share/ipxe",
	"/usr/share/qemu-kvm",
	"/usr/share/seavgabios",
	"/usr/share/sgabios",
};

static bool component_is_dots(const char *path)
{
	for (const char *p = path; *p; p += strcspn(p, "/")) {
		size_t len;

		p++; /* every component follows a slash */
		len = strcspn(p, "/");
		if (len == 0 || (len <= 2 && strspn(p, ".") >= len))
			return true;
	}
	return false;
}

int sandbox_bind_check(const struct sandbox_bind *bind, struct err *err)
{
	const char *s = bind->source;

	/* blanks and backslashes are escaped in mountinfo, where the bind must be found again */
	if (!s || s[0] != '/' || strpbrk(s, " \t\n\\") || component_is_dots(s))
		return err_set(err, -EINVAL,
			       "sandbox: '%s' can't be bound: it must be an absolute path without "
			       "dots, blanks or empty parts",
			       s ? s : "");
	return 0;
}

int sandbox_binds_for_qemu(const char *qemu_path, struct sandbox_bind ret[SANDBOX_MAX_BINDS],
			   size_t *ret_n, struct err *err)
{
	struct sandbox_bind qemu = {.source = qemu_path};
	int r = sandbox_bind_check(&qemu, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(for_qemu); i++)
		ret[i] = (struct sandbox_bind){.source = for_qemu[i], .optional = true};
	ret[ARRAY_SIZE(for_qemu)] = qemu; /* last: it may lie below one of the folders */
	*ret_n = ARRAY_SIZE(for_qemu) + 1;
	return 0;
}

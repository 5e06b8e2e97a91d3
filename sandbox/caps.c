// SPDX-License-Identifier: Apache-2.0
#include "sandbox/caps.h"

#include "lib/file.h"
#include "lib/util.h"
#include "sandbox/status.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>

/*
 * Each switch and its lock: id 0 gives nothing at exec, id changes give and take nothing, capabilities
 * can't be kept over a change of ids, ambient ones can't be raised.
 */
#define SECUREBITS                                                                                 \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                           \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |   \
	 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static int apply(capng_select_t what, const char *doing, struct err *err)
{
	int r = capng_apply(what);

	/* libcap-ng's codes say which call failed, errno says why where one was made */
	return r == 0 ? 0 : err_set(err, -EPERM, "sandbox: %s: libcap-ng says %d", doing, r);
}

static void start_from_nothing(void)
{
	capng_clear(CAPNG_SELECT_ALL);
	/* "the caller": the id that the library remembers from before a clone is another process's */
	capng_setpid(0);
}

int caps_keep_to_enter(struct err *err)
{
	capng_type_t sets = CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE | CAPNG_AMBIENT;

	start_from_nothing();
	if (capng_updatev(CAPNG_ADD, sets, CAP_SYS_ADMIN, CAP_SETPCAP, -1) < 0)
		return err_set(err, -EINVAL, "sandbox: libcap-ng does not know its own names");
	return apply(CAPNG_SELECT_CAPS | CAPNG_SELECT_AMBIENT, "keeping capabilities to enter",
		     err);
}

int caps_drop(int last, struct err *err)
{
	if (prctl(PR_SET_SECUREBITS, SECUREBITS) < 0)
		return err_errno(err, -errno, "sandbox: locking securebits");
	if (prctl(PR_GET_SECUREBITS) != SECUREBITS)
		return err_set(err, -EPERM, "sandbox: securebits are %#x, wanted %#x",
			       prctl(PR_GET_SECUREBITS), SECUREBITS);
	start_from_nothing();
	if (last >= 0 &&
	    capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, (unsigned)last) < 0)
		return err_set(err, -EINVAL, "sandbox: libcap-ng does not know capability %d",
			       last);
	return apply(CAPNG_SELECT_ALL, "emptying the capability sets", err);
}

int caps_drop_last(struct err *err)
{
	start_from_nothing();
	return apply(CAPNG_SELECT_CAPS, "dropping the last capability", err);
}

int caps_verify_empty(struct err *err)
{
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
	_cleanup_free_ char *status = NULL;
	int r = file_read_at(AT_FDCWD, "/proc/self/status", STATUS_MAX, &status, NULL);

	if (r < 0)
		return err_errno(err, r, "sandbox: reading /proc/self/status");
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		char value[32];

		r = status_field(status, sets[i], value, sizeof value);
		if (r < 0)
			return err_errno(err, r, "sandbox: %s in /proc/self/status", sets[i]);
		if (value[strspn(value, "0")])
			return err_set(err, -EPERM, "sandbox: %s is %s after it was emptied",
				       sets[i], value);
	}
	return 0;
}

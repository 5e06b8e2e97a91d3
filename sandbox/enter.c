// SPDX-License-Identifier: Apache-2.0
/*
 * Theory of operation
 * ===================
 * sandbox_spawn leaves the pod's first process in its namespaces, with its one id, no groups, and two
 * capabilities over its own user namespace: CAP_SYS_ADMIN to build its root, CAP_SETPCAP to give
 * everything up. From there it walks the stages below, in this order. Each uses powers that a later
 * one takes away; none can be undone; each checks its own effect, and the last checks all again.
 *
 * 1 precondition  Should: prove that it is PID 1 of its pid namespace and has one thread.
 *                 Mustn't: change anything. (Capabilities and filters belong to threads; a second
 *                 thread would stay outside.)
 * 2 session       Should: leave the handler's session keyring; no core dumps, descriptor limit.
 *                 Mustn't: need a root of its own yet.
 * 3 root          Should: replace the whole view of files by a read-only tmpfs with the binds, the
 *                 private /dev, a /proc of this pid namespace, a small /tmp; detach the host's root;
 *                 find nothing else in mountinfo. Needs CAP_SYS_ADMIN and the host's paths.
 *                 Mustn't: leave a descriptor of a host directory open.
 * 4 hostname      Should: name the pod. Needs CAP_SYS_ADMIN and a uts namespace of its own.
 *                 Mustn't: touch the host's name when that layer is off.
 * 5 capabilities  Should: empty all five sets, lock securebits. Needs CAP_SETPCAP.
 *                 Mustn't: keep any, but CAP_SYS_ADMIN for stage 8 if no_new_privs is off.
 * 6 no_new_privs  Should: make sure that no execve ever gives anything back.
 * 7 dumpable      Should: close /proc/self and ptrace to others with the same id, QEMU above all.
 *                 After stage 3, whose checks read /proc/self as its owner.
 * 8 seccomp       Should: load the launcher's allowlist, as the last change: the stages above use
 *                 calls that it forbids. Without no_new_privs loading needs CAP_SYS_ADMIN, which
 *                 then goes right after.
 * 9 read back     Should: compare the kernel's word with every layer asked for.
 *                 Mustn't: use anything that a running launcher could not use.
 */
#include "sandbox/enter.h"

#include "lib/file.h"
#include "lib/util.h"
#include "sandbox/caps.h"
#include "sandbox/root.h"
#include "sandbox/seccomp.h"
#include "sandbox/spawn.h"
#include "sandbox/status.h"
#include "sandbox/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static int own_status(const char *key, char *ret, size_t size, struct err *err)
{
	_cleanup_free_ char *status = NULL;
	int r = file_read_at(AT_FDCWD, "/proc/self/status", STATUS_MAX, &status, NULL);

	if (!r)
		r = status_field(status, key, ret, size);
	return r < 0 ? err_errno(err, r, "sandbox: reading %s of /proc/self/status", key) : 0;
}

static int status_must_be(const char *key, const char *wanted, struct err *err)
{
	char value[64];
	int r = own_status(key, value, sizeof value, err);

	if (r < 0 || str_eq(value, wanted))
		return r;
	return err_set(err, -EPERM, "sandbox: %s is %s, must be %s", key, value, wanted);
}

static int stage_precondition(const struct sandbox_enter *e, struct err *err)
{
	if (e->layers.pid && getpid() != 1)
		return err_set(err, -EINVAL, "sandbox: to enter is for PID 1 of a pod, not for %d",
			       getpid());
	return status_must_be("Threads", "1", err);
}

static int stage_session(const struct sandbox_enter *e, struct err *err)
{
	struct rlimit core = {0, 0}, nofile;
	int r = sys_new_session_keyring();

	if (r < 0 && r != -ENOSYS) /* a kernel without keys has none to leave */
		return err_errno(err, r, "sandbox: leaving the session keyring");
	if (setrlimit(RLIMIT_CORE, &core) < 0 || getrlimit(RLIMIT_NOFILE, &nofile) < 0)
		return err_errno(err, -errno, "sandbox: limits of core dumps and descriptors");
	nofile.rlim_cur = e->nofile < nofile.rlim_max ? e->nofile : nofile.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &nofile) < 0)
		return err_errno(err, -errno, "sandbox: limit of %llu descriptors",
				 (unsigned long long)nofile.rlim_cur);
	return 0;
}

static int stage_root(const struct sandbox_enter *e, struct err *err)
{
	return e->layers.mount ? root_enter(e, err) : 0;
}

static int stage_hostname(const struct sandbox_enter *e, struct err *err)
{
	if (e->layers.uts && sethostname(e->hostname, strlen(e->hostname)) < 0)
		return err_errno(err, -errno, "sandbox: hostname '%s'", e->hostname);
	return 0;
}

static int stage_capabilities(const struct sandbox_enter *e, struct err *err)
{
	if (!e->layers.capabilities)
		return 0;
	return caps_drop(e->layers.no_new_privs ? -1 : CAP_SYS_ADMIN, err);
}

static int stage_no_new_privs(const struct sandbox_enter *e, struct err *err)
{
	if (e->layers.no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, -errno, "sandbox: no_new_privs");
	return 0;
}

static int stage_dumpable(const struct sandbox_enter *e, struct err *err)
{
	if (e->layers.dumpable_off && prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_errno(err, -errno, "sandbox: clearing dumpable");
	return 0;
}

static int stage_seccomp(const struct sandbox_enter *e, struct err *err)
{
	int r = seccomp_load_launcher(e->layers.seccomp, err);

	if (!r && e->layers.capabilities && !e->layers.no_new_privs)
		r = caps_drop_last(err);
	return r;
}

/* One line that maps the pod's id, and only it. */
static int verify_map(const char *path, struct err *err)
{
	unsigned inside, outside, count;
	char line[128];
	int r = file_read_line_at(AT_FDCWD, path, line, sizeof line);

	if (r < 0)
		return err_errno(err, r, "sandbox: reading %s", path);
	if (strchr(line, '\n') || sscanf(line, "%u %u %u", &inside, &outside, &count) != 3 ||
	    inside != SANDBOX_INNER_ID || count != 1)
		return err_set(err, -EPERM, "sandbox: %s is '%s', must map %d alone", path, line,
			       SANDBOX_INNER_ID);
	return 0;
}

static int verify_hostname(const struct sandbox_enter *e, struct err *err)
{
	char name[65] = "";

	if (gethostname(name, sizeof name - 1) < 0 || !str_eq(name, e->hostname))
		return err_set(err, -EPERM, "sandbox: hostname is '%s', must be '%s'", name,
			       e->hostname);
	return 0;
}

static int verify_ids(const struct sandbox_enter *e, struct err *err)
{
	int r = status_must_be("Groups", "", err);

	if (!r && e->layers.user)
		r = verify_map("/proc/self/uid_map", err);
	if (!r && e->layers.user)
		r = verify_map("/proc/self/gid_map", err);
	return r;
}

static int stage_read_back(const struct sandbox_enter *e, struct err *err)
{
	const struct sandbox_layers *l = &e->layers;
	int r = verify_ids(e, err);

	if (!r && l->uts)
		r = verify_hostname(e, err);
	if (!r && l->capabilities)
		r = caps_verify_empty(err);
	if (!r && l->no_new_privs)
		r = status_must_be("NoNewPrivs", "1", err);
	if (!r && l->dumpable_off && prctl(PR_GET_DUMPABLE) != 0)
		r = err_set(err, -EPERM, "sandbox: still dumpable");
	if (!r && l->seccomp != SANDBOX_SECCOMP_OFF)
		r = status_must_be("Seccomp", "2", err);
	return r;
}

int sandbox_enter(const struct sandbox_enter *e, struct err *err)
{
	static const struct {
		const char *name;
		int (*run)(const struct sandbox_enter *e, struct err *err);
	} stages[] = {
		{"precondition", stage_precondition},
		{"session", stage_session},
		{"root", stage_root},
		{"hostname", stage_hostname},
		{"capabilities", stage_capabilities},
		{"no_new_privs", stage_no_new_privs},
		{"dumpable", stage_dumpable},
		{"seccomp", stage_seccomp},
		{"read back", stage_read_back},
	};

	for (size_t i = 0; i < ARRAY_SIZE(stages); i++) {
		int r = stages[i].run(e, err);

		if (r < 0) {
			err_prefix(err, "stage '%s'", stages[i].name);
			return r;
		}
	}
	return 0;
}

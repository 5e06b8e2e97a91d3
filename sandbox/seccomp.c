// SPDX-License-Identifier: Apache-2.0
#include "sandbox/seccomp.h"

#include "lib/util.h"
#include "sandbox/syscall_table.h"

#include <errno.h>
#include <linux/if_tun.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PR_SET_VMA /* Linux 5.17 */
#define PR_SET_VMA 0x53564d41
#endif

#define _cleanup_filter_ _cleanup_(filter_freep)

static void filter_freep(scmp_filter_ctx *ctx)
{
	if (*ctx)
		seccomp_release(*ctx);
}

#define CLONE_NEW                                                                                  \
	(CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID |              \
	 CLONE_NEWTIME | CLONE_NEWUSER | CLONE_NEWUTS)

/* What a thread is made of; a process lacks both. */
#define CLONE_THREAD_FLAGS (CLONE_THREAD | CLONE_VM)

static const struct {
	int option;
	unsigned who;
} prctls[] = {
	{PR_CAPBSET_READ, SECCOMP_BOTH},      {PR_GET_DUMPABLE, SECCOMP_BOTH},
	{PR_GET_NAME, SECCOMP_BOTH},	      {PR_GET_NO_NEW_PRIVS, SECCOMP_BOTH},
	{PR_GET_SECCOMP, SECCOMP_BOTH},	      {PR_GET_SECUREBITS, SECCOMP_BOTH},
	{PR_MCE_KILL, SECCOMP_BOTH}, /* QEMU under KVM wants to hear of bad memory early */
	{PR_SET_NAME, SECCOMP_BOTH},	      {PR_SET_NO_NEW_PRIVS, SECCOMP_BOTH},
	{PR_SET_PDEATHSIG, SECCOMP_LAUNCHER}, {PR_SET_TIMERSLACK, SECCOMP_BOTH},
	{PR_SET_VMA, SECCOMP_BOTH}, /* names of anonymous memory */
};

/*
 * Feeding a terminal from behind; and what a tap's descriptor lets its holder do to the host or to
 * the tap itself beyond what QEMU needs (queues, offloads, header sizes): its kernel log, owner, life,
 * filters. The kernel looks at 32 bits of the request, so the comparison must do so, too: else a
 * request with a bit set above them would pass (CVE-2019-10063).
 */
static const unsigned never_ioctls[] = {
	TIOCSTI,	 TIOCLINUX,	TUNSETDEBUG,	    TUNSETIFF,	      TUNSETPERSIST,
	TUNSETOWNER,	 TUNSETGROUP,	TUNSETLINK,	    TUNSETTXFILTER,   TUNATTACHFILTER,
	TUNDETACHFILTER, TUNSETIFINDEX, TUNSETSTEERINGEBPF, TUNSETFILTEREBPF, TUNSETCARRIER,
};

static int add_calls(scmp_filter_ctx ctx, unsigned who)
{
	for (size_t i = 0; i < syscall_table_size; i++) {
		int r = syscall_table[i].who & who
				? seccomp_rule_add(ctx, SCMP_ACT_ALLOW, syscall_table[i].nr, 0)
				: 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static int add_prctls(scmp_filter_ctx ctx, unsigned who)
{
	for (size_t i = 0; i < ARRAY_SIZE(prctls); i++) {
		int r = prctls[i].who & who
				? seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
						   SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX,
							   (unsigned)prctls[i].option))
				: 0;

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * clone makes no namespace, and in QEMU nothing but threads. clone3 is not listed: its flags lie in
 * memory, where no filter can look; with ENOSYS glibc uses clone. Limits are one's own, and QEMU
 * signals its own threads alone: the launcher has the same id, the kernel would let it.
 */
static int add_arguments(scmp_filter_ctx ctx, unsigned who)
{
	uint64_t must = who == SECCOMP_QEMU ? CLONE_THREAD_FLAGS : 0;
	int r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				 SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEW | must, must));

	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1,
				     SCMP_A0(SCMP_CMP_EQ, 0));
	if (!r && who == SECCOMP_QEMU)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				     SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				     SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	if (!r)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1,
				     SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	return r ? r : add_prctls(ctx, who);
}

/* A filter that leaves no_new_privs alone: that is a layer of its own. */
static int filter_new(uint32_t action, enum sandbox_seccomp mode, scmp_filter_ctx *ret)
{
	uint32_t bad_arch = mode == SANDBOX_SECCOMP_AUDIT ? SCMP_ACT_LOG : SCMP_ACT_KILL_PROCESS;
	_cleanup_filter_ scmp_filter_ctx ctx = seccomp_init(action);
	int r = 0;

	if (!ctx)
		return -ENOMEM;
	r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0);
	if (!r)
		r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, bad_arch);
	if (!r) /* a binary tree of numbers in place of a chain */
		r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(ctx);
	return 0;
}

static int load_allowlist(unsigned who, enum sandbox_seccomp mode)
{
	uint32_t otherwise = mode == SANDBOX_SECCOMP_AUDIT ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(ENOSYS);
	_cleanup_filter_ scmp_filter_ctx ctx = NULL;
	int r = filter_new(otherwise, mode, &ctx);

	if (!r)
		r = add_calls(ctx, who);
	if (!r)
		r = add_arguments(ctx, who);
	return r ? r : seccomp_load(ctx);
}

/* A filter of its own: in one with an unconditional rule for ioctl these would be lost. */
static int load_never(enum sandbox_seccomp mode)
{
	uint32_t action = mode == SANDBOX_SECCOMP_AUDIT ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(EPERM);
	_cleanup_filter_ scmp_filter_ctx ctx = NULL;
	int r = filter_new(SCMP_ACT_ALLOW, mode, &ctx);

	for (size_t i = 0; !r && i < ARRAY_SIZE(never_ioctls); i++)
		r = seccomp_rule_add(ctx, action, SCMP_SYS(ioctl), 1,
				     SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, never_ioctls[i]));
	return r ? r : seccomp_load(ctx);
}

int seccomp_load_launcher(enum sandbox_seccomp mode, struct err *err)
{
	int r;

	if (mode == SANDBOX_SECCOMP_OFF)
		return 0;
	r = load_never(mode);
	if (!r)
		r = load_allowlist(SECCOMP_LAUNCHER, mode);
	return r < 0 ? err_errno(err, r, "sandbox: loading the launcher's seccomp filter") : 0;
}

int seccomp_load_qemu(enum sandbox_seccomp mode, struct err *err)
{
	int r;

	if (mode == SANDBOX_SECCOMP_OFF)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, -errno, "sandbox: no_new_privs for QEMU");
	r = load_allowlist(SECCOMP_QEMU, mode);
	return r < 0 ? err_errno(err, r, "sandbox: loading QEMU's seccomp filter") : 0;
}

// SPDX-License-Identifier: Apache-2.0
/* The two filters alone, each loaded in a forked child that has no_new_privs and nothing else. */
#include "tests/unit/unit.h"

#include "lib/util.h"
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHER, QEMU };

/* Load and call fn in a child; its result, or minus the signal that killed it. */
static int in_child(int which, enum sandbox_seccomp mode, int (*fn)(void))
{
	siginfo_t info = {0};
	pid_t pid = fork();

	if (pid == 0) {
		struct err err = {0};
		int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

		if (!r)
			r = seccomp_load_launcher(mode, &err);
		if (!r && which == QEMU)
			r = seccomp_load_qemu(mode, &err);
		_exit(r ? 250 : fn());
	}
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
	return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

static int errno_of(long r)
{
	return r < 0 ? errno : 0;
}

static int call_fork(void)
{
	/* the bare call: a child of glibc's fork would run its handlers */
	long pid = syscall(SYS_fork);

	if (pid == 0)
		_exit(0);
	return errno_of(pid);
}

static int call_clone_process(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return errno_of(pid);
}

static int call_clone_namespace(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return errno_of(pid);
}

static void *nothing(void *arg)
{
	return arg;
}

static int call_thread(void)
{
	pthread_t thread;
	int r = pthread_create(&thread, NULL, nothing, NULL);

	return r ? r : pthread_join(thread, NULL);
}

static int call_kill(void)
{
	return errno_of(kill(getpid(), 0));
}

static int call_signal_self(void)
{
	return errno_of(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0));
}

static int call_signal_parent(void)
{
	return errno_of(syscall(SYS_tgkill, getppid(), getppid(), 0));
}

static int call_own_limit(void)
{
	struct rlimit limit;

	return errno_of(getrlimit(RLIMIT_NOFILE, &limit));
}

static int call_limit_of_parent(void)
{
	struct rlimit limit;

	return errno_of(prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit));
}

static int call_unix_pair(void)
{
	int pair[2];

	return errno_of(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static int call_netlink(void)
{
	return errno_of(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int call_inet(void)
{
	return errno_of(socket(AF_INET, SOCK_STREAM, 0));
}

/* On any descriptor: allowed ones reach the file and are ENOTTY there. */
static int call_tunsetdebug(void)
{
	return errno_of(ioctl(0, TUNSETDEBUG, 1));
}

static int call_tunsetoffload(void)
{
	return errno_of(ioctl(0, TUNSETOFFLOAD, 0));
}

static int call_tiocsti(void)
{
	char c = 'x';

	return errno_of(ioctl(0, TIOCSTI, &c));
}

/* The kernel cuts the request to 32 bits; a filter that does not would let this one pass. */
static int call_tiocsti_high(void)
{
	char c = 'x';

	return errno_of(syscall(SYS_ioctl, 0, (1ul << 32) | TIOCSTI, &c));
}

static int call_fionread(void)
{
	int pair[2], n;

	if (pipe(pair) < 0)
		return 251;
	return errno_of(ioctl(pair[0], FIONREAD, &n));
}

static int call_affinity(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return errno_of(sched_setaffinity(0, sizeof set, &set));
}

static int call_dumpable(void)
{
	return errno_of(prctl(PR_SET_DUMPABLE, 1));
}

static int call_name(void)
{
	return errno_of(prctl(PR_SET_NAME, "x"));
}

static int call_execve(void)
{
	char *const argv[] = {NULL};

	return errno_of(execve("/nonexistent", argv, argv));
}

static int call_memfd(void)
{
	return errno_of(syscall(SYS_memfd_create, "x", 0));
}

static int call_personality(void)
{
	return errno_of(syscall(SYS_personality, 0x0040000 /* ADDR_NO_RANDOMIZE */));
}

static int call_i386(void)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20 /* getpid */) : "memory");
	return (int)(r != 0);
}

static int call_x32(void)
{
	return (int)(syscall(0x40000000 | SYS_getpid) > 0);
}

/* What no pod may call. */
static const struct {
	const char *name;
	long nr;
} never[] = {
	{"acct", SYS_acct},
	{"add_key", SYS_add_key},
	{"adjtimex", SYS_adjtimex},
	{"bpf", SYS_bpf},
	{"chmod", SYS_chmod},
	{"chown", SYS_chown},
	{"chroot", SYS_chroot},
	{"clock_settime", SYS_clock_settime},
	{"clone3", SYS_clone3},
	{"delete_module", SYS_delete_module},
	{"fchmodat", SYS_fchmodat},
	{"fchownat", SYS_fchownat},
	{"finit_module", SYS_finit_module},
	{"fsconfig", SYS_fsconfig},
	{"fsmount", SYS_fsmount},
	{"fsopen", SYS_fsopen},
	{"fspick", SYS_fspick},
	{"init_module", SYS_init_module},
	{"io_uring_enter", SYS_io_uring_enter},
	{"io_uring_register", SYS_io_uring_register},
	{"io_uring_setup", SYS_io_uring_setup},
	{"ioperm", SYS_ioperm},
	{"iopl", SYS_iopl},
	{"kcmp", SYS_kcmp},
	{"kexec_file_load", SYS_kexec_file_load},
	{"kexec_load", SYS_kexec_load},
	{"keyctl", SYS_keyctl},
	{"lookup_dcookie", SYS_lookup_dcookie},
	{"mknod", SYS_mknod},
	{"mknodat", SYS_mknodat},
	{"modify_ldt", SYS_modify_ldt},
	{"mount", SYS_mount},
	{"mount_setattr", SYS_mount_setattr},
	{"move_mount", SYS_move_mount},
	{"name_to_handle_at", SYS_name_to_handle_at},
	{"open_by_handle_at", SYS_open_by_handle_at},
	{"open_tree", SYS_open_tree},
	{"perf_event_open", SYS_perf_event_open},
	{"personality", SYS_personality},
	{"pidfd_getfd", SYS_pidfd_getfd},
	{"pivot_root", SYS_pivot_root},
	{"process_madvise", SYS_process_madvise},
	{"process_vm_readv", SYS_process_vm_readv},
	{"process_vm_writev", SYS_process_vm_writev},
	{"ptrace", SYS_ptrace},
	{"quotactl", SYS_quotactl},
	{"reboot", SYS_reboot},
	{"request_key", SYS_request_key},
	{"setdomainname", SYS_setdomainname},
	{"setfsuid", SYS_setfsuid},
	{"setgid", SYS_setgid},
	{"setgroups", SYS_setgroups},
	{"sethostname", SYS_sethostname},
	{"setns", SYS_setns},
	{"setresgid", SYS_setresgid},
	{"setresuid", SYS_setresuid},
	{"settimeofday", SYS_settimeofday},
	{"setuid", SYS_setuid},
	{"swapon", SYS_swapon},
	{"syslog", SYS_syslog},
	{"umount2", SYS_umount2},
	{"unshare", SYS_unshare},
	{"userfaultfd", SYS_userfaultfd},
	{"vhangup", SYS_vhangup},
};

static size_t calling;

static int call_never(void)
{
	return errno_of(syscall(never[calling].nr, -1, -1, -1, -1, -1, -1));
}

static void nothing_of_the_kernels_own(void **state)
{
	(void)state;
	for (calling = 0; calling < ARRAY_SIZE(never); calling++) {
		int got = in_child(LAUNCHER, SANDBOX_SECCOMP_ENFORCE, call_never);

		if (got != ENOSYS)
			fail_msg("%s gives %d", never[calling].name, got);
	}
}

static void each_filter_allows_what_it_says(void **state)
{
	static const struct {
		const char *name;
		int (*call)(void);
		int launcher, qemu;
	} calls[] = {
		{"fork", call_fork, 0, ENOSYS},
		{"clone of a process", call_clone_process, 0, ENOSYS},
		{"clone of a namespace", call_clone_namespace, ENOSYS, ENOSYS},
		{"thread", call_thread, 0, 0},
		{"kill", call_kill, 0, ENOSYS},
		{"signal to itself", call_signal_self, 0, 0},
		{"signal to the parent", call_signal_parent, 0, ENOSYS},
		{"own limit", call_own_limit, 0, 0},
		{"the parent's limit", call_limit_of_parent, ENOSYS, ENOSYS},
		{"AF_UNIX", call_unix_pair, 0, 0},
		{"AF_NETLINK", call_netlink, ENOSYS, ENOSYS},
		{"AF_INET", call_inet, ENOSYS, ENOSYS},
		{"TUNSETDEBUG", call_tunsetdebug, EPERM, EPERM},
		{"TUNSETOFFLOAD", call_tunsetoffload, ENOTTY, ENOTTY},
		{"TIOCSTI", call_tiocsti, EPERM, EPERM},
		{"TIOCSTI with a high bit", call_tiocsti_high, EPERM, EPERM},
		{"FIONREAD", call_fionread, 0, 0},
		{"sched_setaffinity", call_affinity, ENOSYS, ENOSYS},
		{"PR_SET_DUMPABLE", call_dumpable, ENOSYS, ENOSYS},
		{"PR_SET_NAME", call_name, 0, 0},
		{"execve", call_execve, ENOENT, ENOENT},
		{"memfd_create", call_memfd, 0, 0},
		{"personality", call_personality, ENOSYS, ENOSYS},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		int l = in_child(LAUNCHER, SANDBOX_SECCOMP_ENFORCE, calls[i].call);
		int q = in_child(QEMU, SANDBOX_SECCOMP_ENFORCE, calls[i].call);

		if (l != calls[i].launcher || q != calls[i].qemu)
			fail_msg("%s: launcher %d, QEMU %d", calls[i].name, l, q);
	}
}

static void other_abis_are_killed(void **state)
{
	(void)state;
	assert_int_equal(in_child(LAUNCHER, SANDBOX_SECCOMP_ENFORCE, call_i386), -SIGSYS);
	assert_int_equal(in_child(LAUNCHER, SANDBOX_SECCOMP_ENFORCE, call_x32), -SIGSYS);
}

static int count_filters(void)
{
	return prctl(PR_GET_SECCOMP) == 2 ? 2 : 0;
}

static void off_loads_nothing(void **state)
{
	(void)state;
	assert_int_equal(in_child(QEMU, SANDBOX_SECCOMP_OFF, count_filters), 0);
	assert_int_equal(in_child(QEMU, SANDBOX_SECCOMP_OFF, call_inet), 0);
	assert_int_equal(in_child(QEMU, SANDBOX_SECCOMP_ENFORCE, count_filters), 2);
}

static void audit_lets_pass(void **state)
{
	(void)state;
	assert_int_equal(in_child(QEMU, SANDBOX_SECCOMP_AUDIT, call_inet), 0);
	assert_int_equal(in_child(QEMU, SANDBOX_SECCOMP_AUDIT, call_fork), 0);
	assert_int_equal(in_child(QEMU, SANDBOX_SECCOMP_AUDIT, count_filters), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_of_the_kernels_own),
		cmocka_unit_test(each_filter_allows_what_it_says),
		cmocka_unit_test(other_abis_are_killed),
		cmocka_unit_test(off_loads_nothing),
		cmocka_unit_test(audit_lets_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

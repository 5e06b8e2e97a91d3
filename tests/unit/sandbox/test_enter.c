// SPDX-License-Identifier: Apache-2.0
/* The pod as it is once entered: asked from inside, read from outside, with each layer off in turn. */
#include "tests/unit/sandbox/pod.h"

#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

/* --- inside ----------------------------------------------------------------------------------- */

static int errno_of(long r)
{
	return r < 0 ? errno : 0;
}

static int open_errno(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	int e = errno_of(fd);

	(void)fd_close(fd);
	return e;
}

static json_t *names_in(const char *path)
{
	_cleanup_dir_ DIR *dir = opendir(path);
	json_t *names = json_object(); /* sorted when dumped */
	struct dirent *de;

	if (!dir)
		return json_integer(errno);
	while ((de = readdir(dir)))
		if (de->d_name[0] != '.' && (de->d_name[0] < '0' || de->d_name[0] > '9'))
			json_object_set_new(names, de->d_name, json_true());
	return names;
}

static json_t *ask_lists(void)
{
	char host[65] = "";

	(void)gethostname(host, sizeof host);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:i}", "root", names_in("/"),
			 "dev", names_in("/dev"), "etc", names_in("/etc"), "usr", names_in("/usr"),
			 "bin", names_in("/usr/bin"), "proc", names_in("/proc"), "pid",
			 (int)getpid(), "host", host, "parent", (int)getppid());
}

/* What a process with the launcher's id sees of the launcher. */
static int launcher_seen_by_child(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(open_errno("/proc/1/status", O_RDONLY));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Each attempt's errno, 0 where it worked. */
static json_t *ask_files(void)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "launcher",
			 launcher_seen_by_child(), "passwd", open_errno("/etc/passwd", O_RDONLY),
			 "home", open_errno("/home", O_RDONLY), "init",
			 open_errno("/proc/1/root/etc/passwd", O_RDONLY), "up",
			 open_errno("/../../etc/passwd", O_RDONLY), "write root",
			 open_errno("/x", O_WRONLY | O_CREAT), "write lib",
			 open_errno("/usr/lib/x86_64-linux-gnu/x", O_WRONLY | O_CREAT), "write dev",
			 open_errno("/dev/x", O_WRONLY | O_CREAT), "write tmp",
			 open_errno("/tmp/x", O_WRONLY | O_CREAT), "null",
			 open_errno("/dev/null", O_RDWR), "urandom",
			 open_errno("/dev/urandom", O_RDONLY), "qemu",
			 open_errno(POD_QEMU, O_RDONLY));
}

static json_t *ask_calls(void)
{
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
	char c = 'x';

	return json_pack(
		"{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}",
		"fsopen", errno_of(syscall(SYS_fsopen, "tmpfs", 0)), "mount",
		errno_of(syscall(SYS_mount, "x", "/tmp", "tmpfs", 0, NULL)), "mknod",
		errno_of(mknod("/tmp/null", S_IFCHR | 0666, makedev(1, 3))), "unshare",
		errno_of(unshare(CLONE_NEWUSER)), "setns", errno_of(setns(3, CLONE_NEWNET)),
		"ptrace", errno_of(ptrace(PTRACE_TRACEME, 0, NULL, NULL)), "keyctl",
		errno_of(syscall(SYS_keyctl, 0, -3, 0)), "bpf",
		errno_of(syscall(SYS_bpf, 0, NULL, 0)), "clone3",
		errno_of(syscall(SYS_clone3, &args, sizeof args)), "clone",
		errno_of(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)), "inet",
		errno_of(socket(AF_INET, SOCK_DGRAM, 0)), "tiocsti",
		errno_of(ioctl(3, TIOCSTI, &c)), "setuid", errno_of(setuid(0)), "ambient",
		errno_of(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0)), "uring",
		errno_of(syscall(SYS_io_uring_setup, 1, NULL)), "hostname",
		errno_of(sethostname("x", 1)));
}

static json_t *payload_request(const json_t *request)
{
	const char *ask = json_string_value(json_object_get(request, "ask"));

	if (str_eq(ask, "lists"))
		return ask_lists();
	if (str_eq(ask, "files"))
		return ask_files();
	return str_eq(ask, "calls") ? ask_calls() : NULL;
}

/* --- outside ---------------------------------------------------------------------------------- */

static json_t *ask(struct pod *pod, const char *what)
{
	return pod_ask(pod, json_pack("{s:s}", "ask", what));
}

static json_t *seen(struct pod *pod)
{
	struct err err = {0};
	json_t *json = NULL;

	if (sandbox_read_process(pod->pid, &json, &err) < 0)
		fail_msg("%s", err.msg);
	return json;
}

static void assert_json(const json_t *got, const char *wanted)
{
	_cleanup_free_ char *text =
		json_dumps(got, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	assert_string_equal(text ? text : "(nothing)", wanted);
}

#define FIELD(json, ...) json_path((json), (const char *const[]){__VA_ARGS__, NULL})

static const json_t *json_path(const json_t *json, const char *const *names)
{
	for (; *names; names++)
		json = json_object_get(json, *names);
	return json;
}

static struct pod pod;
static char host_name[65];

/* A pod that shares the host's uts namespace must leave its name; should it fail to, we do. */
static int teardown(void **state)
{
	(void)state;
	pod_end(&pod);
	return sethostname(host_name, strlen(host_name));
}

static int setup(void **state)
{
	(void)state;
	if (gethostname(host_name, sizeof host_name) < 0)
		return -1;
	pod = (struct pod){.pidfd = -1, .sock = -1};
	return 0;
}

static void everything_on_from_outside(void **state)
{
	static const char *const own[] = {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"};
	_cleanup_json_ json_t *json = NULL;

	(void)state;
	pod_up(&pod, sandbox_layers_all);
	json = seen(&pod);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		assert_false(json_is_true(FIELD(json, "namespaces", own[i], "shared")));
	assert_json(FIELD(json, "capabilities"),
		    "{\"ambient\":\"0000000000000000\",\"bounding\":\"0000000000000000\","
		    "\"effective\":\"0000000000000000\",\"inheritable\":\"0000000000000000\","
		    "\"permitted\":\"0000000000000000\"}");
	assert_json(FIELD(json, "noNewPrivs"), "true");
	assert_json(FIELD(json, "seccomp"), "{\"filters\":2,\"mode\":\"filter\"}");
	assert_json(FIELD(json, "dumpable"), "false");
	assert_json(FIELD(json, "uids"), "[200107,200107,200107,200107]");
	assert_json(FIELD(json, "gids"), "[200108,200108,200108,200108]");
	assert_json(FIELD(json, "groups"), "[]");
	assert_json(FIELD(json, "uidMap"), "[{\"count\":1,\"inside\":107,\"outside\":200107}]");
	assert_json(json_array_get(FIELD(json, "nsPid"), 1), "1");
	assert_json(FIELD(json, "gidMap"), "[{\"count\":1,\"inside\":107,\"outside\":200108}]");
	assert_int_equal(json_array_size(FIELD(json, "threads")), 1);
	assert_int_equal(json_array_size(FIELD(json, "fds")), 4); /* no folder of the host */
}

static void limits_are_set(void **state)
{
	_cleanup_json_ json_t *json = NULL;
	const json_t *limit;
	size_t i;

	(void)state;
	pod_up(&pod, sandbox_layers_all);
	json = seen(&pod);
	json_array_foreach (FIELD(json, "limits"), i, limit) {
		const char *name = json_string_value(json_object_get(limit, "name"));

		if (str_eq(name, "Max core file size"))
			assert_json(limit, "{\"hard\":\"0\",\"name\":\"Max core file size\","
					   "\"soft\":\"0\"}");
		if (str_eq(name, "Max open files"))
			assert_json(json_object_get(limit, "soft"), "\"777\"");
	}
	assert_in_range(i, 10, 32);
}

static void root_holds_the_list_and_nothing_else(void **state)
{
	_cleanup_json_ json_t *lists = NULL, *files = NULL;

	(void)state;
	pod_up(&pod, sandbox_layers_all);
	lists = ask(&pod, "lists");
	assert_json(FIELD(lists, "root"),
		    "{\"bin\":true,\"dev\":true,\"etc\":true,\"lib\":true,"
		    "\"lib64\":true,\"proc\":true,\"tmp\":true,\"usr\":true}");
	assert_json(FIELD(lists, "dev"), "{\"full\":true,\"kvm\":true,\"null\":true,"
					 "\"random\":true,\"urandom\":true,\"zero\":true}");
	assert_json(FIELD(lists, "etc"), "{\"ld.so.cache\":true}");
	assert_json(FIELD(lists, "bin"), "{\"qemu-system-x86_64\":true}");
	assert_json(FIELD(lists, "usr"),
		    "{\"bin\":true,\"lib\":true,\"lib64\":true,\"share\":true}");
	assert_json(FIELD(lists, "proc"), "{\"self\":true,\"thread-self\":true}");
	assert_json(FIELD(lists, "pid"), "1");
	assert_json(FIELD(lists, "parent"), "0");
	assert_json(FIELD(lists, "host"), "\"pod-under-test\"");
	files = ask(&pod, "files");
	assert_int_equal(json_integer_value(FIELD(files, "passwd")), ENOENT);
	assert_int_equal(json_integer_value(FIELD(files, "home")), ENOENT);
	assert_int_equal(json_integer_value(FIELD(files, "init")), ENOENT);
	assert_int_equal(json_integer_value(FIELD(files, "up")), ENOENT);
	assert_int_equal(json_integer_value(FIELD(files, "launcher")), ENOENT);
	assert_int_equal(json_integer_value(FIELD(files, "write root")), EROFS);
	assert_int_equal(json_integer_value(FIELD(files, "write lib")), EROFS);
	assert_int_equal(json_integer_value(FIELD(files, "write dev")), EROFS);
	assert_int_equal(json_integer_value(FIELD(files, "write tmp")), 0);
	assert_int_equal(json_integer_value(FIELD(files, "null")), 0);
	assert_int_equal(json_integer_value(FIELD(files, "urandom")), 0);
	assert_int_equal(json_integer_value(FIELD(files, "qemu")), 0);
}

static void no_power_is_left(void **state)
{
	_cleanup_json_ json_t *calls = NULL;
	const char *name;
	const json_t *value;

	(void)state;
	pod_up(&pod, sandbox_layers_all);
	calls = ask(&pod, "calls");
	json_object_foreach ((json_t *)(uintptr_t)calls, name, value) {
		int wanted = str_eq(name, "tiocsti") ? EPERM : ENOSYS;

		if (json_integer_value(value) != wanted)
			fail_msg("%s: errno %lld, wanted %d", name,
				 (long long)json_integer_value(value), wanted);
	}
	assert_int_equal(json_object_size(calls), 16);
}

/* What seccomp hides the reason for must be refused by the other layers alone, too. */
static void no_power_is_left_without_seccomp(void **state)
{
	static const struct {
		const char *call;
		int error;
	} wanted[] = {
		{"fsopen", EPERM},  {"mount", EPERM},	{"mknod", EPERM},
		{"setuid", EINVAL}, {"ambient", EPERM}, {"hostname", EPERM},
	};
	struct sandbox_layers layers = sandbox_layers_all;
	_cleanup_json_ json_t *calls = NULL, *json = NULL;

	(void)state;
	layers.seccomp = SANDBOX_SECCOMP_OFF;
	pod_up(&pod, layers);
	json = seen(&pod);
	assert_json(FIELD(json, "seccomp"), "{\"filters\":0,\"mode\":\"disabled\"}");
	calls = ask(&pod, "calls");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_int_equal(json_integer_value(FIELD(calls, wanted[i].call)), wanted[i].error);
}

static void audit_loads_a_filter_that_lets_pass(void **state)
{
	struct sandbox_layers layers = sandbox_layers_all;
	_cleanup_json_ json_t *calls = NULL, *json = NULL;

	(void)state;
	layers.seccomp = SANDBOX_SECCOMP_AUDIT;
	pod_up(&pod, layers);
	json = seen(&pod);
	assert_json(FIELD(json, "seccomp"), "{\"filters\":2,\"mode\":\"filter\"}");
	calls = ask(&pod, "calls");
	assert_int_equal(json_integer_value(FIELD(calls, "mount")), EPERM);
	assert_int_equal(json_integer_value(FIELD(calls, "inet")), 0);
}

/* Which layers are in force, one bit each, in the order of `layer_names`, by the kernel's word. */
static const char *const layer_names[] = {"user", "pid",    "mnt",  "net", "ipc",
					  "uts",  "cgroup", "caps", "nnp", "dumpable"};

static unsigned layers_in_force(const json_t *json)
{
	static const char none[] = "\"0000000000000000\"";
	unsigned bits = 0;
	_cleanup_free_ char *bounding =
		json_dumps(FIELD(json, "capabilities", "bounding"), JSON_ENCODE_ANY);

	for (unsigned i = 0; i < 7; i++)
		bits |= json_is_false(FIELD(json, "namespaces", layer_names[i], "shared")) << i;
	bits |= (unsigned)str_eq(bounding, none) << 7;
	bits |= (unsigned)json_is_true(FIELD(json, "noNewPrivs")) << 8;
	bits |= (unsigned)json_is_false(FIELD(json, "dumpable")) << 9;
	return bits;
}

static void each_layer_can_be_off_alone(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(layer_names); i++) {
		struct sandbox_layers layers = sandbox_layers_all;
		bool *const flag[] = {&layers.user,	    &layers.pid,
				      &layers.mount,	    &layers.net,
				      &layers.ipc,	    &layers.uts,
				      &layers.cgroup,	    &layers.capabilities,
				      &layers.no_new_privs, &layers.dumpable_off};
		_cleanup_json_ json_t *json = NULL;

		*flag[i] = false;
		pod_up(&pod, layers);
		json = seen(&pod);
		if (layers_in_force(json) != (0x3ffu & ~(1u << i)))
			fail_msg("%s off: in force are %#x", layer_names[i], layers_in_force(json));
		assert_json(FIELD(json, "seccomp", "mode"), "\"filter\"");
		assert_json(FIELD(json, "uids"), "[200107,200107,200107,200107]");
		if (layers.capabilities)
			assert_json(FIELD(json, "capabilities", "effective"),
				    "\"0000000000000000\"");
		pod_end(&pod);
	}
}

static void all_layers_can_be_off(void **state)
{
	struct sandbox_layers layers = {.seccomp = SANDBOX_SECCOMP_OFF};
	_cleanup_json_ json_t *json = NULL, *lists = NULL;
	char after[65];

	(void)state;
	pod_up(&pod, layers);
	json = seen(&pod);
	assert_int_equal(layers_in_force(json), 0);
	lists = ask(&pod, "lists");
	assert_true(json_integer_value(FIELD(lists, "pid")) == pod.pid);
	assert_int_equal(gethostname(after, sizeof after), 0);
	assert_string_equal(host_name, after);
}

static void entering_twice_is_refused(void **state)
{
	struct sandbox_layers layers = sandbox_layers_all;
	char message[ERR_MSG_MAX] = "";

	(void)state;
	pod_up(&pod, layers);
	assert_true(pod_enter(&pod, &layers, message) < 0);
	assert_non_null(strstr(message, "stage 'root'"));
}

static void assert_not_entered(const char *qemu, int code, const char *text)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);
	char message[ERR_MSG_MAX] = "";
	struct err err = {0};

	assert_int_equal(pod_start(&spawn, &pod, &err), 0);
	assert_int_equal(pod_enter_with(&pod, &sandbox_layers_all, qemu, message), code);
	if (!strstr(message, "stage 'root'") || !strstr(message, text))
		fail_msg("'%s' does not say '%s'", message, text);
	pod_end(&pod);
}

static void a_bind_that_cant_be_is_named(void **state)
{
	(void)state;
	assert_not_entered("/usr/bin/no-such-qemu", -ENOENT, "binding /usr/bin/no-such-qemu");
	assert_not_entered("/proc/version", -EEXIST, "making /proc");
}

static void only_pid_1_may_enter(void **state)
{
	struct sandbox_enter enter = {.layers = sandbox_layers_all};
	struct err err = {0};

	(void)state;
	assert_int_equal(sandbox_enter(&enter, &err), -EINVAL); /* the test is not PID 1 */
	assert_non_null(strstr(err.msg, "PID 1"));
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(everything_on_from_outside),
		T(limits_are_set),
		T(root_holds_the_list_and_nothing_else),
		T(no_power_is_left),
		T(no_power_is_left_without_seccomp),
		T(audit_loads_a_filter_that_lets_pass),
		T(each_layer_can_be_off_alone),
		T(all_layers_can_be_off),
		T(entering_twice_is_refused),
		T(a_bind_that_cant_be_is_named),
		T(only_pid_1_may_enter),
	};

	if (argc > 1 && str_eq(argv[1], "payload"))
		return payload();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* What the pod's first process is like right after its execve, and what is left when it fails. */
#include "tests/unit/sandbox/pod.h"

#include <grp.h>
#include <signal.h>
#include <sys/stat.h>

extern char **environ;

static json_t *open_fds(void)
{
	_cleanup_dir_ DIR *dir = opendir("/proc/self/fd");
	json_t *fds = json_object();
	struct dirent *de;

	while (dir && (de = readdir(dir)))
		if (de->d_name[0] != '.' && atoi(de->d_name) != dirfd(dir))
			json_object_set_new(fds, de->d_name, json_true());
	return fds;
}

static json_t *text_of(const char *path)
{
	_cleanup_free_ char *text = NULL;

	return file_read_at(AT_FDCWD, path, 4096, &text, NULL) < 0 ? json_null()
								   : json_string(text);
}

static json_t *payload_request(const json_t *request)
{
	char cwd[64] = "", null[64] = "";
	json_t *env = json_array();
	mode_t mask = umask(0);
	struct sigaction pipe;
	sigset_t blocked;

	(void)request;
	for (char **e = environ; *e; e++)
		json_array_append_new(env, json_string(*e));
	(void)sigaction(SIGPIPE, NULL, &pipe);
	(void)sigprocmask(SIG_SETMASK, NULL, &blocked);
	if (readlink("/proc/self/fd/0", null, sizeof null - 1) < 0)
		null[0] = 0;
	return json_pack(
		"{s:i, s:o, s:o, s:i, s:b, s:b, s:s, s:s, s:i, s:i, s:i, s:o, s:o}", "groups",
		getgroups(0, NULL), "env", env, "fds", open_fds(), "umask", (int)mask,
		"pipe is default", pipe.sa_handler == SIG_DFL, "usr1 is blocked",
		sigismember(&blocked, SIGUSR1) == 1, "cwd", getcwd(cwd, sizeof cwd), "stdin", null,
		"sid", (int)getsid(0), "pid", (int)getpid(), "uid", (int)getuid(), "cgroup",
		text_of("/proc/self/cgroup"), "setgroups", text_of("/proc/self/setgroups"));
}

static struct pod pod;

static int setup(void **state)
{
	(void)state;
	pod = (struct pod){.pidfd = -1, .sock = -1};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pod_end(&pod);
	return 0;
}

static void assert_member(const json_t *json, const char *name, const char *wanted)
{
	_cleanup_free_ char *text = json_dumps(json_object_get(json, name),
					       JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	assert_string_equal(text ? text : "(nothing)", wanted);
}

static void start(struct sandbox_spawn *spawn)
{
	struct err err = {0};

	if (pod_start(spawn, &pod, &err) < 0)
		fail_msg("%s", err.msg);
}

static void inherits_nothing(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);
	int stray = open("/etc/passwd", O_RDONLY); /* not close-on-exec */
	_cleanup_json_ json_t *json = NULL;
	const gid_t groups[] = {4, 27};
	sigset_t usr1, old;

	(void)state;
	assert_true(stray >= 0);
	assert_int_equal(setgroups(2, groups), 0);
	assert_int_equal(setenv("SECRET", "1", 1), 0);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)umask(0077);
	(void)sigemptyset(&usr1);
	(void)sigaddset(&usr1, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &usr1, &old);
	start(&spawn);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(setgroups(0, NULL), 0);
	(void)umask(022);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)close(stray);
	json = pod_ask(&pod, json_object());
	assert_member(json, "env", "[\"LANG=C.UTF-8\"]");
	assert_member(json, "fds", "{\"0\":true,\"1\":true,\"2\":true,\"3\":true}");
	assert_member(json, "umask", "18"); /* 022 */
	assert_member(json, "pipe is default", "true");
	assert_member(json, "usr1 is blocked", "false");
	assert_member(json, "cwd", "\"/\"");
	assert_member(json, "stdin", "\"/dev/null\"");
	assert_member(json, "pid", "1");
	assert_member(json, "sid", "1");
	assert_member(json, "uid", "107");
	assert_member(json, "setgroups", "\"deny\\n\"");
	assert_member(json, "groups", "0");
}

/* The two that entering needs, and no more, in its own user namespace only. */
static void holds_two_capabilities(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);
	_cleanup_json_ json_t *json = NULL;
	struct err err = {0};
	const json_t *caps;

	(void)state;
	start(&spawn);
	json_decref(pod_ask(&pod, json_object()));
	assert_int_equal(sandbox_read_process(pod.pid, &json, &err), 0);
	caps = json_object_get(json, "capabilities");
	assert_member(caps, "permitted", "\"0000000000200100\"");
	assert_member(caps, "effective", "\"0000000000200100\"");
	assert_member(caps, "inheritable", "\"0000000000200100\"");
	assert_member(caps, "ambient", "\"0000000000200100\"");
	assert_member(json, "groups", "[]");
}

/* Descriptors land in order although their numbers are in each other's way. */
static void places_descriptors(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);
	_cleanup_fd_ int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	_cleanup_fd_ int full = open("/dev/full", O_RDONLY | O_CLOEXEC);
	_cleanup_json_ json_t *json = NULL;
	struct err err = {0};
	int pair[2], fds[3];
	const json_t *fd;
	size_t i;

	(void)state;
	assert_int_equal(sock_pair(SOCK_SEQPACKET, pair), 0);
	fds[0] = pair[1];
	fds[1] = full;
	fds[2] = zero;
	spawn.fds = fds;
	spawn.n_fds = 3;
	spawn.stderr_fd = full;
	assert_int_equal(sandbox_spawn(&spawn, &pod.pid, &pod.pidfd, &err), 0);
	pod.sock = pair[0];
	(void)close(pair[1]);
	(void)close(spawn.exec_fd);
	(void)close(spawn.netns_fd);
	json_decref(pod_ask(&pod, json_object()));
	assert_int_equal(sandbox_read_process(pod.pid, &json, &err), 0);
	assert_int_equal(json_array_size(json_object_get(json, "fds")), 6);
	json_array_foreach (json_object_get(json, "fds"), i, fd) {
		static const char *const wanted[] = {"/dev/null", "/dev/full", "/dev/full",
						     "socket:",	  "/dev/full", "/dev/zero"};

		assert_int_equal(json_integer_value(json_object_get(fd, "fd")), i);
		assert_non_null(
			str_after(json_string_value(json_object_get(fd, "target")), wanted[i]));
	}
}

/* --- groups ------------------------------------------------------------------------------------- */

static const char *unified(void)
{
	return access("/sys/fs/cgroup/unified/cgroup.procs", F_OK) == 0 ? "/sys/fs/cgroup/unified"
									: "/sys/fs/cgroup";
}

static int enter_group(void *arg, struct err *err)
{
	int r = file_write_at(*(int *)arg, "cgroup.procs", "0");

	return r < 0 ? err_errno(err, r, "entering the group") : 0;
}

static void born_in_its_group(bool by_clone)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);
	_cleanup_free_ char *path = xasprintf("%s/virtpod-test-%d", unified(), getpid());
	_cleanup_json_ json_t *json = NULL;
	_cleanup_free_ char *outside = NULL;
	char proc[64];
	int dir, in, r;

	assert_int_equal(mkdir(path, 0755), 0);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (by_clone) {
		spawn.cgroup_fd = dir;
	} else {
		spawn.join = enter_group;
		spawn.join_arg = &dir;
	}
	start(&spawn);
	json = pod_ask(&pod, json_object());
	(void)snprintf(proc, sizeof proc, "/proc/%d/cgroup", pod.pid);
	r = file_read_at(AT_FDCWD, proc, 4096, &outside, NULL);
	in = strstr(json_string_value(json_object_get(json, "cgroup")), "0::/\n") != NULL;
	pod_end(&pod);
	(void)close(dir);
	assert_int_equal(rmdir(path), 0); /* also: nobody stays in it */
	assert_int_equal(r, 0);
	assert_non_null(strstr(outside, path + strlen(unified())));
	assert_true(in);
}

static void group_by_clone_is_the_view(void **state)
{
	(void)state;
	born_in_its_group(true);
}

static void group_by_join_is_the_view(void **state)
{
	(void)state;
	born_in_its_group(false);
}

/* --- failures ----------------------------------------------------------------------------------- */

static void assert_fails(struct sandbox_spawn *spawn, int code, const char *text)
{
	siginfo_t info;
	struct err err = {0};

	assert_int_equal(pod_start(spawn, &pod, &err), code);
	if (!strstr(err.msg, text))
		fail_msg("'%s' does not say '%s'", err.msg, text);
	/* no child at all is left, not even one to be reaped */
	assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(pod.pidfd, -1);
}

static void bad_executable(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);

	(void)state;
	(void)close(spawn.exec_fd);
	spawn.exec_fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	assert_fails(&spawn, -EACCES, "executing the launcher");
}

static void no_executable(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);

	(void)state;
	(void)close(spawn.exec_fd);
	spawn.exec_fd = -1;
	assert_fails(&spawn, -EBADF, "executable's descriptor");
}

static void bad_netns(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);

	(void)state;
	(void)close(spawn.netns_fd);
	spawn.netns_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_fails(&spawn, -EINVAL, "network namespace");
}

static void no_netns(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);

	(void)state;
	(void)close(spawn.netns_fd);
	spawn.netns_fd = -1;
	assert_fails(&spawn, -EINVAL, "layer net");
}

static int refuse(void *arg, struct err *err)
{
	return err_set(err, -EUCLEAN, "group '%s' is not there", (const char *)arg);
}

static void failed_join(void **state)
{
	static char name[] = "pod-x";
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);

	(void)state;
	spawn.join = refuse;
	spawn.join_arg = name;
	assert_fails(&spawn, -EUCLEAN, "group 'pod-x' is not there");
}

static void refused_map(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);

	(void)state;
	spawn.uid = (uid_t)-1; /* the kernel maps no such id */
	assert_fails(&spawn, -EINVAL, "uid_map");
}

static void bad_group(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	spawn.cgroup_fd = fd;
	assert_fails(&spawn, -EBADF, "cloning");
	(void)close(fd);
}

static void root_is_no_pod(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);

	(void)state;
	spawn.uid = 0;
	assert_fails(&spawn, -EINVAL, "must not be 0");
}

static int die(void *arg, struct err *err)
{
	(void)arg;
	(void)err;
	(void)raise(SIGKILL);
	return 0;
}

static void killed_agent(void **state)
{
	struct sandbox_spawn spawn = pod_spawn(sandbox_layers_all);

	(void)state;
	spawn.join = die;
	assert_fails(&spawn, -ECHILD, "was killed");
}

static void no_descriptor_leaks(void **state)
{
	_cleanup_json_ json_t *before = open_fds(), *after = NULL;

	inherits_nothing(state);
	pod_end(&pod);
	bad_executable(state);
	refused_map(state);
	after = open_fds();
	assert_true(json_equal(before, after));
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(inherits_nothing),
		T(holds_two_capabilities),
		T(places_descriptors),
		T(group_by_clone_is_the_view),
		T(group_by_join_is_the_view),
		T(bad_executable),
		T(no_executable),
		T(bad_netns),
		T(no_netns),
		T(failed_join),
		T(refused_map),
		T(bad_group),
		T(root_is_no_pod),
		T(killed_agent),
		T(no_descriptor_leaks),
	};

	if (argc > 1 && str_eq(argv[1], "payload"))
		return payload();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * inspect_vmi on a pod made by hand: real groups and links by the steps' own functions, and in them
 * processes of this program that do what a hostile pod would: lie in their names, leave their groups.
 * In a network and mount namespace of its own, so that nothing of it can stay.
 */
#include "tests/unit/cgroups/fixture.h"

#include "handler/inspect.h"
#include "handler/pod.h"
#include "handler/proc.h"
#include "handler/steps.h"
#include "handler/vmi.h"

#include "lib/json.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#define PLAN	"tests/unit/handler/verify/plan.json"
#define UID	UID_A
#define HOST_ID 231999
#define HOSTILE "a) R 1\n\033[2J\xff"

static struct handler h;
static struct fixture *groups;
static struct pod *pod;

/* --- the processes ----------------------------------------------------------------------------- */

struct family { /* host's numbers, as everything here shares the host's pid namespace */
	pid_t launcher, qemu, stray, vcpu, io;
};

static void *named_thread(void *arg)
{
	const char *name = arg;

	(void)prctl(PR_SET_NAME, name);
	(void)fix_idle(NULL);
	return NULL;
}

/* Start a thread and wait until it bears its name; its tid. */
static pid_t thread_start(const char *name)
{
	_cleanup_dir_ DIR *dir = NULL;
	struct dirent *de;
	pthread_t thread;

	if (pthread_create(&thread, NULL, named_thread, (void *)(uintptr_t)name))
		_exit(EXIT_FAILED);
	for (;;) {
		dir = opendir("/proc/self/task");
		while (dir && (de = readdir(dir))) {
			char path[300], comm[32];

			(void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", de->d_name);
			if (file_read_line_at(AT_FDCWD, path, comm, sizeof comm) == 0 &&
			    str_eq(comm, name))
				return (pid_t)strtol(de->d_name, NULL, 10);
		}
		dir_closep(&dir);
		dir = NULL;
		(void)sched_yield();
	}
}

/* "QEMU": two threads, and whatever name it likes. */
static void qemu_main(int report)
{
	pid_t tids[2];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, HOSTILE);
	tids[0] = thread_start("CPU 0/TCG");
	tids[1] = thread_start("IO io1");
	if (write(report, tids, sizeof tids) != sizeof tids)
		_exit(EXIT_FAILED);
	_exit(fix_idle(NULL));
}

/* A child that is in none of the pod's groups any more. */
static void stray_main(int report)
{
	pid_t self = getpid();

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "qemu-system-x86");
	for (const char *const *hier = fix_hiers(); *hier; hier++)
		if (!fix_leave(*hier, self))
			_exit(EXIT_FAILED);
	if (write(report, &self, sizeof self) != sizeof self)
		_exit(EXIT_FAILED);
	_exit(fix_idle(NULL));
}

struct launcher_arg {
	int netns, report;
};

static int launcher_main(void *arg)
{
	const struct launcher_arg *a = arg;
	struct family f = {.launcher = getpid()};
	pid_t tids[2];
	int p[2];

	if (setns(a->netns, CLONE_NEWNET) < 0 || pipe2(p, O_CLOEXEC) < 0)
		return EXIT_FAILED;
	f.qemu = fork();
	if (!f.qemu)
		qemu_main(p[1]);
	if (read(p[0], tids, sizeof tids) != sizeof tids)
		return EXIT_FAILED;
	f.vcpu = tids[0];
	f.io = tids[1];
	if (!fork())
		stray_main(p[1]);
	if (read(p[0], &f.stray, sizeof f.stray) != sizeof f.stray ||
	    write(a->report, &f, sizeof f) != sizeof f)
		return EXIT_FAILED;
	return fix_idle(NULL);
}

static struct family family_start(void)
{
	struct launcher_arg a = {.netns = pod->netns_fd};
	struct family f;
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	a.report = p[1];
	(void)fix_spawn(groups, UID, launcher_main, &a);
	(void)close(p[1]);
	assert_int_equal(read(p[0], &f, sizeof f), sizeof f);
	(void)close(p[0]);
	pod->record.pid = f.launcher;
	pod->record.pid_start = proc_start(f.launcher);
	pod->qemu_pid = f.qemu;
	pod->vcpu_tids[0] = f.vcpu;
	return f;
}

/* --- the handler ------------------------------------------------------------------------------- */

static int open_handler(void)
{
	static char
		cpus_file[sizeof fix_dir + 8]; /* other handlers' CPUs are none of this test's */
	_cleanup_free_ char *root = xasprintf("%s/root", fix_dir);
	struct err err = {0};
	int r;

	(void)snprintf(cpus_file, sizeof cpus_file, "%s/cpus", fix_dir);
	h = (struct handler){.qemu = "/usr/bin/qemu-system-x86_64", .cpus_file = cpus_file};
	r = mkdir(root, 0700) < 0 ? -errno : paths_open(root, /* make= */ true, &h.paths, &err);
	if (r == 0) {
		memcpy(h.paths.tag, fix_tag, sizeof h.paths.tag);
		r = store_open(&h.paths, &h.store, &err);
	}
	if (r == 0)
		r = cpu_topology_load(&h.topology, &err);
	if (r < 0)
		print_error("%s\n", err.msg);
	return r;
}

static int group_setup(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		print_error("this test needs root: %s\n", strerror(errno));
		return -1;
	}
	return open_handler();
}

static int group_teardown(void **state)
{
	(void)state;
	store_close(h.store);
	paths_close(&h.paths);
	return 0;
}

static json_t *vmi_of(const char *name, const char *uid)
{
	return json_pack("{s:{s:s, s:s, s:s}}", "metadata", "namespace", "default", "name", name,
			 "uid", uid);
}

/* The VMI in the store and its pod with groups and links, as steps cgroup and net make them. */
static void make_pod(void)
{
	_cleanup_json_ json_t *vmi = vmi_of("one", UID), *plan = json_load_file(PLAN, 0, NULL);
	_cleanup_json_ json_t *record =
		json_pack("{s:{s:s, s:{s:i, s:i}}}", "status", "phase", "Running",
			  "virtpod.io/startMicroseconds", "net", 1500, "total", 250000);
	struct err err = {0};

	(void)json_path_set(plan, "uid", json_string(UID));
	(void)json_path_set(plan, "dedicatedCpus", json_false());
	assert_int_equal(store_put(h.store, VMI_KIND, "default", "one", vmi, &err), 0);
	assert_int_equal(store_status_put(h.store, UID, record, &err), 0);
	pod = pod_new(&h, vmi, json_object_get(record, "status"));
	pod->record.host_id = HOST_ID;
	pod->state = POD_RUNNING;
	pod->record.step = pod_step_index("run");
	if (plan_from_json(plan, &pod->plan, &err) < 0 || step_cgroup(pod, &err) < 0 ||
	    step_net(pod, &err) < 0)
		fail_msg("%s", err.msg);
}

static int setup(void **state)
{
	int r = fix_setup(state);

	if (r < 0)
		return r;
	groups = *state;
	h.cgroups = groups->host;
	return 0;
}

/* Also after a test that failed half way. */
static int teardown(void **state)
{
	struct err err = {0};
	int r;

	if (pod) {
		(void)undo_net(pod, &err);
		(void)store_cpus_free(h.store, UID, &err);
		(void)store_delete(h.store, VMI_KIND, "default", "one", &err);
		pod_free(TAKE_PTR(pod));
	}
	r = fix_teardown(state);
	while (waitpid(-1, NULL, 0) > 0) /* the launcher's children, which died with it */
		;
	return r;
}

static json_t *inspect(void)
{
	struct err err = {0};
	json_t *seen = NULL;

	if (inspect_vmi(&h, "default", "one", &seen, &err) < 0)
		fail_msg("%s", err.msg);
	return seen;
}

static json_t *by_number(const json_t *list, const char *member, pid_t number)
{
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		if ((pid_t)json_u64(item, member, 0) == number)
			return item;
	fail_msg("nothing has %s %d", member, number);
	return NULL;
}

static json_t *by_name(const json_t *list, const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		if (str_eq(json_str(item, "name"), name))
			return item;
	return NULL;
}

/* --- tests ------------------------------------------------------------------------------------- */

static void test_processes(void **state)
{
	_cleanup_json_ json_t *seen = NULL;
	const json_t *all, *p;
	struct family f;

	(void)state;
	make_pod();
	f = family_start();
	seen = inspect();
	all = json_object_get(seen, "processes");
	assert_int_equal(json_array_size(all), 3);
	assert_string_equal(json_str(by_number(all, "pid", f.launcher), "name"), "launcher");
	p = by_number(all, "pid", f.qemu);
	assert_string_equal(json_str(p, "name"), "qemu");
	/* the kernel writes a newline as two letters; the rest is made printable */
	assert_string_equal(json_str(p, "comm"), "a) R 1\\n?[2J?");
	assert_int_equal(json_u64(p, "innerPid", 0), f.qemu);
	assert_false(json_flag(p, "namespaces.net.host", true));
	assert_true(json_flag(p, "namespaces.user.host", false));
	assert_true(json_array_size(json_object_get(p, "mounts")) > 0);
	assert_true(json_array_size(json_object_get(p, "rootEntries")) > 0);
	assert_non_null(by_number(json_object_get(p, "openFiles"), "fd", 1));
	assert_string_equal(json_str(seen, "accel"), "tcg");
	assert_int_equal(json_u64(seen, "vhostQueues", 99), 0);
	assert_true(json_flag(seen, "netnsPinned", false));
	assert_true(json_flag(seen, "running", false));
}

static void test_threads(void **state)
{
	static const struct {
		const char *role, *name;
	} want[] = {{"emulator", "a) R 1\\n?[2J?"}, {"vcpu", "CPU 0/TCG"}, {"io", "IO io1"}};
	_cleanup_json_ json_t *seen = NULL;
	const json_t *threads;
	struct family f;

	(void)state;
	make_pod();
	f = family_start();
	seen = inspect();
	threads = json_object_get(by_name(json_object_get(seen, "processes"), "qemu"), "threads");
	assert_int_equal(json_array_size(threads), 3);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const json_t *t = by_number(threads, "tid", (pid_t[]){f.qemu, f.vcpu, f.io}[i]);

		assert_string_equal(json_str(t, "role"), want[i].role);
		assert_string_equal(json_str(t, "name"), want[i].name);
		assert_int_equal(json_u64(t, "vcpu", 99), i == 1 ? 0 : 99);
		assert_string_equal(json_str(t, "cpus"), json_str(seen, "cpus.shared"));
		assert_string_equal(json_str(t, "policy"), "SCHED_OTHER");
		assert_true(json_u64(t, "lastCpu", CPU_SETSIZE) < CPU_SETSIZE);
		/* each group that the pod has, whatever the name says */
		assert_int_equal(json_array_size(json_object_get(t, "groups")),
				 json_object_size(json_get(seen, "cgroup.paths")));
	}
}

/* It left every group and calls itself QEMU; its parent is the pod's, so it is shown, and as what it is. */
static void test_stray(void **state)
{
	_cleanup_json_ json_t *seen = NULL;
	const json_t *p;
	struct family f;

	(void)state;
	make_pod();
	f = family_start();
	seen = inspect();
	p = by_number(json_object_get(seen, "processes"), "pid", f.stray);
	assert_string_equal(json_str(p, "name"), "other");
	assert_string_equal(json_str(p, "comm"), "qemu-system-x86");
	assert_string_equal(json_str(p, "threads[0].role"), "other");
	assert_int_equal(json_array_size(json_get(p, "threads[0].groups")), 0);
}

static void test_links(void **state)
{
	_cleanup_json_ json_t *seen = NULL;
	const json_t *pod_links, *host_links;

	(void)state;
	make_pod();
	(void)family_start();
	seen = inspect();
	pod_links = json_get(seen, "links.pod");
	host_links = json_get(seen, "links.host");
	assert_non_null(by_name(pod_links, "lo"));
	assert_string_equal(json_str(by_name(pod_links, "9404eea3257-nic"), "master"),
			    "k6t-9404eea3257");
	assert_int_equal(json_u64(by_name(pod_links, "tap9404eea3257"), "tun.owner", 0), HOST_ID);
	assert_int_equal(json_array_size(host_links), 2);
	assert_string_equal(json_str(host_links, "[0].kind"), "bridge");
	assert_string_equal(json_str(host_links, "[1].master"), json_str(host_links, "[0].name"));
}

static void test_limits_and_times(void **state)
{
	_cleanup_json_ json_t *seen = NULL;

	(void)state;
	make_pod();
	(void)family_start();
	seen = inspect();
	assert_int_equal(json_u64(seen, "memory.limitBytes", 0), 625344512);
	assert_true(json_u64(seen, "memory.usedBytes", 0) > 0);
	assert_int_equal(json_u64(seen, "cgroup.limits.pidsMax", 0), 258);
	assert_int_equal(json_array_size(json_object_get(seen, "devices")), 5);
	assert_true(json_is_null(json_object_get(seen, "exclusivity")));
	assert_string_equal(json_str(seen, "vm.phase"), "Running");
	assert_string_equal(json_str(seen, "pod.state"), "running");
	assert_int_equal(json_u64(seen, "pod.hostId", 0), HOST_ID);
	assert_true(json_real_value(json_get(seen, "start.net")) == 1.5);
	assert_true(json_real_value(json_get(seen, "start.total")) == 250);
}

/* Killed behind the handler's back: what is there is shown, and no error. */
static void test_killed(void **state)
{
	_cleanup_json_ json_t *seen = NULL;
	struct family f;

	(void)state;
	make_pod();
	f = family_start();
	assert_int_equal(kill(f.launcher, SIGKILL), 0);
	(void)fix_wait(groups, f.launcher);
	while (waitpid(-1, NULL, 0) > 0) /* its children die with it */
		;
	seen = inspect();
	assert_int_equal(json_array_size(json_object_get(seen, "processes")), 0);
	assert_false(json_flag(seen, "running", true));
	assert_true(json_is_null(json_object_get(seen, "accel")));
	assert_true(json_is_null(json_object_get(seen, "vhostQueues")));
	assert_true(json_is_null(json_object_get(seen, "netnsPinned")));
	assert_int_equal(json_array_size(json_get(seen, "links.pod")), 0);
	assert_int_equal(json_array_size(json_get(seen, "links.host")), 2);
}

/* The recorded number is another process's now: it is not shown as the pod's. */
static void test_reused_pid(void **state)
{
	_cleanup_json_ json_t *seen = NULL;

	(void)state;
	make_pod();
	(void)fix_spawn(groups, NULL, fix_idle, NULL); /* nor are that process's children */
	pod->record.pid = getpid();
	pod->record.pid_start = proc_start(getpid()) + 1;
	seen = inspect();
	assert_int_equal(json_array_size(json_object_get(seen, "processes")), 0);
}

static void test_without_groups(void **state)
{
	_cleanup_json_ json_t *seen = NULL;
	struct err err = {0};

	(void)state;
	make_pod();
	assert_int_equal(cgroup_pod_destroy(h.cgroups, UID, &err), 0);
	seen = inspect();
	assert_true(json_is_null(json_object_get(seen, "cgroup")));
	assert_true(json_is_null(json_object_get(seen, "devices")));
	assert_true(json_is_null(json_get(seen, "memory.limitBytes")));
}

static void test_without_pod(void **state)
{
	_cleanup_json_ json_t *vmi = vmi_of("two", UID_B), *seen = NULL, *verified = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(store_put(h.store, VMI_KIND, "default", "two", vmi, &err), 0);
	assert_int_equal(inspect_vmi(&h, "default", "two", &seen, &err), 0);
	assert_false(json_flag(seen, "running", true));
	assert_string_equal(json_str(seen, "vm.name"), "two");
	assert_string_equal(json_str(seen, "vm.phase"), "Pending");
	assert_null(json_object_get(seen, "pod"));
	assert_int_equal(verify_vmi(&h, "default", "two", &verified, &err), -ESRCH);
	assert_non_null(strstr(err.msg, "default/two has no pod (phase Pending)"));
	assert_null(verified);
	err_clear(&err);
	assert_int_equal(inspect_vmi(&h, "default", "three", &verified, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "'three'"));
	assert_null(verified);
}

/* CPUs of this VM's ledger in the cpuset of a pod that no ledger knows. */
static void test_overlap(void **state)
{
	struct cpu_assignment cpus = {.n_vcpus = 1};
	struct cgroup_pod_spec other = fix_spec(UID_B);
	_cleanup_json_ json_t *seen = NULL;
	struct err err = {0};

	(void)state;
	make_pod();
	CPU_SET(0, &cpus.all);
	assert_int_equal(store_cpus_take(h.store, UID, &cpus, &err), 0);
	seen = inspect();
	assert_string_equal(json_str(seen, "cpus.ledger"), "0");
	assert_int_equal(json_array_size(json_get(seen, "cpus.overlaps")), 0);
	json_decref(seen);
	fix_create(groups, &other);
	seen = inspect();
	assert_string_equal(json_str(seen, "cpus.overlaps[0].cpus"), "0");
	assert_string_equal(json_str(seen, "cpus.overlaps[0].pod"), UID_B);
	assert_true(json_is_null(json_get(seen, "cpus.overlaps[0].vm")));
	assert_int_equal(json_u64(seen, "cpus.vcpus[0]", 99), 0);
}

/* Groups and links are as promised; processes of root without any sandbox keep no other promise. */
static void test_verify(void **state)
{
	static const char *const broken[] = {
		"processes",  "ids",	    "idMaps",	      "namespaces", "capabilities",
		"noNewPrivs", "seccomp",    "seccompFilters", "dumpable",   "mounts",
		"groups",     "devEntries", "rootEntries",    "vcpuThreads"};
	static const char *const kept[] = {
		"sameNamespaces", "devices",	"memoryLimit", "pidsLimit",   "cpuTime", "accel",
		"cpusets",	  "ledger",	"overlaps",    "podBridges",  "podNics", "taps",
		"dummies",	  "otherLinks", "hostVeths",   "hostBridges", "netnsPin"};
	_cleanup_json_ json_t *verified = NULL, *found = json_object();
	struct err err = {0};
	const json_t *d;
	size_t i;

	(void)state;
	make_pod();
	(void)family_start();
	if (verify_vmi(&h, "default", "one", &verified, &err) < 0)
		fail_msg("%s", err.msg);
	assert_false(json_flag(verified, "ok", true));
	json_array_foreach (json_object_get(verified, "differences"), i, d)
		(void)json_object_set(found, json_str(d, "what"), json_object_get(d, "text"));
	for (i = 0; i < ARRAY_SIZE(broken); i++)
		if (!json_object_get(found, broken[i]))
			fail_msg("%s is broken, and not found", broken[i]);
	for (i = 0; i < ARRAY_SIZE(kept); i++)
		if (json_object_get(found, kept[i]))
			fail_msg("%s is kept: %s", kept[i], json_str(found, kept[i]));
	assert_true(json_array_size(json_object_get(verified, "checks")) >=
		    ARRAY_SIZE(broken) + ARRAY_SIZE(kept));
}

static void test_verify_while_starting(void **state)
{
	json_t *verified = NULL;
	struct err err = {0};

	(void)state;
	make_pod();
	pod->state = POD_STARTING;
	assert_int_equal(verify_vmi(&h, "default", "one", &verified, &err), -ESRCH);
	assert_non_null(strstr(err.msg, "not running but starting"));
	assert_null(verified);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_processes),
		TEST(test_threads),
		TEST(test_stray),
		TEST(test_links),
		TEST(test_limits_and_times),
		TEST(test_killed),
		TEST(test_reused_pid),
		TEST(test_without_groups),
		TEST(test_without_pod),
		TEST(test_overlap),
		TEST(test_verify),
		TEST(test_verify_while_starting),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

int main(void)
{
	return fix_main(run);
}

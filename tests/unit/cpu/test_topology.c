// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cpu/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/util.h"

static unsigned moves; /* how often someone asked for other CPUs */

/* In place of libc's, for hwloc as well. */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)pid, (void)size, (void)set;
	moves++;
	return 0;
}

static cpu_set_t sysfs_list(const char *name)
{
	_cleanup_free_ char *path = xasprintf("/sys/devices/system/cpu/%s", name);
	char text[CPUS_TEXT_MAX];

	if (file_read_line_at(AT_FDCWD, path, text, sizeof text) < 0)
		fail_msg("%s can't be read", path);
	return cpus(text);
}

static cpu_set_t sysfs_of_cpu(int cpu, const char *attribute)
{
	_cleanup_free_ char *name = xasprintf("cpu%d/topology/%s", cpu, attribute);

	return sysfs_list(name);
}

static int node_of(int cpu)
{
	_cleanup_free_ char *path = xasprintf("/sys/devices/system/cpu/cpu%d", cpu);
	_cleanup_dir_ DIR *dir = opendir(path);
	struct dirent *e;
	int node;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		if (sscanf(e->d_name, "node%d", &node) == 1)
			return node;
	return 0; /* a kernel without NUMA */
}

static void this_machine_as_sysfs_has_it(void **state)
{
	cpu_set_t online = sysfs_list("online"), got;
	struct cpu_topology t;
	struct err err = {0};

	(void)state;
	if (cpu_topology_load(&t, &err) < 0)
		fail_msg("%s", err.msg);
	cpu_topology_all(&t, &got);
	assert_true(CPU_EQUAL(&got, &online));
	assert_int_equal(t.n, CPU_COUNT(&online));
	for (unsigned i = 0; i < t.n; i++) {
		const struct cpu_info *c = &t.cpus[i];
		cpu_set_t siblings = sysfs_of_cpu(c->cpu, "thread_siblings_list");
		cpu_set_t package = sysfs_of_cpu(c->cpu, "physical_package_id");

		assert_true(i == 0 || c->cpu > t.cpus[i - 1].cpu);
		assert_int_equal(c->core, cpus_next(&siblings, -1));
		assert_true(CPU_ISSET(c->socket, &package));
		assert_int_equal(c->numa, node_of(c->cpu));
	}
}

static void environment_cannot_replace_the_machine(void **state)
{
	struct cpu_topology before, after;

	(void)state;
	assert_int_equal(cpu_topology_load(&before, NULL), 0);
	assert_int_equal(setenv("HWLOC_SYNTHETIC", "pack:7 core:3 pu:1", 1), 0);
	assert_int_equal(setenv("HWLOC_COMPONENTS", "synthetic", 1), 0);
	assert_int_equal(setenv("HWLOCK", "kept", 1), 0);
	assert_int_equal(cpu_topology_load(&after, NULL), 0);
	assert_memory_equal(&before, &after, sizeof before);
	assert_null(getenv("HWLOC_SYNTHETIC"));
	assert_null(getenv("HWLOC_COMPONENTS"));
	assert_string_equal(getenv("HWLOCK"), "kept");
}

static void loading_runs_on_no_other_cpu(void **state)
{
	struct cpu_topology t;

	(void)state;
	moves = 0;
	assert_int_equal(cpu_topology_load(&t, NULL), 0);
	assert_int_equal(moves, 0);
}

/* A cpuset of one CPU, as on a host whose other CPUs sit in partitions; -1 if it can't be made. */
static int open_narrow_cpuset(const char *root, const char *name)
{
	_cleanup_fd_ int root_fd = open(root, O_DIRECTORY | O_CLOEXEC), fd = -1;

	if (root_fd < 0)
		return -1;
	(void)file_write_at(root_fd, "cgroup.subtree_control", "+cpuset"); /* v2 only */
	if (mkdirat(root_fd, name, 0755) < 0)
		return -1;
	fd = openat(root_fd, name, O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || file_write_at(fd, "cpuset.mems", "0") < 0 ||
	    file_write_at(fd, "cpuset.cpus", "0") < 0) {
		(void)unlinkat(root_fd, name, AT_REMOVEDIR);
		return -1;
	}
	return TAKE_FD(fd);
}

static unsigned count_cpus_inside(int cpuset)
{
	struct cpu_topology t;

	if (file_write_at(cpuset, "cgroup.procs", "0") < 0)
		return 0;
	return cpu_topology_load(&t, NULL) < 0 ? 0 : t.n;
}

static void own_cpuset_hides_no_cpu(void **state)
{
	const char *root = access("/sys/fs/cgroup/cpuset", F_OK) == 0 ? "/sys/fs/cgroup/cpuset"
								      : "/sys/fs/cgroup";
	_cleanup_free_ char *name = xasprintf("virtpod-test-topology-%d", getpid());
	_cleanup_free_ char *path = xasprintf("%s/%s", root, name);
	_cleanup_fd_ int cpuset = open_narrow_cpuset(root, name);
	struct cpu_topology t;
	int status = -1;
	pid_t pid;

	(void)state;
	assert_int_equal(cpu_topology_load(&t, NULL), 0);
	assert_true(cpuset >= 0);
	pid = fork();
	if (pid == 0)
		_exit(count_cpus_inside(cpuset) == t.n ? 0 : 1);
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
	assert_int_equal(rmdir(path), 0);
	assert_true(pid > 0 && WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void synthetic_machines(void **state)
{
	struct cpu_topology t;

	(void)state;
	machine("pack:2 numa:2 core:2 pu:2", &t);
	assert_int_equal(t.n, 16);
	assert_int_equal(cpu_topology_threads(&t), 2);
	assert_int_equal(t.cpus[13].cpu, 13);
	assert_int_equal(t.cpus[13].core, 12);
	assert_int_equal(t.cpus[13].socket, 1);
	assert_int_equal(t.cpus[13].numa, 3);
	/* all first threads, then all second threads, as most firmware numbers them */
	machine("pack:2 numa:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", &t);
	assert_int_equal(t.cpus[6].core, 2);
	assert_int_equal(t.cpus[6].socket, 1);
	machine("pack:1 core:3 pu:1", &t);
	assert_int_equal(cpu_topology_threads(&t), 1);
	assert_int_equal(t.cpus[2].numa, 0);
	machine("pu:2", &t); /* no cores, no packages */
	assert_int_equal(t.cpus[1].core, 1);
	assert_int_equal(t.cpus[1].socket, 0);
}

static void unusable_machines(void **state)
{
	struct cpu_topology t = {.n = 77};
	struct err err = {0};

	(void)state;
	assert_int_equal(cpu_topology_synthetic("pack:2 oops", &t, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "'pack:2 oops'"));
	assert_non_null(strstr(err.msg, "core:4 pu:2"));
	err_clear(&err);
	assert_int_equal(cpu_topology_synthetic("core:1025 pu:1", &t, &err), -ERANGE);
	assert_non_null(strstr(err.msg, "CPU 1024"));
	assert_int_equal(t.n, 77);
}

static void subsets_by_core(void **state)
{
	cpu_set_t within, got;
	struct cpu_topology t;

	(void)state;
	machine("pack:1 core:2 pu:4", &t);
	within = cpus("0-3,5-6");
	cpu_in_whole_cores(&t, &within, &got);
	assert_cpus(got, "0-3");
	cpu_in_cores_of(&t, &within, 2, &got);
	assert_cpus(got, "0-3,5-6");
	cpu_in_cores_of(&t, &within, 3, &got);
	assert_cpus(got, "0-3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_machine_as_sysfs_has_it),
		cmocka_unit_test(environment_cannot_replace_the_machine),
		cmocka_unit_test(loading_runs_on_no_other_cpu),
		cmocka_unit_test(own_cpuset_hides_no_cpu),
		cmocka_unit_test(synthetic_machines),
		cmocka_unit_test(unusable_machines),
		cmocka_unit_test(subsets_by_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

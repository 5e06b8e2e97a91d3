// SPDX-License-Identifier: Apache-2.0
/* A process whose state the test knows, compared with what is read of it. */
#include "tests/unit/unit.h"

#include "lib/json.h"
#include "sandbox/read.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int ready[2], done[2];

static void *thread_main(void *arg)
{
	const struct sched_param idle = {0};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	(void)prctl(PR_SET_NAME, "CPU 0/\xff) R");
	(void)sched_setaffinity(0, sizeof set, &set);
	(void)sched_setscheduler(0, SCHED_BATCH, &idle);
	if (write(ready[1], "", 1) != 1 || read(done[0], arg, 1) != 1)
		abort();
	return NULL;
}

static json_t *read_pid(pid_t pid)
{
	struct err err = {0};
	json_t *json = NULL;

	if (sandbox_read_process(pid, &json, &err) < 0)
		fail_msg("%s", err.msg);
	return json;
}

static void a_thread_with_an_odd_name(void **state)
{
	_cleanup_json_ json_t *json = NULL;
	const json_t *thread;
	pthread_t other;
	char c;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	assert_int_equal(pthread_create(&other, NULL, thread_main, &c), 0);
	assert_int_equal(read(ready[0], &c, 1), 1);
	json = read_pid(getpid());
	assert_int_equal(write(done[1], "", 1), 1);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(json_array_size(json_object_get(json, "threads")), 2);
	thread = json_array_get(json_object_get(json, "threads"), 1);
	assert_string_equal(json_str(thread, "comm"), "CPU 0/?) R");
	assert_string_equal(json_str(thread, "cpus"), "0");
	assert_string_equal(json_str(thread, "policy"), "SCHED_BATCH");
	assert_string_equal(json_str(json_array_get(json_object_get(json, "threads"), 0), "policy"),
			    "SCHED_OTHER");
	assert_int_equal(json_integer_value(json_object_get(thread, "nice")), 0);
}

static void one_self_shares_everything(void **state)
{
	_cleanup_json_ json_t *json = read_pid(getpid());
	const char *name;
	json_t *ns;

	(void)state;
	assert_int_equal(json_object_size(json_object_get(json, "namespaces")), 8);
	json_object_foreach (json_object_get(json, "namespaces"), name, ns)
		assert_true(json_is_true(json_object_get(ns, "shared")));
	assert_string_equal(json_str(json, "root"), "/");
	assert_string_equal(json_str(json, "comm"), "test_read");
	assert_string_equal(json_str(json, "seccomp.mode"), "disabled");
	assert_false(json_flag(json, "noNewPrivs", true));
	assert_true(json_array_size(json_object_get(json, "mounts")) > 1);
	assert_true(json_array_size(json_object_get(json, "limits")) > 10);
	assert_true(json_array_size(json_object_get(json, "fds")) > 2);
	if (geteuid() == 0) /* root's files are root's either way */
		assert_true(json_is_null(json_object_get(json, "dumpable")));
}

static void a_process_that_is_gone(void **state)
{
	struct err err = {0};
	json_t *json = NULL;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(sandbox_read_process(pid, &json, &err), -ESRCH);
	assert_null(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_with_an_odd_name),
		cmocka_unit_test(one_self_shares_everything),
		cmocka_unit_test(a_process_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

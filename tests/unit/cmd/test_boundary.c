// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "cmd/boundary.h"

#include <string.h>

#include "lib/json.h"

static char *printed(const char *text)
{
	_cleanup_json_ json_t *inspect = json_loads(text, 0, NULL);
	char *out = NULL;
	size_t len;
	FILE *to = open_memstream(&out, &len);

	assert_non_null(inspect);
	assert_non_null(to);
	boundary_print(inspect, to);
	assert_int_equal(fclose(to), 0);
	return out;
}

static void has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
}

#define PROCESS(caps)                                                                              \
	"{\"vm\": {\"namespace\": \"lab\", \"name\": \"a\", \"phase\": \"Running\"}, \"accel\": "  \
	"\"kvm\", \"processes\": [{\"name\": \"qemu\", \"pid\": 41, \"innerPid\": 2, \"uids\": "   \
	"[70000], \"namespaces\": {\"net\": {\"host\": false}, \"time\": {\"host\": true}}, "      \
	"\"capabilities\": {\"effective\": \"" caps "\", \"permitted\": \"0000000000000000\", "    \
	"\"inheritable\": \"0000000000000000\", \"bounding\": \"0000000000000000\", \"ambient\": " \
	"\"0000000000000000\"}, \"noNewPrivs\": true, \"seccomp\": {\"mode\": \"filter\", "        \
	"\"filters\": 2}, \"dumpable\": false, \"rootEntries\": [\"dev\", \"proc\"], "             \
	"\"threads\": [{\"tid\": 42, \"name\": \"CPU 0/KVM\", \"role\": \"vcpu\", \"vcpu\": 0, "   \
	"\"cpus\": \"3\", \"lastCpu\": 3, \"policy\": \"SCHED_OTHER\"}]}], \"start\": "            \
	"{\"total\": "                                                                             \
	"212.5, \"admit\": 0.5}, \"cgroup\": {\"limits\": {\"memoryMax\": 1048576}}}"

static void test_sections(void **state)
{
	_cleanup_free_ char *text = printed(PROCESS("0000000000000000"));

	(void)state;
	has(text, "lab/a: Running, kvm\n");
	has(text, "qemu (pid 41, in the pod 2)\n");
	has(text, "  own namespaces     net\n  shared with host   time\n");
	has(text, "  capabilities       none: all five sets are empty\n");
	has(text, "  no_new_privs       yes\n  seccomp            filter, 2 filters\n");
	has(text, "  root               dev proc\n");
	has(text, "42    qemu      CPU 0/KVM   vcpu 0   3            3         SCHED_OTHER\n");
	has(text, "  memory limit       1.0 MiB (");
	assert_true(strstr(text, "admit") < strstr(text, "total"));
}

static void test_memory(void **state)
{
	_cleanup_free_ char *text = printed(
		"{\"vm\": {}, \"processes\": [], \"memory\": {\"lockedBytes\": 1048576, "
		"\"guest\": [{\"policy\": \"bind:1\", \"pageBytes\": 2097152, \"nodes\": "
		"{\"1\": 201326592}}, {\"policy\": \"bind:0\", \"pageBytes\": 4096, \"nodes\": "
		"{\"0\": 1048576}}]}}");

	(void)state;
	has(text, "MEMORY\n"
		  "  on node 1          192.0 MiB, policy bind:1, pages of 2.0 MiB\n"
		  "  on node 0          1.0 MiB, policy bind:0\n"
		  "  locked             1.0 MiB\n");
}

/* What is missing must never look like what is good. */
static void test_bad_and_missing(void **state)
{
	_cleanup_free_ char *capable = printed(PROCESS("0000000000001000"));
	_cleanup_free_ char *bare = printed("{\"processes\": [{\"name\": \"qemu\"}]}");
	_cleanup_free_ char *none = printed("{\"vm\": {\"name\": \"a\", \"namespace\": \"lab\", "
					    "\"phase\": \"Pending\"}, \"running\": false}");

	(void)state;
	has(capable, "  capabilities       effective 0000000000001000\n");
	has(bare, "  capabilities       effective -, permitted -, inheritable -, bounding -, "
		  "ambient -\n");
	has(bare, "  no_new_privs       no\n");
	has(bare, "  own namespaces     none\n");
	assert_string_equal(none, "lab/a: Pending, no QEMU\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_bad_and_missing),
	};

	return cmocka_run_group_tests_name("boundary", tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Every answer of the kubelet's own static CPU manager, given and withheld, must be ours, too. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/allocator.h"
#include "cpu/numa.h"
#include "lib/cpus.h"
#include "lib/util.h"

#define ORACLE	    "tests/oracle/kubernetes/"
#define MAX_HOLDERS 16

static unsigned line_number; /* for messages */

struct ledger {
	unsigned n;
	struct cpu_holder rows[MAX_HOLDERS];
};

static cpu_set_t set_of(const json_t *list)
{
	cpu_set_t set;
	size_t i;
	json_t *v;

	CPU_ZERO(&set);
	json_array_foreach (list, i, v)
		CPU_SET((int)json_integer_value(v), &set);
	return set;
}

static int int_of(const json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	assert_true(json_is_integer(v));
	return (int)json_integer_value(v);
}

static const char *string_of(const json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	assert_true(json_is_string(v));
	return json_string_value(v);
}

static void read_topology(const json_t *line, struct cpu_topology *ret)
{
	size_t i;
	json_t *v;

	memset(ret, 0, sizeof *ret);
	json_array_foreach (json_object_get(line, "cpus"), i, v)
		ret->cpus[ret->n++] = (struct cpu_info){.cpu = int_of(v, "cpu"),
							.core = int_of(v, "core"),
							.socket = int_of(v, "socket"),
							.numa = int_of(v, "numa")};
	assert_true(ret->n > 0);
}

static void read_policy(const json_t *line, struct cpu_policy *ret)
{
	const char *manager = string_of(line, "topology_manager");

	*ret = (struct cpu_policy){.manager = CPU_MANAGER_STATIC,
				   .reserved = set_of(json_object_get(line, "reserved"))};
	ret->full_pcpus_only = str_eq(string_of(line, "option"), "full-pcpus-only");
	if (str_eq(manager, "single-numa-node"))
		ret->topology = TOPOLOGY_MANAGER_SINGLE_NUMA_NODE;
	else
		assert_string_equal(manager, "none");
}

static void ledger_remove(struct ledger *ledger, const char *id)
{
	for (unsigned i = 0; i < ledger->n; i++) {
		if (!str_eq(ledger->rows[i].name, id))
			continue;
		ledger->rows[i] = ledger->rows[--ledger->n];
		return;
	}
	fail_msg("%s was never allocated", id);
}

static cpu_set_t nodes_of(const struct cpu_topology *t, const json_t *nodes)
{
	cpu_set_t set;
	size_t i;
	json_t *v;

	cpu_topology_all(t, &set);
	if (!json_is_array(nodes)) /* no affinity: all of them */
		return set;
	CPU_ZERO(&set);
	json_array_foreach (nodes, i, v)
		for (unsigned c = 0; c < t->n; c++)
			if (t->cpus[c].numa == json_integer_value(v))
				CPU_SET(t->cpus[c].cpu, &set);
	return set;
}

static void check_hint(const struct cpu_topology *t, const struct cpu_policy *policy,
		       const struct ledger *ledger, const json_t *op)
{
	const json_t *hint = json_object_get(op, "best_hint");
	cpu_set_t free, got, want;
	bool admitted;

	if (!hint)
		return;
	cpu_shared_pool(t, ledger->rows, ledger->n, &free);
	cpus_minus(&free, &policy->reserved);
	admitted = cpu_numa_align(t, policy->topology, &free, (unsigned)int_of(op, "n"), &got);
	assert_int_equal(admitted, json_is_true(json_object_get(hint, "preferred")));
	if (!admitted)
		return;
	want = nodes_of(t, json_object_get(hint, "nodes"));
	assert_true(CPU_EQUAL(&got, &want));
}

static void allocate(const struct cpu_topology *t, const struct cpu_policy *policy,
		     struct ledger *ledger, const json_t *op)
{
	const struct cpu_request request = {
		.sockets = (unsigned)int_of(op, "n"), .cores = 1, .threads = 1};
	struct cpu_assignment got, on_empty;
	struct err err = {0};
	int r = cpu_allocate(t, policy, ledger->rows, ledger->n, &request, &got, &err);
	cpu_set_t want = set_of(json_object_get(op, "cpu_list"));
	char text[CPUS_TEXT_MAX];

	if (!json_is_true(json_object_get(op, "ok"))) {
		int never = cpu_allocate(t, policy, NULL, 0, &request, &on_empty, NULL);

		assert_int_equal(r, never < 0 ? -ENOTSUP : -EBUSY);
		assert_int_equal(err.code, r);
		return;
	}
	if (r < 0)
		fail_msg("%s", err.msg);
	if (!CPU_EQUAL(&got.all, &want))
		fail_msg("line %u: got %s, want %s", line_number, cpus_format(&got.all, text),
			 string_of(op, "cpus"));
	assert_true(ledger->n < MAX_HOLDERS);
	ledger->rows[ledger->n].name = string_of(op, "id");
	ledger->rows[ledger->n++].cpus = got.all;
}

static void play(const json_t *line)
{
	struct ledger ledger = {0};
	struct cpu_topology t;
	struct cpu_policy policy;
	cpu_set_t shared, want;
	size_t i;
	json_t *op;

	read_topology(line, &t);
	read_policy(line, &policy);
	json_array_foreach (json_object_get(line, "ops"), i, op) {
		if (str_eq(string_of(op, "op"), "free")) {
			ledger_remove(&ledger, string_of(op, "id"));
		} else {
			check_hint(&t, &policy, &ledger, op);
			allocate(&t, &policy, &ledger, op);
		}
		cpu_shared_pool(&t, ledger.rows, ledger.n, &shared);
		assert_int_equal(cpus_parse(string_of(op, "shared_after"), &want), 0);
		assert_true(CPU_EQUAL(&shared, &want));
	}
}

static void reserve(const json_t *line)
{
	cpu_set_t got, want = set_of(json_object_get(line, "reserved"));
	struct err err = {0};
	struct cpu_topology t;
	int r;

	read_topology(line, &t);
	r = cpu_reserve_count(&t, (unsigned)int_of(line, "reserve_count"), &got, &err);
	assert_int_equal(r == 0, json_is_true(json_object_get(line, "ok")));
	if (r == 0)
		assert_true(CPU_EQUAL(&got, &want));
}

static unsigned for_each_line(const char *path, void (*check)(const json_t *line))
{
	_cleanup_file_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	unsigned n = 0;

	if (!f)
		fail_msg("%s: %s (run from the project's root)", path, strerror(errno));
	while (getline(&text, &size, f) > 0) {
		json_error_t error;
		json_t *line = json_loads(text, 0, &error);

		if (!line)
			fail_msg("%s:%u: %s", path, n + 1, error.text);
		line_number = n + 1;
		check(line);
		json_decref(line);
		n++;
	}
	return n;
}

static void allocates_as_the_kubelet(void **state)
{
	(void)state;
	assert_int_equal(for_each_line(ORACLE "cpumanager.jsonl", play), 199);
}

static void reserves_as_the_kubelet(void **state)
{
	(void)state;
	assert_int_equal(for_each_line(ORACLE "cpumanager_reserve.jsonl", reserve), 111);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocates_as_the_kubelet),
		cmocka_unit_test(reserves_as_the_kubelet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

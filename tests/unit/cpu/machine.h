// SPDX-License-Identifier: Apache-2.0
/* Machines, policies and CPU sets in one line each, for the tests of cpu/. */
#pragma once

#include "tests/unit/unit.h"

#include "cpu/allocator.h"
#include "lib/cpus.h"

static inline void machine(const char *description, struct cpu_topology *ret)
{
	struct err err = {0};

	if (cpu_topology_synthetic(description, ret, &err) < 0)
		fail_msg("%s", err.msg);
}

static inline cpu_set_t cpus(const char *list)
{
	cpu_set_t set;

	assert_int_equal(cpus_parse(list, &set), 0);
	return set;
}

#define assert_cpus(set, list)                                                                     \
	do {                                                                                       \
		char _text[CPUS_TEXT_MAX];                                                         \
		assert_string_equal(cpus_format(&(set), _text), list);                             \
	} while (0)

/* xorshift: the same numbers on every run and host */
static inline unsigned next_random(unsigned *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

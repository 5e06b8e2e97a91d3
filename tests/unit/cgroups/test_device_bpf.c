// SPDX-License-Identifier: Apache-2.0
/* The device program as instructions: what is built, and what of it can be read back. Pure. */
#include "tests/unit/unit.h"

#include "cgroups/device_bpf.h"
#include "lib/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct bpf_insn insns[DEVICE_BPF_MAX_INSNS];

static unsigned build(const struct cgroup_device *list, unsigned n)
{
	struct err err = {0};
	unsigned len = 0;

	if (device_bpf_build(list, n, insns, &len, &err) < 0)
		fail_msg("%s", err.msg);
	return len;
}

static void round_trip(const struct cgroup_device *list, unsigned n, const char *want)
{
	_cleanup_free_ char *text = NULL;
	unsigned len = build(list, n);

	assert_int_equal(device_bpf_decode(insns, len, &text), 0);
	assert_string_equal(text, want);
}

static void test_build_limits(void **state)
{
	static struct cgroup_device list[DEVICE_BPF_MAX_DEVICES + 1];
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(list); i++)
		list[i] = (struct cgroup_device){'c', i, i, false, "rwm"};
	assert_int_equal(device_bpf_build(list, DEVICE_BPF_MAX_DEVICES, insns, &n, NULL), 0);
	assert_int_equal(n, DEVICE_BPF_MAX_INSNS);
	assert_int_equal(device_bpf_build(list, ARRAY_SIZE(list), insns, &n, NULL), -E2BIG);
	list[0].access = "x";
	assert_int_equal(device_bpf_build(list, 1, insns, &n, NULL), -EINVAL);
}

#define LIST(...)                                                                                  \
	(const struct cgroup_device[]){__VA_ARGS__},                                               \
		ARRAY_SIZE(((const struct cgroup_device[]){__VA_ARGS__}))

static void test_round_trip(void **state)
{
	(void)state;
	round_trip(NULL, 0, "");
	round_trip(LIST({'c', 1, 3, false, "rwm"}), "c 1:3 rwm");
	round_trip(LIST({'b', 8, 16, false, "r"}), "b 8:16 r");
	round_trip(LIST({'c', 136, 0, true, "wr"}), "c 136:* rw");
	round_trip(LIST({'b', 7, 99, true, "m"}), "b 7:* m");
	round_trip(LIST({'c', 4095, 1048575, false, "w"}, {'b', 0, 0, false, "m"}),
		   "c 4095:1048575 w\nb 0:0 m");
	/* merged, and "1:*" is another device than "1:3" */
	round_trip(LIST({'c', 1, 3, false, "r"}, {'b', 1, 3, false, "w"}, {'c', 1, 0, true, "m"},
			{'c', 1, 3, false, "m"}),
		   "c 1:3 rm\nb 1:3 w\nc 1:* m");
}

static void test_largest_round_trip(void **state)
{
	static struct cgroup_device list[DEVICE_BPF_MAX_DEVICES];
	_cleanup_free_ char *text = NULL;
	const char *line;
	unsigned len;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(list); i++)
		list[i] = (struct cgroup_device){i % 2 ? 'b' : 'c', i, 2 * i, false, "rm"};
	len = build(list, ARRAY_SIZE(list));
	assert_int_equal(device_bpf_decode(insns, len, &text), 0);
	line = text;
	for (unsigned i = 0; i < ARRAY_SIZE(list); i++) {
		_cleanup_free_ char *want =
			xasprintf("%c %u:%u rm", list[i].type, list[i].major, list[i].minor);

		assert_non_null(line);
		assert_int_equal(strncmp(line, want, strlen(want)), 0);
		assert_true(line[strlen(want)] == (i + 1 < ARRAY_SIZE(list) ? '\n' : 0));
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	assert_null(line);
}

static int decode(unsigned n)
{
	/* just as large: what reads on behind it is found by the sanitizer */
	struct bpf_insn *copy = xcalloc(n ? n : 1, sizeof *copy);
	char *text = NULL;
	int r;

	memcpy(copy, insns, n * sizeof *copy);
	r = device_bpf_decode(copy, n, &text);
	free(copy);
	free(text);
	return r;
}

enum { CODE, REGISTERS, OFFSET, VALUE, N_FIELDS };

static void corrupt(struct bpf_insn *p, int field)
{
	switch (field) {
	case CODE:
		p->code ^= 0x10;
		break;
	case REGISTERS:
		p->dst_reg ^= 1;
		break;
	case OFFSET:
		p->off++;
		break;
	default:
		p->imm ^= 0x100000;
	}
}

/* Nothing but what we build is read as a list: each instruction, each of its fields. */
static void test_corrupted(void **state)
{
	static const struct cgroup_device list[] = {
		{'c', 1, 3, false, "r"}, {'b', 7, 0, true, "wm"}, {'c', 10, 232, false, "rwm"}};
	unsigned len = build(list, ARRAY_SIZE(list));

	(void)state;
	assert_int_equal(decode(len), 0);
	for (unsigned i = 0; i < len; i++)
		for (int field = 0; field < N_FIELDS; field++) {
			struct bpf_insn was = insns[i];

			corrupt(&insns[i], field);
			if (decode(len) != -EBADMSG)
				fail_msg("instruction %u, field %d: not noticed", i, field);
			insns[i] = was;
		}
	assert_int_equal(decode(len), 0);
}

static void test_cut_or_longer(void **state)
{
	static const struct cgroup_device list[] = {{'c', 1, 3, false, "r"},
						    {'b', 7, 0, true, "wm"}};
	unsigned len = build(list, ARRAY_SIZE(list));

	(void)state;
	for (unsigned n = 0; n < len; n++)
		assert_int_equal(decode(n), -EBADMSG);
	insns[len] = insns[len - 1];
	insns[len + 1] = insns[len - 1];
	assert_int_equal(decode(len + 1), -EBADMSG);
	assert_int_equal(decode(len + 2), -EBADMSG);
	assert_int_equal(decode(DEVICE_BPF_MAX_INSNS), -EBADMSG);
}

/* It would allow the same, but nothing of ours does it that way. */
static void test_unmerged(void **state)
{
	static const struct cgroup_device list[] = {{'c', 1, 3, false, "r"},
						    {'c', 1, 5, false, "w"}};
	unsigned len = build(list, ARRAY_SIZE(list));

	(void)state;
	insns[6 + 8 + 2].imm = 3; /* the second one's minor number */
	assert_int_equal(decode(len), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_limits),	   cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_largest_round_trip), cmocka_unit_test(test_corrupted),
		cmocka_unit_test(test_cut_or_longer),	   cmocka_unit_test(test_unmerged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

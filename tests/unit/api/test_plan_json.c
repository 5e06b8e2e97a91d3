// SPDX-License-Identifier: Apache-2.0
/* plan_from_json on what a hostile or broken peer may send. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "api/plan.h"
#include "lib/json.h"

/* A plan with a disk and two NICs that is taken as it is. */
static json_t *good(void)
{
	json_t *ret = json_load_file("tests/unit/api/plan/nics.json", 0, NULL);
	_cleanup_json_ json_t *disks = json_load_file("tests/unit/api/plan/disks.json", 0, NULL);

	assert_non_null(ret);
	assert_non_null(disks);
	(void)json_object_set(ret, "disks", json_object_get(disks, "disks"));
	return ret;
}

static void refused(const json_t *json, const char *msg)
{
	struct plan *plan = NULL;
	struct err err = {0};

	assert_int_equal(plan_from_json(json, &plan, &err), -EBADMSG);
	assert_null(plan);
	assert_string_equal(err.msg, msg);
}

/* One member of the good plan replaced by `value` (consumed). */
static void refused_with(const char *path, json_t *value, const char *msg)
{
	_cleanup_json_ json_t *json = good();

	assert_int_equal(json_path_set(json, path, value), 0);
	refused(json, msg);
}

static void good_one_is_taken_whole(void **state)
{
	_cleanup_json_ json_t *json = good(), *again = NULL;
	struct plan *plan = NULL;

	(void)state;
	assert_int_equal(plan_from_json(json, &plan, NULL), 0);
	assert_int_equal(plan->n_disks, 5);
	assert_int_equal(plan->n_nics, 2);
	again = plan_to_json(plan);
	assert_true(json_equal(json, again));
	plan_free(plan);
	plan_free(NULL);
}

static void not_objects(void **state)
{
	_cleanup_json_ json_t *list = json_array();

	(void)state;
	refused(NULL, "plan: must be an object");
	refused(list, "plan: must be an object");
	refused_with("isolation", json_true(), "plan: isolation: must be an object");
	refused_with("disks", json_object(), "plan: disks: must be a list of at most 32");
	refused_with("nics", json_null(), "plan: nics: must be a list of at most 8");
	refused_with("disks[1]", json_integer(1), "plan: disks[1]: must be an object");
}

/* Without any one of its members, of any object in it, it is no plan; nor with one more. */
static void each_member_is_needed(void **state)
{
	static const char *const objects[] = {"", "isolation", "disks[0]", "nics[1]"};

	(void)state;
	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
		_cleanup_json_ json_t *json = good();
		json_t *object = json_get(json, objects[i]), *value;
		const char *key;

		json_object_foreach (object, key, value) {
			_cleanup_json_ json_t *less = json_deep_copy(json);
			struct plan *plan = NULL;

			(void)json_object_del(json_get(less, objects[i]), key);
			assert_int_equal(plan_from_json(less, &plan, NULL), -EBADMSG);
		}
		(void)json_object_set_new(object, "extra", json_true());
		assert_int_equal(plan_from_json(json, &(struct plan *){NULL}, NULL), -EBADMSG);
	}
}

/* As a handler of another version reads it: more members are no matter, and fewer are zero. */
static void of_another_version(void **state)
{
	static const char *const objects[] = {"", "isolation", "disks[0]", "nics[1]", "cells[0]"};
	_cleanup_json_ json_t *json = good();
	_cleanup_(plan_freep) struct plan *plan = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++)
		if (json_get(json, objects[i]))
			(void)json_object_set_new(json_get(json, objects[i]), "extra", json_true());
	(void)json_object_del(json, "watchdog");
	(void)json_object_del(json, "cells");
	(void)json_object_del(json_get(json, "nics[1]"), "mtu");
	assert_int_equal(plan_from_record(json, &plan, NULL), 0);
	assert_int_equal(plan->n_disks, 5);
	assert_int_equal(plan->n_nics, 2);
	assert_int_equal(plan->nics[1].mtu, 0);
	assert_int_equal(plan->watchdog, WATCHDOG_NONE);
	assert_int_equal(plan->n_cells, 0);
}

/* What is there must be understood, though. */
static void of_a_version_too_far(void **state)
{
	_cleanup_json_ json_t *json = good();
	_cleanup_(plan_freep) struct plan *plan = NULL;
	struct err err = {0};

	(void)state;
	(void)json_object_set_new(json_get(json, "disks[0]"), "format", json_string("vhdx"));
	assert_int_equal(plan_from_record(json, &plan, &err), -EBADMSG);
	assert_string_equal(err.msg, "plan: disks[0]: format: has a wrong type or value");
}

/* Arrays are as long as the most vCPUs that a plan may have; and a VM with none is not what runs. */
static void of_a_version_with_other_vcpus(void **state)
{
	static const int sockets[] = {0, PLAN_MAX_VCPUS};

	(void)state;
	for (size_t i = 0; i < sizeof(sockets) / sizeof(*sockets); i++) {
		_cleanup_json_ json_t *json = good();
		struct plan *plan = NULL;

		(void)json_object_set_new(json, "cores", json_integer(2));
		if (sockets[i])
			(void)json_object_set_new(json, "sockets", json_integer(sockets[i]));
		else
			(void)json_object_del(json, "sockets");
		assert_int_equal(plan_from_record(json, &plan, NULL), -EBADMSG);
		assert_null(plan);
	}
}

/* Each member as every type that JSON has: at most its own is taken. */
static void wrong_types(void **state)
{
	_cleanup_json_ json_t *json = good();
	const char *key;
	json_t *value;

	(void)state;
	json_object_foreach (json, key, value) {
		json_t *types[] = {json_true(),	      json_integer(-1), json_real(1.5),
				   json_string("?/"), json_object(),	json_array()};
		size_t taken = 0;

		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
			_cleanup_json_ json_t *other = json_deep_copy(json);
			struct plan *plan = NULL;

			(void)json_object_set_new(other, key, types[i]);
			taken += plan_from_json(other, &plan, NULL) == 0;
			plan_free(plan);
		}
		assert_in_range(taken, 0, 1);
	}
}

static void values_out_of_bounds(void **state)
{
	_cleanup_free_ char *long_name = xcalloc(1, 65);

	(void)state;
	memset(long_name, 'a', 64);
	refused_with("name", json_string(long_name), "plan: name: has a wrong type or value");
	refused_with("name", json_string("a/../b"), "plan: name: has a wrong type or value");
	refused_with("name", json_string(".."), "plan: name: has a wrong type or value");
	refused_with("namespace", json_string("A"), "plan: namespace: has a wrong type or value");
	refused_with("namespace", json_string(""), "plan: namespace: has a wrong type or value");
	refused_with("uid", json_string("1111"), "plan: uid: has a wrong type or value");
	refused_with("accel", json_string("xen"), "plan: accel: has a wrong type or value");
	refused_with("machine", json_string("q35,usb=on"),
		     "plan: machine: has a wrong type or value");
	refused_with("sockets", json_integer(0), "plan: sockets: has a wrong type or value");
	refused_with("sockets", json_integer(513), "plan: sockets: has a wrong type or value");
	refused_with("memoryGuest", json_integer(INT64_MAX),
		     "plan: memoryGuest: has a wrong type or value");
	refused_with("graceSeconds", json_integer((json_int_t)UINT32_MAX + 1),
		     "plan: graceSeconds: has a wrong type or value");
	refused_with("kernelPath", json_string("vmlinuz"),
		     "plan: kernelPath: has a wrong type or value");
	refused_with("kernelPath", json_string("/boot/../../etc/shadow"),
		     "plan: kernelPath: has a wrong type or value");
	refused_with("kernelArgs", json_string("a\nb"),
		     "plan: kernelArgs: has a wrong type or value");
	refused_with("kernelArgs",
		     json_string("a\xc2\x9b"
				 "2J"),
		     "plan: kernelArgs: has a wrong type or value");
	refused_with("disks[0].path", json_string("/a/.."),
		     "plan: disks[0]: path: has a wrong type or value");
	refused_with("disks[0].format", json_string("vmdk"),
		     "plan: disks[0]: format: has a wrong type or value");
	refused_with("nics[0].mtu", json_integer(67),
		     "plan: nics[0]: mtu: has a wrong type or value");
	refused_with("nics[0].queues", json_integer(257),
		     "plan: nics[0]: queues: has a wrong type or value");
	refused_with("nics[0].mac", json_string("01:00:00:00:00:00"),
		     "plan: nics[0]: mac: has a wrong type or value");
	refused_with("nics[0].bridge", json_string("br/0"),
		     "plan: nics[0]: bridge: has a wrong type or value");
	refused_with("nics[0].bridge", json_string("a-name-too-long1"),
		     "plan: nics[0]: bridge: has a wrong type or value");
	refused_with("nics[0].gateway", json_string("10.0.0.1"),
		     "plan: nics[0]: gateway: has a wrong type or value");
	refused_with("nics[0].gateway", json_string("10.0.0.1/33"),
		     "plan: nics[0]: gateway: has a wrong type or value");
	refused_with("nics[0].network", json_string("lan"),
		     "plan: nics[0]: network: has a wrong type or value");
}

static void values_that_do_not_go_together(void **state)
{
	_cleanup_json_ json_t *json = good();

	(void)state;
	(void)json_path_set(json, "sockets", json_integer(2));
	(void)json_path_set(json, "cores", json_integer(257));
	refused(json, "plan: sockets × cores × threads is more than 512");
	refused_with("memoryLimit", json_integer(1), "plan: memoryLimit: is less than memoryGuest");
	refused_with("tcgTbSize", json_integer(1), "plan: tcgTbSize: goes with accel tcg");
	refused_with("disks[0].path", json_null(), "plan: disks[0].path: goes with hostDisk");
	refused_with("disks[3].path", json_string("/a"), "plan: disks[3].path: goes with hostDisk");
	refused_with("disks[1].name", json_string("root"),
		     "plan: disks[1].name: 'root' is there twice");
	refused_with("nics[1].name", json_string("one"),
		     "plan: nics[1].name: 'one' is there twice");
	refused_with("nics[1].mac", json_string("02:00:5e:10:00:01"),
		     "plan: nics[1].mac: is there twice");
}

static void too_many(void **state)
{
	_cleanup_json_ json_t *json = good();
	json_t *nics = json_object_get(json, "nics");

	(void)state;
	while (json_array_size(nics) <= PLAN_MAX_NICS)
		(void)json_array_append(nics, json_array_get(nics, 0));
	refused(json, "plan: nics: must be a list of at most 8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_one_is_taken_whole),
		cmocka_unit_test(not_objects),
		cmocka_unit_test(each_member_is_needed),
		cmocka_unit_test(of_another_version),
		cmocka_unit_test(of_a_version_too_far),
		cmocka_unit_test(of_a_version_with_other_vcpus),
		cmocka_unit_test(wrong_types),
		cmocka_unit_test(values_out_of_bounds),
		cmocka_unit_test(values_that_do_not_go_together),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

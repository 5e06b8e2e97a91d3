// SPDX-License-Identifier: Apache-2.0
/* plan_make: each manifest in tests/unit/api/plan/ gives the JSON beside it. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>

#include "api/plan_make.h"
#include "lib/file.h"
#include "lib/mac.h"
#include "tests/unit/api/objects.h"

#define UID "11111111-2222-4333-8444-555555555555"

/* Networks lan and jumbo are there, others are not. */
static int find_network(const char *ns_name, struct network *ret, void *arg, struct err *err)
{
	unsigned *asked = arg;

	(*asked)++;
	if (strstr(ns_name, "/jumbo"))
		*ret = (struct network){.bridge = xstrdup("br9"), .mtu = 9000};
	else if (strstr(ns_name, "/lan"))
		*ret = (struct network){.mtu = 1500, .gateway = xstrdup("10.10.0.1/24")};
	else
		return err_set(err, -ENOENT, "is not there");
	return 0;
}

static int make_on(const struct plan_host *host, const json_t *vmi, bool emulate, struct plan **ret,
		   struct err *err)
{
	const struct cluster_config cfg = {.use_emulation = emulate};
	unsigned asked = 0;

	return plan_make(vmi, &cfg, host, find_network, &asked, ret, err);
}

/* On a host with vhost-net. */
static int make(const json_t *vmi, bool emulate, bool kvm, struct plan **ret, struct err *err)
{
	return make_on(&(struct plan_host){.kvm = kvm, .vhost_net = true}, vmi, emulate, ret, err);
}

static json_t *vmi_of(const char *name)
{
	_cleanup_free_ char *path = xasprintf("tests/unit/api/plan/%s.yaml", name), *text = NULL;
	json_t *vmi;

	if (file_read_at(AT_FDCWD, path, 1 << 16, &text, NULL) < 0)
		fail_msg("%s is not there; run this from the top folder", path);
	vmi = admitted(text);
	assert_int_equal(json_path_set(vmi, "metadata.uid", json_string(UID)), 0);
	return vmi;
}

static void is_golden(const char *name, bool kvm)
{
	_cleanup_free_ char *path = xasprintf("tests/unit/api/plan/%s.json", name);
	_cleanup_json_ json_t *vmi = vmi_of(name), *json = NULL, *golden = NULL, *again = NULL;
	struct plan *plan = NULL, *copy = NULL;
	struct err err = {0};

	if (make(vmi, /* emulate= */ true, kvm, &plan, &err) < 0)
		fail_msg("%s: %s", name, err.msg);
	json = plan_to_json(plan);
	golden = json_load_file(path, 0, NULL);
	if (!golden || !json_equal(json, golden)) {
		_cleanup_free_ char *text = json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS);

		(void)fprintf(stderr, "%s is now:\n%s\n", path, text); /* too long for fail_msg */
		fail();
	}
	/* what is made here is what the other side takes */
	if (plan_from_json(json, &copy, &err) < 0)
		fail_msg("%s: %s", name, err.msg);
	again = plan_to_json(copy);
	assert_true(json_equal(json, again));
	plan_free(plan);
	plan_free(copy);
}

static void plans_are_as_written(void **state)
{
	(void)state;
	is_golden("demo", false);
	is_golden("disks", true);
	is_golden("nics", true);
	is_golden("isolate", true);
	is_golden("small", false);
	is_golden("requests", true);
	is_golden("realtime", true);
}

static void kvm_or_leave_to_emulate(void **state)
{
	_cleanup_json_ json_t *vmi = vmi_of("small");
	struct plan *plan = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(make(vmi, false, false, &plan, &err), -EOPNOTSUPP);
	assert_string_equal(err.msg,
			    "KVM does not work on this host (/dev/kvm), and software emulation is "
			    "not allowed: load the kvm module, or say in a KubeVirt object "
			    "spec.configuration.developerConfiguration.useEmulation: true");
	assert_null(plan);
	/* where there is KVM it is used, as in KubeVirt */
	assert_int_equal(make(vmi, true, true, &plan, NULL), 0);
	assert_int_equal(plan->accel, ACCEL_KVM);
	assert_int_equal(plan->tcg_tb_size, 0);
	plan_free(plan);
}

/* nics.yaml has a virtio interface and an e1000e. */
static void vhost_or_leave_to_do_without(void **state)
{
	static const struct plan_host bare = {.kvm = true};
	_cleanup_json_ json_t *vmi = vmi_of("nics"), *slow = json_deep_copy(vmi);
	struct plan *plan = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(make(vmi, false, true, &plan, NULL), 0);
	assert_true(plan->nics[0].vhost);
	assert_false(plan->nics[1].vhost);
	plan_free(plan);
	plan = NULL;
	assert_int_equal(make_on(&bare, vmi, false, &plan, &err), -EOPNOTSUPP);
	assert_string_equal(
		err.msg, "interface 'one': virtio needs vhost-net, which this host does not have "
			 "(/dev/vhost-net), and to do without is not allowed: modprobe vhost_net, "
			 "or say in a KubeVirt object "
			 "spec.configuration.developerConfiguration.useEmulation: true");
	assert_null(plan);
	assert_int_equal(make_on(&bare, vmi, true, &plan, NULL), 0);
	assert_int_equal(plan->accel, ACCEL_KVM);
	assert_false(plan->nics[0].vhost);
	plan_free(plan);
	/* only virtio has a use for it */
	(void)json_path_set(slow, "spec.domain.devices.interfaces[0].model", json_string("e1000"));
	assert_int_equal(make_on(&bare, slow, false, &plan, NULL), 0);
	assert_false(plan->nics[0].vhost);
	plan_free(plan);
	/* nor is it for emulated guests */
	assert_int_equal(make(vmi, true, false, &plan, NULL), 0);
	assert_false(plan->nics[0].vhost);
	plan_free(plan);
}

static void missing_network_is_named(void **state)
{
	_cleanup_json_ json_t *vmi = vmi_of("demo");
	struct plan *plan = NULL;
	struct err err = {0};

	(void)state;
	(void)json_path_set(vmi, "spec.networks[0].multus.networkName", json_string("wan"));
	assert_int_equal(make(vmi, true, true, &plan, &err), -ENOENT);
	assert_string_equal(err.msg, "network 'default/wan': is not there");
	assert_null(plan);
}

static void identity_is_needed(void **state)
{
	_cleanup_json_ json_t *vmi = vmi_of("small");
	struct plan *plan = NULL;
	struct err err = {0};

	(void)state;
	(void)json_object_del(json_get(vmi, "metadata"), "name");
	assert_int_equal(make(vmi, true, true, &plan, &err), -EINVAL);
	assert_string_equal(err.msg, "metadata.name: is '', must be a name");
	err_clear(&err);
	(void)json_path_set(vmi, "metadata.name", json_string("small"));
	(void)json_path_set(vmi, "metadata.uid", json_string("../x"));
	assert_int_equal(make(vmi, true, true, &plan, &err), -EINVAL);
	assert_string_equal(err.msg, "metadata.uid: is '../x', must be a UUID");
}

/* The same names give the same address; each name counts. */
static void mac_follows_names(void **state)
{
	static const char *const changed[] = {"metadata.name", "metadata.namespace",
					      "spec.domain.devices.interfaces[0].name"};
	_cleanup_json_ json_t *vmi = vmi_of("demo");
	struct plan *first = NULL, *plan = NULL;

	(void)state;
	assert_int_equal(make(vmi, true, true, &first, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++) {
		_cleanup_json_ json_t *other = json_deep_copy(vmi);

		(void)json_path_set(other, changed[i], json_string("other"));
		(void)json_path_set(
			other, "spec.networks[0].name",
			json_string(json_str(other, "spec.domain.devices.interfaces[0].name")));
		assert_int_equal(make(other, true, true, &plan, NULL), 0);
		assert_memory_not_equal(plan->nics[0].mac, first->nics[0].mac, 6);
		plan_free(plan);
	}
	assert_int_equal(make(vmi, true, true, &plan, NULL), 0);
	assert_memory_equal(plan->nics[0].mac, first->nics[0].mac, 6);
	plan_free(plan);
	plan_free(first);
}

static void isolation_texts(void **state)
{
	static const struct {
		const char *text, *msg;
	} bad[] = {
		{"user", "'user' has no value: write it as user=off"},
		{"user=no", "user: is 'no', must be on or off"},
		{"user=", "user: is '', must be on or off"},
		{"seccomp=strict", "seccomp: is 'strict', must be enforce, audit or off"},
	};
	struct plan_isolation i = {0}, all;

	(void)state;
	assert_int_equal(plan_isolation_parse(NULL, &all, NULL), 0);
	assert_true(all.user && all.pid && all.mount && all.net && all.ipc && all.uts);
	assert_true(all.cgroup && all.devices && all.capabilities && all.no_new_privs);
	assert_true(all.dumpable_off && all.limits && all.seccomp == SECCOMP_ENFORCE);
	assert_int_equal(plan_isolation_parse(" ,no-new-privs=off,limits=on", &i, NULL), 0);
	all.no_new_privs = false;
	assert_memory_equal(&i, &all, sizeof(i));
	for (size_t k = 0; k < ARRAY_SIZE(bad); k++) {
		struct err err = {0};

		assert_int_equal(plan_isolation_parse(bad[k].text, &i, &err), -EINVAL);
		assert_string_equal(err.msg, bad[k].msg);
	}
	assert_memory_equal(&i, &all, sizeof(i)); /* untouched by failures */
}

/* Called for each value below `at`, with its path. */
static void each_path(const json_t *at, const char *path, void (*call)(const char *path, void *arg),
		      void *arg)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach ((json_t *)at, key, value) {
		_cleanup_free_ char *below =
			strpbrk(key, ".[]") ? xasprintf("%s[%s]", path, key)
					    : xasprintf("%s%s%s", path, *path ? "." : "", key);

		call(below, arg);
		each_path(value, below, call, arg);
	}
	json_array_foreach (at, i, value) {
		_cleanup_free_ char *below = xasprintf("%s[%zu]", path, i);

		call(below, arg);
		each_path(value, below, call, arg);
	}
}

struct mutation {
	const char *name;
	const json_t *vmi;
	unsigned admitted, refused;
};

/* Whatever passes the rules must make a plan, and one that the launcher takes. */
static void must_be_planned(const json_t *vmi, const char *name, const char *path)
{
	_cleanup_json_ json_t *json = NULL;
	struct plan *plan = NULL, *copy = NULL;
	struct err err = {0};

	if (make(vmi, true, false, &plan, &err) < 0) {
		if (!strstr(err.msg, "network '"))
			fail_msg("%s, %s: %s", name, path, err.msg);
		return;
	}
	json = plan_to_json(plan);
	if (plan_from_json(json, &copy, &err) < 0)
		fail_msg("%s, %s: %s", name, path, err.msg);
	plan_free(plan);
	plan_free(copy);
}

static void mutate(const char *path, void *arg)
{
	struct mutation *m = arg;
	json_t *values[] = {
		json_null(),	    json_true(),
		json_integer(0),    json_integer(-1),
		json_integer(7),    json_integer(600),
		json_real(1e300),   json_integer(INT64_MAX),
		json_string(""),    json_string("1"),
		json_string("x"),   json_string("9E"),
		json_string("a b"), json_string("\xc3\xa4/../"),
		json_object(),	    json_array(),
		json_string("-1"),  json_string("1n"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		_cleanup_json_ json_t *vmi = json_deep_copy(m->vmi);
		_cleanup_causes_ struct causes causes = {0};
		const struct kind *kind = NULL;

		assert_int_equal(json_path_set(vmi, path, values[i]), 0);
		if (admit(vmi, NULL, &kind, &causes) < 0) {
			assert_true(causes.n > 0);
			m->refused++;
			continue;
		}
		m->admitted++;
		(void)json_path_set(vmi, "metadata.uid", json_string(UID));
		must_be_planned(vmi, m->name, path);
	}
}

static void what_is_admitted_can_be_planned(void **state)
{
	static const char *const names[] = {"demo", "disks", "nics", "isolate", "requests"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_json_ json_t *vmi = vmi_of(names[i]);
		struct mutation m = {.name = names[i], .vmi = vmi};

		each_path(vmi, "", mutate, &m);
		assert_true(m.admitted > 100);
		assert_true(m.refused > 100);
	}
}

/* One queue a vCPU, for virtio only, and no more than a tap can have. */
static void queues(void **state)
{
	static const struct {
		int cores;
		unsigned virtio;
	} rows[] = {{1, 1}, {256, 256}, {257, 256}, {512, 256}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_json_ json_t *vmi = vmi_of("nics");
		struct plan *plan = NULL;
		struct err err = {0};

		assert_int_equal(json_path_set(vmi, "spec.domain.cpu",
					       json_pack("{s:i, s:i, s:i}", "cores", rows[i].cores,
							 "sockets", 1, "threads", 1)),
				 0);
		if (make(vmi, /* emulate= */ true, /* kvm= */ false, &plan, &err) < 0)
			fail_msg("%s", err.msg);
		assert_int_equal(plan->nics[0].queues, rows[i].virtio);
		for (unsigned n = 0; n < plan->n_nics; n++)
			if (!str_after(plan->nics[n].model, "virtio"))
				assert_int_equal(plan->nics[n].queues, 1);
		plan_free(plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues),
		cmocka_unit_test(plans_are_as_written),
		cmocka_unit_test(kvm_or_leave_to_emulate),
		cmocka_unit_test(vhost_or_leave_to_do_without),
		cmocka_unit_test(missing_network_is_named),
		cmocka_unit_test(identity_is_needed),
		cmocka_unit_test(mac_follows_names),
		cmocka_unit_test(isolation_texts),
		cmocka_unit_test(what_is_admitted_can_be_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

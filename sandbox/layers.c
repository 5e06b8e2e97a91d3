// SPDX-License-Identifier: Apache-2.0
#include "sandbox/layers.h"

#include "lib/util.h"

#include <errno.h>
#include <stddef.h>

const struct sandbox_layers sandbox_layers_all = {
	.user = true,
	.pid = true,
	.mount = true,
	.net = true,
	.ipc = true,
	.uts = true,
	.cgroup = true,
	.capabilities = true,
	.no_new_privs = true,
	.dumpable_off = true,
	.seccomp = SANDBOX_SECCOMP_ENFORCE,
};

static const struct {
	const char *name;
	size_t offset;
} flags[] = {
	{"user", offsetof(struct sandbox_layers, user)},
	{"pid", offsetof(struct sandbox_layers, pid)},
	{"mount", offsetof(struct sandbox_layers, mount)},
	{"net", offsetof(struct sandbox_layers, net)},
	{"ipc", offsetof(struct sandbox_layers, ipc)},
	{"uts", offsetof(struct sandbox_layers, uts)},
	{"cgroup", offsetof(struct sandbox_layers, cgroup)},
	{"capabilities", offsetof(struct sandbox_layers, capabilities)},
	{"noNewPrivs", offsetof(struct sandbox_layers, no_new_privs)},
	{"dumpableOff", offsetof(struct sandbox_layers, dumpable_off)},
};

static const char *const seccomp_names[] = {
	[SANDBOX_SECCOMP_ENFORCE] = "enforce",
	[SANDBOX_SECCOMP_AUDIT] = "audit",
	[SANDBOX_SECCOMP_OFF] = "off",
};

static bool *flag_of(struct sandbox_layers *layers, size_t i)
{
	return (bool *)((char *)layers + flags[i].offset);
}

json_t *sandbox_layers_to_json(const struct sandbox_layers *layers)
{
	struct sandbox_layers copy = *layers;
	json_t *json = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		json_object_set_new(json, flags[i].name, json_boolean(*flag_of(&copy, i)));
	json_object_set_new(json, "seccomp", json_string(seccomp_names[copy.seccomp]));
	return json;
}

static int seccomp_from_json(const json_t *json, enum sandbox_seccomp *ret, struct err *err)
{
	const char *name = json_string_value(json);

	for (size_t i = 0; i < ARRAY_SIZE(seccomp_names); i++) {
		if (name && str_eq(name, seccomp_names[i])) {
			*ret = (enum sandbox_seccomp)i;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "sandbox.seccomp: must be enforce, audit or off");
}

int sandbox_layers_from_json(const json_t *json, struct sandbox_layers *ret, struct err *err)
{
	struct sandbox_layers layers = {0};
	int r;

	if (json_object_size(json) != ARRAY_SIZE(flags) + 1)
		return err_set(err, -EINVAL, "sandbox: must be an object of %zu layers",
			       ARRAY_SIZE(flags) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		const json_t *v = json_object_get(json, flags[i].name);

		if (!json_is_boolean(v))
			return err_set(err, -EINVAL, "sandbox.%s: must be true or false",
				       flags[i].name);
		*flag_of(&layers, i) = json_is_true(v);
	}
	r = seccomp_from_json(json_object_get(json, "seccomp"), &layers.seccomp, err);
	if (r < 0)
		return r;
	*ret = layers;
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Annotation virtpod.io/isolation: which layers of the boundary are left out, for measuring. */
#include <errno.h>
#include <string.h>

#include "api/plan_make.h"
#include "lib/util.h"

static const struct {
	const char *name;
	size_t offset; /* of its bool in struct plan_isolation */
} layers[] = {
	{"user", offsetof(struct plan_isolation, user)},
	{"pid", offsetof(struct plan_isolation, pid)},
	{"mount", offsetof(struct plan_isolation, mount)},
	{"net", offsetof(struct plan_isolation, net)},
	{"ipc", offsetof(struct plan_isolation, ipc)},
	{"uts", offsetof(struct plan_isolation, uts)},
	{"cgroup", offsetof(struct plan_isolation, cgroup)},
	{"devices", offsetof(struct plan_isolation, devices)},
	{"capabilities", offsetof(struct plan_isolation, capabilities)},
	{"no-new-privs", offsetof(struct plan_isolation, no_new_privs)},
	{"dumpable", offsetof(struct plan_isolation, dumpable_off)},
	{"limits", offsetof(struct plan_isolation, limits)},
};

static int set_seccomp(const char *value, struct plan_isolation *ret, struct err *err)
{
	if (!strcmp(value, "enforce") || !strcmp(value, "on"))
		ret->seccomp = SECCOMP_ENFORCE;
	else if (!strcmp(value, "audit"))
		ret->seccomp = SECCOMP_AUDIT;
	else if (!strcmp(value, "off"))
		ret->seccomp = SECCOMP_OFF;
	else
		return err_set(err, -EINVAL, "seccomp: is '%.60s', must be enforce, audit or off",
			       value);
	return 0;
}

static int set_layer(const char *name, const char *value, struct plan_isolation *ret,
		     struct err *err)
{
	if (!strcmp(name, "seccomp"))
		return set_seccomp(value, ret, err);
	for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
		if (strcmp(layers[i].name, name) != 0)
			continue;
		if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
			return err_set(err, -EINVAL, "%s: is '%.60s', must be on or off", name,
				       value);
		*(bool *)((char *)ret + layers[i].offset) = value[1] == 'n';
		return 0;
	}
	return err_set(err, -EINVAL,
		       "'%.60s' is not a layer; layers are user, pid, mount, net, ipc, uts, "
		       "cgroup, devices, capabilities, no-new-privs, dumpable, limits, seccomp",
		       name);
}

/* An empty list is every layer on. Blanks around items are fine. */
int plan_isolation_parse(const char *text, struct plan_isolation *ret, struct err *err)
{
	_cleanup_free_ char *copy = xstrdup(text ? text : "");
	struct plan_isolation isolation = {.seccomp = SECCOMP_ENFORCE};
	char *rest = copy, *item;

	for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
		*(bool *)((char *)&isolation + layers[i].offset) = true;
	while ((item = strsep(&rest, ","))) {
		char *value;
		int r;

		item += strspn(item, " ");
		item[strcspn(item, " ")] = '\0';
		if (!*item)
			continue;
		value = strchr(item, '=');
		if (!value)
			return err_set(err, -EINVAL, "'%.60s' has no value: write it as %.60s=off",
				       item, item);
		*value++ = '\0';
		r = set_layer(item, value, &isolation, err);
		if (r < 0)
			return r;
	}
	*ret = isolation;
	return 0;
}

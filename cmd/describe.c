// SPDX-License-Identifier: Apache-2.0
#include "cmd/client.h"
#include "cmd/facts.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/url.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>

struct describe {
	struct cli *cli;
	struct client *client;
	const struct kind *kind;
	bool more; /* one was printed before */
};

static int events_of(struct describe *d, const json_t *object, json_t **ret, struct err *err)
{
	_cleanup_free_ char *name = url_escape(object_name(object));
	_cleanup_free_ char *uid = url_escape(object_uid(object));
	_cleanup_free_ char *query = xasprintf("fieldSelector=involvedObject.kind%%3D%s,"
					       "involvedObject.name%%3D%s,involvedObject.uid%%3D%s",
					       d->kind->kind, name, uid);
	const char *ns = d->kind->namespaced ? object_namespace(object) : NULL;
	_cleanup_free_ char *path = url_object(kind_by_word("events"), ns, NULL, query);

	return client_call(d->client, "GET", path, NULL, ret, err);
}

/* Whoever is on a node. */
static int vmis_of(struct describe *d, json_t **ret, struct err *err)
{
	_cleanup_free_ char *path = url_object(label_vmi(), NULL, NULL, NULL);

	if (!str_eq(d->kind->kind, "Node"))
		return 0;
	return client_call(d->client, "GET", path, NULL, ret, err);
}

static int describe_one(struct describe *d, const json_t *object)
{
	_cleanup_json_ json_t *events = NULL, *vmis = NULL;
	struct err err = {0};
	int r = events_of(d, object, &events, &err);

	if (r == 0)
		r = vmis_of(d, &vmis, &err);
	if (r < 0)
		return cli_fail(&err);
	if (d->more)
		(void)putchar('\n');
	d->more = true;
	facts_print(stdout, d->kind, object, json_object_get(events, "items"),
		    json_object_get(vmis, "items"), time(NULL));
	return EXIT_DONE;
}

static int describe_target(struct describe *d, const struct target *target)
{
	_cleanup_free_ char *path =
		url_object(target->kind, cli_namespace(d->cli), target->name, NULL);
	_cleanup_json_ json_t *answer = NULL;
	const json_t *items, *object;
	struct err err = {0};
	int code = EXIT_DONE;
	size_t i;

	d->kind = target->kind;
	if (client_call(d->client, "GET", path, NULL, &answer, &err) < 0)
		return cli_fail(&err);
	if (target->name)
		return describe_one(d, answer);
	items = json_object_get(answer, "items");
	json_array_foreach (items, i, object) {
		int one = describe_one(d, object);

		code = one ? one : code;
	}
	if (!json_array_size(items))
		log_info("no %s", target->kind->plural);
	return code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct describe d = {.cli = cli};
	struct target target;
	struct err err = {0};
	int code, at = opts_parse(cli, command_describe.usage, NULL, 0, false, argc, argv, &code);
	_cleanup_free_ char *me = cli_me(NULL);

	if (at < 0)
		return code;
	if (at == argc)
		(void)err_set(&err, -EINVAL, "describe: of which kind? say %s describe vmi NAME",
			      me);
	if (err.code || label_check(argc - at, argv + at, NULL, /* need_name= */ false, &err) < 0) {
		(void)cli_fail(&err);
		return EXIT_USAGE;
	}
	if (client_open(cli, &d.client, &err) < 0)
		return cli_fail(&err);
	code = EXIT_DONE;
	for (int i = 0; label_target(argc - at, argv + at, NULL, i, &target, NULL) > 0; i++) {
		int one = describe_target(&d, &target);

		code = one ? one : code;
	}
	client_free(d.client);
	return code;
}

const struct command command_describe = {
	"describe",
	"an object for people to read, with its events",
	"usage: virtpod describe KIND [NAME…] | KIND/NAME…\n"
	"\n"
	"What it is and does, its conditions, and what happened to it in the last hour.\n"
	"Kinds as of virtpod get. For programs there is virtpod get -o json.\n",
	run,
};

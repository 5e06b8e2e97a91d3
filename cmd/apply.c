// SPDX-License-Identifier: Apache-2.0
/* apply and create: the objects of manifests to the handler, nothing waited for. */
#include "cmd/apply.h"

#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/print.h"
#include "cmd/url.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>

static int replace(struct client *c, const struct manifest_item *item, json_t **ret,
		   struct err *err)
{
	_cleanup_free_ char *path =
		url_object(item->kind, manifest_ns(item), object_name(item->object), NULL);

	return client_call(c, "PUT", path, item->object, ret, err);
}

int apply_create(struct client *c, const struct manifest_item *item, json_t **ret, struct err *err)
{
	_cleanup_free_ char *path = url_object(item->kind, manifest_ns(item), NULL, NULL);
	int r = client_call(c, "POST", path, item->object, ret, err);

	if (r < 0 && r != -ENOTCONN)
		err_prefix(err, "%s", item->place);
	return r;
}

/* Both absent, both empty, or equal. */
static bool same_map(const json_t *a, const json_t *b)
{
	return (!json_object_size(a) && !json_object_size(b)) || json_equal(a, b);
}

bool apply_same(const json_t *there, const json_t *admitted)
{
	static const char *const said[] = {"metadata.labels", "metadata.annotations"};
	_cleanup_json_ json_t *plain = json_deep_copy(there);
	const char *key;
	json_t *value;

	object_unmark(plain); /* which no manifest of anybody's can say */
	json_object_foreach ((json_t *)(uintptr_t)admitted, key, value)
		if (!str_eq(key, "metadata") && !str_eq(key, "status") &&
		    !json_equal(value, json_object_get(plain, key)))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(said); i++)
		if (!same_map(json_get(plain, said[i]), json_get(admitted, said[i])))
			return false;
	return true;
}

/* The server's word, and, where the object can't be changed, how to get another one. */
static int say_refusal(const struct manifest_item *item, int r, struct err *err)
{
	const char *name = object_name(item->object);
	_cleanup_free_ char *why = err ? xstrdup(err->msg) : NULL;
	_cleanup_free_ char *me = cli_me(manifest_ns(item));

	if (r != -EINVAL || item->kind->configuration || !err) {
		err_prefix(err, "%s", item->place);
		return r;
	}
	err_clear(err);
	return err_set(err, r,
		       "%s: another %s %s is there already: %s; %s delete %s %s "
		       "makes room for this one",
		       item->place, label_kind(item->kind), name, why, me, label_kind(item->kind),
		       name);
}

/* An object that is there: configuration is replaced; a VM must be the same or is left alone. */
static int update(struct client *c, const struct manifest_item *item, enum applied *ret_what,
		  json_t **ret, struct err *err)
{
	_cleanup_free_ char *path =
		url_object(item->kind, manifest_ns(item), object_name(item->object), NULL);
	_cleanup_json_ json_t *there = NULL;
	json_t *now = NULL;
	int r = client_call(c, "GET", path, NULL, &there, err);

	if (r == 0 && json_get(there, "metadata.deletionTimestamp")) {
		_cleanup_free_ char *label = label_object(item->kind, there);

		return err_set(err, -EAGAIN,
			       "%s: %s is being deleted; apply it again when it has gone",
			       item->place, label);
	}
	if (r == 0 && apply_same(there, item->admitted)) {
		*ret_what = APPLIED_UNCHANGED;
		*ret = TAKE_PTR(there);
		return 0;
	}
	if (r == 0)
		r = replace(c, item, &now, err);
	if (r < 0)
		return say_refusal(item, r, err);
	*ret_what = str_eq(json_str(there, "metadata.resourceVersion"),
			   json_str(now, "metadata.resourceVersion"))
			    ? APPLIED_UNCHANGED
			    : APPLIED_CONFIGURED;
	*ret = now;
	return 0;
}

int apply_item(struct client *c, const struct manifest_item *item, enum applied *ret_what,
	       json_t **ret, struct err *err)
{
	int r = apply_create(c, item, ret, err);

	if (r == -EEXIST) {
		err_clear(err);
		return update(c, item, ret_what, ret, err);
	}
	if (r == 0)
		*ret_what = APPLIED_CREATED;
	return r;
}

static void report(const struct cli *cli, const struct manifest_item *item, const json_t *object,
		   enum applied what)
{
	static const char *const words[] = {[APPLIED_CREATED] = "created",
					    [APPLIED_CONFIGURED] = "configured",
					    [APPLIED_UNCHANGED] = "unchanged"};
	_cleanup_free_ char *label = label_object(item->kind, object);

	if (cli->output == OUTPUT_NAME)
		print_name(item->kind, object);
	else if (cli->output == OUTPUT_JSON || cli->output == OUTPUT_YAML)
		print_value(cli->output, object);
	else
		printf("%s %s\n", label, words[what]);
}

static int each(const struct cli *cli, struct client *c, const struct manifest *m, bool create)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < m->n; i++) {
		enum applied what = APPLIED_CREATED;
		_cleanup_json_ json_t *object = NULL;
		struct err err = {0};
		int r = create ? apply_create(c, &m->items[i], &object, &err)
			       : apply_item(c, &m->items[i], &what, &object, &err);

		if (r < 0)
			code = cli_fail(&err);
		else
			report(cli, &m->items[i], object, what);
		if (r == -ENOTCONN)
			break;
	}
	return code;
}

int manifest_exit(int r)
{
	return r == -EINVAL ? EXIT_REFUSED : EXIT_FAILED;
}

static int run_either(struct cli *cli, int argc, char **argv, const char *usage, bool create)
{
	_cleanup_client_ struct client *client = NULL;
	_cleanup_manifest_ struct manifest m = {0};
	struct texts files = {0};
	const struct opt own[] = {{"filename", 'f', OPT_TEXTS, &files}};
	struct err err = {0};
	int code, r, at = opts_parse(cli, usage, own, ARRAY_SIZE(own), false, argc, argv, &code);

	if (at >= 0 && !files.n) {
		log_error("%s: say what with -f FILE", argv[0]);
		at = -EINVAL;
	}
	if (at < 0) {
		texts_done(&files);
		return code;
	}
	for (; at < argc; at++)
		texts_add(&files, argv[at]);
	r = manifest_load(&files, cli->ns, &m);
	texts_done(&files);
	if (r < 0)
		return manifest_exit(r);
	if (client_open(cli, &client, &err) < 0)
		return cli_fail(&err);
	return each(cli, client, &m, create);
}

static int run_apply(struct cli *cli, int argc, char **argv)
{
	return run_either(cli, argc, argv, command_apply.usage, /* create= */ false);
}

static int run_create(struct cli *cli, int argc, char **argv)
{
	return run_either(cli, argc, argv, command_create.usage, /* create= */ true);
}

const struct command command_apply = {
	"apply",
	"create objects, or change configuration",
	"usage: virtpod apply -f FILE…\n"
	"\n"
	"Files, folders (every *.yaml, *.yml, *.json in them) or - for stdin. Configuration goes\n"
	"first. VMs that are there already are left as they are; changing them is refused.\n",
	run_apply,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML) | OUTPUT_BIT(OUTPUT_NAME),
};

const struct command command_create = {
	"create",
	"create objects that must not be there yet",
	"usage: virtpod create -f FILE…\n"
	"\n"
	"Files, folders (every *.yaml, *.yml, *.json in them) or - for stdin.\n",
	run_create,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML) | OUTPUT_BIT(OUTPUT_NAME),
};

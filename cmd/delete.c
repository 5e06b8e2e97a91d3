// SPDX-License-Identifier: Apache-2.0
#include "cmd/apply.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/remove.h"

#include "api/meta.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <stdio.h>

struct deletion {
	struct cli *cli;
	struct client *client;
	long grace;
	bool wait;
};

static void say(const struct removal *r, const char *what)
{
	_cleanup_free_ char *label = label_name(r->kind, r->ns, r->name);

	printf("%s %s\n", label, what);
	(void)fflush(stdout);
}

static void on_gone(void *arg, const struct removal *r)
{
	(void)arg;
	say(r, "deleted");
}

/* All are asked before the first is waited for: guests shut down side by side. */
static int delete_some(const struct deletion *d, struct removal *all, size_t n, bool configuration)
{
	struct removal *asked = xcalloc(n + 1, sizeof *asked);
	struct err err = {0};
	int code = EXIT_DONE;
	size_t n_asked = 0;

	for (size_t i = 0; i < n; i++) {
		struct removal *r = &all[i];
		struct err why = {0};

		if (r->kind->configuration != configuration)
			continue;
		if (remove_ask(d->client, r->kind, r->ns, r->name, d->grace, &r->uid, &why) < 0) {
			code = cli_fail(&why);
			continue;
		}
		asked[n_asked++] = *r;
		if (!d->wait)
			say(r, "is being deleted");
	}
	if (d->wait && n_asked &&
	    remove_wait_all(d->client, asked, n_asked, on_gone, NULL, &err) < 0)
		code = cli_fail(&err);
	free(asked);
	return code;
}

/* VMs go before the networks, namespaces and configuration that they use. Eats the list. */
static int delete_all(const struct deletion *d, struct removal *all, size_t n)
{
	int code = delete_some(d, all, n, /* configuration= */ false);
	int more = delete_some(d, all, n, /* configuration= */ true);

	for (size_t i = 0; i < n; i++)
		free(all[i].uid);
	free(all);
	return more ? more : code;
}

/* What -f names, last first, as one thing may need what is named before it. */
static int delete_files(const struct deletion *d, const struct texts *files)
{
	_cleanup_manifest_ struct manifest m = {0};
	int r = manifest_load(files, d->cli->ns, &m);
	struct removal *all;

	if (r < 0)
		return manifest_exit(r);
	all = xcalloc(m.n + 1, sizeof *all);
	for (size_t i = 0; i < m.n; i++) {
		const struct manifest_item *item = &m.items[m.n - 1 - i];

		if (!object_name(item->object)[0] && !item->kind->singleton) {
			log_error("%s: has no name to delete it by", item->place);
			free(all);
			return EXIT_REFUSED;
		}
		all[i] = (struct removal){item->kind, manifest_ns(item), object_name(item->object),
					  NULL};
	}
	return delete_all(d, all, m.n);
}

static int delete_named(const struct deletion *d, int argc, char **argv)
{
	struct removal *all = xcalloc((size_t)argc + 1, sizeof *all);
	struct target t = {0};
	size_t n = 0;

	for (; label_target(argc, argv, NULL, (int)n, &t, NULL) > 0; n++)
		all[n] = (struct removal){t.kind, cli_namespace(d->cli),
					  t.name ? t.name : "default", NULL};
	return delete_all(d, all, n);
}

/* What the handler makes itself. */
static int check_deletable(int argc, char **argv)
{
	_cleanup_free_ char *me = cli_me(NULL);
	struct target t = {0};

	for (int i = 0; label_target(argc, argv, NULL, i, &t, NULL) > 0; i++) {
		if (!t.kind->read_only)
			continue;
		if (str_eq(t.kind->kind, "Node"))
			log_error("a node is this host and stays; %s get vmi -A shows what can be "
				  "deleted on it",
				  me);
		else
			log_error("%s can't be deleted: they go by themselves", t.kind->plural);
		return EXIT_REFUSED;
	}
	return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct deletion d = {.cli = cli, .grace = GRACE_OF_VM, .wait = true};
	struct texts files = {0};
	const struct opt own[] = {{"filename", 'f', OPT_TEXTS, &files},
				  {"grace-period", 0, OPT_COUNT, &d.grace},
				  {"wait", 0, OPT_BOOL, &d.wait}};
	struct err err = {0};
	int code, at = opts_parse(cli, command_delete.usage, own, ARRAY_SIZE(own), false, argc,
				  argv, &code);
	_cleanup_free_ char *me = cli_me(NULL);

	if (at >= 0 && at == argc && !files.n) {
		log_error("delete: what? say %s delete KIND NAME, or -f FILE", me);
		at = -EINVAL;
	}
	if (at >= 0 && !files.n && label_check(argc - at, argv + at, NULL, true, &err) < 0) {
		(void)cli_fail(&err);
		at = -EINVAL;
	}
	if (at >= 0 && !files.n && check_deletable(argc - at, argv + at)) {
		code = EXIT_REFUSED;
		at = -EINVAL;
	}
	if (at >= 0) {
		for (; files.n && at < argc; at++)
			texts_add(&files, argv[at]);
		if (client_open(cli, &d.client, &err) < 0)
			code = cli_fail(&err);
		else if (files.n)
			code = delete_files(&d, &files);
		else
			code = delete_named(&d, argc - at, argv + at);
	}
	client_free(d.client);
	texts_done(&files);
	return code;
}

const struct command command_delete = {
	"delete",
	"end VMs, remove objects",
	"usage: virtpod delete KIND NAME… | KIND/NAME… | -f FILE…\n"
	"\n"
	"A VM is asked to shut down (ACPI) and killed when its grace period is over.\n"
	"\n"
	"  --grace-period N  seconds instead of the VM's own; 0 kills at once\n"
	"  --wait=false      do not wait until it is gone\n"
	"  -f, --filename F  what the files name\n"
	"\n"
	"Several are asked together, then waited for. What is not there is an error.\n",
	run,
};

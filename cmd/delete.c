// SPDX-License-Identifier: Apache-2.0
#include "cmd/apply.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/remove.h"

#include "api/meta.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>

struct deletion {
	struct cli *cli;
	struct client *client;
	long grace;
	bool wait;
};

static int delete_one(const struct deletion *d, const struct kind *k, const char *ns,
		      const char *name, bool may_be_gone)
{
	_cleanup_free_ char *label = label_name(k, ns, name);
	_cleanup_free_ char *uid = NULL;
	struct err err = {0};
	int r = remove_ask(d->client, k, ns, name, d->grace, &uid, &err);

	if (r == -ENOENT && may_be_gone)
		return EXIT_DONE;
	if (r == 0 && d->wait)
		r = remove_wait(d->client, k, ns, name, uid, &err);
	if (r < 0)
		return cli_fail(&err);
	printf("%s %s\n", label, d->wait ? "deleted" : "is being deleted");
	(void)fflush(stdout);
	return EXIT_DONE;
}

/* What -f names, last first: VMs before the networks and the configuration that they use. */
static int delete_files(const struct deletion *d, const struct texts *files)
{
	_cleanup_manifest_ struct manifest m = {0};
	int code = EXIT_DONE, r = manifest_load(files, d->cli->ns, &m);

	if (r < 0)
		return manifest_exit(r);
	for (size_t i = m.n; i-- > 0;) {
		const struct manifest_item *item = &m.items[i];
		int one = delete_one(d, item->kind, manifest_ns(item), object_name(item->object),
				     /* may_be_gone= */ true);

		code = one ? one : code;
	}
	return code;
}

static int delete_named(const struct deletion *d, int argc, char **argv)
{
	struct target t = {0};
	int code = EXIT_DONE;

	for (int i = 0; label_target(argc, argv, NULL, i, &t, NULL) > 0; i++) {
		int one = delete_one(d, t.kind, cli_namespace(d->cli), t.name ? t.name : "default",
				     /* may_be_gone= */ false);

		code = one ? one : code;
	}
	return code;
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

	if (at >= 0 && at == argc && !files.n) {
		log_error("delete: what? say virtpod delete KIND NAME, or -f FILE");
		at = -EINVAL;
	}
	if (at >= 0 && !files.n && label_check(argc - at, argv + at, NULL, true, &err) < 0) {
		(void)cli_fail(&err);
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
	"  -f, --filename F  what the files name; what is gone already is no error\n",
	run,
};

// SPDX-License-Identifier: Apache-2.0
#include "cmd/apply.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/remove.h"
#include "cmd/supervise.h"
#include "cmd/url.h"

#include "api/meta.h"
#include "api/vm.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>

struct options {
	struct texts files;
	bool remove;
	struct supervise_options how;
};

static bool is_vm(const struct manifest_item *item)
{
	return str_eq(item->kind->kind, "VirtualMachineInstance") ||
	       str_eq(item->kind->kind, "VirtualMachine");
}

static size_t count_vms(const struct manifest *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += is_vm(&m->items[i]);
	return n;
}

/* What can be said without the handler: there is a VM to run, and every one of them would start. */
static int check(const struct manifest *m, const struct options *o)
{
	_cleanup_free_ char *me = cli_me(NULL);
	size_t n = count_vms(m);

	if (n == 0 || (n > 1 && o->how.console)) {
		if (n == 0)
			log_error("run: no VM in what -f names; %s apply -f is for the rest", me);
		else
			log_error("run --console: follows one VM, and here are %zu", n);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < m->n; i++) {
		const struct manifest_item *item = &m->items[i];

		if (!str_eq(item->kind->kind, "VirtualMachine") ||
		    vm_wants_running(item->admitted, VM_LAST_NONE))
			continue;
		log_error("%s: spec.runStrategy: this VM is not to be started; say Always, "
			  "RerunOnFailure or Once, or use %s apply",
			  item->place, me);
		return EXIT_REFUSED;
	}
	return EXIT_DONE;
}

static int apply_configuration(struct client *c, const struct manifest *m, bool quiet)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct manifest_item *item = &m->items[i];
		_cleanup_free_ char *label = NULL;
		_cleanup_json_ json_t *object = NULL;
		enum applied what;
		struct err err = {0};

		if (is_vm(item))
			continue;
		if (apply_item(c, item, &what, &object, &err) < 0)
			return cli_fail(&err);
		label = manifest_label(item);
		if (!quiet && what != APPLIED_UNCHANGED)
			log_info("%s: %s", label,
				 what == APPLIED_CREATED ? "created" : "configured");
	}
	return EXIT_DONE;
}

static int refuse_present(const struct manifest_item *item, const json_t *there)
{
	_cleanup_free_ char *label = manifest_label(item);
	_cleanup_free_ char *me = cli_me(manifest_ns(item));

	if (json_get(there, "metadata.deletionTimestamp"))
		log_error("%s: %s is being deleted; run it again when it has gone", item->place,
			  label);
	else
		log_error("%s: %s is there already; %s delete %s %s removes it", item->place, label,
			  me, label_kind(item->kind), object_name(item->object));
	return EXIT_REFUSED;
}

/* Before the first is created, so that a refusal leaves nothing half done. */
static int check_absent(struct client *c, const struct manifest *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct manifest_item *item = &m->items[i];
		_cleanup_free_ char *path =
			url_object(item->kind, manifest_ns(item), object_name(item->object), NULL);
		_cleanup_json_ json_t *there = NULL;
		struct err err = {0};
		int r;

		if (!is_vm(item) || !object_name(item->object)[0])
			continue;
		r = client_call(c, "GET", path, NULL, &there, &err);
		if (r == -ENOENT)
			continue;
		return r < 0 ? cli_fail(&err) : refuse_present(item, there);
	}
	return EXIT_DONE;
}

/* Ask for the end of all, then wait for all: they shut down side by side. */
static int remove_all(struct client *c, struct supervised *vms, size_t n)
{
	struct removal *list = xcalloc(n + 1, sizeof *list);
	struct err err = {0};
	int code = EXIT_DONE;

	for (size_t i = 0; i < n; i++) {
		const struct manifest_item *item = vms[i].item;
		_cleanup_free_ char *uid = NULL;
		struct err why = {0};
		int r;

		list[i] = (struct removal){item->kind, manifest_ns(item), object_name(item->object),
					   vms[i].uid};
		r = remove_ask(c, item->kind, list[i].ns, list[i].name, GRACE_OF_VM, &uid, &why);
		if (r < 0 && r != -ENOENT)
			code = cli_fail(&why);
	}
	if (!code && remove_wait_all(c, list, n, /* on_gone= */ NULL, NULL, &err) < 0)
		code = cli_fail(&err);
	free(list);
	return code;
}

static int create_all(struct client *c, const struct manifest *m, struct supervised *vms,
		      size_t *ret_n)
{
	*ret_n = 0;
	for (size_t i = 0; i < m->n; i++) {
		struct manifest_item *item = &m->items[i];
		_cleanup_json_ json_t *object = NULL;
		struct err err = {0};

		if (!is_vm(item))
			continue;
		if (apply_create(c, item, &object, &err) < 0) {
			int code = cli_fail(&err);

			(void)remove_all(c, vms, *ret_n);
			return code;
		}
		/* from here on it has the name that generateName gave it */
		(void)json_object_set(json_object_get(item->object, "metadata"), "name",
				      json_object_get(json_object_get(object, "metadata"), "name"));
		vms[*ret_n].item = item;
		vms[(*ret_n)++].uid = xstrdup(object_uid(object));
	}
	return EXIT_DONE;
}

static int run_manifest(struct client *c, const struct manifest *m, const struct options *o)
{
	struct supervised *vms = xcalloc(count_vms(m), sizeof *vms);
	size_t n = 0;
	int code = apply_configuration(c, m, o->how.quiet);

	if (!code)
		code = check_absent(c, m);
	if (!code) {
		code = create_all(c, m, vms, &n);
		if (!code) {
			code = supervise(c, vms, n, &o->how);
			if (o->remove && code != EXIT_NO_HANDLER) {
				int removed = remove_all(c, vms, n);

				code = code ? code : removed;
			}
		}
	}
	for (size_t i = 0; i < n; i++)
		free(vms[i].uid);
	free(vms);
	return code;
}

static int run_files(struct cli *cli, struct options *o)
{
	_cleanup_client_ struct client *client = NULL;
	_cleanup_manifest_ struct manifest m = {0};
	struct err err = {0};
	int code, r = manifest_load(&o->files, cli->ns, &m);

	if (r < 0)
		return manifest_exit(r);
	code = check(&m, o);
	if (code)
		return code;
	if (client_open(cli, &client, &err) < 0)
		return cli_fail(&err);
	return run_manifest(client, &m, o);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct options o = {0};
	const struct opt own[] = {{"filename", 'f', OPT_TEXTS, &o.files},
				  {"console", 0, OPT_FLAG, &o.how.console},
				  {"rm", 0, OPT_FLAG, &o.remove},
				  {"quiet", 'q', OPT_FLAG, &o.how.quiet}};
	int code, at = opts_parse(cli, command_run.usage, own, ARRAY_SIZE(own), false, argc, argv,
				  &code);

	if (at >= 0 && !o.files.n) {
		log_error("run: say what with -f FILE");
		at = -EINVAL;
	}
	if (at >= 0) {
		for (; at < argc; at++)
			texts_add(&o.files, argv[at]);
		code = run_files(cli, &o);
	}
	texts_done(&o.files);
	return code;
}

const struct command command_run = {
	"run",
	"create VMs, wait for their end, exit with the guest's outcome",
	"usage: virtpod run -f FILE… [--console] [--rm] [-q]\n"
	"\n"
	"Files, folders (every *.yaml, *.yml, *.json in them) or - for stdin. All is checked "
	"before\n"
	"anything is created. Configuration is applied first and stays.\n"
	"\n"
	"  --console    the VM's serial console on stdout, and stdin's terminal to the guest:\n"
	"               every key, Ctrl-C too, but Ctrl-], which leaves the console\n"
	"  --rm         delete the VMs at the end, and wait until they are gone\n"
	"  -q, --quiet  no lines about what goes on\n"
	"\n"
	"Ctrl-C (on a console: after Ctrl-]) deletes the VMs: the guests are asked to shut\n"
	"down, and killed by a second one. Exit code: 0 the guests shut down, or were ended on\n"
	"request, killed included; 1 crashed, killed by anything else, or failed to start; 3\n"
	"refused.\n",
	run,
};

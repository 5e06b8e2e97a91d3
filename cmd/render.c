// SPDX-License-Identifier: Apache-2.0
/*
 * Manifests as what would be run; no handler, no side effects. What only a host can tell is assumed
 * so that something can be shown: KVM works unless the configuration in the files allows emulation
 * and this host has none.
 */
#include "cmd/apply.h"
#include "cmd/opts.h"
#include "cmd/print.h"
#include "cmd/quote.h"

#include "api/config.h"
#include "api/meta.h"
#include "api/nad.h"
#include "api/plan.h"
#include "api/plan_make.h"
#include "api/vm.h"
#include "handler/kvm.h"
#include "launcher/args.h"
#include "launcher/argv.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <string.h>

#define NO_UID "00000000-0000-0000-0000-000000000000" /* the handler gives one to each VMI */

enum form { FORM_ARGV, FORM_VMI, FORM_PLAN };

struct render {
	struct cli *cli;
	const struct manifest *manifest;
	enum form form;
	struct cluster_config cluster;
	struct plan_host host;
};

/* Networks come from the same files. */
static int find_network(const char *ns_name, struct network *ret, void *arg, struct err *err)
{
	const struct manifest *m = arg;

	for (size_t i = 0; i < m->n; i++) {
		const struct manifest_item *item = &m->items[i];
		_cleanup_free_ char *name = NULL;

		if (!str_eq(item->kind->kind, "NetworkAttachmentDefinition"))
			continue;
		name = xasprintf("%s/%s", manifest_ns(item), object_name(item->admitted));
		if (str_eq(name, ns_name))
			return nad_decode(item->admitted, ret, err);
	}
	return err_set(
		err, -ENOENT,
		"NetworkAttachmentDefinition %s is in none of the files; give it with -f, too",
		ns_name);
}

static int print_argv(const struct plan *plan, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	char **argv = NULL;
	int r = argv_build(plan, "qemu-kvm", NULL, &argv, err);

	if (r < 0)
		return r;
	text = quote_argv(argv);
	(void)fputs(text, stdout);
	args_free(argv);
	return 0;
}

static int print_plan(const struct render *r, json_t *vmi, struct err *err)
{
	_cleanup_json_ json_t *json = NULL;
	struct plan *plan = NULL;
	int n;

	(void)json_path_set(vmi, "metadata.uid", json_string(NO_UID));
	n = plan_make(vmi, &r->cluster, &r->host, find_network, (void *)(uintptr_t)r->manifest,
		      &plan, err);
	if (n < 0)
		return n;
	if (r->form == FORM_ARGV) {
		n = print_argv(plan, err);
	} else {
		json = plan_to_json(plan);
		print_value(r->cli->output == OUTPUT_YAML ? OUTPUT_YAML : OUTPUT_JSON, json);
	}
	plan_free(plan);
	return n;
}

static int render_item(const struct render *r, const struct manifest_item *item, bool first)
{
	_cleanup_json_ json_t *vmi = str_eq(item->kind->kind, "VirtualMachine")
					     ? vm_to_vmi(item->admitted)
					     : json_deep_copy(item->admitted);
	struct err err = {0};

	if (!first)
		(void)puts(r->form == FORM_VMI && r->cli->output != OUTPUT_JSON ? "---" : "");
	if (r->form == FORM_VMI) {
		print_value(r->cli->output == OUTPUT_JSON ? OUTPUT_JSON : OUTPUT_YAML, vmi);
		return EXIT_DONE;
	}
	if (print_plan(r, vmi, &err) == 0)
		return EXIT_DONE;
	err_prefix(&err, "%s", item->place);
	(void)cli_fail(&err);
	return EXIT_REFUSED;
}

static int render_all(struct render *r)
{
	bool any = false;
	int code = EXIT_DONE;

	for (size_t i = 0; i < r->manifest->n; i++) {
		const struct manifest_item *item = &r->manifest->items[i];
		struct err err = {0};

		/* configuration comes first in a manifest; admission has decoded it once already */
		if (str_eq(item->kind->kind, "KubeVirt") ||
		    str_eq(item->kind->kind, "HyperConverged"))
			(void)cluster_config_add(&r->cluster, item->admitted, &err);
		if (!str_eq(item->kind->kind, "VirtualMachine") &&
		    !str_eq(item->kind->kind, "VirtualMachineInstance"))
			continue;
		r->host = (struct plan_host){
			.kvm = !r->cluster.use_emulation || kvm_works(),
			.vhost_net = true,
		};
		code = render_item(r, item, !any) ? EXIT_REFUSED : code;
		any = true;
	}
	if (!any) {
		log_error("render: no VM in what -f names");
		return EXIT_USAGE;
	}
	return code;
}

static int parse_form(const char *text, enum form *ret)
{
	static const char *const names[] = {
		[FORM_ARGV] = "argv", [FORM_VMI] = "vmi", [FORM_PLAN] = "plan"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(text, names[i])) {
			*ret = (enum form)i;
			return 0;
		}
	log_error("render: --as %s: must be argv, vmi or plan", text);
	return -EINVAL;
}

static int run(struct cli *cli, int argc, char **argv)
{
	_cleanup_manifest_ struct manifest m = {0};
	struct render r = {.cli = cli, .manifest = &m};
	struct texts files = {0};
	const char *as = "argv";
	const struct opt own[] = {{"filename", 'f', OPT_TEXTS, &files}, {"as", 0, OPT_TEXT, &as}};
	int code, at = opts_parse(cli, command_render.usage, own, ARRAY_SIZE(own), false, argc,
				  argv, &code);

	if (at >= 0 && !files.n) {
		log_error("render: say what with -f FILE");
		at = -EINVAL;
	}
	if (at >= 0 && parse_form(as, &r.form) < 0)
		at = -EINVAL;
	if (at >= 0 && r.form == FORM_ARGV && cli->output != OUTPUT_TABLE) {
		log_error("render --as argv: takes no -o");
		at = -EINVAL;
	}
	if (at >= 0) {
		for (; at < argc; at++)
			texts_add(&files, argv[at]);
		code = manifest_load(&files, cli->ns, &m);
		code = code < 0 ? manifest_exit(code) : render_all(&r);
	}
	texts_done(&files);
	return code;
}

const struct command command_render = {
	"render",
	"show what manifests would become; nothing is done",
	"usage: virtpod render -f FILE… [--as argv|vmi|plan]\n"
	"\n"
	"  --as argv  QEMU's command line; descriptors show as names in capitals (the default)\n"
	"  --as vmi   the VirtualMachineInstance with its defaults\n"
	"  --as plan  what handler and launcher work from, as JSON\n"
	"\n"
	"Networks and configuration are taken from the same files. No handler is needed. KVM and\n"
	"vhost-net are taken for granted, unless a KubeVirt among the files says useEmulation and\n"
	"this host has no KVM. Dedicated CPUs are not assigned: memory shows on one host node, "
	"NODE.\n",
	run,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML),
};

// SPDX-License-Identifier: Apache-2.0
#include "cmd/client.h"
#include "cmd/columns.h"
#include "cmd/follow.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/print.h"
#include "cmd/url.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>

struct get {
	struct cli *cli;
	struct client *client;
	struct target target;
	bool all_ns, watch;
	struct table table;
	bool headed;
	json_t *shown; /* while watching: what each object's row says, by uid */
	json_t *items; /* of several targets that are one List */
	sd_event *event;
	int code;
};

static bool is_table(const struct get *g)
{
	return g->cli->output == OUTPUT_TABLE || g->cli->output == OUTPUT_WIDE;
}

static bool is_machine(const struct get *g)
{
	return g->cli->output == OUTPUT_JSON || g->cli->output == OUTPUT_YAML;
}

/* That one of these has become too old is no news. */
static bool is_event(const struct get *g)
{
	return str_eq(g->target.kind->kind, "Event");
}

/* While watching: would the same row be printed again? */
static bool is_shown(struct get *g, const json_t *object)
{
	_cleanup_free_ char *text =
		columns_text(g->target.kind, g->cli->output == OUTPUT_WIDE, object);

	if (str_eq(text, json_string_value(json_object_get(g->shown, object_uid(object)))))
		return true;
	(void)json_object_set_new(g->shown, object_uid(object), json_string(text));
	return false;
}

static void show(struct get *g, const json_t *object)
{
	bool wide = g->cli->output == OUTPUT_WIDE;

	if (g->cli->output == OUTPUT_NAME) {
		print_name(g->target.kind, object);
	} else if (!is_table(g)) {
		if (g->cli->output == OUTPUT_YAML && g->watch)
			puts("---");
		print_value(g->cli->output, object);
	} else if (!g->watch || !is_shown(g, object)) {
		if (!g->headed)
			columns_begin(&g->table, g->target.kind, g->all_ns, wide);
		g->headed = true;
		columns_row(&g->table, g->target.kind, g->all_ns, wide, object);
	}
}

static int show_list(struct get *g, const json_t *list)
{
	const json_t *items = json_object_get(list, "items"), *object;
	size_t i;

	if (g->items) {
		(void)json_array_extend(g->items, (json_t *)(uintptr_t)items);
		return EXIT_DONE;
	}
	if (is_machine(g)) {
		print_value(g->cli->output, list);
		return EXIT_DONE;
	}
	json_array_foreach (items, i, object)
		show(g, object);
	if (!json_array_size(items) && is_table(g)) {
		if (g->all_ns || !g->target.kind->namespaced)
			log_info("no %s", g->target.kind->plural);
		else
			log_info("no %s in namespace %s; -A shows those of all",
				 g->target.kind->plural, cli_namespace(g->cli));
	}
	return EXIT_DONE;
}

static int get_once(struct get *g)
{
	_cleanup_free_ char *path = url_object(
		g->target.kind, g->all_ns ? NULL : cli_namespace(g->cli), g->target.name, NULL);
	_cleanup_json_ json_t *answer = NULL;
	struct err err = {0};

	if (client_call(g->client, "GET", path, NULL, &answer, &err) < 0)
		return cli_fail(&err);
	if (!g->target.name)
		return show_list(g, answer);
	if (g->items)
		(void)json_array_append(g->items, answer);
	else
		show(g, answer);
	return EXIT_DONE;
}

/* The first rows, and what usually comes, decide how wide the columns are. */
static void flush_watched(struct get *g)
{
	if (!g->table.fixed)
		columns_leave_room(&g->table, g->target.kind, g->all_ns,
				   g->cli->output == OUTPUT_WIDE);
	table_fix(&g->table);
	table_flush(&g->table, stdout);
}

/* A row can't say that it was the last one. */
static void say_deleted(struct get *g, const json_t *object)
{
	_cleanup_free_ char *label = label_object(g->target.kind, object);

	(void)json_object_del(g->shown, object_uid(object));
	log_info("%s: deleted", label);
}

static void on_change(void *arg, enum follow_what what, json_t *object, const struct err *err)
{
	struct get *g = arg;

	if (what == FOLLOW_FAILED) {
		g->code = cli_fail(err);
		(void)sd_event_exit(g->event, 0);
		return;
	}
	if (what == FOLLOW_DELETED && is_event(g)) {
		(void)json_object_del(g->shown, object_uid(object));
		return;
	}
	if (object)
		show(g, object);
	if (g->headed && what != FOLLOW_LISTED)
		flush_watched(g);
	if (what == FOLLOW_DELETED && is_table(g))
		say_deleted(g, object);
	if (ferror(stdout)) /* nobody reads any more */
		(void)sd_event_exit(g->event, 0);
}

/* Until it is interrupted, as kubectl's -w. */
static int get_watch(struct get *g)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_json_ json_t *shown = json_object();
	_cleanup_follow_ struct follow *follow = NULL;
	struct err err = {0};
	int r = sd_event_new(&event);

	if (r < 0)
		return cli_fail(&(struct err){r, "event loop"});
	g->event = event;
	g->shown = shown;
	if (follow_open(g->client, event, g->target.kind, g->all_ns ? NULL : cli_namespace(g->cli),
			g->target.name, on_change, g, &follow, &err) < 0)
		return cli_fail(&err);
	(void)sd_event_loop(event);
	return g->code;
}

static void end_table(struct get *g)
{
	if (g->headed)
		table_flush(&g->table, stdout);
	table_done(&g->table);
	g->headed = false;
}

/* One table for each kind, in the order of the words. */
static int each_target(struct get *g, int argc, char **argv)
{
	struct target t;
	int code = EXIT_DONE;

	for (int i = 0; label_target(argc, argv, NULL, i, &t, NULL) > 0; i++) {
		bool was_headed = g->headed;
		int one;

		if (t.kind != g->target.kind)
			end_table(g);
		if (was_headed && !g->headed)
			(void)putchar('\n');
		g->target = t;
		one = g->watch ? get_watch(g) : get_once(g);
		code = one ? one : code;
	}
	end_table(g);
	return code;
}

/* What is found of several objects is one List for programs, as kubectl has it. */
static int get_all(struct get *g, int argc, char **argv)
{
	struct target second;
	_cleanup_json_ json_t *list = NULL;
	int code;

	if (is_machine(g) && !g->watch && label_target(argc, argv, NULL, 1, &second, NULL) > 0)
		g->items = json_array();
	code = each_target(g, argc, argv);
	if (!g->items)
		return code;
	list = json_pack("{s:s, s:o, s:s, s:{s:s}}", "apiVersion", "v1", "items", g->items, "kind",
			 "List", "metadata", "resourceVersion", "");
	if (json_array_size(g->items))
		print_value(g->cli->output, list);
	return code;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct get g = {.cli = cli};
	const struct opt own[] = {{"all-namespaces", 'A', OPT_FLAG, &g.all_ns},
				  {"watch", 'w', OPT_FLAG, &g.watch}};
	struct err err = {0};
	int code, at = opts_parse(cli, command_get.usage, own, ARRAY_SIZE(own), false, argc, argv,
				  &code);

	if (at < 0)
		return code;
	if (at == argc || (g.watch && argc - at > 2)) {
		_cleanup_free_ char *me = cli_me(NULL);

		if (at == argc)
			log_error("get: of which kind? say %s get vmi, vm, node, …", me);
		else
			log_error("get -w: one kind or one object");
		return EXIT_USAGE;
	}
	if (label_check(argc - at, argv + at, NULL, /* need_name= */ false, &err) < 0) {
		(void)cli_fail(&err);
		return EXIT_USAGE;
	}
	if (client_open(cli, &g.client, &err) < 0)
		return cli_fail(&err);
	code = get_all(&g, argc - at, argv + at);
	client_free(g.client);
	return code;
}

const struct command command_get = {
	"get",
	"show objects",
	"usage: virtpod get KIND [NAME…] | KIND/NAME…  [-A] [-w] [-o FORM]\n"
	"\n"
	"Kinds: vmi, vm, net-attach-def, kubevirt, hyperconverged, kubeletconfiguration,\n"
	"namespace, node, event.\n"
	"\n"
	"  -A, --all-namespaces  of all namespaces\n"
	"  -w, --watch           and go on showing what changes\n"
	"  -o, --output FORM     json, yaml, name, wide or table\n",
	run,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML) | OUTPUT_BIT(OUTPUT_NAME) |
		OUTPUT_BIT(OUTPUT_WIDE),
};

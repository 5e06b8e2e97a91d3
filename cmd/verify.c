// SPDX-License-Identifier: Apache-2.0
#include "cmd/client.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/print.h"
#include "cmd/url.h"

#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

static int report(const char *name, const json_t *answer)
{
	const json_t *list = json_object_get(answer, "differences"), *d;
	size_t i;

	json_array_foreach (list, i, d)
		printf("%s: %s\n", name, json_str(d, "text") ? json_str(d, "text") : "?");
	if (json_flag(answer, "ok", false))
		printf("%s: as promised: %zu checks, no difference\n", name,
		       json_array_size(json_object_get(answer, "checks")));
	else
		log_error("%s: %zu of its promises %s not kept", name, json_array_size(list),
			  json_array_size(list) == 1 ? "is" : "are");
	(void)fflush(stdout);
	return json_flag(answer, "ok", false) ? EXIT_DONE : EXIT_FAILED;
}

static int verify(struct cli *cli, const char *name)
{
	_cleanup_free_ char *path =
		url_subresource("subresources.virtpod.io", cli_namespace(cli), name, "verify");
	_cleanup_client_ struct client *client = NULL;
	_cleanup_json_ json_t *answer = NULL;
	struct err err = {0};

	if (client_open(cli, &client, &err) < 0 ||
	    client_call(client, "GET", path, NULL, &answer, &err) < 0)
		return cli_fail(&err);
	if (cli->output != OUTPUT_JSON && cli->output != OUTPUT_YAML)
		return report(name, answer);
	print_value(cli->output, answer);
	return json_flag(answer, "ok", false) ? EXIT_DONE : EXIT_FAILED;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct target t = {0};
	struct err err = {0};
	int code, at = opts_parse(cli, command_verify.usage, NULL, 0, false, argc, argv, &code);

	if (at < 0)
		return code;
	if (label_one_vmi(argc - at, argv + at, &t, &err) < 0) {
		(void)cli_fail(&err);
		return EXIT_USAGE;
	}
	return verify(cli, t.name);
}

const struct command command_verify = {
	"verify",
	"compare what was promised with what the kernel says",
	"usage: virtpod verify NAME [-o json|yaml]\n"
	"\n"
	"Every layer of the boundary, every pin, link and limit of a running VM, as promised and "
	"as\n"
	"found. Each difference is a line on stdout; exit code 1 when there is one.\n",
	run,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML),
};

// SPDX-License-Identifier: Apache-2.0
#include "cmd/boundary.h"
#include "cmd/client.h"
#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/print.h"
#include "cmd/url.h"
#include "cmd/verdict.h"

#include "lib/json.h"
#include "lib/util.h"

#include <stdio.h>

/* A pod that is not there has a reason, which only the object knows. */
static int print_why(struct client *client, const struct cli *cli, const char *name)
{
	_cleanup_free_ char *path = url_object(label_vmi(), cli_namespace(cli), name, NULL);
	_cleanup_json_ json_t *vmi = NULL;
	const char *reason, *message;
	struct err err = {0};

	if (client_call(client, "GET", path, NULL, &vmi, &err) < 0)
		return cli_fail(&err);
	verdict_why(vmi, &reason, &message);
	if (*reason || *message)
		printf("%s%s%s\n", reason, *reason && *message ? ": " : "", message);
	return EXIT_DONE;
}

static int inspect(struct cli *cli, const char *name)
{
	_cleanup_free_ char *path =
		url_subresource("subresources.virtpod.io", cli_namespace(cli), name, "inspect");
	_cleanup_client_ struct client *client = NULL;
	_cleanup_json_ json_t *answer = NULL;
	struct err err = {0};

	if (client_open(cli, &client, &err) < 0 ||
	    client_call(client, "GET", path, NULL, &answer, &err) < 0)
		return cli_fail(&err);
	if (cli->output == OUTPUT_JSON || cli->output == OUTPUT_YAML) {
		print_value(cli->output, answer);
		return EXIT_DONE;
	}
	boundary_print(answer, stdout);
	return json_flag(answer, "running", false) ? EXIT_DONE : print_why(client, cli, name);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct target t = {0};
	struct err err = {0};
	int code, at = opts_parse(cli, command_inspect.usage, NULL, 0, false, argc, argv, &code);

	if (at < 0)
		return code;
	if (label_one_vmi(argc - at, argv + at, &t, &err) < 0) {
		(void)cli_fail(&err);
		return EXIT_USAGE;
	}
	return inspect(cli, t.name);
}

const struct command command_inspect = {
	"inspect",
	"what the kernel says of a VM's pod",
	"usage: virtpod inspect NAME [-o json|yaml]\n"
	"\n"
	"The boundary, threads and their pins, links, cgroup, devices and start-up times, read "
	"from\n"
	"/proc, the cgroups and netlink now; of a VM that does not run, why. -o json is stable:\n"
	"docs/inspect.md.\n",
	run,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML),
};

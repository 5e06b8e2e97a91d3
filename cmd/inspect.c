// SPDX-License-Identifier: Apache-2.0
#include "cmd/boundary.h"
#include "cmd/client.h"
#include "cmd/label.h"
#include "cmd/print.h"
#include "cmd/subresource.h"
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

static int run(struct cli *cli, int argc, char **argv)
{
	_cleanup_(subresource_done) struct subresource s = {0};
	int code = subresource_get(cli, &command_inspect, argc, argv, "inspect", &s);

	if (code >= 0)
		return code;
	if (cli->output == OUTPUT_JSON || cli->output == OUTPUT_YAML) {
		print_value(cli->output, s.answer);
		return EXIT_DONE;
	}
	boundary_print(s.answer, stdout);
	return json_flag(s.answer, "running", false) ? EXIT_DONE : print_why(s.client, cli, s.name);
}

const struct command command_inspect = {
	"inspect",
	"what the kernel says of a VM's pod",
	"usage: virtpod inspect NAME [-o json|yaml]\n"
	"\n"
	"The boundary, threads and their pins, links, cgroup, devices and start-up times, read\n"
	"from /proc, the cgroups, netlink and QMP now; of a VM that does not run, why. -o json\n"
	"is stable: docs/inspect.md.\n",
	run,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML),
};

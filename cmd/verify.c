// SPDX-License-Identifier: Apache-2.0
#include "cmd/print.h"
#include "cmd/subresource.h"

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

static int run(struct cli *cli, int argc, char **argv)
{
	_cleanup_(subresource_done) struct subresource s = {0};
	int code = subresource_get(cli, &command_verify, argc, argv, "verify", &s);

	if (code >= 0)
		return code;
	if (cli->output != OUTPUT_JSON && cli->output != OUTPUT_YAML)
		return report(s.name, s.answer);
	print_value(cli->output, s.answer);
	return json_flag(s.answer, "ok", false) ? EXIT_DONE : EXIT_FAILED;
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

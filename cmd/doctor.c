// SPDX-License-Identifier: Apache-2.0
/* Is this host ready? Needs no handler and starts none. */
#include "cmd/opts.h"
#include "cmd/print.h"
#include "cmd/table.h"

#include "handler/doctor.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <stdio.h>

static void print_check(struct table *t, const json_t *check)
{
	const char *means = json_str(check, "means"), *fix = json_str(check, "fix");
	_cleanup_free_ char *found = xasprintf("%s%s%s", json_str(check, "found"),
					       means ? " => " : "", means ? means : "");

	table_row(t,
		  (const char *const[]){json_str(check, "verdict"), json_str(check, "id"), found});
	if (fix) {
		_cleanup_free_ char *line = xasprintf("fix: %s", fix);

		table_row(t, (const char *const[]){"", "", line});
	}
}

static void print_report(const json_t *report)
{
	static const char *const verdicts[] = {"problem", "warning", "unknown", "ok"};
	const json_t *check, *counts = json_object_get(report, "counts");
	struct table t;
	size_t i;

	table_init(&t, 3);
	json_array_foreach (json_object_get(report, "checks"), i, check)
		print_check(&t, check);
	table_flush(&t, stdout);
	table_done(&t);
	for (i = 0; i < ARRAY_SIZE(verdicts); i++)
		printf("%s%s: %llu", i ? ", " : "\n", verdicts[i],
		       (unsigned long long)json_u64(counts, verdicts[i], 0));
	(void)puts("");
	(void)fflush(stdout);
}

static int run(struct cli *cli, int argc, char **argv)
{
	_cleanup_json_ json_t *report = NULL;
	struct doctor_host host;
	struct err err = {0};
	int code, at = opts_parse(cli, command_doctor.usage, NULL, 0, false, argc, argv, &code);

	if (at < 0)
		return code;
	if (at < argc) {
		log_error("doctor: '%s': takes no arguments", argv[at]);
		return EXIT_USAGE;
	}
	if (doctor_try(cli->root, &host, &err) < 0)
		return cli_fail(&err);
	report = doctor_report(&host);
	doctor_done(&host);
	if (cli->output == OUTPUT_TABLE)
		print_report(report);
	else
		print_value(cli->output, report);
	return json_flag(report, "ok", false) ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_doctor = {
	"doctor",
	"is this host ready; each finding with its fix",
	"usage: virtpod doctor [-o json|yaml]\n"
	"\n"
	"Looks at KVM, QEMU, cgroups, CPUs, memory, limits and the network of this host. Each "
	"check\n"
	"is a line: ok, warning (something is refused or slower), problem (VMs can't run, or a\n"
	"promise can't be kept) or unknown, and below it how to mend that. Exit code 1 when there\n"
	"is a problem. Nothing is changed, and no handler is started; run as root to see all.\n",
	run,
	OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_YAML),
};

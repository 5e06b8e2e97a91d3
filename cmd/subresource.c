// SPDX-License-Identifier: Apache-2.0
#include "cmd/subresource.h"

#include "cmd/label.h"
#include "cmd/opts.h"
#include "cmd/url.h"
#include "cmd/verdict.h"

#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>

void subresource_done(struct subresource *s)
{
	client_free(s->client);
	json_decref(s->answer);
}

int subresource_refused(struct client *c, const char *ns, const char *name,
			const struct err *refusal)
{
	_cleanup_free_ char *path = url_object(label_vmi(), ns, name, NULL);
	_cleanup_free_ char *label = label_name(label_vmi(), ns, name);
	_cleanup_json_ json_t *vmi = NULL;
	_cleanup_free_ char *text = NULL;
	struct err err = {0};

	if ((refusal->code != -EINVAL && refusal->code != -EBUSY) ||
	    client_call(c, "GET", path, NULL, &vmi, NULL) < 0 ||
	    str_eq(json_str(vmi, "status.phase"), "Running"))
		return cli_fail(refusal);
	text = verdict_text(vmi);
	(void)err_set(&err, refusal->code, "%s is not running: %s", label, text);
	return cli_fail(&err);
}

int subresource_get(struct cli *cli, const struct command *command, int argc, char **argv,
		    const char *what, struct subresource *ret)
{
	_cleanup_client_ struct client *client = NULL;
	_cleanup_free_ char *path = NULL;
	struct target t = {0};
	struct err err = {0};
	int code, at = opts_parse(cli, command->usage, NULL, 0, false, argc, argv, &code);

	if (at < 0)
		return code;
	if (label_one_vmi(argc - at, argv + at, &t, &err) < 0) {
		(void)cli_fail(&err);
		return EXIT_USAGE;
	}
	path = url_subresource("subresources.virtpod.io", cli_namespace(cli), t.name, what);
	if (client_open(cli, &client, &err) < 0)
		return cli_fail(&err);
	if (client_call(client, "GET", path, NULL, &ret->answer, &err) < 0)
		return subresource_refused(client, cli_namespace(cli), t.name, &err);
	ret->client = TAKE_PTR(client);
	ret->name = t.name;
	return -1;
}

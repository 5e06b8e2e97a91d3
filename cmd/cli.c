// SPDX-License-Identifier: Apache-2.0
#include "cmd/cli.h"

#include "cmd/quote.h"

#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>

const char *cli_namespace(const struct cli *cli)
{
	return cli->ns ? cli->ns : "default";
}

/* Words of argv, for hints from wherever one is given. */
static const char *said_root, *said_ns;

void cli_remember(const struct cli *cli)
{
	said_root = cli->root;
	said_ns = cli->ns;
}

char *cli_me(const char *ns)
{
	_cleanup_free_ char *root = said_root ? quote_word(said_root) : NULL;

	ns = ns ? ns : said_ns;
	return xasprintf("virtpod%s%s%s%s", root ? " --root " : "", root ? root : "",
			 ns ? " -n " : "", ns ? ns : "");
}

int cli_exit_code(int r)
{
	switch (r) {
	case 0:
		return EXIT_DONE;
	case -ENOTCONN:
	case -EACCES:
	case -EPERM:
		return EXIT_NO_HANDLER;
	case -EINVAL:
	case -EEXIST:
	case -EBUSY:
	case -EOPNOTSUPP:
		return EXIT_REFUSED;
	default:
		return EXIT_FAILED;
	}
}

int cli_fail(const struct err *err)
{
	log_error("%s", err->msg);
	return cli_exit_code(err->code);
}

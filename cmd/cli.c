// SPDX-License-Identifier: Apache-2.0
#include "cmd/cli.h"

#include "lib/log.h"

#include <errno.h>

const char *cli_namespace(const struct cli *cli)
{
	return cli->ns ? cli->ns : "default";
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

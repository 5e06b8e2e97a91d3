// SPDX-License-Identifier: Apache-2.0
/* The shapes of text that a plan may hold, each with its bound. Pure. */
#pragma once

#include <stdbool.h>

enum text_kind {
	TEXT_LABEL, /* DNS label: [a-z0-9-], no hyphen at either end, 63 bytes */
	TEXT_NAME,  /* [A-Za-z0-9_.-], first and last alphanumeric, 63 bytes */
	TEXT_PATH,  /* absolute, no ".." part, printable, below PATH_MAX */
	TEXT_LINE,  /* printable, 256 bytes */
	TEXT_ARGS,  /* printable, 2047 bytes: the limit of x86's kernel command line */
	TEXT_UUID,
	TEXT_OBJECT, /* namespace/name: a label and a name */
	TEXT_LINK,   /* a network link's name: 15 bytes, no '/', ':' or space */
	TEXT_CPUS,   /* numbers of CPUs or nodes as the kernel lists them, not none */
	TEXT_CIDR,   /* IPv4 or IPv6 address with prefix length */
};

bool text_ok(const char *s, enum text_kind kind);

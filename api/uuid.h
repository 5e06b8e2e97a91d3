// SPDX-License-Identifier: Apache-2.0
/* UUIDs made from names (RFC 9562, version 5). */
#pragma once

#include <stdint.h>

#include "api/meta.h"

/* SHA-1 over the namespace's 16 bytes and the name; the result is `buf`. Pure. */
char *uuid_from_name(const uint8_t ns[static 16], const char *name, char buf[static UUID_TEXT]);

// SPDX-License-Identifier: Apache-2.0
#include "api/uuid.h"

#include <stdio.h>
#include <string.h>

#include "lib/sha1.h"
#include "lib/util.h"

char *uuid_from_name(const uint8_t ns[static 16], const char *name, char buf[static UUID_TEXT])
{
	size_t len = strlen(name);
	_cleanup_free_ uint8_t *data = xcalloc(1, 16 + len);
	uint8_t h[SHA1_SIZE];

	memcpy(data, ns, 16);
	memcpy(data + 16, name, len);
	sha1(data, 16 + len, h);
	h[6] = (h[6] & 0x0f) | 0x50; /* version 5 */
	h[8] = (h[8] & 0x3f) | 0x80; /* RFC 9562's variant */
	(void)snprintf(buf, UUID_TEXT,
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", h[0],
		       h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8], h[9], h[10], h[11], h[12],
		       h[13], h[14], h[15]);
	return buf;
}

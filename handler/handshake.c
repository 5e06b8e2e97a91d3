// SPDX-License-Identifier: Apache-2.0
#include "handler/handshake.h"

#include "lib/base64.h"
#include "lib/sha1.h"
#include "lib/util.h"

#include <string.h>
#include <strings.h>

#define KEY_TEXT 24					/* 16 bytes in base64 */
#define KEY_GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, section 1.3 */

bool handshake_list_has(const char *list, const char *word)
{
	while (list && *list) {
		size_t len;

		list += strspn(list, " \t,");
		len = strcspn(list, " \t,");
		if (len == strlen(word) && !strncasecmp(list, word, len))
			return true;
		list += len;
	}
	return false;
}

bool handshake_key_ok(const char *key)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	return key && strlen(key) == KEY_TEXT && strspn(key, digits) == KEY_TEXT - 2 &&
	       str_eq(key + KEY_TEXT - 2, "==");
}

char *handshake_accept(const char *key, char buf[static HANDSHAKE_ACCEPT])
{
	_cleanup_free_ char *text = xasprintf("%s%s", key, KEY_GUID);
	uint8_t digest[SHA1_SIZE];

	sha1(text, strlen(text), digest);
	return base64_encode(digest, sizeof digest, buf);
}

// SPDX-License-Identifier: Apache-2.0
/* What the other side may answer to a request for a WebSocket. */
#include "tests/unit/unit.h"

#include "cmd/ws_handshake.h"

#include <errno.h>

#define KEY    "dGhlIHNhbXBsZSBub25jZQ==" /* RFC 6455, 1.3 */
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

static void answers(void **state)
{
	static const struct {
		const char *header;
		int r;
	} cases[] = {
		{"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " ACCEPT "\r\n\r\n",
		 101},
		{"HTTP/1.1 101 x\r\nsec-websocket-accept:" ACCEPT "\r\n\r\n", 101},
		{"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: AAAA\r\n\r\n", -EIO},
		{"HTTP/1.1 101 x\r\n\r\n", -EIO},
		{"HTTP/1.1 404 Not Found\r\n\r\n", 404},
		{"HTTP/1.1 0 x\r\n\r\n", -EIO},
		{"HTTP/1.1 -5 x\r\n\r\n", -EIO},
		{"HTTP/2 200\r\n\r\n", -EIO},
		{"SSH-2.0\r\n\r\n", -EIO},
		{"", -EIO},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err = {0};

		assert_int_equal(ws_answer(cases[i].header, KEY, &err), cases[i].r);
		assert_int_equal(err.code, cases[i].r < 0 ? cases[i].r : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

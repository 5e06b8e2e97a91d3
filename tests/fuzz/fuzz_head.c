// SPDX-License-Identifier: Apache-2.0
/* What is ours of HTTP: paths, selectors, numbers, and both sides of WebSocket's handshake. */
#include "tests/fuzz/fuzz.h"

#include "cmd/ws_handshake.h"
#include "handler/call.h"
#include "handler/handshake.h"
#include "handler/routes.h"
#include "handler/selector.h"

#include "lib/json.h"

static void select_with(const char *labels, const char *fields)
{
	_cleanup_json_ json_t *object = json_pack(
		"{s:{s:s, s:s, s:{s:s, s:s}}, s:{s:s}}", "metadata", "namespace", "default", "name",
		"vm", "labels", "app", "web", "tier", "db", "involvedObject", "name", "vm");
	struct selector *s = NULL;
	struct err err = {0};
	int r = selector_parse(kind_by_word("event"), labels, fields, &s, &err);

	fuzz_said(r, &err);
	if (r == 0)
		(void)selector_matches(s, object);
	selector_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = fuzz_text(data, len);
	char accept[HANDSHAKE_ACCEPT];
	struct route route;
	struct err err = {0};
	uint64_t n;

	route_parse(text, &route);
	fuzz_must(route.to <= ROUTE_LOG && (route.to < ROUTE_COLLECTION || route.kind != NULL));
	select_with(text, NULL);
	select_with(NULL, text);
	(void)call_number(text, &n);
	(void)handshake_list_has(text, "upgrade");
	if (handshake_key_ok(text))
		(void)handshake_accept(text, accept);
	fuzz_said(ws_answer(text, "dGhlIHNhbXBsZSBub25jZQ==", &err), &err);
	return 0;
}

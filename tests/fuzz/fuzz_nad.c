// SPDX-License-Identifier: Apache-2.0
/* The CNI configuration in a NetworkAttachmentDefinition. */
#include "tests/fuzz/fuzz.h"

#include "api/nad.h"
#include "api/text.h"

#include "lib/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *config = fuzz_text(data, len);
	_cleanup_json_ json_t *nad = json_pack("{s:{s:s}}", "spec", "config", config);
	struct network n = {0};
	struct err err = {0};
	int r = nad_decode(nad, &n, &err);

	fuzz_said(r, &err);
	if (r == 0)
		fuzz_must((!n.gateway || text_ok(n.gateway, TEXT_CIDR)) && n.mtu >= 68);
	network_done(&n);
	return 0;
}

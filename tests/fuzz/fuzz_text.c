// SPDX-License-Identifier: Apache-2.0
/* Short texts: lists of CPUs and vCPUs, addresses, layers, and the shapes that a plan may hold. */
#include "tests/fuzz/fuzz.h"

#include "api/plan_make.h"
#include "api/text.h"
#include "api/vcpumask.h"
#include "net/addr.h"

#include "lib/cpus.h"
#include "lib/mac.h"

static void cpus(const char *text)
{
	char buf[CPUS_TEXT_MAX];
	cpu_set_t set, same;
	struct err err = {0};

	if (cpus_parse(text, &set) == 0)
		fuzz_must(cpus_parse(cpus_format(&set, buf), &same) == 0 && CPU_EQUAL(&set, &same));
	fuzz_said(vcpumask_parse(text, 16, &set, &err), &err);
}

static void address(const char *text)
{
	struct addr a, same;
	struct err err = {0};
	int r = addr_parse(text, &a, &err);

	fuzz_said(r, &err);
	if (r == 0)
		fuzz_must(addr_parse(a.text, &same, NULL) == 0 && str_eq(a.text, same.text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = fuzz_text(data, len);
	struct plan_isolation isolation;
	struct err err = {0};
	uint8_t mac[6];

	cpus(text);
	address(text);
	(void)mac_parse(text, mac);
	fuzz_said(plan_isolation_parse(text, &isolation, &err), &err);
	for (enum text_kind kind = TEXT_LABEL; kind <= TEXT_CIDR; kind++)
		(void)text_ok(text, kind);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* The kernel's answers about links and addresses: the input is one datagram of each. */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/net/kernel.h"

#include "net/addr.h"
#include "net/linkinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_nlsock_ struct nl_sock *sk = kernel_open();
	_cleanup_free_ struct linkinfo *links = NULL;
	_cleanup_free_ struct addr *addrs = NULL;
	struct err err = {0};
	struct linkinfo one;
	size_t n = 0;

	kernel_says(data, len);
	if (linkinfo_list(sk, &links, &n, &err) == 0)
		for (size_t i = 0; i < n; i++)
			fuzz_must(memchr(links[i].name, 0, sizeof links[i].name) &&
				  memchr(links[i].alias, 0, sizeof links[i].alias));
	kernel_says(data, len);
	(void)linkinfo_find(sk, "eth0", &one, NULL);
	kernel_says(data, len);
	(void)addr_list(sk, &addrs, &n, NULL);
	return 0;
}

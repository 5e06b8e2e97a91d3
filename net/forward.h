// SPDX-License-Identifier: Apache-2.0
/*
 * Who drops IP packets that no rule of this namespace's firewall lets through the host: chains of the
 * FORWARD hook whose policy is DROP, of nftables (iptables-nft is that, too) and of the older iptables.
 * Rules are not read.
 */
#pragma once

#include "lib/err.h"

#include <stdbool.h>

#define FORWARD_WHO_MAX 128

/*
 * 1: such a chain, and *ret_who names it, "nftables ip filter FORWARD"; 0: none. Wants CAP_NET_ADMIN.
 * Loads no module, which asking for what is not there would: `nft` and `legacy` say whether to ask.
 */
int forward_find_drop(bool nft, bool legacy, char ret_who[static FORWARD_WHO_MAX], struct err *err);

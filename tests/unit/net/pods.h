// SPDX-License-Identifier: Apache-2.0
/* Pods wired to one host bridge, for the tests of the result and of the frames that flow. */
#pragma once

#include "net/bridge.h"
#include "net/l2bridge.h"
#include "net/netns.h"
#include "net/tap.h"
#include "tests/unit/net/lab.h"

#define BR "vpbr0"

struct pod {
	struct l2bridge_spec spec;
	char name[32]; /* of the file that pins its namespace */
	int netns;
	int taps[TAP_QUEUES_MAX];
	unsigned n_taps;
};

static inline struct l2bridge_spec pod_spec(int number, unsigned mtu)
{
	struct l2bridge_spec s = {
		.pod_ifname = "eth0",
		.bridge = BR,
		.tag = LAB_TAG ":pod",
		.pod_mac = {0x02, 0xaa, 0, 0, 0, (uint8_t)number},
		.mtu = mtu,
		.queues = 1,
		.owner = 100107,
		.group = 100036,
	};

	(void)snprintf(s.host_ifname, sizeof s.host_ifname, "vph%d", number);
	return s;
}

static inline void host_bridge(unsigned mtu, const char *gateway)
{
	struct net_bridge_spec spec = {
		.name = BR, .tag = LAB_TAG ":net", .mtu = mtu, .gateway = gateway};
	struct err err = {0};

	assert_ok(&err, net_bridge_ensure(&spec, &err));
}

static inline void host_bridge_remove(void)
{
	struct err err = {0};

	assert_int_equal(net_bridge_remove(BR, LAB_TAG, &err), 0);
}

static inline void pod_up(struct pod *p, const struct l2bridge_spec *spec)
{
	struct err err = {0};

	*p = (struct pod){.spec = *spec, .netns = -1};
	(void)snprintf(p->name, sizeof p->name, "pod-%s", spec->host_ifname);
	assert_ok(&err, netns_create(lab_dir, p->name, &p->netns, &err));
	assert_ok(&err, l2bridge_setup(p->netns, &p->spec, p->taps, &err));
	p->n_taps = spec->queues;
}

static inline void pod_down(struct pod *p)
{
	struct err err = {0};

	for (unsigned i = 0; i < p->n_taps; i++)
		(void)fd_close(p->taps[i]);
	assert_ok(&err, l2bridge_teardown(&p->spec, &err));
	p->netns = fd_close(p->netns);
	assert_ok(&err, netns_destroy(lab_dir, p->name, &err));
}

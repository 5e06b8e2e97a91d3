// SPDX-License-Identifier: Apache-2.0
/* A plan as small as it can be, for tests to change. */
#pragma once

#include "api/plan.h"
#include "lib/util.h"

static inline struct plan *plan_fixture(void)
{
	struct plan *p = xcalloc(1, sizeof *p);

	p->namespace = xstrdup("default");
	p->name = xstrdup("demo");
	p->uid = xstrdup("11111111-2222-4333-8444-555555555555");
	p->accel = ACCEL_TCG;
	p->machine = xstrdup("q35");
	p->cpu_model = xstrdup("host-model");
	p->sockets = p->cores = p->threads = 1;
	p->memory_guest = 64ull << 20;
	p->memory_limit = 512ull << 20;
	p->tcg_tb_size = 32ull << 20;
	p->firmware_uuid = xstrdup("3c5d1c3e-0b8f-4d55-9a7e-1f0a51b2c3d4");
	p->serial_console = true;
	p->acpi = true;
	p->grace_seconds = 30;
	return p;
}

static inline struct plan_disk *plan_fixture_disk(struct plan *p, const char *name)
{
	struct plan_disk *d = &p->disks[p->n_disks++];

	d->name = xstrdup(name);
	d->path = xstrdup("/images/of/the/host.img");
	d->cache = CACHE_WRITETHROUGH;
	d->io = IO_THREADS;
	return d;
}

static inline struct plan_nic *plan_fixture_nic(struct plan *p, const char *name)
{
	struct plan_nic *n = &p->nics[p->n_nics];

	n->name = xstrdup(name);
	n->network = xstrdup("default/net");
	n->model = xstrdup("virtio-net-pci");
	n->mac[0] = 2;
	n->mac[5] = (uint8_t)++p->n_nics;
	n->mtu = 1450;
	n->queues = 1;
	return n;
}

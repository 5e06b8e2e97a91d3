// SPDX-License-Identifier: Apache-2.0
/* What the parts of the command line share: the vector so far and the next free PCIe root port. */
#pragma once

#include "launcher/args.h"
#include "launcher/argv.h"

struct argv {
	struct args args;
	const struct plan *plan;
	const struct argv_fds *fds; /* NULL: placeholders */
	unsigned ports;		    /* PCIe root ports made so far */
	unsigned pci_slots;	    /* conventional PCI devices so far */
};

/* A descriptor's number as text, or the name from `fmt` when there are no descriptors yet. */
void argv_fd(const struct argv *a, int fd, char ret[static 96], const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Add a root port, then "-device `device`,bus=…" on it. */
void argv_pcie_device(struct argv *a, const char *device);

/* Add "-device `device`" in a slot of pcie.0: for what has no PCIe interface. */
void argv_pci_device(struct argv *a, const char *device);

/* Does anything have a boot order? Without, the first disk is booted from. */
bool argv_boot_order_given(const struct plan *p);

int argv_add_disks(struct argv *a, struct err *err); /* SCSI controller, too */
int argv_add_nics(struct argv *a, struct err *err);

void argv_memory_machine(struct argv *a); /* memory's part of -machine, the last argument */
int argv_add_memory(struct argv *a, struct err *err); /* -m, backends, NUMA nodes, locking */

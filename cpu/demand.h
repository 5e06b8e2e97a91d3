// SPDX-License-Identifier: Apache-2.0
/* A request as numbers of CPUs, and the reasons why these may not be had: private to cpu/. */
#pragma once

#include "cpu/allocator.h"

struct cpu_demand {
	unsigned threads; /* guest threads per core: these must be host siblings */
	unsigned vcpus, io, emulator, total;
};

enum cpu_verdict {
	CPU_FITS,
	CPU_REFUSED_POLICY,    /* policy none */
	CPU_REFUSED_COUNT,     /* not so many CPUs */
	CPU_REFUSED_ALIGNMENT, /* full-pcpus-only, and no multiple of a core */
	CPU_REFUSED_CORES,     /* full-pcpus-only, and not so many in whole cores */
	CPU_REFUSED_NUMA,      /* the topology manager doesn't admit it */
	CPU_REFUSED_SIBLINGS,  /* not so many groups of host siblings */
};

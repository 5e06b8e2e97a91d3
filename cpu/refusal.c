// SPDX-License-Identifier: Apache-2.0
/*
 * Lists of CPUs and holders are cut, so that the cure at the end of the line always has its place
 * in an error object, also behind the prefixes that callers put in front.
 */
#include "cpu/refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/cpus.h"

#define TEXT_MAX    900
#define LIST_MAX    72	/* one list of CPUs, or one name */
#define HOLDERS_MAX 300 /* all holders together */

struct text {
	size_t n;
	char s[TEXT_MAX];
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->n += (size_t)n < sizeof t->s - t->n ? (size_t)n : sizeof t->s - t->n - 1;
}

/* A CPU list, cut behind a whole range. */
static void add_list(struct text *t, const cpu_set_t *set)
{
	char list[CPUS_TEXT_MAX];
	size_t n = strlen(cpus_format(set, list));

	if (n <= LIST_MAX) {
		add(t, "%s", n ? list : "none");
		return;
	}
	for (n = LIST_MAX; list[n] != ','; n--)
		;
	add(t, "%.*s,...", (int)n, list);
}

static void add_wanted(struct text *t, const struct cpu_demand *d)
{
	add(t, "%u CPU%s wanted (%u vCPU%s", d->total, d->total == 1 ? "" : "s", d->vcpus,
	    d->vcpus == 1 ? "" : "s");
	if (d->io)
		add(t, ", %u for IO threads", d->io);
	if (d->emulator)
		add(t, ", %u for the emulator", d->emulator);
	add(t, ")");
}

static void add_holders(struct text *t, const struct cpu_refusal *r)
{
	size_t end = t->n + HOLDERS_MAX;

	add(t, ", held");
	if (r->n_holders == 0)
		add(t, " by nobody");
	for (unsigned i = 0; i < r->n_holders; i++) {
		size_t before = t->n;

		add(t, "%s by '%.*s': ", i ? "," : "", LIST_MAX, r->holders[i].name);
		add_list(t, &r->holders[i].cpus);
		if (t->n > end) {
			t->n = before;
			add(t, " and %u more", r->n_holders - i);
			break;
		}
	}
}

static void add_arithmetic(struct text *t, const struct cpu_refusal *r)
{
	add_wanted(t, &r->demand);
	add(t, ", %d free (", CPU_COUNT(&r->free));
	add_list(t, &r->free);
	add(t, ") of %u online, reserved CPUs ", r->topology->n);
	add_list(t, &r->policy->reserved);
	add_holders(t, r);
	add(t, "; ");
}

/* What to do about too few CPUs; `why` is what the reservation has to do with it. */
static void add_fewer(struct text *t, const struct cpu_refusal *r, const char *why)
{
	if (r->for_now)
		add(t, "stop a VM that holds CPUs or ask for fewer");
	else if (CPU_COUNT(&r->policy->reserved) > 0 && r->demand.total <= r->topology->n)
		add(t, "ask for fewer or %s", why);
	else
		add(t, "ask for fewer");
}

static void add_count_reason(struct text *t, const struct cpu_refusal *r)
{
	if (!r->for_now)
		add(t, "this host never has more than %d to give: ", CPU_COUNT(&r->allocatable));
	add_fewer(t, r, "shorten reservedSystemCPUs");
}

static void add_alignment_reason(struct text *t, const struct cpu_refusal *r)
{
	unsigned unit = cpu_topology_threads(r->topology), extra = r->demand.total % unit;

	add(t,
	    "full-pcpus-only gives whole cores of %u CPUs and %u is no multiple of %u: ask for %u "
	    "more, or set isolateEmulatorThread, which takes the rest of the core",
	    unit, r->demand.total, unit, unit - extra);
}

static void add_cores_reason(struct text *t, const struct cpu_refusal *r)
{
	cpu_set_t whole;

	cpu_in_whole_cores(r->topology, r->for_now ? &r->free : &r->allocatable, &whole);
	add(t, "full-pcpus-only gives whole cores, and %s %d CPUs are in whole %s cores (",
	    r->for_now ? "only" : "at most", CPU_COUNT(&whole), r->for_now ? "free" : "unreserved");
	add_list(t, &whole);
	add(t, "): ");
	add_fewer(t, r, "reserve less, in whole cores (reservedSystemCPUs)");
}

/* " 3 on 0, 5 on 1", cut as the lists are. */
static void add_nodes(struct text *t, const struct cpu_topology *topology, const cpu_set_t *set)
{
	unsigned size[CPU_SETSIZE], count[CPU_SETSIZE];
	size_t begin = t->n;

	cpu_group_sizes(topology, CPU_LEVEL_NUMA, NULL, size);
	cpu_group_sizes(topology, CPU_LEVEL_NUMA, set, count);
	for (int id = 0; id < CPU_SETSIZE; id++) {
		if (size[id] == 0)
			continue;
		if (t->n - begin > LIST_MAX) {
			add(t, ",...");
			break;
		}
		add(t, "%s %u on %d", t->n > begin ? "," : "", count[id], id);
	}
}

/* Only the CPUs that count are shown: loose threads don't where groups are wanted. */
static void add_numa_reason(struct text *t, const struct cpu_refusal *r)
{
	cpu_set_t useful = r->for_now ? r->free : r->allocatable;
	const char *where = "";

	if (r->policy->full_pcpus_only) {
		cpu_in_whole_cores(r->topology, &useful, &useful);
		where = " in whole cores";
	} else if (r->demand.threads > 1) {
		cpu_in_cores_of(r->topology, &useful, r->demand.threads, &useful);
		where = " beside their siblings";
	}
	add(t, "topologyManagerPolicy %s doesn't let them spread over more NUMA nodes, and %s%s:",
	    topology_manager_policy_name(r->policy->topology),
	    r->for_now ? "free are" : "there are at most", where);
	add_nodes(t, r->topology, &useful);
	add(t, "; %s",
	    r->for_now ? "stop a VM that holds CPUs of one node, or ask for fewer"
		       : "ask for fewer CPUs or relax topologyManagerPolicy");
}

static void add_siblings_reason(struct text *t, const struct cpu_refusal *r)
{
	const cpu_set_t *have = r->for_now ? &r->free : &r->allocatable;
	unsigned threads = r->demand.threads, host = cpu_topology_threads(r->topology);
	unsigned count[CPU_SETSIZE], groups = 0;

	if (host < threads) {
		add(t,
		    "%u guest threads per core need cores with %u threads, and this host's have "
		    "%u: "
		    "set spec.domain.cpu.threads to %u and multiply cores instead",
		    threads, threads, host, host);
		return;
	}
	cpu_group_sizes(r->topology, CPU_LEVEL_CORE, have, count);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		groups += count[i] / threads;
	add(t,
	    "%u guest cores of %u threads need as many groups of %u sibling CPUs, and %s are %u: "
	    "%s or set spec.domain.cpu.threads to 1",
	    r->demand.vcpus / threads, threads, threads, r->for_now ? "free" : "on this host",
	    groups, r->for_now ? "stop a VM that holds CPUs," : "ask for fewer");
}

static void add_reason(struct text *t, const struct cpu_refusal *r)
{
	switch (r->verdict) {
	case CPU_REFUSED_POLICY:
		add(t,
		    "KubeletConfiguration cpuManagerPolicy: none gives no VM CPUs of its own: set "
		    "cpuManagerPolicy: static and reservedSystemCPUs, or leave out "
		    "dedicatedCpuPlacement");
		break;
	case CPU_REFUSED_ALIGNMENT:
		add_alignment_reason(t, r);
		break;
	case CPU_REFUSED_CORES:
		add_cores_reason(t, r);
		break;
	case CPU_REFUSED_NUMA:
		add_numa_reason(t, r);
		break;
	case CPU_REFUSED_SIBLINGS:
		add_siblings_reason(t, r);
		break;
	case CPU_REFUSED_COUNT:
	case CPU_FITS:
		add_count_reason(t, r);
		break;
	}
}

int cpu_refuse(const struct cpu_refusal *refusal, struct err *err)
{
	struct text t = {0};

	add_arithmetic(&t, refusal);
	add_reason(&t, refusal);
	return err_set(err, refusal->for_now ? -EBUSY : -ENOTSUP, "%s", t.s);
}

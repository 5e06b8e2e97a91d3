// SPDX-License-Identifier: Apache-2.0
#include "cmd/boundary.h"

#include "cmd/table.h"

#include "lib/json.h"
#include "lib/util.h"

#include <inttypes.h>
#include <string.h>

#define MIB (1u << 20)

static const char *or_dash(const char *text)
{
	return text && *text ? text : "-";
}

static char *number(const json_t *value)
{
	return json_is_integer(value)
		       ? xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value))
		       : xstrdup("-");
}

static char *mebibytes(const json_t *value)
{
	return json_is_integer(value)
		       ? xasprintf("%.1f MiB", (double)json_integer_value(value) / MIB)
		       : xstrdup("no limit");
}

/* Texts of a list with `between` in between; the caller's. */
static char *joined(const json_t *list, const char *between)
{
	char *all = xstrdup("");
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		_cleanup_free_ char *n =
			json_is_string(v) ? xstrdup(json_string_value(v)) : number(v);
		char *more = xasprintf("%s%s%s", all, i ? between : "", n);

		free(all);
		all = more;
	}
	return all;
}

static void section(FILE *to, const char *title)
{
	(void)fprintf(to, "\n%s\n", title);
}

static const json_t *process(const json_t *inspect, const char *name)
{
	return json_find(json_object_get(inspect, "processes"), "name", name);
}

/* Namespaces of the pod's own, and those shared with the host. */
static void print_namespaces(const json_t *p, FILE *to)
{
	const json_t *all = json_object_get(p, "namespaces");
	const char *key, *before = "";
	json_t *ns;

	(void)fputs("  own namespaces     ", to);
	json_object_foreach ((json_t *)(uintptr_t)all, key, ns)
		if (!json_flag(ns, "host", true)) {
			(void)fprintf(to, "%s%s", before, key);
			before = " ";
		}
	(void)fputs(*before ? "\n" : "none\n", to);
	before = "";
	(void)fputs("  shared with host   ", to);
	json_object_foreach ((json_t *)(uintptr_t)all, key, ns)
		if (json_flag(ns, "host", false)) {
			(void)fprintf(to, "%s%s", before, key);
			before = " ";
		}
	(void)fputs(*before ? "\n" : "none\n", to);
}

static void print_capabilities(const json_t *p, FILE *to)
{
	static const char *const sets[] = {"effective", "permitted", "inheritable", "bounding",
					   "ambient"};
	bool any = false;

	(void)fputs("  capabilities       ", to);
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		const char *set = json_str(json_object_get(p, "capabilities"), sets[i]);

		if (set && strspn(set, "0") == strlen(set))
			continue;
		(void)fprintf(to, "%s%s %s", any ? ", " : "", sets[i], or_dash(set));
		any = true;
	}
	(void)fputs(any ? "\n" : "none: all five sets are empty\n", to);
}

static void print_process(const json_t *p, FILE *to)
{
	_cleanup_free_ char *pid = number(json_object_get(p, "pid"));
	_cleanup_free_ char *inner = number(json_object_get(p, "innerPid"));
	_cleanup_free_ char *uid = number(json_get(p, "uids[0]"));
	_cleanup_free_ char *filters = number(json_get(p, "seccomp.filters"));
	_cleanup_free_ char *root = joined(json_object_get(p, "rootEntries"), " ");
	const json_t *dumpable = json_object_get(p, "dumpable");

	(void)fprintf(to, "%s (pid %s, in the pod %s)\n", or_dash(json_str(p, "name")), pid, inner);
	(void)fprintf(to, "  host uid           %s\n", uid);
	print_namespaces(p, to);
	print_capabilities(p, to);
	(void)fprintf(to, "  no_new_privs       %s\n",
		      json_flag(p, "noNewPrivs", false) ? "yes" : "no");
	(void)fprintf(to, "  seccomp            %s, %s filters\n",
		      or_dash(json_str(p, "seccomp.mode")), filters);
	(void)fprintf(to, "  dumpable           %s\n",
		      json_is_boolean(dumpable) ? json_is_true(dumpable) ? "yes" : "no" : "-");
	(void)fprintf(to, "  root               %s\n", or_dash(root));
}

static void print_boundary(const json_t *inspect, FILE *to)
{
	static const char *const shown[] = {"launcher", "qemu"};

	section(to, "BOUNDARY");
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		if (process(inspect, shown[i]))
			print_process(process(inspect, shown[i]), to);
}

static void thread_row(struct table *t, const char *process, const json_t *thread)
{
	_cleanup_free_ char *tid = number(json_object_get(thread, "tid"));
	_cleanup_free_ char *last = number(json_object_get(thread, "lastCpu"));
	_cleanup_free_ char *role = NULL;
	const json_t *vcpu = json_object_get(thread, "vcpu");

	if (vcpu)
		role = xasprintf("vcpu %" JSON_INTEGER_FORMAT, json_integer_value(vcpu));
	else
		role = xstrdup(or_dash(json_str(thread, "role")));
	table_row(t, (const char *const[]){tid, or_dash(process), json_str(thread, "name"), role,
					   json_str(thread, "cpus"), last,
					   json_str(thread, "policy")});
}

static void print_threads(const json_t *inspect, FILE *to)
{
	const json_t *p, *thread;
	struct table t;
	size_t i, j;

	section(to, "THREADS");
	table_init(&t, 7);
	table_row(&t, (const char *const[]){"TID", "PROCESS", "NAME", "ROLE", "MAY RUN ON",
					    "LAST ON", "POLICY"});
	json_array_foreach (json_object_get(inspect, "processes"), i, p)
		json_array_foreach (json_object_get(p, "threads"), j, thread)
			thread_row(&t, json_str(p, "name"), thread);
	json_array_foreach (json_object_get(inspect, "kernelThreads"), i, thread)
		thread_row(&t, "-", thread);
	table_flush(&t, to);
	table_done(&t);
}

static void print_cpus(const json_t *inspect, FILE *to)
{
	const json_t *cpus = json_object_get(inspect, "cpus");
	const json_t *cpuset = json_get(inspect, "cgroup.cpuset");
	const json_t *partition = json_object_get(cpuset, "partition");
	_cleanup_free_ char *vcpus = joined(json_object_get(cpus, "vcpus"), " ");

	section(to, "CPUS");
	(void)fprintf(to, "  its own, by ledger %s\n", or_dash(json_str(cpus, "ledger")));
	(void)fprintf(to, "  of each vCPU       %s\n", or_dash(vcpus));
	(void)fprintf(to, "  shared pool        %s\n", or_dash(json_str(cpus, "shared")));
	(void)fprintf(to, "  held exclusive by  %s\n", or_dash(json_str(inspect, "exclusivity")));
	if (json_is_object(partition)) /* an invalid one says why, in the kernel's words */
		(void)fprintf(to, "  partition          pod: %s, vCPUs: %s\n",
			      or_dash(json_str(partition, "pod")),
			      or_dash(json_str(partition, "vcpu")));
	(void)fprintf(to, "  memory's nodes     %s\n", or_dash(json_str(cpuset, "emu.mems")));
}

/* Guest memory that is bound to nodes or in huge pages; QEMU's locked memory is told with it. */
static void print_memory(const json_t *inspect, FILE *to)
{
	_cleanup_free_ char *locked = mebibytes(json_get(inspect, "memory.lockedBytes"));
	const json_t *guest = json_get(inspect, "memory.guest"), *piece;
	json_t *bytes;
	const char *node;
	size_t i;

	if (!json_array_size(guest))
		return;
	section(to, "MEMORY");
	json_array_foreach (guest, i, piece) {
		_cleanup_free_ char *page = mebibytes(json_object_get(piece, "pageBytes"));

		json_object_foreach (json_object_get(piece, "nodes"), node, bytes) {
			_cleanup_free_ char *size = mebibytes(bytes);

			(void)fprintf(to, "  on node %-10s %s, policy %s%s%s\n", node, size,
				      or_dash(json_str(piece, "policy")),
				      json_u64(piece, "pageBytes", 0) > 4096 ? ", pages of " : "",
				      json_u64(piece, "pageBytes", 0) > 4096 ? page : "");
		}
	}
	(void)fprintf(to, "  locked             %s\n", locked);
}

static void link_rows(struct table *t, const char *where, const json_t *links)
{
	const json_t *l;
	size_t i;

	json_array_foreach (links, i, l) {
		_cleanup_free_ char *mtu = number(json_object_get(l, "mtu"));
		_cleanup_free_ char *addresses = joined(json_object_get(l, "addresses"), " ");
		const json_t *learning = json_object_get(l, "learning");

		table_row(t, (const char *const[]){
				     where, json_str(l, "name"), or_dash(json_str(l, "kind")),
				     or_dash(json_str(l, "master")), mtu,
				     or_dash(json_str(l, "mac")), or_dash(json_str(l, "operState")),
				     !learning		      ? "-"
				     : json_is_true(learning) ? "yes"
							      : "no",
				     or_dash(addresses)});
	}
}

static void print_links(const json_t *inspect, FILE *to)
{
	const json_t *links = json_object_get(inspect, "links");
	struct table t;

	section(to, "LINKS");
	table_init(&t, 9);
	table_row(&t, (const char *const[]){"WHERE", "NAME", "KIND", "MASTER", "MTU", "MAC",
					    "STATE", "LEARNING", "ADDRESSES"});
	link_rows(&t, "pod", json_object_get(links, "pod"));
	link_rows(&t, "host", json_object_get(links, "host"));
	table_flush(&t, to);
	table_done(&t);
}

static void print_cgroup(const json_t *inspect, FILE *to)
{
	const json_t *cgroup = json_object_get(inspect, "cgroup");
	_cleanup_free_ char *max = mebibytes(json_get(cgroup, "limits.memoryMax"));
	_cleanup_free_ char *used = mebibytes(json_get(cgroup, "use.memoryBytes"));
	_cleanup_free_ char *peak = mebibytes(json_get(cgroup, "use.memoryPeakBytes"));
	_cleanup_free_ char *pids = number(json_get(cgroup, "use.pids"));
	_cleanup_free_ char *pids_max = number(json_get(cgroup, "limits.pidsMax"));
	_cleanup_free_ char *devices = joined(json_object_get(cgroup, "devices"), ", ");
	const json_t *paths = json_object_get(cgroup, "paths"), *path;
	const char *key;

	section(to, "CGROUP");
	(void)fprintf(to, "  memory limit       %s (in use %s, at most %s)\n", max, used, peak);
	(void)fprintf(to, "  pids limit         %s (in use %s)\n", pids_max, pids);
	(void)fprintf(to, "  devices            %s\n", or_dash(devices));
	json_object_foreach ((json_t *)(uintptr_t)paths, key, path)
		(void)fprintf(to, "  %-18s %s\n", key, or_dash(json_string_value(path)));
}

/* The steps in the order in which they are done, whatever order the object's keys have. */
static void print_start(const json_t *inspect, FILE *to)
{
	static const char *const steps[] = {"admit", "plan", "cpus", "cgroup", "net",  "disks",
					    "spawn", "qemu", "pin",  "run",    "total"};
	const json_t *start = json_object_get(inspect, "start");

	if (!json_object_size(start))
		return;
	section(to, "START-UP");
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const json_t *ms = json_object_get(start, steps[i]);

		if (ms)
			(void)fprintf(to, "  %-18s %8.2f ms\n", steps[i], json_number_value(ms));
	}
}

void boundary_print(const json_t *inspect, FILE *to)
{
	const json_t *vm = json_object_get(inspect, "vm");

	(void)fprintf(to, "%s/%s: %s, %s\n", or_dash(json_str(vm, "namespace")),
		      or_dash(json_str(vm, "name")), or_dash(json_str(vm, "phase")),
		      json_str(inspect, "accel") ? json_str(inspect, "accel") : "no QEMU");
	if (json_str(inspect, "qmp.status"))
		(void)fprintf(to, "QEMU says: %s\n", json_str(inspect, "qmp.status"));
	if (json_object_get(inspect, "processes")) {
		print_boundary(inspect, to);
		print_threads(inspect, to);
		print_cpus(inspect, to);
		print_memory(inspect, to);
		print_links(inspect, to);
		print_cgroup(inspect, to);
		print_start(inspect, to);
	}
	(void)fflush(to);
}

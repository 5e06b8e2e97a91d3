// SPDX-License-Identifier: Apache-2.0
/* The checks of verify.c's table, by the thing they look at (internal to handler/verify*.c). */
#pragma once

#include "handler/verify.h"

#include "lib/json.h"

struct verify {
	const struct verify_promise *p; /* borrowed */
	const json_t *seen;		/* borrowed; of inspect_vmi */
	const char *check;		/* the one that runs */
	json_t *differences;
};

/* Note a difference. `wanted` is consumed, `found` (NULL: absent) borrowed; the rest names the thing. */
void verify_differ(struct verify *v, json_t *wanted_consume, const json_t *found,
		   const char *subject, ...) __attribute__((format(printf, 4, 5)));

/* The same unless they are equal; absent is null. */
#define verify_equal(v, wanted_consume, found, ...)                                                \
	do {                                                                                       \
		json_t *_wanted = (wanted_consume);                                                \
		const json_t *_found = (found);                                                    \
		if (_found ? json_equal(_wanted, _found) : json_is_null(_wanted))                  \
			json_decref(_wanted);                                                      \
		else                                                                               \
			verify_differ(v, _wanted, _found, __VA_ARGS__);                            \
	} while (0)

/* Run fn for each of the pod's processes; `who` is "qemu (pid 4711)". */
typedef void verify_process_fn(struct verify *v, const json_t *process, const char *who);
void verify_each_process(struct verify *v, verify_process_fn *fn);

/* Run fn for each of their threads; `who` is "thread 4712 'CPU 0/KVM'". */
typedef void verify_thread_fn(struct verify *v, const json_t *process, const json_t *thread,
			      const char *who);
void verify_each_thread(struct verify *v, verify_thread_fn *fn);

/* What `who` of verify_thread_fn is for one thread. */
void verify_thread_name(const json_t *thread, char *ret, size_t size);

/* Is this text in a list of texts? */
bool verify_listed(const json_t *list, const char *text);

static inline bool verify_is(const json_t *object, const char *member, const char *text)
{
	return str_eq(json_str(object, member), text);
}

/* verify_boundary.c */
void verify_processes(struct verify *v);
void verify_ids(struct verify *v);
void verify_id_maps(struct verify *v);
void verify_namespaces(struct verify *v);
void verify_same_namespaces(struct verify *v);
void verify_capabilities(struct verify *v);
void verify_no_new_privs(struct verify *v);
void verify_seccomp(struct verify *v);
void verify_seccomp_filters(struct verify *v);
void verify_dumpable(struct verify *v);
void verify_core_limit(struct verify *v);

/* verify_root.c */
void verify_mounts(struct verify *v);
void verify_root_entries(struct verify *v);
void verify_dev_entries(struct verify *v);

/* verify_cgroup.c */
void verify_groups(struct verify *v);
void verify_devices(struct verify *v);
void verify_memory(struct verify *v);
void verify_pids(struct verify *v);
void verify_cpu_time(struct verify *v);

/* verify_placement.c */
void verify_memory_nodes(struct verify *v);
void verify_guest_memory(struct verify *v);
void verify_locked_memory(struct verify *v);
void verify_scheduling(struct verify *v);

/* verify_cpus.c */
void verify_accel(struct verify *v);
void verify_vcpu_threads(struct verify *v);
void verify_vcpu_pins(struct verify *v);
void verify_other_threads(struct verify *v);
void verify_kernel_threads(struct verify *v);
void verify_cpusets(struct verify *v);
void verify_ledger(struct verify *v);
void verify_overlaps(struct verify *v);
void verify_exclusivity(struct verify *v);

/* verify_links.c */
void verify_pod_bridges(struct verify *v);
void verify_pod_nics(struct verify *v);
void verify_taps(struct verify *v);
void verify_vhost(struct verify *v);
void verify_dummies(struct verify *v);
void verify_no_other_links(struct verify *v);
void verify_host_veths(struct verify *v);
void verify_host_bridges(struct verify *v);
void verify_netns_pin(struct verify *v);

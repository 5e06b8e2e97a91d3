// SPDX-License-Identifier: Apache-2.0
#include "cmd/facts_kinds.h"

#include "cmd/verdict.h"

#include "api/meta.h"
#include "lib/json.h"
#include "lib/util.h"

#include <string.h>

/* A VMI's, or the template's of a VM. */
static void machine(FILE *to, const json_t *spec)
{
	const json_t *cpu = json_get(spec, "domain.cpu");
	uint64_t sockets = json_u64(cpu, "sockets", 1), cores = json_u64(cpu, "cores", 1),
		 threads = json_u64(cpu, "threads", 1);
	const char *memory = json_str(spec, "domain.memory.guest");

	facts_line(to, "CPUs:", "%llu (sockets %llu, cores %llu, threads %llu)%s%s",
		   (unsigned long long)(sockets * cores * threads), (unsigned long long)sockets,
		   (unsigned long long)cores, (unsigned long long)threads,
		   json_flag(cpu, "dedicatedCpuPlacement", false) ? ", dedicated" : "",
		   json_flag(cpu, "isolateEmulatorThread", false) ? ", emulator isolated" : "");
	facts_text(to,
		   "Memory:", memory ? memory : json_str(spec, "domain.resources.requests.memory"));
	facts_text(to, "Huge pages:", json_str(spec, "domain.memory.hugepages.pageSize"));
	facts_text(to, "Kernel:", json_str(spec, "domain.firmware.kernelBoot.container.image"));
}

/* The one member of an object that is no name: what kind of volume or binding it is. */
static const char *sort_of(const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)object, key, value)
		if (json_is_object(value))
			return key;
	return "";
}

static void disks(FILE *to, const json_t *spec)
{
	static const char *const head[] = {"NAME", "VOLUME", "FROM"};
	const json_t *list = json_get(spec, "volumes"), *v;
	size_t n = json_array_size(list), i;
	_cleanup_free_ struct facts_cells *rows = xcalloc(n + 1, sizeof *rows);

	json_array_foreach (list, i, v) {
		const char *sort = sort_of(v);
		const json_t *source = json_object_get(v, sort);
		const char *from = json_str(source, "path");

		rows[i] = (struct facts_cells){
			{json_str(v, "name"), sort, from ? from : json_str(source, "capacity")}};
	}
	facts_rows(to, "Volumes:", head, ARRAY_SIZE(head), rows, n);
}

/* KubeVirt's older form has the binding as a member of its own. */
static const char *binding_of(const json_t *nic)
{
	const char *plugin = json_str(nic, "binding.name");

	return plugin ? plugin : sort_of(nic);
}

static void interfaces(FILE *to, const json_t *spec, const json_t *status)
{
	static const char *const head[] = {"NAME", "BINDING", "NETWORK", "MAC"};
	const json_t *list = json_get(spec, "domain.devices.interfaces"), *nic;
	size_t n = json_array_size(list), i;
	_cleanup_free_ struct facts_cells *rows = xcalloc(n + 1, sizeof *rows);

	json_array_foreach (list, i, nic) {
		const char *name = json_str(nic, "name");
		const json_t *net = json_find(json_get(spec, "networks"), "name", name);
		const json_t *now = json_find(json_get(status, "interfaces"), "name", name);
		const char *network = json_str(net, "multus.networkName");
		const char *mac = json_str(now, "mac");

		rows[i] = (struct facts_cells){{name, binding_of(nic), network ? network : "pod",
						mac ? mac : json_str(nic, "macAddress")}};
	}
	facts_rows(to, "Interfaces:", head, ARRAY_SIZE(head), rows, n);
}

void facts_vmi(FILE *to, const json_t *vmi, time_t now)
{
	const json_t *spec = json_get(vmi, "spec"), *status = json_get(vmi, "status");
	uint64_t us = json_u64(status, "[virtpod.io/startMicroseconds].total", 0);
	const json_t *running =
		json_find(json_get(status, "phaseTransitionTimestamps"), "phase", "Running");
	const char *reason, *message;

	verdict_why(vmi, &reason, &message);
	facts_text(to, "Phase:", json_str(status, "phase"));
	facts_text(to, "Reason:", reason);
	facts_text(to, "Message:", message);
	facts_text(to, "Node:", json_str(status, "nodeName"));
	facts_time(to, "Running since:", json_str(running, "phaseTransitionTimestamp"), now);
	if (us)
		facts_line(to, "Start took:", "%llu ms", (unsigned long long)us / 1000);
	facts_text(to, "Machine:", json_str(status, "machine.type"));
	machine(to, spec);
	disks(to, spec);
	interfaces(to, spec, status);
}

void facts_vm(FILE *to, const json_t *vm)
{
	const json_t *status = json_get(vm, "status");
	const char *reason, *message;

	verdict_why(vm, &reason, &message);
	facts_text(to, "Status:", json_str(status, "printableStatus"));
	facts_text(to, "Reason:", reason);
	facts_text(to, "Message:", message);
	facts_text(to, "Run strategy:", json_str(status, "runStrategy"));
	facts_text(to, "Last VMI:", json_str(status, "[virtpod.io/lastPhase]"));
	if (json_get(status, "startFailure"))
		facts_line(to, "Failed starts:", "%llu; the next one at %s",
			   (unsigned long long)json_u64(status, "startFailure.consecutiveFailCount",
							0),
			   json_str(status, "startFailure.retryAfterTimestamp"));
	machine(to, json_get(vm, "spec.template.spec"));
	disks(to, json_get(vm, "spec.template.spec"));
	interfaces(to, json_get(vm, "spec.template.spec"), NULL);
}

static void resources(FILE *to, const json_t *node)
{
	static const char *const head[] = {"RESOURCE", "CAPACITY", "ALLOCATABLE"};
	json_t *all = json_get(node, "status.capacity"), *value;
	_cleanup_free_ struct facts_cells *rows = xcalloc(json_object_size(all) + 1, sizeof *rows);
	const json_t *left = json_get(node, "status.allocatable");
	const char *key;
	size_t n = 0;

	json_object_foreach (all, key, value)
		rows[n++] = (struct facts_cells){{key, json_string_value(value),
						  json_string_value(json_object_get(left, key))}};
	facts_rows(to, "Resources:", head, ARRAY_SIZE(head), rows, n);
}

static void its_vmis(FILE *to, const json_t *vmis)
{
	static const char *const head[] = {"NAMESPACE", "NAME", "PHASE", "MEMORY", "DEDICATED"};
	size_t n = 0, i;
	_cleanup_free_ struct facts_cells *rows = xcalloc(json_array_size(vmis) + 1, sizeof *rows);
	const json_t *v;

	json_array_foreach (vmis, i, v) {
		const json_t *domain = json_get(v, "spec.domain");
		bool dedicated = json_flag(domain, "cpu.dedicatedCpuPlacement", false);
		const char *phase = json_str(v, "status.phase");

		if (!json_get(v, "status.nodeName") || str_eq(phase, "Succeeded") ||
		    str_eq(phase, "Failed"))
			continue;
		rows[n++] = (struct facts_cells){{object_namespace(v), object_name(v), phase,
						  json_str(domain, "memory.guest"),
						  dedicated ? "yes" : "no"}};
	}
	facts_rows(to, "VMs:", head, ARRAY_SIZE(head), rows, n);
}

void facts_node(FILE *to, const json_t *node, const json_t *vmis)
{
	const json_t *info = json_get(node, "status.nodeInfo");

	facts_text(to, "Version:", json_str(info, "kubeletVersion"));
	facts_text(to, "Kernel:", json_str(info, "kernelVersion"));
	facts_text(to, "Architecture:", json_str(info, "architecture"));
	resources(to, node);
	its_vmis(to, vmis);
}

/* Of a network the configuration is JSON in a text. */
static bool network(FILE *to, const json_t *object)
{
	const char *config = json_str(object, "spec.config");
	_cleanup_json_ json_t *value = NULL;
	struct err err = {0};

	if (!config || json_parse(config, strlen(config), strlen(config), &value, &err) < 0)
		return false;
	facts_yaml(to, "Config:", value);
	return true;
}

void facts_other(FILE *to, const json_t *object)
{
	_cleanup_json_ json_t *rest = json_copy((json_t *)(uintptr_t)object);

	if (network(to, object))
		return;
	(void)json_object_del(rest, "apiVersion");
	(void)json_object_del(rest, "kind");
	(void)json_object_del(rest, "metadata");
	(void)json_object_del(rest, "status");
	if (json_object_size(rest))
		facts_yaml(to, "Says:", rest);
}

// SPDX-License-Identifier: Apache-2.0
#include "handler/node.h"

#include "handler/loop.h"
#include "handler/manifests.h"
#include "handler/server_internal.h"
#include "handler/watch.h"

#include "api/meta.h"
#include "lib/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

#if defined(__x86_64__)
#define NODE_ARCH "amd64"
#elif defined(__aarch64__)
#define NODE_ARCH "arm64"
#else
#error "Kubernetes' name of this architecture is missing"
#endif

/* How many VMs may use a device node at once: KubeVirt's device plugin says the same number. */
#define DEVICE_SLOTS "1k"

static void set_text(json_t *o, const char *key, const char *text)
{
	(void)json_object_set_new(o, key, json_string(text));
}

/* kB of the whole machine, as /proc/meminfo's MemTotal. */
static uint64_t memory_kib(void)
{
	struct sysinfo si;

	return sysinfo(&si) < 0 ? 0 : (uint64_t)si.totalram * si.mem_unit / 1024;
}

static json_t *resources(const struct plan_host *has, unsigned cpus)
{
	json_t *o = json_object();
	char text[32];

	(void)snprintf(text, sizeof text, "%u", cpus);
	set_text(o, "cpu", text);
	(void)snprintf(text, sizeof text, "%" PRIu64 "Ki", memory_kib());
	set_text(o, "memory", text);
	set_text(o, "devices.kubevirt.io/kvm", has->kvm ? DEVICE_SLOTS : "0");
	set_text(o, "devices.kubevirt.io/vhost-net", has->vhost_net ? DEVICE_SLOTS : "0");
	return o;
}

static json_t *labels(const struct handler *h)
{
	json_t *o = json_object();

	set_text(o, "kubernetes.io/hostname", h->node);
	set_text(o, "kubernetes.io/arch", NODE_ARCH);
	set_text(o, "kubernetes.io/os", "linux");
	set_text(o, "kubevirt.io/schedulable", "true");
	set_text(o, "kubevirt.io/cpumanager",
		 h->policy.manager == CPU_MANAGER_STATIC ? "true" : "false");
	return o;
}

static json_t *info(void)
{
	struct utsname u;

	if (uname(&u) < 0)
		return json_object();
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "kernelVersion", u.release, "operatingSystem",
			 "linux", "architecture", NODE_ARCH, "kubeletVersion",
			 "virtpod-" VIRTPOD_VERSION, "containerRuntimeVersion",
			 "virtpod://" VIRTPOD_VERSION);
}

/* When this host booted, the age of the node. */
static const char *booted(char buf[static TIME_TEXT])
{
	return time_format(time(NULL) - uptime_seconds(), buf);
}

static json_t *conditions(const struct handler *h)
{
	json_t *manifests = manifests_condition(h);
	json_t *list = json_pack("[{s:s, s:s, s:s, s:s}]", "type", "Ready", "status", "True",
				 "reason", "KubeletReady", "message", "virt-handler answers");

	if (manifests)
		(void)json_array_append_new(list, manifests);
	return list;
}

json_t *node_object(struct handler *h)
{
	unsigned cpus = h->topology.n, allocatable = cpus;
	char version[24], since[TIME_TEXT];
	struct plan_host has = handler_look(h);

	if (h->policy.manager == CPU_MANAGER_STATIC)
		allocatable -= (unsigned)CPU_COUNT(&h->policy.reserved);
	(void)snprintf(version, sizeof version, "%" PRIu64, h->server->node_version);
	(void)booted(since);
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:s, s:s, s:o}, s:{}, s:{s:o, s:o, s:o, s:o}}",
			 "apiVersion", "v1", "kind", "Node", "metadata", "name", h->node, "uid",
			 h->node, "resourceVersion", version, "creationTimestamp", since, "labels",
			 labels(h), "spec", "status", "capacity", resources(&has, cpus),
			 "allocatable", resources(&has, allocatable), "conditions", conditions(h),
			 "nodeInfo", info());
}

void node_publish(struct handler *h)
{
	_cleanup_json_ json_t *node = NULL;
	uint64_t version = loop_version(h);

	if (!version)
		return;
	h->server->node_version = version;
	node = node_object(h);
	watch_publish(h, "MODIFIED", NODE_KEY, node);
}

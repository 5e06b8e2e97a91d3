// SPDX-License-Identifier: Apache-2.0
/* What the guest sees of its machine. */
#include "lib/file.h"
#include "lib/util.h"
#include "tests/guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long mem_kib(const char *field)
{
	_cleanup_free_ char *text = NULL;
	const char *at;

	if (file_read_at(AT_FDCWD, "/proc/meminfo", 65536, &text, NULL) < 0)
		return -1;
	at = strstr(text, field);
	return at ? atol(at + strlen(field)) : -1;
}

int cmd_mem(int argc, char **argv, struct err *err)
{
	(void)argc, (void)argv, (void)err; /* the table's signature */
	printf("total_kib=%ld free_kib=%ld available_kib=%ld\n", mem_kib("MemTotal:"),
	       mem_kib("MemFree:"), mem_kib("MemAvailable:"));
	return 0;
}

int cmd_cpus(int argc, char **argv, struct err *err)
{
	char online[256], socket[16], core[16], siblings[64];
	long count = sysconf(_SC_NPROCESSORS_CONF);

	(void)argc, (void)argv, (void)err; /* the table's signature */
	printf("online=%s\n", line_read(online, sizeof online, "/sys/devices/system/cpu/online"));
	for (long i = 0; i < count; i++) {
		const char *dir = "/sys/devices/system/cpu/cpu";

		if (!*line_read(socket, sizeof socket, "%s%ld/topology/physical_package_id", dir,
				i))
			continue; /* offline */
		line_read(core, sizeof core, "%s%ld/topology/core_id", dir, i);
		line_read(siblings, sizeof siblings, "%s%ld/topology/thread_siblings_list", dir, i);
		printf("cpu=%ld socket=%s core=%s siblings=%s\n", i, socket, core, siblings);
	}
	return 0;
}

/* "Node 1 MemTotal:  100000 kB" */
static long node_kib(int node)
{
	_cleanup_free_ char *text = NULL;
	const char *at = NULL;
	char path[64];

	(void)snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", node);
	if (file_read_at(AT_FDCWD, path, 65536, &text, NULL) == 0)
		at = strstr(text, "MemTotal:");
	return at ? atol(at + strlen("MemTotal:")) : -1;
}

int cmd_nodes(int argc, char **argv, struct err *err)
{
	const char *dir = "/sys/devices/system/node/node";
	char cpus[256], distance[256];

	(void)argc, (void)argv, (void)err; /* the table's signature */
	for (int node = 0; node < 64; node++) {
		if (!*line_read(distance, sizeof distance, "%s%d/distance", dir, node))
			continue; /* there is no such node */
		line_read(cpus, sizeof cpus, "%s%d/cpulist", dir, node);
		printf("node=%d cpus=%s total_kib=%ld distance=%s\n", node, cpus, node_kib(node),
		       distance);
	}
	return 0;
}

int cmd_cmdline(int argc, char **argv, struct err *err)
{
	char line[4096];

	(void)argc, (void)argv, (void)err; /* the table's signature */
	printf("cmdline=%s\n", line_read(line, sizeof line, "/proc/cmdline"));
	return 0;
}

int cmd_rng(int argc, char **argv, struct err *err)
{
	char name[128];

	(void)argc, (void)argv; /* the table's signature */
	line_read(name, sizeof name, "/sys/class/misc/hw_random/rng_current");
	if (!*name || str_eq(name, "none"))
		return err_set(err, -ENODEV, "no random number device");
	printf("rng=%s\n", name);
	return 0;
}

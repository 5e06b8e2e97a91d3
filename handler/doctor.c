// SPDX-License-Identifier: Apache-2.0
#include "handler/doctor_internal.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* docs/doctor.md lists them in this order; an id never changes its meaning. */
static const struct {
	const char *id;
	doctor_look *look;
} checks[] = {
	{"kvm-cpu", doctor_kvm_cpu},
	{"kvm-module", doctor_kvm_module},
	{"kvm-device", doctor_kvm_device},
	{"kvm-nested", doctor_kvm_nested},
	{"vhost-net", doctor_vhost_net},
	{"tun", doctor_tun},
	{"qemu", doctor_qemu},
	{"qemu-machines", doctor_qemu_machines},
	{"firmware-bios", doctor_firmware_bios},
	{"firmware-uefi", doctor_firmware_uefi},
	{"cgroup-version", doctor_cgroup_version},
	{"cgroup-controllers", doctor_cgroup_controllers},
	{"cpuset-partition", doctor_cpuset_partition},
	{"bpf-jit-harden", doctor_bpf_jit_harden},
	{"cpu-policy", doctor_cpu_policy},
	{"isolcpus", doctor_isolcpus},
	{"nohz-full", doctor_nohz_full},
	{"cpu-governor", doctor_governor},
	{"irqbalance", doctor_irqbalance},
	{"realtime", doctor_realtime},
	{"hugepages", doctor_hugepages},
	{"limit-memlock", doctor_limit_memlock},
	{"limit-nofile", doctor_limit_nofile},
	{"user-namespaces", doctor_user_namespaces},
	{"user-ids", doctor_user_ids},
	{"lsm", doctor_lsm},
	{"bridge-netfilter", doctor_bridge_netfilter},
};

static const char *const verdicts[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_WARNING] = "warning",
	[DOCTOR_PROBLEM] = "problem",
	[DOCTOR_UNKNOWN] = "unknown",
};

__attribute__((format(printf, 2, 0))) static void set_text(char **to, const char *fmt, va_list ap)
{
	free(*to);
	if (vasprintf(to, fmt, ap) < 0)
		abort();
	for (char *c = *to; *c; c++) /* the kernel's words, and programs' */
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
}

void doctor_found(struct doctor_finding *f, enum doctor_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	f->verdict = verdict;
	va_start(ap, fmt);
	set_text(&f->found, fmt, ap);
	va_end(ap);
}

void doctor_fix(struct doctor_finding *f, const char *means, const char *fmt, ...)
{
	va_list ap;

	f->means = means;
	va_start(ap, fmt);
	set_text(&f->fix, fmt, ap);
	va_end(ap);
}

void doctor_needs_root(struct doctor_finding *f, const char *what)
{
	doctor_found(f, DOCTOR_UNKNOWN, "%s: for root alone", what);
	doctor_fix(f, "not looked at", "run as root: sudo virtpod doctor");
}

void doctor_cant_read(struct doctor_finding *f, const char *what, int r)
{
	if (r == -EACCES || r == -EPERM) {
		doctor_needs_root(f, what);
		return;
	}
	doctor_found(f, DOCTOR_UNKNOWN, "%s: %s", what, strerror(-r));
	doctor_fix(f, "can't be told", "look at %s", what);
}

enum doctor_verdict doctor_without_device(const struct doctor_host *h)
{
	return h->cluster.use_emulation ? DOCTOR_WARNING : DOCTOR_PROBLEM;
}

/* Not as a whole: it may have hundreds of CPUs. */
void doctor_cpu_flags(int root, char ret[static DOCTOR_FLAGS_MAX])
{
	_cleanup_fd_ int fd = openat(root, "proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	char text[DOCTOR_FLAGS_MAX];
	size_t len = 0;
	ssize_t n = 0;
	char *line;

	while (fd >= 0 && len < sizeof text - 1 &&
	       (n = read(fd, text + len, sizeof text - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	line = strstr(text, "\nflags");
	line = line ? strchr(line, ':') : NULL;
	(void)snprintf(ret, DOCTOR_FLAGS_MAX, "%.*s", line ? (int)strcspn(line, "\n") : 0,
		       line ? line : "");
}

bool doctor_is_there(int root, const char *path)
{
	return faccessat(root, path, F_OK, 0) == 0;
}

bool doctor_can_load(int root, const char *file)
{
	_cleanup_free_ char *text = NULL, *name = xasprintf("/%s", file);
	char release[128], path[256];

	if (file_read_line_at(root, "proc/sys/kernel/osrelease", release, sizeof release) < 0)
		return false;
	(void)snprintf(path, sizeof path, "lib/modules/%s/modules.dep", release);
	return file_read_at(root, path, 16 << 20, &text, NULL) == 0 && strstr(text, name);
}

static json_t *to_json(const char *id, const struct doctor_finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s?, s:s?}", "id", id, "verdict", verdicts[f->verdict],
			 "found", f->found, "means", f->means, "fix", f->fix);
}

json_t *doctor_report(const struct doctor_host *h)
{
	json_t *list = json_array(), *counts = json_object();
	unsigned n[ARRAY_SIZE(verdicts)] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct doctor_finding f = {0};

		checks[i].look(h, &f);
		n[f.verdict]++;
		(void)json_array_append_new(list, to_json(checks[i].id, &f));
		free(f.found);
		free(f.fix);
	}
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		(void)json_object_set_new(counts, verdicts[i], json_integer(n[i]));
	return json_pack("{s:s, s:b, s:b, s:o, s:o}", "virtpodVersion", VIRTPOD_VERSION,
			 "privileged", (int)h->is_root, "ok", (int)!n[DOCTOR_PROBLEM], "counts",
			 counts, "checks", list);
}

void doctor_done(struct doctor_host *h)
{
	(void)fd_close(h->root);
	paths_close(&h->paths);
	free(h->qemu_version);
	free(h->qemu_machines);
}

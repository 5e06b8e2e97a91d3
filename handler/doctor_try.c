// SPDX-License-Identifier: Apache-2.0
/*
 * What can't be read is tried: by what the handler itself will do, in a way that leaves nothing behind. No
 * handler is started or asked, no module is loaded, nothing outside of this process changes but for the
 * empty group of cgroup_partition_try, which goes again.
 */
#include "handler/doctor_internal.h"

#include "handler/kvm.h"
#include "handler/qemupath.h"
#include "handler/rlimits.h"
#include "handler/settings.h"

#include "api/limits.h"
#include "lib/capture.h"
#include "lib/child.h"
#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAG	     "d0c70000" /* of no root: a group that a kill left is taken by nobody for a pod's */
#define QEMU_SECONDS 60		/* on a cold cache, on an emulated node */
#define QEMU_MAX     65536

static const struct err for_root = {.code = -EACCES, .msg = "for root alone"};

/* False: it is to be read again. */
static bool read_store(struct doctor_host *h, const struct cpu_topology *cpus)
{
	struct store *store = NULL;
	struct err *err = &h->config_err;
	int r = store_open_to_read(&h->paths, &store, err);
	bool counts;

	if (r == -ENOENT) /* nobody has configured anything here */
		err_clear(err);
	if (r < 0)
		return true;
	h->config_seen = settings_read(store, cpus, &h->cluster, &h->policy, err) == 0;
	counts = !store_overtaken(store);
	store_close(store);
	if (!counts)
		err_clear(err);
	return counts;
}

static void read_config(struct doctor_host *h)
{
	struct cpu_topology *cpus = xcalloc(1, sizeof *cpus);
	int r = cpu_topology_load(cpus, &h->config_err);

	CPU_ZERO(&h->online);
	if (r == 0)
		cpu_topology_all(cpus, &h->online);
	while (r == 0 && !h->paths_err.code && !read_store(h, cpus))
		; /* with a handler there now it is read as everybody reads it */
	free(cpus);
}

static void try_cgroups(struct doctor_host *h)
{
	struct cgroup_host *groups = NULL;

	if (cgroup_host_open(TAG, &groups, &h->cgroups_err) < 0) {
		h->partition_err = h->cgroups_err;
		h->partition_err.code = -ENODEV; /* nothing to try in, whatever the reason */
		return;
	}
	h->cgroups_v2 = cgroup_host_v2(groups);
	if (h->cgroups_v2 && !h->is_root)
		h->partition_err = for_root;
	else
		(void)cgroup_partition_try(groups, &h->partition_err);
	cgroup_host_free(groups);
}

/* In a child, for this process would stay in it. */
static void try_userns(struct doctor_host *h)
{
	_cleanup_fd_ int pidfd = -1;
	siginfo_t end = {0};
	int r = child_fork(&pidfd);

	if (r == 0)
		_exit(unshare(CLONE_NEWUSER) < 0 ? errno : 0);
	if (r < 0) {
		(void)err_errno(&h->userns_err, r, "fork");
		return;
	}
	while (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &end, WEXITED) < 0 && errno == EINTR)
		;
	if (end.si_code != CLD_EXITED || end.si_status)
		(void)err_set(&h->userns_err, -ENOTSUP, "one was tried: %s",
			      strerror(end.si_code == CLD_EXITED ? end.si_status : EINTR));
}

static void try_limits(struct doctor_host *h)
{
	static char any[] = "0";
	const struct plan realtime = {.realtime_vcpus = any};
	struct rlimit has = {0}, more;

	/* their arguments are right: they can't fail */
	(void)getrlimit(RLIMIT_MEMLOCK, &has);
	h->memlock = has.rlim_max;
	(void)rlimits_check(&realtime, &h->memlock_err);
	(void)getrlimit(RLIMIT_NOFILE, &has);
	h->nofile = has.rlim_max;
	more = (struct rlimit){has.rlim_cur, LIMITS_NOFILE};
	if (h->nofile < LIMITS_NOFILE && setrlimit(RLIMIT_NOFILE, &more) == 0) {
		h->nofile = LIMITS_NOFILE;
		(void)setrlimit(RLIMIT_NOFILE, &has); /* down is always allowed */
	}
}

static void ask_qemu(struct doctor_host *h)
{
	struct err *err = &h->qemu_err;

	if (qemupath_find(h->root, &h->qemu, err) < 0)
		return;
	if (capture_run((const char *const[]){h->qemu, "--version", NULL}, QEMU_SECONDS, QEMU_MAX,
			&h->qemu_version, err) == 0)
		(void)capture_run((const char *const[]){h->qemu, "-machine", "help", NULL},
				  QEMU_SECONDS, QEMU_MAX, &h->qemu_machines, err);
}

/* To ask a kernel without nftables loads them; whoever has rules has loaded them. */
static void ask_firewall(struct doctor_host *h)
{
	_cleanup_free_ char *tables = NULL;
	bool nft = doctor_is_there(h->root, "sys/module/nf_tables") ||
		   !doctor_can_load(h->root, "nf_tables.ko");
	/* tables of this namespace; to ask for one that isn't here would make it */
	bool legacy = file_read_at(h->root, "proc/net/ip_tables_names", 4096, &tables, NULL) == 0 &&
		      str_has_word(tables, "filter");

	(void)forward_find_drop(nft, legacy, h->forward_who, &h->forward_err);
}

int doctor_try(const char *root, struct doctor_host *ret, struct err *err)
{
	struct doctor_host h = {.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				.is_root = geteuid() == 0,
				.paths = {.lib_fd = -1, .run_fd = -1},
				.kvm_works = kvm_fd_works};

	if (h.root < 0)
		return err_errno(err, -errno, "/");
	(void)paths_name(root, &h.paths, &h.paths_err);
	read_config(&h);
	try_cgroups(&h);
	ask_qemu(&h);
	if (h.is_root) {
		try_userns(&h);
		try_limits(&h);
		ask_firewall(&h);
	} else {
		h.userns_err = h.memlock_err = h.forward_err = for_root;
	}
	*ret = h;
	return 0;
}

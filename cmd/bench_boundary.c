// SPDX-License-Identifier: Apache-2.0
/*
 * The boundary alone: the pod's groups, its network namespace and its /dev made, virt-launcher spawned
 * and entered with every layer on, and then, where QEMU would be, a static program that ends at once.
 * Time runs from the first of these until the launcher has ended; what undoes them is timed apart.
 * The pieces are the handler's own, driven over the launcher's own wire; no handler takes part.
 */
#include "cmd/bench.h"

#include "api/meta.h"
#include "api/outcome.h"
#include "api/wire.h"
#include "cgroups/cgroup.h"
#include "handler/cpuset.h"
#include "handler/ids.h"
#include "handler/podlimits.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/sock.h"
#include "lib/util.h"
#include "net/netns.h"
#include "sandbox/dev.h"
#include "sandbox/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

struct boundary {
	struct bench *b;
	struct cgroup_host *cgroups;
	int netns_dir, launcher, outcome; /* owned */
	uint32_t id;			  /* the pod's on the host */
	char uid[UUID_TEXT];
	char *program; /* owned; path of what stands in for QEMU */
	json_t *plan;  /* owned */
};

static void boundary_done(struct boundary *p)
{
	cgroup_host_free(p->cgroups);
	(void)fd_close(p->netns_dir);
	(void)fd_close(p->launcher);
	(void)fd_close(p->outcome);
	free(p->program);
	json_decref(p->plan);
}

/* The built-in VM's plan without kernel and console: the launcher only has to accept it. */
static json_t *empty_plan(const struct plan *plan)
{
	struct plan p = *plan;

	p.kernel_image = p.kernel_path = p.kernel_args = p.initrd_path = NULL;
	p.serial_log = false;
	p.n_nics = p.n_disks = 0;
	return plan_to_json(&p);
}

static int open_launcher(int *ret, struct err *err)
{
	static const char *const beside[] = {"virt-launcher", "../libexec/virtpod/virt-launcher"};
	char exe[PATH_MAX] = "";

	if (readlink("/proc/self/exe", exe, sizeof exe - 1) > 0)
		*strrchr(exe, '/') = 0;
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", exe, beside[i]);

		*ret = open(path, O_PATH | O_CLOEXEC);
		if (*ret >= 0)
			return 0;
	}
	return err_set(err, -ENOENT, "no virt-launcher in %s or beside it in libexec", exe);
}

static int prepare(struct boundary *p, struct err *err)
{
	struct handler *here = &p->b->here;
	int r = mkdir_p_at(here->paths.run_fd, "netns", 0700);

	if (r < 0)
		return err_errno(err, r, "%s/netns", here->paths.run);
	p->netns_dir = openat(here->paths.run_fd, "netns", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->netns_dir < 0)
		return err_errno(err, -errno, "%s", here->paths.run);
	p->program = xasprintf("%s/true", here->paths.lib);
	p->plan = empty_plan(p->b->plan);
	r = bench_true_write(here->paths.lib_fd, "true", err);
	if (r == 0)
		r = open_launcher(&p->launcher, err);
	if (r == 0)
		r = cgroup_host_open(here->paths.tag, &p->cgroups, err);
	return r < 0 ? r : ids_allocate(here, &p->id, err);
}

static int make_groups(struct boundary *p, struct err *err)
{
	struct cgroup_device devices[PODLIMITS_DEVICES_MAX];
	struct cgroup_pod_spec spec = {.uid = p->uid, .devices = devices};
	const struct plan *plan = p->b->plan;
	int r;

	spec.n_devices = podlimits_devices(plan, devices);
	spec.limits.memory_max = plan->memory_limit;
	spec.limits.pids_max = podlimits_pids(plan);
	spec.limits.cpu_shares = plan->cpu_shares;
	r = cpuset_shared(&p->b->here, &spec.emu, err);
	return r < 0 ? r : cgroup_pod_create(p->cgroups, &spec, err);
}

static int join_groups(void *arg, struct err *err)
{
	const struct boundary *p = arg;

	return cgroup_pod_enter(p->cgroups, p->uid, /* born= */ true, err);
}

static int spawn(struct boundary *p, int netns, int channel, int listener, int *ret_pidfd,
		 struct err *err)
{
	char *const argv[] = {(char[]){"virt-launcher"}, NULL};
	const int fds[] = {channel, listener};
	_cleanup_fd_ int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	_cleanup_fd_ int birthplace = -1;
	struct sandbox_spawn how = {
		.layers = sandbox_layers_all,
		.uid = p->id,
		.gid = p->id,
		.netns_fd = netns,
		.join = join_groups,
		.join_arg = p,
		.exec_fd = p->launcher,
		.argv = argv,
		.fds = fds,
		.n_fds = ARRAY_SIZE(fds),
		.stderr_fd = null,
	};
	pid_t pid;
	int r = cgroup_pod_birthplace(p->cgroups, p->uid, &birthplace, err);

	how.cgroup_fd = birthplace;
	return r < 0 ? r : sandbox_spawn(&how, &pid, ret_pidfd, err);
}

/* One request; must_work: its reply must be there and say yes. */
static int request(struct boundary *p, int channel, json_t *msg_consume, int fd, bool must_work,
		   struct err *err)
{
	_cleanup_json_ json_t *msg = msg_consume, *reply = NULL;
	int fds[SOCK_MAX_FDS];
	size_t n;
	int r = wire_send(channel, msg, &fd, 1, err);

	if (r < 0 || !must_work)
		return r;
	r = bench_ready(p->b, channel, BENCH_ANSWER_MS, "virt-launcher's answer", err);
	if (r < 0)
		return r;
	r = wire_recv(channel, &reply, fds, SOCK_MAX_FDS, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r > 0 && i < n; i++)
		(void)fd_close(fds[i]);
	if (r == 0 || !json_flag(reply, "ok", false))
		return err_set(err, -EIO, "virt-launcher: %s",
			       json_str(reply, "error") ? json_str(reply, "error") : "it ended");
	return 0;
}

static int drive(struct boundary *p, int channel, struct err *err)
{
	_cleanup_fd_ int dev = -1;
	int r = sandbox_dev_create(p->id, p->id, NULL, 0, &dev, err);

	if (r < 0)
		return r;
	r = request(p, channel,
		    json_pack("{s:i, s:s, s:s, s:o, s:s, s:s, s:[s]}", "id", 1, "request", "enter",
			      "version", VIRTPOD_VERSION, "sandbox",
			      sandbox_layers_to_json(&sandbox_layers_all), "hostname", "bench",
			      "qemu", p->program, "fds", "dev"),
		    dev, /* must_work= */ true, err);
	/* the program ends before it could open QMP: the reply says so, or does not come */
	return r < 0 ? r
		     : request(p, channel,
			       json_pack("{s:i, s:s, s:O, s:s, s:[s]}", "id", 2, "request", "start",
					 "plan", p->plan, "qemu", p->program, "fds", "outcome"),
			       p->outcome, /* must_work= */ false, err);
}

static int wait_end(struct boundary *p, int pidfd, struct err *err)
{
	siginfo_t info;
	int r = bench_wait(p->b, pidfd, BENCH_ANSWER_MS, "virt-launcher's end", &info, err);

	if (r < 0)
		return r;
	return info.si_code == CLD_EXITED && info.si_status == 0
		       ? 0
		       : err_set(err, -EIO, "virt-launcher ended with %d", info.si_status);
}

static int run_pod(struct boundary *p, int netns, struct err *err)
{
	_cleanup_fd_ int ours = -1, theirs = -1, listener = -1, pidfd = -1;
	int pair[2], r = sock_listen_at(p->b->here.paths.run_fd, "launcher.sock", SOCK_SEQPACKET,
					&listener);

	if (r == 0)
		r = sock_pair(SOCK_SEQPACKET, pair);
	if (r < 0)
		return err_errno(err, r, "launcher's sockets");
	ours = pair[0];
	theirs = pair[1];
	r = spawn(p, netns, theirs, listener, &pidfd, err);
	theirs = fd_close(theirs);
	if (r < 0)
		return r;
	r = drive(p, ours, err);
	if (r < 0)
		ours = fd_close(ours); /* it ends by itself then */
	return wait_end(p, pidfd, err) < 0 ? err->code : r;
}

static int one_round(struct boundary *p, struct err *err)
{
	_cleanup_fd_ int netns = -1;
	uint64_t began, ended, undone;
	struct outcome outcome = {0};
	struct err undo = {0};
	int r;

	(void)uid_new(p->uid);
	p->outcome = fd_close(p->outcome);
	p->outcome = memfd_create("outcome", MFD_CLOEXEC);
	if (p->outcome < 0)
		return err_errno(err, -errno, "outcome");
	began = bench_now();
	r = make_groups(p, err);
	if (r < 0)
		return r;
	r = netns_create(p->netns_dir, p->uid, &netns, err);
	if (r == 0)
		r = run_pod(p, netns, err);
	ended = bench_now();
	netns = fd_close(netns);
	if (r < 0) /* whatever a launcher that had to be killed has left */
		(void)cgroup_pod_kill(p->cgroups, p->uid, NULL);
	(void)netns_destroy(p->netns_dir, p->uid, &undo);
	(void)cgroup_pod_destroy(p->cgroups, p->uid, &undo);
	undone = bench_now();
	if (r == 0 && undo.code)
		r = err_set(err, undo.code, "%s", undo.msg);
	/* the program has run, and nothing else has stopped the launcher */
	if (r == 0)
		r = outcome_read(p->outcome, &outcome, err);
	if (r == 0 && outcome.kind != OUTCOME_QEMU_FAILED)
		r = err_set(err, -EIO, "unexpected end: %s", outcome.message);
	if (r < 0)
		return r;
	samples_add(&p->b->boundary, (int64_t)(ended - began));
	samples_add(&p->b->boundary_undo, (int64_t)(undone - ended));
	bench_span(p->b, TRACK_BOUNDARY, "boundary", began, ended);
	bench_span(p->b, TRACK_BOUNDARY, "undo", ended, undone);
	return 0;
}

/* For scale: the program itself in the pod's namespaces; no groups, no root of its own, no launcher. */
static int namespaces_alone(struct boundary *p, struct err *err)
{
	char *const argv[] = {(char[]){"true"}, NULL};
	_cleanup_fd_ int program = open(p->program, O_PATH | O_CLOEXEC), netns = -1, pidfd = -1;
	_cleanup_fd_ int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct sandbox_spawn how = {
		.layers = sandbox_layers_all,
		.uid = p->id,
		.gid = p->id,
		.cgroup_fd = -1,
		.exec_fd = program,
		.argv = argv,
		.stderr_fd = null,
	};
	uint64_t began = bench_now(), ended;
	pid_t pid;
	int r = netns_create(p->netns_dir, p->uid, &netns, err);

	how.netns_fd = netns;
	if (r == 0)
		r = sandbox_spawn(&how, &pid, &pidfd, err);
	if (r == 0)
		r = wait_end(p, pidfd, err);
	ended = bench_now();
	netns = fd_close(netns);
	(void)netns_destroy(p->netns_dir, p->uid, r < 0 ? NULL : err);
	if (r == 0)
		samples_add(&p->b->namespaces, (int64_t)(ended - began));
	return r;
}

int bench_boundary(struct bench *b, size_t rounds, struct err *err)
{
	_cleanup_(boundary_done) struct boundary p = {
		.b = b, .netns_dir = -1, .launcher = -1, .outcome = -1};
	int r = prepare(&p, err);

	for (size_t i = 0; r == 0 && i < rounds; i++) {
		r = bench_stopped(b) ? -ECANCELED : one_round(&p, err);
		if (r == 0)
			r = namespaces_alone(&p, err);
	}
	err_prefix(err, "the boundary alone");
	return r;
}

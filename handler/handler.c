// SPDX-License-Identifier: Apache-2.0
#include "handler/handler.h"

#include "handler/adopt.h"
#include "handler/cleanup.h"
#include "handler/config.h"
#include "handler/devices.h"
#include "handler/hostcpus.h"
#include "handler/images.h"
#include "handler/loop.h"
#include "handler/manifests.h"
#include "handler/pod.h"
#include "handler/qemupath.h"
#include "handler/server.h"
#include "handler/vms.h"
#include "handler/wires.h"

#include "lib/log.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/*
 * A lock of the process, which its children do not inherit: after kill -9 in the middle of a spawn the
 * next handler does not have to wait for them. Nothing else here opens (and closes) this file.
 */
static int take_root_lock(struct handler *h, struct err *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = openat(h->paths.run_fd, "handler.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(err, -errno, "%s/handler.lock", h->paths.run);
	h->lock_fd = fd;
	if (fcntl(fd, F_SETLK, &whole) == 0)
		return 0;
	if (errno != EACCES && errno != EAGAIN)
		return err_errno(err, -errno, "%s/handler.lock", h->paths.run);
	if (fcntl(fd, F_GETLK, &whole) < 0 || whole.l_type == F_UNLCK)
		whole.l_pid = 0;
	return err_set(err, -EBUSY, "%s: another virt-handler (pid %d) serves this root",
		       h->paths.run, whole.l_pid);
}

static int find_launcher(struct handler *h, struct err *err)
{
	char exe[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	if (n < 0)
		return err_errno(err, -errno, "/proc/self/exe");
	exe[n] = 0;
	slash = strrchr(exe, '/');
	(void)snprintf(slash, sizeof exe - (size_t)(slash - exe), "/virt-launcher");
	h->launcher_fd = open(exe, O_PATH | O_CLOEXEC);
	if (h->launcher_fd < 0)
		return err_errno(err, -errno, "%s: it must be beside virt-handler", exe);
	return 0;
}

int handler_find_qemu(struct handler *h, struct err *err)
{
	_cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return qemupath_find(root, &h->qemu, err);
}

void handler_probe(struct handler *h)
{
	_cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	devices_try(root, &h->has, &h->nodes); /* without a root: nothing works */
}

struct plan_host handler_look(const struct handler *h)
{
	_cleanup_fd_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return devices_look(root, &h->has, &h->nodes);
}

static void name_node(struct handler *h)
{
	if (gethostname(h->node, sizeof h->node - 1) < 0 || !h->node[0])
		(void)snprintf(h->node, sizeof h->node, "localhost");
}

/* The root is this process's alone, its records and the kernel's groups are open. */
static int open_root(const char *root, struct handler *h, struct err *err)
{
	struct err config = {0};
	int r;

	*h = (struct handler){
		.lock_fd = -1, .launcher_fd = -1, .paths = {.lib_fd = -1, .run_fd = -1}};
	h->refused = json_object();
	r = paths_open(root, /* make= */ true, &h->paths, err);
	if (r == 0)
		r = take_root_lock(h, err);
	if (r == 0) {
		r = sd_event_default(&h->event);
		if (r < 0)
			return err_errno(err, r, "event loop");
		r = store_open(&h->paths, &h->store, err);
	}
	if (r == 0)
		r = cgroup_host_open(h->paths.tag, &h->cgroups, err);
	if (r == 0)
		r = cpu_topology_load(&h->topology, err);
	if (r == 0 && config_load(h, &config) < 0) /* who mends it needs the API */
		log_error("%s; no VM starts until it is mended", h->config_err.msg);
	return r;
}

int handler_clean(const char *root, bool force, struct err *err)
{
	struct handler h;
	int r = paths_check(root, err);

	if (r < 0) /* a slip of the fingers, of which no root is made */
		return r;
	r = open_root(root, &h, err);
	if (r == 0)
		r = cleanup_all(&h, force, err);
	handler_close(&h);
	return r;
}

int handler_open(const char *root, struct handler *h, struct err *err)
{
	struct err qemu = {0};
	int r = open_root(root, h, err);

	if (r == 0)
		r = find_launcher(h, err);
	if (r == 0 && handler_find_qemu(h, &qemu) < 0) /* what runs does not need the file */
		log_warning("%s; no VM starts until then", qemu.msg);
	if (r == 0)
		r = loop_init(h, err);
	if (r < 0)
		return r;
	handler_probe(h);
	name_node(h);
	r = wires_open(h, err);
	if (r == 0)
		r = adopt_all(h, err);
	if (r == 0)
		r = hostcpus_watch(h, err);
	if (r == 0)
		r = server_open(h, err);
	if (r < 0)
		return r;
	manifests_open(h);
	handler_kick(h);
	return 0;
}

void handler_close(struct handler *h)
{
	manifests_close(h);
	vms_close(h);
	server_close(h);
	while (h->pods)
		pod_free(h->pods); /* their VMs live on: the next handler adopts them */
	images_drop(h);
	loop_close(h);
	hostcpus_unwatch(h);
	wires_close(h);
	json_decref(h->refused);
	cgroup_host_free(h->cgroups);
	store_close(h->store);
	sd_event_unref(h->event);
	(void)fd_close(h->launcher_fd);
	(void)fd_close(h->lock_fd);
	paths_close(&h->paths);
}

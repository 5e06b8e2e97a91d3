// SPDX-License-Identifier: Apache-2.0
/*
 * What a benchmark runs in: a root of its own beside the user's objects and images (the same file
 * system, so that the store costs what it costs there), with the user's images and a handler of its
 * own; and the end of it all, on every way out.
 */
#include "cmd/apply.h"
#include "cmd/bench.h"
#include "cmd/bench_folder.h"
#include "cmd/remove.h"
#include "cmd/url.h"

#include "api/meta.h"
#include "handler/images.h"
#include "handler/kvm.h"
#include "lib/child.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/sock.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO_UID "00000000-0000-0000-0000-000000000000" /* the handler gives one to each VMI */

static const char builtin[] =
	"apiVersion: kubevirt.io/v1\n"
	"kind: VirtualMachineInstance\n"
	"metadata: {name: bench}\n"
	"spec:\n"
	"  domain:\n"
	"    memory: {guest: 160Mi}\n"
	"    firmware:\n"
	"      kernelBoot:\n"
	"        kernelArgs: console=ttyS0\n"
	"        container: {image: \"virtpod/demo-guest:latest\", kernelPath: /vmlinuz, "
	"initrdPath: /initrd}\n"
	"    devices: {autoattachPodInterface: false, autoattachGraphicsDevice: false, "
	"autoattachMemBalloon: false}\n";
static const char emulation[] =
	"---\n"
	"apiVersion: kubevirt.io/v1\n"
	"kind: KubeVirt\n"
	"metadata: {name: kubevirt, namespace: kubevirt}\n"
	"spec: {configuration: {developerConfiguration: {useEmulation: true}}}\n";

#define EVERYBODYS "/var/tmp" /* not /tmp: pods have one of their own */

/*
 * One root for the handler, and another one, which every user id can reach, for what needs no
 * handler; both with the user's images. What killed ones left goes first: it would be measured, too.
 */
static int make_roots(struct bench *b, const struct cli *cli, struct err *err)
{
	_cleanup_(paths_close) struct paths users = {.lib_fd = -1, .run_fd = -1};
	_cleanup_free_ char *images = NULL, *lib = NULL, *link = NULL;
	int r = paths_open(cli->root, /* make= */ true, &users, err);

	if (r == 0) {
		bench_folder_sweep(users.lib, cli->verbose);
		bench_folder_sweep(EVERYBODYS, cli->verbose);
		r = bench_folder_make(users.lib, &b->root, &b->root_lock, err);
	}
	if (r == 0)
		r = bench_folder_make(EVERYBODYS, &b->alone, &b->alone_lock, err);
	if (r == 0)
		r = paths_open(b->alone, /* make= */ true, &b->here.paths, err);
	if (r < 0)
		return r;
	images = xasprintf("%s/images", users.lib);
	lib = xasprintf("%s/lib", b->root);
	link = xasprintf("%s/images", lib);
	r = mkdir_p_at(AT_FDCWD, lib, 0755);
	if (r < 0)
		return err_errno(err, r, "%s", lib);
	if (symlink(images, link) < 0 || symlinkat(images, b->here.paths.lib_fd, "images") < 0)
		return err_errno(err, -errno, "%s", link);
	return cpu_topology_load(&b->here.topology, err);
}

static int load_manifest(struct bench *b, const struct texts *files, struct err *err)
{
	_cleanup_free_ char *path = xasprintf("%s/vm.yaml", b->root);
	_cleanup_free_ char *text = xasprintf("%s%s", builtin, kvm_works() ? "" : emulation);
	struct texts own = {0};
	int r = files->n ? 0 : file_replace_at(AT_FDCWD, path, text, strlen(text), 0644);

	if (r < 0)
		return err_errno(err, r, "%s", path);
	texts_add(&own, path);
	r = manifest_load(files->n ? files : &own, b->cli.ns, &b->manifest);
	texts_done(&own);
	/* each error has been printed as a line of its own */
	return r < 0 ? err_set(err, -EINVAL, "bench start: nothing was measured") : 0;
}

static int choose_vm(struct bench *b, struct err *err)
{
	for (size_t i = 0; i < b->manifest.n; i++) {
		const struct manifest_item *item = &b->manifest.items[i];

		if (str_eq(item->kind->kind, "KubeVirt") ||
		    str_eq(item->kind->kind, "HyperConverged")) {
			int r = cluster_config_add(&b->cluster, item->admitted, err);

			if (r < 0)
				return r;
		}
		if (item->kind->configuration)
			continue;
		if (b->vm || !str_eq(item->kind->kind, "VirtualMachineInstance"))
			return err_set(err, -EINVAL,
				       "%s: bench start takes one VirtualMachineInstance and "
				       "configuration, nothing else",
				       item->place);
		b->vm = item;
	}
	return b->vm ? 0
		     : err_set(err, -EINVAL,
			       "bench start: no VirtualMachineInstance in what -f names");
}

static int find_network(const char *ns_name, struct network *ret, void *arg, struct err *err)
{
	(void)ret;
	(void)arg;
	return err_set(err, -ENOTSUP, "%s", ns_name);
}

static int make_plan(struct bench *b, struct err *err)
{
	_cleanup_json_ json_t *vmi = json_deep_copy(b->vm->admitted);
	const struct plan_host host = {.kvm = !b->cluster.use_emulation || kvm_works()};
	int r;

	if (json_array_size(json_get(vmi, "spec.networks")) ||
	    json_array_size(json_get(vmi, "spec.domain.devices.interfaces")) ||
	    json_array_size(json_get(vmi, "spec.domain.devices.disks")) ||
	    json_flag(vmi, "spec.domain.cpu.dedicatedCpuPlacement", false))
		b->no_bare = "its interfaces, disks or dedicated CPUs are nothing that QEMU has by "
			     "itself";
	(void)json_path_set(vmi, "metadata.uid", json_string(NO_UID));
	r = plan_make(vmi, &b->cluster, &host, find_network, NULL, &b->plan, err);
	err_prefix(err, "%s", b->vm->place);
	return r;
}

/* A VM without its image would be refused with words that name our own root. */
static int check_images(struct bench *b, struct err *err)
{
	const char *paths[] = {b->plan->kernel_path, b->plan->initrd_path};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_fd_ int fd = -1;
		struct err why = {0};

		if (!paths[i] ||
		    images_load(&b->here, b->plan->kernel_image, paths[i], &fd, &why) == 0)
			continue;
		return err_set(err, -EINVAL,
			       "no guest to start: %.300s; `make run` makes virtpod/demo-guest "
			       "below build/demo-root: virtpod --root build/demo-root bench start",
			       why.msg);
	}
	return 0;
}

static int apply_configuration(struct bench *b, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->manifest.n; i++) {
		_cleanup_json_ json_t *object = NULL;
		enum applied what;

		if (&b->manifest.items[i] != b->vm)
			r = apply_item(b->client, &b->manifest.items[i], &what, &object, err);
	}
	return r;
}

/* The handler that the client has started is our child: who answers on its socket. */
int bench_find_handler(struct bench *b, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	struct sock_peer peer;
	int r = sock_connect_at(client_run_fd(b->client), "handler.sock", SOCK_STREAM, &fd);

	if (r == 0)
		r = sock_peer(fd, &peer);
	if (r < 0)
		return err_errno(err, r, "handler.sock");
	if (b->handler_pidfd >= 0 && b->handler_pid == peer.pid)
		return 0;
	if (b->handler_pidfd >= 0)
		child_reap(b->handler_pidfd);
	(void)fd_close(b->handler_pidfd);
	b->handler_pid = peer.pid;
	b->handler_pidfd = pidfd_open(peer.pid, 0);
	return b->handler_pidfd < 0 ? err_errno(err, -errno, "virt-handler") : 0;
}

static void block_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

bool bench_stopped(struct bench *b)
{
	sigset_t pending;

	(void)sigpending(&pending);
	b->stopped |= sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		      sigismember(&pending, SIGHUP) == 1;
	return b->stopped;
}

int bench_open(struct bench *b, const struct cli *cli, const struct texts *files, struct err *err)
{
	int r;

	b->cli = *cli;
	b->handler_pidfd = b->root_lock = b->alone_lock = -1;
	b->here.paths.lib_fd = b->here.paths.run_fd = -1;
	if (geteuid() != 0)
		return err_set(err, -EACCES,
			       "bench start: it makes pods and a handler of its own, which only "
			       "root can: use sudo");
	block_signals();
	r = make_roots(b, cli, err);
	b->cli.root = b->root;
	if (r == 0)
		r = load_manifest(b, files, err);
	if (r == 0)
		r = choose_vm(b, err);
	if (r == 0)
		r = make_plan(b, err);
	if (r == 0)
		r = check_images(b, err);
	if (r == 0)
		r = client_open(&b->cli, &b->client, err);
	if (r == 0)
		r = bench_find_handler(b, err);
	return r < 0 ? r : apply_configuration(b, err);
}

/* --- the end ----------------------------------------------------------------------------------- */

/* VMs that an error or a signal left: the handler kills them and cleans up before it is ended. */
static void remove_vms(struct bench *b)
{
	_cleanup_json_ json_t *list = NULL;
	_cleanup_free_ char *path = url_object(b->vm->kind, NULL, NULL, NULL);
	struct err err = {0};
	json_t *vmi;
	size_t i;

	if (client_call(b->client, "GET", path, NULL, &list, &err) < 0) {
		log_error("%s", err.msg);
		return;
	}
	json_array_foreach (json_object_get(list, "items"), i, vmi) {
		_cleanup_free_ char *uid = NULL;

		err_clear(&err);
		if (remove_ask(b->client, b->vm->kind, object_namespace(vmi), object_name(vmi), 0,
			       &uid, &err) < 0 ||
		    remove_wait(b->client, b->vm->kind, object_namespace(vmi), object_name(vmi),
				uid, &err) < 0)
			log_error("%s", err.msg);
	}
}

static void remove_folder(char *path_consume)
{
	if (path_consume && rm_rf_at(AT_FDCWD, path_consume) < 0)
		log_error("%s: can't be removed; see what is left there", path_consume);
	free(path_consume);
}

void bench_close(struct bench *b)
{
	if (b->client)
		remove_vms(b);
	client_free(b->client);
	if (b->handler_pidfd >= 0) {
		(void)child_signal(b->handler_pidfd, SIGTERM);
		child_reap(b->handler_pidfd);
	}
	images_drop(&b->here);
	paths_close(&b->here.paths);
	remove_folder(b->root);
	remove_folder(b->alone);
	free(b->qemu);
	plan_free(b->plan);
	manifest_done(&b->manifest);
	(void)fd_close(b->handler_pidfd);
	(void)fd_close(b->root_lock);
	(void)fd_close(b->alone_lock);
}

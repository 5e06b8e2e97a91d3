// SPDX-License-Identifier: Apache-2.0
/* "enter": from the host's view of files and the handler's powers into the pod's boundary. */
#include "launcher/internal.h"

#include "api/limits.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/stop.h"
#include "lib/util.h"
#include "sandbox/enter.h"

#include <errno.h>
#include <unistd.h>

static int enter(struct launcher *l, const json_t *msg, struct named_fds *fds, struct err *err)
{
	struct sandbox_bind binds[SANDBOX_MAX_BINDS];
	struct sandbox_enter e = {
		.hostname = json_str(msg, "hostname"), .binds = binds, .nofile = LIMITS_NOFILE};
	const char *qemu = json_str(msg, "qemu"), *version = json_str(msg, "version");
	int r;

	if (l->stage != STAGE_FRESH)
		return err_set(err, -EALREADY, "the pod has been entered already");
	if (!str_eq(version, VIRTPOD_VERSION))
		return err_set(
			err, -EPROTO,
			"virt-launcher is of version " VIRTPOD_VERSION ", virt-handler of "
			"%.40s: install both from one, then start virt-handler anew; VMs that "
			"run go on",
			version ? version : "an older one");
	r = sandbox_layers_from_json(json_object_get(msg, "sandbox"), &e.layers, err);
	if (r < 0)
		return r;
	if (!qemu)
		return err_set(err, -EINVAL, "qemu: want a path");
	if (e.layers.uts && !e.hostname)
		return err_set(err, -EINVAL, "hostname: want one with the uts layer");
	e.dev_fd = named_fds_find(fds, "dev");
	if (e.layers.mount && e.dev_fd < 0)
		return err_set(err, -EINVAL, "fds: want 'dev' with the mount layer");
	r = named_fds_check_used(fds, err);
	if (r == 0)
		r = sandbox_binds_for_qemu(qemu, binds, &e.n_binds, err);
	if (r == 0)
		r = sandbox_enter(&e, err);
	if (r == 0)
		l->seccomp = e.layers.seccomp;
	return r;
}

void enter_request(struct launcher *l, const struct reply_to *to, const json_t *msg,
		   struct named_fds *fds)
{
	bool again = l->stage != STAGE_FRESH;
	struct err err = {0};
	int r;

	stop_at("launcher-enter");
	r = enter(l, msg, fds, &err);
	if (r == 0) {
		stop_at("launcher-entered");
		l->stage = STAGE_ENTERED;
		peer_reply(l->peer, to, NULL);
		return;
	}
	err_prefix(&err, "enter");
	peer_refuse(l->peer, to, &err);
	if (again)
		return;
	/* half entered is neither inside nor outside: nothing may happen in here any more */
	log_error("%s", err.msg);
	_exit(1);
}

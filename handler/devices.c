// SPDX-License-Identifier: Apache-2.0
#include "handler/devices.h"

#include "handler/kvm.h"

#include "lib/util.h"

#include <fcntl.h>
#include <sys/stat.h>

#define KVM   "dev/kvm"
#define VHOST "dev/vhost-net"

static bool is_there(int root, const char *path)
{
	struct stat st;

	return fstatat(root, path, &st, 0) == 0 && S_ISCHR(st.st_mode);
}

static struct plan_host nodes(int root)
{
	return (struct plan_host){.kvm = is_there(root, KVM), .vhost_net = is_there(root, VHOST)};
}

void devices_try(int root, struct plan_host *ret_works, struct plan_host *ret_nodes)
{
	_cleanup_fd_ int kvm = openat(root, KVM, O_RDWR | O_CLOEXEC);
	_cleanup_fd_ int vhost = openat(root, VHOST, O_RDWR | O_CLOEXEC);

	*ret_works = (struct plan_host){.kvm = kvm_fd_works(kvm), .vhost_net = vhost >= 0};
	*ret_nodes = nodes(root);
}

static bool counts(bool there, bool worked, bool was_there)
{
	return there && (worked || !was_there);
}

struct plan_host devices_look(int root, const struct plan_host *worked,
			      const struct plan_host *were_there)
{
	struct plan_host now = nodes(root);

	return (struct plan_host){
		.kvm = counts(now.kvm, worked->kvm, were_there->kvm),
		.vhost_net = counts(now.vhost_net, worked->vhost_net, were_there->vhost_net),
	};
}

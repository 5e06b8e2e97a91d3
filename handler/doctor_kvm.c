// SPDX-License-Identifier: Apache-2.0
/* Devices: /dev/kvm, /dev/vhost-net, /dev/net/tun. None is opened without a driver: that would load it. */
#include "handler/doctor_internal.h"

#include "lib/file.h"
#include "lib/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define ALLOW_EMULATION "or allow emulation: virtpod apply -f examples/emulation.yaml"
#define TURN_ON                                                                                    \
	"turn on VT-x (Intel) or SVM (AMD) in the BIOS setup; of a virtual machine: nested "       \
	"virtualization in its hypervisor"

static const char *no_kvm(const struct doctor_host *h)
{
	return h->cluster.use_emulation ? "VMs run emulated, many times slower"
	       : h->config_err.code	? "every VM is refused, unless emulation was allowed"
					: "every VM is refused";
}

static const char *vendor_module(const char *flags)
{
	return str_has_word(flags, "vmx")   ? "kvm_intel"
	       : str_has_word(flags, "svm") ? "kvm_amd"
					    : NULL;
}

/* The module that is there, or NULL. A kernel with one built in has the folder, too. */
static const char *loaded_module(int root)
{
	return doctor_is_there(root, "sys/module/kvm_intel") ? "kvm_intel"
	       : doctor_is_there(root, "sys/module/kvm_amd") ? "kvm_amd"
							     : NULL;
}

void doctor_kvm_cpu(const struct doctor_host *h, struct doctor_finding *f)
{
	char flags[DOCTOR_FLAGS_MAX];

	doctor_cpu_flags(h->root, flags);
	if (vendor_module(flags)) {
		doctor_found(f, DOCTOR_OK, "%s", str_has_word(flags, "vmx") ? "vmx" : "svm");
		return;
	}
	doctor_found(f, doctor_without_device(h), "/proc/cpuinfo has neither vmx nor svm%s",
		     str_has_word(flags, "hypervisor") ? "; this host is a virtual machine" : "");
	doctor_fix(f, no_kvm(h), TURN_ON "; " ALLOW_EMULATION);
}

void doctor_kvm_module(const struct doctor_host *h, struct doctor_finding *f)
{
	char flags[DOCTOR_FLAGS_MAX];
	const char *wanted;

	if (loaded_module(h->root)) {
		doctor_found(f, DOCTOR_OK, "%s is loaded", loaded_module(h->root));
		return;
	}
	doctor_cpu_flags(h->root, flags);
	wanted = vendor_module(flags);
	doctor_found(f, doctor_without_device(h), "neither kvm_intel nor kvm_amd is loaded%s",
		     doctor_is_there(h->root, "sys/module/kvm")
			     ? "; the KVM that is there is of another kind"
			     : "");
	if (wanted)
		doctor_fix(f, no_kvm(h),
			   "modprobe %s; if that is \"not supported\", dmesg says \"disabled by "
			   "bios\": turn it on in the BIOS setup",
			   wanted);
	else
		doctor_fix(f, no_kvm(h), "see kvm-cpu, then modprobe kvm_intel or kvm_amd");
}

/* The driver is there. */
static void open_kvm(const struct doctor_host *h, struct doctor_finding *f)
{
	_cleanup_fd_ int fd = openat(h->root, "dev/kvm", O_RDWR | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	if (h->kvm_works(fd)) {
		doctor_found(f, DOCTOR_OK, "/dev/kvm opens and answers");
		return;
	}
	if (r == 0) {
		doctor_found(f, doctor_without_device(h),
			     "/dev/kvm opens, but this CPU has neither VT-x nor AMD-V");
		doctor_fix(f, no_kvm(h), "see kvm-cpu; " ALLOW_EMULATION);
		return;
	}
	if (!h->is_root) { /* pods have a node of their own, so its mode is of no matter */
		doctor_needs_root(f, "/dev/kvm");
		return;
	}
	doctor_found(f, doctor_without_device(h), "/dev/kvm: %s", strerror(-r));
	if (r == -EACCES || r == -EPERM)
		doctor_fix(f, no_kvm(h),
			   "root may not open it: leave the container, or allow c 10:232 in its "
			   "list of devices");
	else
		doctor_fix(f, no_kvm(h), "see kvm-module; " ALLOW_EMULATION);
}

static bool is_node(int root, const char *path)
{
	struct stat st;

	return fstatat(root, path, &st, 0) == 0 && S_ISCHR(st.st_mode);
}

void doctor_kvm_device(const struct doctor_host *h, struct doctor_finding *f)
{
	bool driver = doctor_is_there(h->root, "sys/class/misc/kvm");

	if (driver && is_node(h->root, "dev/kvm")) {
		open_kvm(h, f);
		return;
	}
	doctor_found(f, doctor_without_device(h), "%s",
		     driver			   ? "KVM is there, /dev/kvm is not"
		     : is_node(h->root, "dev/kvm") ? "/dev/kvm is there, its driver is not"
						   : "no /dev/kvm");
	if (driver)
		doctor_fix(f, no_kvm(h),
			   "udevadm trigger /sys/class/misc/kvm, or mknod -m 0660 "
			   "/dev/kvm c 10 232");
	else
		doctor_fix(f, no_kvm(h), "see kvm-module; " ALLOW_EMULATION);
}

void doctor_kvm_nested(const struct doctor_host *h, struct doctor_finding *f)
{
	const char *module = loaded_module(h->root);
	char path[96], value[8];
	int r;

	if (!module) {
		doctor_found(f, DOCTOR_UNKNOWN, "no module of KVM's to ask");
		doctor_fix(f, "can't be told", "see kvm-module");
		return;
	}
	(void)snprintf(path, sizeof path, "sys/module/%s/parameters/nested", module);
	r = file_read_line_at(h->root, path, value, sizeof value);
	if (r < 0) {
		doctor_cant_read(f, path, r);
		return;
	}
	if (str_eq(value, "Y") || str_eq(value, "1")) {
		doctor_found(f, DOCTOR_OK, "%s nested=%s", module, value);
		return;
	}
	doctor_found(f, DOCTOR_WARNING, "%s nested=%s", module, value);
	doctor_fix(f, "guests can't run virtual machines of their own",
		   "echo options %s nested=1 >/etc/modprobe.d/kvm.conf, then with no VM running: "
		   "modprobe -r %s && modprobe %s",
		   module, module, module);
}

struct misc {
	const char *name, *node; /* in /sys/class/misc, below / */
	const char *module, *config;
	unsigned minor;
	const char *means;
};

static void look_misc(const struct doctor_host *h, const struct misc *m,
		      enum doctor_verdict verdict, struct doctor_finding *f)
{
	_cleanup_free_ char *class = xasprintf("sys/class/misc/%s", m->name);
	_cleanup_free_ char *file = xasprintf("%s.ko", m->module);
	bool driver = doctor_is_there(h->root, class), node = is_node(h->root, m->node);
	bool loadable = !driver && doctor_can_load(h->root, file);

	if (node && (driver || loadable)) {
		doctor_found(f, DOCTOR_OK, "/%s%s", m->node,
			     driver ? "" : "; its module is loaded when it is opened");
		return;
	}
	doctor_found(f, verdict, "/%s: %s", m->node,
		     driver	? "the driver is there, the node is not"
		     : loadable ? "not there; its module is not loaded"
		     : node	? "the node is there, this kernel has no driver"
				: "not there; this kernel has no driver");
	if (driver)
		doctor_fix(f, m->means, "udevadm trigger /sys/class/misc/%s, or mknod /%s c 10 %u",
			   m->name, m->node, m->minor);
	else if (loadable)
		doctor_fix(f, m->means, "modprobe %s", m->module);
	else
		doctor_fix(f, m->means, "take a kernel with %s", m->config);
}

void doctor_vhost_net(const struct doctor_host *h, struct doctor_finding *f)
{
	struct misc m = {"vhost-net", "dev/vhost-net", "vhost_net", "CONFIG_VHOST_NET", 238, NULL};

	m.means = h->cluster.use_emulation ? "virtio interfaces work without it, slower"
					   : "VMs with a virtio interface are refused";
	look_misc(h, &m, doctor_without_device(h), f);
}

void doctor_tun(const struct doctor_host *h, struct doctor_finding *f)
{
	static const struct misc m = {"tun", "dev/net/tun",
				      "tun", "CONFIG_TUN",
				      200,   "VMs with an interface don't start"};

	look_misc(h, &m, DOCTOR_PROBLEM, f);
}

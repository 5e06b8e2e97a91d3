// SPDX-License-Identifier: Apache-2.0
/*
 * The machine itself; disks and NICs are in argv_disk.c and argv_nic.c. What is not written here is
 * left at QEMU's default on purpose, where libvirt leaves it, too: utc clock, hpet, no USB.
 */
#include "launcher/argv_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define MIB (1024u * 1024u)

/*
 * libvirt puts eight root ports on each slot of pcie.0, from slot 2 on (slot 1 is the display).
 * Slots 2 to 30 are free on q35; what a plan can hold needs six.
 */
#define PORTS_PER_SLOT 8
#define FIRST_SLOT     2

/*
 * Conventional PCI devices get slots of their own, for QEMU would give them slot 1. A plan holds at
 * most 14: 8 NICs, 5 AHCI controllers, a watchdog.
 */
#define FIRST_PCI_SLOT 0x10

void argv_fd(const struct argv *a, int fd, char ret[static 96], const char *fmt, ...)
{
	va_list ap;

	if (a->fds) {
		(void)snprintf(ret, 96, "%d", fd);
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(ret, 96, fmt, ap);
	va_end(ap);
}

void argv_pcie_device(struct argv *a, const char *device)
{
	unsigned slot = FIRST_SLOT + a->ports / PORTS_PER_SLOT;
	unsigned function = a->ports % PORTS_PER_SLOT;

	a->ports++;
	args_add(&a->args, "-device");
	args_addf(&a->args, "pcie-root-port,id=pci.%u,bus=pcie.0,chassis=%u,addr=0x%x.0x%x",
		  a->ports, a->ports, slot, function);
	if (function == 0)
		args_opt(&a->args, "multifunction", "on");
	/* occupied at boot: KubeVirt turns hot-plug off on such ports */
	args_opt(&a->args, "hotplug", "off");
	args_add(&a->args, "-device");
	args_add(&a->args, device);
	args_opt(&a->args, "bus", "pci.%u", a->ports);
}

void argv_pci_device(struct argv *a, const char *device)
{
	args_add(&a->args, "-device");
	args_add(&a->args, device);
	args_opt(&a->args, "bus", "pcie.0");
	args_opt(&a->args, "addr", "0x%x", FIRST_PCI_SLOT + a->pci_slots++);
}

bool argv_boot_order_given(const struct plan *p)
{
	for (unsigned i = 0; i < p->n_disks; i++)
		if (p->disks[i].boot_order)
			return true;
	for (unsigned i = 0; i < p->n_nics; i++)
		if (p->nics[i].boot_order)
			return true;
	return false;
}

/* Names that QEMU splits at commas without any way to escape one: -cpu and -machine. */
static int check_name(const char *what, const char *name, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	if (!name || !*name || name[strspn(name, allowed)])
		return err_set(err, -EINVAL, "%s '%s': want letters, digits, '.', '_' and '-' only",
			       what, name ? name : "");
	return 0;
}

static void add_cpu(struct argv *a)
{
	const struct plan *p = a->plan;
	bool host = str_eq(p->cpu_model, "host-passthrough") || str_eq(p->cpu_model, "host-model");
	struct args *v = &a->args;

	args_add(v, "-cpu");
	if (host)
		args_add(v, p->accel == ACCEL_KVM ? "host" : "max");
	else
		args_add(v, p->cpu_model);
	if (p->realtime_vcpus) /* counters that overflow interrupt the host, and with it the vCPU */
		args_opt(v, "pmu", "off");
	/* tells the guest that its vCPUs are never preempted, so it may spin and skip PV locks */
	if (p->accel == ACCEL_KVM && p->dedicated_cpus)
		args_opt(v, "kvm-hint-dedicated", "on");
	args_add(v, "-smp");
	args_addf(v, "cpus=%u,sockets=%u,cores=%u,threads=%u,maxcpus=%u", plan_vcpus(p), p->sockets,
		  p->cores, p->threads, plan_vcpus(p));
}

static int add_machine(struct argv *a, struct err *err)
{
	const struct plan *p = a->plan;
	struct args *v = &a->args;
	int r = check_name("machine", p->machine, err);

	if (r == 0)
		r = check_name("cpu model", p->cpu_model, err);
	if (r < 0)
		return r;
	args_add(v, "-machine");
	args_add(v, p->machine);
	args_opt(v, "vmport", "off");
	args_opt(v, "dump-guest-core", "off");
	argv_memory_machine(a);
	if (!p->acpi)
		args_opt(v, "acpi", "off");
	args_add(v, "-accel");
	if (p->accel == ACCEL_KVM)
		args_add(v, "kvm");
	else
		args_addf(v, "tcg,thread=multi,tb-size=%" PRIu64,
			  p->tcg_tb_size < MIB ? 1 : p->tcg_tb_size / MIB);
	add_cpu(a);
	return argv_add_memory(a, err);
}

/* libvirt's name of the domain, NAMESPACE_NAME; threads are called "CPU 0/KVM" and so on. */
static void add_name(struct argv *a)
{
	_cleanup_free_ char *name = xasprintf("%s_%s", a->plan->namespace, a->plan->name);
	_cleanup_free_ char *escaped = args_escape(name);

	args_add(&a->args, "-name");
	args_addf(&a->args, "guest=%s,debug-threads=on", escaped);
}

static void add_identity(struct argv *a)
{
	const struct plan *p = a->plan;
	struct args *v = &a->args;

	args_add(v, "-uuid");
	args_add(v, p->firmware_uuid);
	args_add(v, "-smbios");
	args_add(v, "type=1,manufacturer=KubeVirt,product=None,family=KubeVirt");
	if (p->firmware_serial)
		args_opt(v, "serial", "%s", p->firmware_serial);
	args_opt(v, "uuid", "%s", p->firmware_uuid);
	/* nothing but what has a boot index, so that a NIC is never tried unasked */
	args_add(v, "-boot");
	args_add(v, "strict=on");
}

static void add_control(struct argv *a)
{
	struct args *v = &a->args;
	char fd[96];

	args_add(v, "-sandbox");
	args_add(v, "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
	argv_fd(a, a->fds ? a->fds->qmp : -1, fd, "QMP");
	args_add(v, "-chardev");
	args_addf(v, "socket,id=qmp,fd=%s", fd);
	args_add(v, "-mon");
	args_add(v, "chardev=qmp,mode=control");
	if (!a->plan->serial_console)
		return;
	argv_fd(a, a->fds ? a->fds->serial : -1, fd, "SERIAL");
	args_add(v, "-chardev");
	args_addf(v, "socket,id=serial0,fd=%s", fd);
	args_add(v, "-device");
	args_add(v, "isa-serial,chardev=serial0,index=0");
}

/* By /proc/self/fd: QEMU's loader opens a name; a sealed memfd reopens with the pod's own rights. */
static int add_kernel(struct argv *a, struct err *err)
{
	const struct plan *p = a->plan;
	struct args *v = &a->args;
	char fd[96];

	if (!p->kernel_path)
		return 0;
	if (a->fds && (a->fds->kernel < 0 || (p->initrd_path && a->fds->initrd < 0)))
		return err_set(err, -EINVAL, "kernelBoot: no descriptor for the %s",
			       a->fds->kernel < 0 ? "kernel" : "initrd");
	argv_fd(a, a->fds ? a->fds->kernel : -1, fd, "KERNEL");
	args_add(v, "-kernel");
	args_addf(v, "/proc/self/fd/%s", fd);
	if (p->initrd_path) {
		argv_fd(a, a->fds ? a->fds->initrd : -1, fd, "INITRD");
		args_add(v, "-initrd");
		args_addf(v, "/proc/self/fd/%s", fd);
	}
	if (p->kernel_args) {
		args_add(v, "-append"); /* one argument, which QEMU does not take apart */
		args_add(v, p->kernel_args);
	}
	return 0;
}

static void add_devices(struct argv *a)
{
	static const char *const action[] = {[WATCHDOG_RESET] = "reset",
					     [WATCHDOG_POWEROFF] = "poweroff",
					     [WATCHDOG_SHUTDOWN] = "shutdown"};
	const struct plan *p = a->plan;
	struct args *v = &a->args;

	/* libvirt asks for page reporting unless memory or CPUs are promised to the guest */
	if (p->balloon)
		argv_pcie_device(a,
				 p->dedicated_cpus || p->hugepage_size
					 ? "virtio-balloon-pci,id=balloon0"
					 : "virtio-balloon-pci,id=balloon0,free-page-reporting=on");
	if (p->rng) {
		args_add(v, "-object");
		args_add(v, "rng-random,id=objrng0,filename=/dev/urandom");
		argv_pcie_device(a, "virtio-rng-pci,rng=objrng0,id=rng0");
	}
	if (p->watchdog != WATCHDOG_NONE) {
		argv_pci_device(a, "i6300esb,id=watchdog0");
		args_add(v, "-action");
		args_addf(v, "watchdog=%s", action[p->watchdog]);
	}
	if (p->graphics) {
		args_add(v, "-device");
		args_add(v, "VGA,id=video0,vgamem_mb=16,bus=pcie.0,addr=0x1");
	}
}

int argv_build(const struct plan *p, const char *qemu, const struct argv_fds *fds, char ***ret,
	       struct err *err)
{
	struct argv a = {.plan = p, .fds = fds};
	struct args *v = &a.args;
	int r;

	args_add(v, qemu);
	add_name(&a);
	args_add(v, "-S");
	args_add(v, "-no-user-config");
	args_add(v, "-nodefaults");
	args_add(v, "-display");
	args_add(v, "none");
	r = add_machine(&a, err);
	if (r == 0) {
		add_identity(&a);
		add_control(&a);
		r = add_kernel(&a, err);
	}
	if (r == 0)
		r = argv_add_nics(&a, err);
	if (r == 0)
		r = argv_add_disks(&a, err);
	if (r < 0) {
		args_done(v);
		return r;
	}
	add_devices(&a);
	*ret = TAKE_PTR(v->v);
	return 0;
}

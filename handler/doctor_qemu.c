// SPDX-License-Identifier: Apache-2.0
/* QEMU and the firmware that it starts guests with. */
#include "handler/doctor_internal.h"

#include "lib/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INSTALL_QEMU "apt install qemu-system-x86 (Debian), dnf install qemu-kvm (RHEL)"
#define OLDEST_TRIED 7 /* 7.2, Debian 12's */

static const char version_words[] = "QEMU emulator version ";

void doctor_qemu(const struct doctor_host *h, struct doctor_finding *f)
{
	const char *version = str_after(h->qemu_version ? h->qemu_version : "", version_words);

	if (!h->qemu || !version) {
		doctor_found(f, DOCTOR_PROBLEM, "%s",
			     h->qemu_err.code ? h->qemu_err.msg : "QEMU doesn't tell its version");
		doctor_fix(f, "no VM starts", INSTALL_QEMU);
		return;
	}
	doctor_found(f, DOCTOR_OK, "%s: %.*s", h->qemu, (int)strcspn(version, "\n"), version);
	if (strtol(version, NULL, 10) >= OLDEST_TRIED)
		return;
	f->verdict = DOCTOR_WARNING;
	doctor_fix(f, "virtpod was tried with 7.2 and later: VMs may not start", INSTALL_QEMU);
}

/* Lines "name  description"; the one that stands for the newest q35 says "(alias of …)". */
void doctor_qemu_machines(const struct doctor_host *h, struct doctor_finding *f)
{
	unsigned n = 0;
	const char *q35 = NULL;

	if (!h->qemu_machines) {
		doctor_found(f, DOCTOR_UNKNOWN, "%s",
			     h->qemu_err.code ? h->qemu_err.msg : "QEMU doesn't list them");
		doctor_fix(f, "can't be told", "see qemu");
		return;
	}
	for (const char *l = strchr(h->qemu_machines, '\n'); l && l[1]; l = strchr(l + 1, '\n')) {
		n++;
		if (str_after(l + 1, "q35 "))
			q35 = l + 1;
	}
	if (q35) {
		doctor_found(f, DOCTOR_OK, "%u types; %.*s", n, (int)strcspn(q35, "\n"), q35);
		return;
	}
	doctor_found(f, DOCTOR_PROBLEM, "%u types, no q35 among them", n);
	doctor_fix(f, "VMs that name no other machine.type don't start", INSTALL_QEMU);
}

static const char *first_of(int root, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (doctor_is_there(root, paths[i]))
			return paths[i];
	return NULL;
}

void doctor_firmware_bios(const struct doctor_host *h, struct doctor_finding *f)
{
	static const char *const paths[] = {
		"usr/share/seabios/bios-256k.bin",
		"usr/share/qemu/bios-256k.bin",
		"usr/share/qemu-kvm/bios-256k.bin",
	};
	const char *path = first_of(h->root, paths, ARRAY_SIZE(paths));

	doctor_found(f, path ? DOCTOR_OK : DOCTOR_PROBLEM, "%s%s", path ? "/" : "",
		     path ? path : "no bios-256k.bin where QEMU looks for it");
	if (!path)
		doctor_fix(f, "no VM starts", "apt install seabios, dnf install seabios-bin");
}

void doctor_firmware_uefi(const struct doctor_host *h, struct doctor_finding *f)
{
	static const char *const paths[] = {
		"usr/share/OVMF/OVMF_CODE_4M.fd", /* Debian 12 */
		"usr/share/OVMF/OVMF_CODE.fd",
		"usr/share/edk2/ovmf/OVMF_CODE.fd", /* RHEL 9 */
		"usr/share/edk2/ovmf/OVMF_CODE.secboot.fd",
	};
	const char *path = first_of(h->root, paths, ARRAY_SIZE(paths));

	doctor_found(f, path ? DOCTOR_OK : DOCTOR_WARNING, "%s%s", path ? "/" : "",
		     path ? path : "no OVMF");
	if (!path)
		doctor_fix(f,
			   "VMs with firmware.bootloader.efi will want it; this version refuses "
			   "them in any case",
			   "apt install ovmf, dnf install edk2-ovmf");
}

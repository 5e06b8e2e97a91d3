// SPDX-License-Identifier: Apache-2.0
/*
 * The smallest program: exit_group(0) behind an ELF header, written out byte by byte, so that no
 * library, loader or distribution's choice is in what it measures.
 */
#include "cmd/bench.h"

#include "lib/file.h"
#include "lib/util.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>

#define LOAD_AT 0x400000

struct program {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	unsigned char code[9];
} __attribute__((packed));

int bench_true_write(int dirfd, const char *name, struct err *err)
{
	const struct program p = {
		.ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_entry = LOAD_AT + offsetof(struct program, code),
			 .e_phoff = offsetof(struct program, phdr),
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1},
		.phdr = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_vaddr = LOAD_AT,
			 .p_paddr = LOAD_AT,
			 .p_filesz = sizeof p,
			 .p_memsz = sizeof p,
			 .p_align = 0x1000},
		/* mov $231, %eax; xor %edi, %edi; syscall: exit_group(0) */
		.code = {0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05},
	};
	_cleanup_fd_ int fd =
		openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0755);
	int r = fd < 0 ? -errno : fd_write_all(fd, &p, sizeof p);

	return r < 0 ? err_errno(err, r, "%s", name) : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "cgroups/device_bpf.h"

#include "cgroups/devices.h"
#include "lib/util.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Registers of the program: what is asked for, split once at its start. */
enum { ANSWER = BPF_REG_0, CTX = BPF_REG_1, TYPE, ACCESS, MAJOR, MINOR, SCRATCH };

static int bpf(int cmd, union bpf_attr *attr)
{
	int r = (int)syscall(SYS_bpf, cmd, attr, sizeof *attr);

	return r < 0 ? -errno : r;
}

static struct bpf_insn load_ctx(uint8_t dst, size_t offset)
{
	return (struct bpf_insn){
		.code = BPF_LDX | BPF_MEM | BPF_W,
		.dst_reg = dst & 0xf,
		.src_reg = CTX,
		.off = (int16_t)offset,
	};
}

static struct bpf_insn alu_imm(uint8_t op, uint8_t dst, int32_t imm)
{
	return (struct bpf_insn){
		.code = (uint8_t)(BPF_ALU64 | op | BPF_K), .dst_reg = dst & 0xf, .imm = imm};
}

static struct bpf_insn copy(uint8_t dst, uint8_t src)
{
	return (struct bpf_insn){
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = dst & 0xf, .src_reg = src & 0xf};
}

/* Jumps count instructions from the next one on; `to` and `at` are indexes. */
static struct bpf_insn jump_if_not(uint8_t reg, int32_t imm, unsigned at, unsigned to)
{
	return (struct bpf_insn){
		.code = BPF_JMP | BPF_JNE | BPF_K,
		.dst_reg = reg & 0xf,
		.off = (int16_t)(to - at - 1),
		.imm = imm,
	};
}

static unsigned answer(struct bpf_insn *p, unsigned n, int32_t value)
{
	p[n++] = alu_imm(BPF_MOV, ANSWER, value);
	p[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	return n;
}

static int32_t denied_bits(const char *access)
{
	int32_t bits = BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE | BPF_DEVCG_ACC_MKNOD;

	if (strchr(access, 'r'))
		bits &= ~BPF_DEVCG_ACC_READ;
	if (strchr(access, 'w'))
		bits &= ~BPF_DEVCG_ACC_WRITE;
	if (strchr(access, 'm'))
		bits &= ~BPF_DEVCG_ACC_MKNOD;
	return bits;
}

/* Allow this device, else go on behind it; returns the index behind it. */
static unsigned allow_device(struct bpf_insn *p, unsigned n, const struct cgroup_device *d)
{
	int32_t type = d->type == 'c' ? BPF_DEVCG_DEV_CHAR : BPF_DEVCG_DEV_BLOCK;
	unsigned next = n + (d->any_minor ? 7 : 8);

	p[n] = jump_if_not(TYPE, type, n, next), n++;
	p[n] = jump_if_not(MAJOR, (int32_t)d->major, n, next), n++;
	if (!d->any_minor)
		p[n] = jump_if_not(MINOR, (int32_t)d->minor, n, next), n++;
	p[n++] = copy(SCRATCH, ACCESS);
	p[n++] = alu_imm(BPF_AND, SCRATCH, denied_bits(d->access));
	p[n] = jump_if_not(SCRATCH, 0, n, next), n++;
	return answer(p, n, 1);
}

int device_bpf_build(const struct cgroup_device *list, unsigned n,
		     struct bpf_insn ret[static DEVICE_BPF_MAX_INSNS], unsigned *ret_n,
		     struct err *err)
{
	unsigned len = 0;

	if (n > DEVICE_BPF_MAX_DEVICES)
		return err_set(err, -E2BIG, "device program: %u devices, at most %d are possible",
			       n, DEVICE_BPF_MAX_DEVICES);
	for (unsigned i = 0; i < n; i++) {
		int r = devices_check(&list[i], err);

		if (r < 0)
			return r;
	}
	/* access_type holds the access bits above 16 bits of device type */
	ret[len++] = load_ctx(TYPE, offsetof(struct bpf_cgroup_dev_ctx, access_type));
	ret[len++] = load_ctx(MAJOR, offsetof(struct bpf_cgroup_dev_ctx, major));
	ret[len++] = load_ctx(MINOR, offsetof(struct bpf_cgroup_dev_ctx, minor));
	ret[len++] = copy(ACCESS, TYPE);
	ret[len++] = alu_imm(BPF_RSH, ACCESS, 16);
	ret[len++] = alu_imm(BPF_AND, TYPE, 0xffff);
	for (unsigned i = 0; i < n; i++) {
		struct cgroup_device d = list[i];
		char access[4];

		/* one entry must grant all that one open asks for, so halves are put together */
		if (!devices_merged(list, n, i, access))
			continue;
		d.access = access;
		len = allow_device(ret, len, &d);
	}
	*ret_n = answer(ret, len, 0);
	return 0;
}

static int load(const struct bpf_insn *insns, unsigned n, int *ret, struct err *err)
{
	union bpf_attr attr = {0};
	int fd;

	attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
	attr.expected_attach_type = BPF_CGROUP_DEVICE;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = n;
	attr.license = (uintptr_t) "Apache-2.0";
	(void)snprintf(attr.prog_name, sizeof attr.prog_name, "virtpod_devices");
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		return err_errno(err, fd,
				 "device program: loading %u instructions (needs CAP_BPF and "
				 "CAP_NET_ADMIN)",
				 n);
	*ret = fd; /* program fds are CLOEXEC always */
	return 0;
}

static int program_id(int prog, uint32_t *ret, struct err *err)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {0};
	int r;

	attr.info.bpf_fd = (uint32_t)prog;
	attr.info.info_len = sizeof info;
	attr.info.info = (uintptr_t)&info;
	r = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	if (r < 0)
		return err_errno(err, r, "device program: asking for its id");
	*ret = info.id;
	return 0;
}

int device_bpf_attach(int group_fd, const struct cgroup_device *list, unsigned n, uint32_t *ret_id,
		      struct err *err)
{
	struct bpf_insn insns[DEVICE_BPF_MAX_INSNS];
	union bpf_attr attr = {0};
	_cleanup_fd_ int prog = -1;
	unsigned len = 0;
	uint32_t id = 0;
	int r = device_bpf_build(list, n, insns, &len, err);

	if (!r)
		r = load(insns, len, &prog, err);
	if (!r)
		r = program_id(prog, &id, err);
	if (r < 0)
		return r;
	attr.target_fd = (uint32_t)group_fd;
	attr.attach_bpf_fd = (uint32_t)prog;
	attr.attach_type = BPF_CGROUP_DEVICE;
	attr.attach_flags = BPF_F_ALLOW_MULTI;
	r = bpf(BPF_PROG_ATTACH, &attr);
	if (r < 0)
		return err_errno(err, r, "device program: attaching it to the group");
	*ret_id = id;
	return 0;
}

int device_bpf_query(int group_fd, uint32_t *ret_ids, unsigned max, unsigned *ret_n,
		     struct err *err)
{
	union bpf_attr attr = {0};
	int r;

	attr.query.target_fd = (uint32_t)group_fd;
	attr.query.attach_type = BPF_CGROUP_DEVICE;
	attr.query.prog_ids = (uintptr_t)ret_ids;
	attr.query.prog_cnt = max;
	r = bpf(BPF_PROG_QUERY, &attr);
	if (r < 0)
		return err_errno(err, r, "device program: asking what is attached to the group");
	*ret_n = attr.query.prog_cnt;
	return 0;
}

static bool same_insn(const struct bpf_insn *a, const struct bpf_insn *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static const char *access_letters(int32_t denied, char ret[static 4])
{
	unsigned n = 0;

	if (!(denied & BPF_DEVCG_ACC_READ))
		ret[n++] = 'r';
	if (!(denied & BPF_DEVCG_ACC_WRITE))
		ret[n++] = 'w';
	if (!(denied & BPF_DEVCG_ACC_MKNOD))
		ret[n++] = 'm';
	ret[n] = 0;
	return ret;
}

/* The device that the instructions from p on allow, of at most n; 0 when they don't look like that. */
static unsigned decode_device(const struct bpf_insn *p, unsigned n, struct cgroup_device *ret,
			      char access[static 4])
{
	bool any = n >= 3 && p[2].code == (BPF_ALU64 | BPF_MOV | BPF_X);
	unsigned len = any ? 7 : 8;
	const struct bpf_insn *mask = &p[len - 4];

	if (n < len)
		return 0;
	*ret = (struct cgroup_device){
		.type = p[0].imm == BPF_DEVCG_DEV_CHAR ? 'c' : 'b',
		.major = (unsigned)p[1].imm,
		.minor = any ? 0 : (unsigned)p[2].imm,
		.any_minor = any,
		.access = access_letters(mask->imm, access),
	};
	return len;
}

int device_bpf_decode(const struct bpf_insn *insns, unsigned n, char **ret)
{
	struct bpf_insn again[DEVICE_BPF_MAX_INSNS];
	struct cgroup_device list[DEVICE_BPF_MAX_DEVICES];
	char access[DEVICE_BPF_MAX_DEVICES][4], line[DEVICES_LINE_MAX];
	_cleanup_free_ char *text = xstrdup("");
	unsigned used = 0, len = 0;

	for (unsigned at = 6; at + 2 < n; at += len) {
		len = used < DEVICE_BPF_MAX_DEVICES
			      ? decode_device(insns + at, n - at - 2, &list[used], access[used])
			      : 0;
		if (!len)
			return -EBADMSG;
		used++;
	}
	/* built again it must be this very program: then the list is what it does, whatever it is */
	if (device_bpf_build(list, used, again, &len, NULL) < 0 || len != n)
		return -EBADMSG;
	for (unsigned i = 0; i < n; i++)
		if (!same_insn(&again[i], &insns[i]))
			return -EBADMSG;
	for (unsigned i = 0; i < used; i++) {
		char *longer;

		devices_format(&list[i], line);
		longer = xasprintf("%s%s%s", text, i ? "\n" : "", line);
		free(text);
		text = longer;
	}
	*ret = TAKE_PTR(text);
	return 0;
}

/* The kernel's own copy, as the verifier left it: a program of this kind is not rewritten. */
static int fetch(uint32_t id, struct bpf_insn ret[static DEVICE_BPF_MAX_INSNS], unsigned *ret_n)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {0};
	_cleanup_fd_ int prog = -1;
	int r;

	attr.prog_id = id;
	prog = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (prog < 0)
		return prog;
	info.xlated_prog_insns = (uintptr_t)ret;
	info.xlated_prog_len = DEVICE_BPF_MAX_INSNS * sizeof *ret;
	attr = (union bpf_attr){0};
	attr.info.bpf_fd = (uint32_t)prog;
	attr.info.info_len = sizeof info;
	attr.info.info = (uintptr_t)&info;
	r = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	if (r < 0)
		return r;
	if (!info.xlated_prog_insns) /* hidden, as the kernel has rewritten its constants */
		return -EACCES;
	if (info.xlated_prog_len > DEVICE_BPF_MAX_INSNS * sizeof *ret)
		return -EBADMSG;
	*ret_n = info.xlated_prog_len / (unsigned)sizeof *ret;
	return 0;
}

int device_bpf_text(int group_fd, char **ret, struct err *err)
{
	struct bpf_insn insns[DEVICE_BPF_MAX_INSNS];
	_cleanup_free_ char *all = NULL;
	uint32_t ids[8];
	unsigned n_ids = 0, n = 0;
	int r = device_bpf_query(group_fd, ids, ARRAY_SIZE(ids), &n_ids, err);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < n_ids; i++) {
		_cleanup_free_ char *one = NULL;
		char *longer;

		r = fetch(ids[i], insns, &n);
		if (r == -EACCES)
			return err_set(err, -ENOTSUP,
				       "device program %u: the kernel does not show what it does, "
				       "as net.core.bpf_jit_harden is 2: set it to 1 or 0",
				       ids[i]);
		if (r < 0 && r != -EBADMSG)
			return err_errno(err, r, "device program %u: reading it", ids[i]);
		if (!r)
			r = device_bpf_decode(insns, n, &one);
		if (r < 0)
			one = xasprintf("program %u", ids[i]);
		longer = xasprintf("%s%s%s", all ? all : "", all ? "\n" : "", one);
		free(all);
		all = longer;
	}
	*ret = all ? TAKE_PTR(all) : xstrdup("a *:* rwm");
	return 0;
}

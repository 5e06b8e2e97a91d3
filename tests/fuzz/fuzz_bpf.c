// SPDX-License-Identifier: Apache-2.0
/* A device program as the kernel gives it back, which somebody else may have attached. */
#include "tests/fuzz/fuzz.h"

#include "cgroups/device_bpf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t n = len / sizeof(struct bpf_insn);
	_cleanup_free_ struct bpf_insn *insns = NULL;
	_cleanup_free_ char *text = NULL;

	if (n > DEVICE_BPF_MAX_INSNS)
		return -1;			   /* never handed on: not worth keeping */
	insns = xcalloc(n ? n : 1, sizeof *insns); /* aligned, and not a byte longer */
	memcpy(insns, data, n * sizeof *insns);
	if (device_bpf_decode(insns, (unsigned)n, &text) == 0)
		fuzz_must(text);
	return 0;
}

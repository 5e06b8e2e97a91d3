// SPDX-License-Identifier: Apache-2.0
/*
 * Print this machine's TSC frequency in kHz. QEMU's emulated TSC is the machine's own; a lab host that
 * calibrates it while the machine is busy is wrong now and then (once by 14 times), and so are then
 * all its clocks and limits of time.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	 200
#define PAUSE_NS 200000000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Both clocks at one moment: the closest of some pairs, as any other may have been interrupted. */
static void sample(uint64_t *ret_ns, uint64_t *ret_tsc)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = now_ns(), tsc = __rdtsc(), gap = now_ns() - before;

		if (gap >= best)
			continue;
		best = gap;
		*ret_ns = before + gap / 2;
		*ret_tsc = tsc;
	}
}

int main(void)
{
	uint64_t ns[2], tsc[2];

	sample(&ns[0], &tsc[0]);
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	sample(&ns[1], &tsc[1]);
	printf("%.0f\n", (double)(tsc[1] - tsc[0]) * 1e6 / (double)(ns[1] - ns[0]));
	return 0;
}

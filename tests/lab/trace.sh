# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the scheduler did with a VM's CPUs, by the kernel's own events, from the guest's first instruction
# on. To be sourced after tests/pod/lib.sh.
TRACING=/sys/kernel/tracing TRACE=/sys/kernel/tracing/instances/vttest
[ -d $TRACING/instances ] || mount -t tracefs tracefs $TRACING || exit

# Record who is switched in on all CPUs that may become a VM's, and when a guest begins: x86 starts at
# 0xfff0. Filtered in the kernel, with room for far more than comes, so that nothing is lost.
trace_begin() {
	mkdir $TRACE
	echo 4096 >$TRACE/buffer_size_kb
	echo mono >$TRACE/trace_clock
	echo fffc >$TRACE/tracing_cpumask
	echo 'next_pid != 0' >$TRACE/events/sched/sched_switch/filter
	echo 'rip == 0xfff0' >$TRACE/events/kvm/kvm_entry/filter
	echo 1 >$TRACE/events/sched/sched_switch/enable
	echo 1 >$TRACE/events/kvm/kvm_entry/enable
	echo 1 >$TRACE/tracing_on
}

# Leaves in WORK/switches "TIME CPU TID PRIORITY NAME" of each task that was given one of these CPUs, in the
# kernel's scale of priorities, and in BEGIN when, in FIRST by which thread the guest's first instruction ran.
trace_end() { # CPU...
	local cpu
	echo 0 >$TRACE/tracing_on
	for cpu; do
		sed -nE "s/^(overrun|commit overrun|dropped events): [1-9].*/CPU $cpu &/p" $TRACE/per_cpu/cpu"$cpu"/stats
	done >"$WORK/lost"
	for cpu; do cat $TRACE/per_cpu/cpu"$cpu"/trace; done >"$WORK/trace"
	rmdir $TRACE
	read -r BEGIN FIRST < <(sed -nE 's/^.*-([0-9]+) +\[.* ([0-9]+\.[0-9]+): kvm_entry: .*/\2 \1/p' "$WORK/trace" | sort -n)
	sed -nE 's/.* \[0*([0-9]+)\] .* ([0-9]+\.[0-9]+): sched_switch: .* next_comm=(.*) next_pid=([0-9]+) next_prio=([0-9]+).*/\2 \1 \4 \5 \3/p' \
		"$WORK/trace" | sort -n >"$WORK/switches"
	is "no event was lost" "$(cat "$WORK/lost")" ""
	isnt "the guest's first instruction is among them" "${BEGIN:-}" ""
}

# The priorities with which a thread got a CPU since the guest's first instruction; with that instruction's
# own, if it was this thread's.
priorities_of() { # TID
	awk -v tid="$1" -v begin="${BEGIN:-none}" -v first="${FIRST:-none}" '
		$3 != tid { next }
		$1 + 0 > begin + 0 { seen[$4] }
		$1 + 0 <= begin + 0 { before = $4 }
		END { if (tid == first) seen[before ? before : "unknown"]; for (p in seen) print p }' "$WORK/switches" |
		sort -n | xargs
}

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `virtpod bench start`: its report and its trace hold together, it says what it can't measure, and it leaves
# nothing; killed, it leaves nothing once the next one has begun. What the figures are is no test's business.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"


# The bench's own roots and handlers, wherever they are, and what the kernel has under tags of roots that
# were seen.
TAGS=()
bench_left() {
	local tag
	find "$ROOT/lib" /var/tmp -maxdepth 1 -name 'virtpod-bench.*' -newer "$WORK/stamp"
	pids_by cmdline "$ROOT/lib/[v]irtpod-bench" # not grep's own
	grep -F "$ROOT/lib/virtpod-bench" /proc/self/mountinfo /run/virtpod.cpus
	for tag in "${TAGS[@]}"; do host_state | grep -F "$tag"; done
}

# An empty file has no value for which it could hold: to jq that is no failure, but for -n.
holds() { # NAME FILE FILTER
	check "$1" jq -en "input | $3" "$2"
}

# shellcheck disable=SC2317 # by check
ends_with_0() { # STATUS FILE: and what it said, if not
	cat "$2"
	[ "$1" -eq 0 ]
}

summary='(type == "object" and .n > 0 and .min <= .median and .median <= .max)'

report() {
	local json=$WORK/bench.json
	vp bench start --rounds 3 -o json --trace "$WORK/trace.json" >"$json" 2>"$WORK/bench.err"
	check "bench: exit status" ends_with_0 $? "$WORK/bench.err"
	holds "every figure is a summary" "$json" "[.start.bare, .start.bareReady, .start.virtpod, .start.ours,
		.boundary.virtpod, .boundary.undo, .boundary.namespaces, .delete.processes, .delete.all, .start.steps[].us] | all($summary)"
	holds "as many rounds as asked for" "$json" '[.start.bare, .start.virtpod, .boundary.virtpod, .delete.all] | all(.n == 3)'
	holds "crun: measured, or said why not" "$json" "(.boundary.crun | $summary) or (.boundary.noCrun | length > 0)"
	holds "memory: measured, or said why not" "$json" "((.memory.launchers | $summary and .n == 2) and (.memory.handler | $summary)) or (.memory.noMemory | length > 0)"
	holds "the ratio is that of the medians" "$json" '(.start.ratio - .start.virtpod.median / .start.bare.median) | fabs < 0.0001'
	is "the steps are the handler's, in order" "$(jq -r '[.start.steps[].name] | join(" ")' "$json")" \
		"admit plan cpus cgroup net disks spawn qemu pin run total"
	holds "a process is gone before all is" "$json" '.delete.processes.min <= .delete.all.min'
	holds "a start takes longer than its steps" "$json" '.start.virtpod.min >= (.start.steps[-1].us.min)'
	like "the load is told" "$(jq -r '.host.loadBefore' "$json")" '^[0-9.]+$'
}

# One request with its start and steps lies in another, and the steps fill the start.
trace() {
	local t=$WORK/trace.json
	holds "trace: complete events with names" "$t" '[.traceEvents[] | select(.ph == "X")] | length > 0 and all(.name and .ts > 0 and .dur >= 0)'
	holds "trace: one request for each round" "$t" '[.traceEvents[] | select(.name == "request to Running")] | length == 3'
	# shellcheck disable=SC2016 # jq's variables
	holds "trace: each start lies inside a request" "$t" '[.traceEvents[] | select(.ph == "X")] as $all
		| [$all[] | select(.name == "start")] | length == 3 and all(. as $s | $all | any(.name == "request to Running"
			and .ts <= $s.ts and $s.ts + $s.dur <= .ts + .dur))'
	# shellcheck disable=SC2016
	holds "trace: the steps lie inside the start, one after the other, and fill it" "$t" '
		[.traceEvents[] | select(.ph == "X" and .tid == 3)] as $all
		| [$all[] | select(.name == "start")] | all(. as $s
			| [$all[] | select(.name != "start" and .ts >= $s.ts and .ts < $s.ts + $s.dur + 1)] as $steps
			| ($steps | length == 10)
			and ([range(1; 10) | $steps[.].ts >= $steps[. - 1].ts + $steps[. - 1].dur] | all)
			and ($steps[9].ts + $steps[9].dur <= $s.ts + $s.dur)
			and $s.dur == ($steps | map(.dur) | add))'
	holds "trace: QEMU alone, too, with its parts" "$t" '[.traceEvents[] | select(.tid == 1 and .ph == "X")] | length == 9'
}

refusals() {
	local out
	out=$("$BUILD/virtpod" --root "$WORK/empty" bench start 2>&1)
	is "without a guest: exit status" "$?" 3
	like "without a guest: says how to get one" "$out" 'virtpod/demo-guest.*make run'
	like "without a guest: names the user's root" "$out" "folder $WORK/empty/lib/images/virtpod/demo-guest:latest;"
	is "without a guest: nothing is left" "$(find "$WORK/empty" -name 'virtpod-bench.*')" ""
	vmi vt-bench 'volume("d"; {disk: {bus: "virtio"}}; {emptyDisk: {capacity: "1Mi"}})' >"$WORK/disk.json"
	vp bench start --rounds 1 -o json -f "$WORK/disk.json" -f "$WORK/config.yaml" >"$WORK/disk.report" 2>"$WORK/disk.err"
	check "with a disk: exit status" ends_with_0 $? "$WORK/disk.err"
	holds "with a disk: QEMU alone is left out, and said" "$WORK/disk.report" '.start.bare == null and .start.ratio == null and (.start.noBare | test("disks"))'
	out=$(vp bench start -f "$WORK/config.yaml" 2>&1)
	is "no VM: exit status" "$?" 3
	like "no VM: said" "$out" 'no VirtualMachineInstance'
	is "bench of something else: usage" "$(vp bench stop >/dev/null 2>&1; echo $?)" 2
}

# Ctrl-C while a VM is up.
interrupted() {
	local bench seen=''
	env --default-signal=INT "${VP[@]}" bench start --rounds 500 >"$WORK/int.out" 2>"$WORK/int.err" </dev/null &
	bench=$!
	bench_runs "$bench" || not_ok "a VM of the bench runs" "$(cat "$WORK/int.err")"
	# between two VMs there are none
	while [ -z "$seen" ] && [ -e "/proc/$bench" ]; do seen=$(host_state | grep -F "${TAGS[0]}"); done
	isnt "its groups are seen while it runs" "$seen" ""
	kill -INT "$bench"
	check "interrupted: it ends" wait_gone "$bench" 60
	wait "$bench"
	is "interrupted: exit status" "$?" 1
	like "interrupted: says so" "$(cat "$WORK/int.err")" 'interrupted'
	is "interrupted: no report" "$(cat "$WORK/int.out")" ""
}

# Its handler says so when a VM runs.
bench_runs() { # PID
	local log=''
	while [ -z "$log" ] && [ -e "/proc/$1" ]; do
		log=$(find "$ROOT/lib" -path '*virtpod-bench.*/run/handler.log')
	done
	TAGS+=("$(tag_of "${log%/run/handler.log}")")
	[ -n "$log" ] && wait_line "$log" 'bench-0: running' 60 1 "$1" >/dev/null
}

# What it had made is there still, and the next bench removes it, even one that measures nothing.
killed() { # WHERE PID
	kill -KILL "$2"
	wait "$2" 2>/dev/null
	isnt "killed $1: there is something to remove" "$(bench_left)" ""
	sweep "killed $1"
	like "killed $1: the next one says so" "$(cat "$WORK/sweep.err")" 'virtpod-bench\.[^ ]*: removing what a killed bench left'
	is "killed $1: and nothing is left of it" "$(bench_left)" ""
}

sweep() { # WHAT
	vp bench start -f "$WORK/config.yaml" >/dev/null 2>"$WORK/sweep.err"
	is "$1: the next one says what it lacks, and no more is wrong" "$?" 3
}

killed_with_a_vm() {
	local bench qemu
	"${VP[@]}" bench start --rounds 500 >/dev/null 2>"$WORK/kill.err" </dev/null &
	bench=$!
	bench_runs "$bench" || not_ok "a VM of the bench runs" "$(cat "$WORK/kill.err")"
	sweep "beside one that runs"
	is "beside one that runs: it is let alone" "$(grep -c removing "$WORK/sweep.err")" 0
	check "beside one that runs: which goes on" test -e "/proc/$bench"
	while ! qemu=$(bench_qemu) && [ -e "/proc/$bench" ]; do :; done
	killed "with a VM" "$bench"
	check "killed with a VM: QEMU is gone" wait_gone "${qemu:-0}" 10
}

# Of its root: which the tests' own qemu_pid doesn't know.
bench_qemu() {
	local tag=${TAGS[-1]}
	pids_by cgroup "virtpod.*$tag" | while read -r pid; do
		[[ $(cat "/proc/$pid/comm" 2>/dev/null) != qemu-* ]] || echo "$pid"
	done | grep -m1 .
}

# Where no handler is: groups, a namespace and a launcher that bench itself has made.
killed_in_boundary() {
	local bench netns=''
	"${VP[@]}" bench start --rounds 40 >/dev/null 2>"$WORK/kill.err" </dev/null &
	bench=$!
	while [ -z "$netns" ] && [ -e "/proc/$bench" ]; do
		netns=$(compgen -G '/var/tmp/virtpod-bench.*/run/netns/*')
	done
	isnt "a pod without a handler is there" "$netns" ""
	TAGS+=("$(tag_of "${netns%/run/netns/*}")")
	killed "in the boundary" "$bench"
	is "killed in the boundary: no mount is left" "$(grep -F "${netns%/run/*}" /proc/self/mountinfo)" ""
}

# Somebody else's folder of such a name is no bench's.
not_ours() {
	local dir
	dir=$(mktemp -d /var/tmp/virtpod-bench.XXXXXX)
	chown nobody "$dir"
	sweep "somebody else's folder"
	check "somebody else's folder: it is let alone" rmdir "$dir"
}

pod_begin
mkdir -p "$ROOT/lib/images/virtpod/demo-guest:latest" "$WORK/empty"
ln "$ROOT/lib/images/virtpod/test-guest:latest/"* "$ROOT/lib/images/virtpod/demo-guest:latest/"
touch "$WORK/stamp"
report
trace
is "nothing is left" "$(bench_left)" ""
refusals
interrupted
killed_with_a_vm
killed_in_boundary
not_ours
is "nothing is left after all" "$(bench_left)" ""
pod_end

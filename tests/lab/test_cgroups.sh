#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cgroup v2, both forms of a pod: what its files say, that limits, devices and the kill are in force, that
# a partition which somebody breaks is reported and repaired, and that a new handler resets nothing.
# Wants 4 CPUs, the first of which is reserved. Most guests have no disk and no kernel: their firmware idles.
export VIRTPOD_TEST_SLOW=${VIRTPOD_TEST_SLOW:-8}
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"

CG=/sys/fs/cgroup ISO=vt-iso PLAIN=vt-plain LIMITED=vt-limited GREEDY=vt-greedy
SIBLING=$CG/vttest-sibling EMPTY=$CG/vttest-empty
ISOLATED='.spec.domain.cpu.isolateEmulatorThread = true'
KERNEL='annotate("virtpod.io/exclusivity"; "kernel")'

# --- helpers -----------------------------------------------------------------------------------

conf() {
	config | sed 's/^reservedSystemCPUs:.*/reservedSystemCPUs: "0"/'
}

bare() { # NAME FILTER...: a guest that stays in its firmware
	vmi "$@" 'del(.spec.domain.firmware)' 'grace(0)' >"$WORK/$1.json"
}

group() { # FILE...: what these files of the pod's group say, in one line
	(cd "$POD" && cat "$@" 2>&1) | xargs
}

# The pod that NAME has now: QEMU, launcher, vCPU thread, group.
learn() { # NAME
	Q=$(qemu_pid "$1") L=$(parent_of "$Q") VCPU=$(vcpu_tids "$Q")
	POD=$(dirname "$(cgroup_of "$Q" cpuset)")
}

up() { # NAME [OPTION of run...]: from its file, until its vCPU runs
	run_start "$1" "$WORK/$1.json" "${@:2}"
	run_running "$1" || fatal "$1 does not run: $(cat "$WORK/$1.err")"
	learn "$1"
}

# The same with nobody who waits for it, and who would bring a new handler.
applied() { # NAME
	vp apply -f "$WORK/$1.json" >/dev/null
	wait_for "$1" 'jsonpath={.status.phase}=Running' 30 >/dev/null || fatal "$1 does not run: $(condition "$1" Ready)"
	learn "$1"
}

inspected() { # NAME FILTER
	vp inspect "$1" -o json | jq -c "$2"
}

others_of() { # PID: CPUs of its threads but vCPUs
	threads_of "$1" | awk -F'\t' '$2 !~ /^CPU / { print $3 }' | sort -u | xargs
}

pins() { # WHEN VCPU-CPU OTHERS
	is "$1: the vCPU's mask" "$(status_of "$VCPU" Cpus_allowed_list)" "$2"
	is "$1: the vCPU's group" "$(cgroup_of "$VCPU" cpuset)" "$POD/vcpu"
	is "$1: masks of QEMU's other threads" "$(others_of "$Q")" "$3"
	is "$1: the launcher's mask" "$(others_of "$L")" "$3"
}

# Threads of the kernel by name, each with group and CPUs.
kthreads() { # REGEX
	local pid
	for pid in $(pids_by comm -E "$1"); do
		echo "$(cgroup_of "$pid" cpuset) $(status_of "$pid" Cpus_allowed_list)"
	done | sort -u
}

# --- who is in the way -------------------------------------------------------------------------

plain_and_kernel() {
	bare $PLAIN dedicated "$KERNEL"
	run_refused --rm "exclusivity of the kernel's without a partition" $PLAIN isolateEmulatorThread
	is "and nothing was made for it" "$(ls -d $CG/virtpod* 2>/dev/null)" ""
}

held_before() {
	mkdir $SIBLING
	echo 1-3 >$SIBLING/cpuset.cpus
	bare $ISO dedicated "$ISOLATED" "$KERNEL"
	run_refused --rm "a group beside it holds the CPUs" $ISO "/${SIBLING##*/}/"
	bare $ISO dedicated "$ISOLATED"
	up $ISO --rm
	is "held by somebody: the pod is no partition" "$(group cpuset.cpus.partition)" member
	is "held by somebody: its vCPUs' group has its CPU" "$(group vcpu/cpuset.cpus)" 1
	pins "held by somebody" 1 2
	is "held by somebody: inspect" "$(inspected $ISO .exclusivity)" '"ledger"'
	is "the neighbour's set is as it was" "$(cat $SIBLING/cpuset.cpus)" 1-3
	vm_down $ISO
	rmdir $SIBLING
}

# --- the two forms -----------------------------------------------------------------------------

isolated_form() {
	bare $ISO dedicated "$ISOLATED" "$KERNEL" 'nic("vt-cg"; "10.78.0.2/24")'
	applied $ISO
	like "isolated: the pod's group is below the root" "$POD" "^$CG/virtpod-$TAG\.[0-9a-f-]{36}\$"
	is "isolated: types" "$(group cgroup.type emu/cgroup.type vcpu/cgroup.type)" \
		"domain threaded threaded threaded"
	is "isolated: the pod's CPUs" "$(group cpuset.cpus cpuset.cpus.effective)" "1-2 2"
	is "isolated: the children's" "$(group emu/cpuset.cpus vcpu/cpuset.cpus vcpu/cpuset.cpus.effective)" "2 1 1"
	is "isolated: partitions" "$(group cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "root isolated"
	is "isolated: one thread in vcpu" "$(group vcpu/cgroup.threads)" "$VCPU"
	is "isolated: nobody in the pod's group itself" "$(group cgroup.threads)" ""
	is "isolated: the kernel took the CPUs from all others" "$(cat $CG/cpuset.cpus.effective)" 0,3
	is "isolated: from a group with an empty set, too" "$(cat $EMPTY/cpuset.cpus.effective)" 0,3
	is "isolated: and from who is in there" "$(status_of "$SLEEPER" Cpus_allowed_list)" 0,3
	pins isolated 1 2
	is "isolated: the handler leaves" "$(status_of "$HANDLER_PID" Cpus_allowed_list)" 0,3
	is "isolated: inspect" "$(inspected $ISO '[.exclusivity, (.cgroup.cpuset.partition | .pod, .vcpu, .cpus), .cpus.ledger]')" \
		'["kernel","root","isolated","1-2","1-2"]'
	check "isolated: verify" vp verify $ISO
}

kernel_threads() {
	isnt "kernel threads: vhost is there" "$(kthreads "^vhost-$Q\$")" ""
	is "kernel threads: vhost's group and CPUs" "$(kthreads "^vhost-$Q\$")" "$POD/emu 2"
	is "kernel threads: kvm-nx-lpage-recovery's" "$(kthreads "^kvm-nx-lpage-recovery-$Q\$")" "$POD/emu 2"
	is "kernel threads: kvm-pit's CPUs" "$(kthreads '^kvm-pit/')" "$CG/ 0,3"
}

plain_form() {
	local q=$Q l=$L vcpu=$VCPU pod=$POD
	bare $PLAIN dedicated
	# somebody moves the other VM's vCPU; the pool changes with the next start, and it comes back
	kill -STOP "$HANDLER_PID"
	echo "$VCPU" >"$POD/emu/cgroup.threads"
	is "moved by somebody: the vCPU's mask" "$(status_of "$VCPU" Cpus_allowed_list)" 2
	kill -CONT "$HANDLER_PID"
	applied $PLAIN
	like "plain: the pod's group is in the common one" "$POD" "^$CG/virtpod-$TAG/pod-[0-9a-f-]{36}\$"
	is "plain: the common group's own set stays empty" "$(cat "$CG/virtpod-$TAG/cpuset.cpus")" ""
	is "plain: types" "$(group cgroup.type emu/cgroup.type vcpu/cgroup.type)" \
		"domain threaded threaded threaded"
	is "plain: CPUs" "$(group emu/cpuset.cpus vcpu/cpuset.cpus)" "0 3"
	is "plain: no partition" "$(group cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "member member"
	pins plain 3 0
	is "plain: inspect" "$(inspected $PLAIN '[.exclusivity, .cpus.ledger]')" '["ledger","3"]'
	check "plain: verify" vp verify $PLAIN
	Q=$q L=$l VCPU=$vcpu POD=$pod
	pins "the other VM after this start" 1 2
	is "and its partition" "$(group cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "root isolated"
	is "kvm-pit of both: the rest of the pool" "$(kthreads '^kvm-pit/')" "$CG/ 0"
	# whatever came of it, what follows starts from right pins
	echo "$VCPU" >"$POD/vcpu/cgroup.threads"
	taskset -pc 1 "$VCPU" >/dev/null
}

# --- limits and devices in force ---------------------------------------------------------------

devices() { # WHEN
	local list='c 10:232 rw|c 1:3 rw|c 1:5 rw|c 1:7 rw|c 1:8 r|c 1:9 r' node
	is "$1: in the pod's group /dev/null opens" "$(opens_as "$Q" /dev/null "<>")" ""
	is "$1: /dev/kvm opens" "$(opens_as "$Q" /dev/kvm "<>")" ""
	for node in loop-control mem kmsg net/tun; do
		like "$1: /dev/$node does not" "$(opens_as "$Q" /dev/$node "<")" 'Operation not permitted'
	done
	is "$1: inspect lists what is allowed" \
		"$(inspected $ISO '.cgroup.devices | sort | join("|")')" "\"$list\""
}

throttled() {
	sed -n 's/^nr_throttled //p' "$POD/cpu.stat"
}

limits() {
	local before
	vmi $LIMITED 'grace(0)' '.spec.domain.resources = {requests: {cpu: "500m"}, limits: {cpu: "900m"}}' \
		'.spec.domain.resources.limits.memory = "300Mi"' >"$WORK/$LIMITED.json"
	up $LIMITED
	console_open $LIMITED || fatal "the limited guest does not come up"
	before=$(throttled)
	like "limits: the guest burns" "$(guest $LIMITED 'burn 2' 60)" ok
	check "limits: CPU is in force meanwhile" test "$(throttled)" -gt "$before"
	is "limits: CPU" "$(group cpu.max cpu.weight)" "90000 100000 20"
	is "limits: OOM takes all, and no swap" "$(group memory.oom.group memory.swap.max)" "1 0"
	check "limits: memory, what was asked and overhead" \
		test "$(group memory.max)" -gt $((300 << 20)) -a "$(group memory.max)" -lt $((900 << 20))
	is "limits: inspect" "$(inspected $LIMITED '.cgroup.limits | [.memoryMax, .pidsMax, .cpuQuotaUs, .cpuWeight]')" \
		"[$(group memory.max),$(group pids.max),90000,20]"
	is "a shared VM has no group for vCPUs" "$(ls -d "$POD/vcpu" 2>/dev/null)" ""
}

# As many processes as the pod may have, none of them the launcher's; the end of the VM ends them.
fork_bomb() {
	local bomb
	# shellcheck disable=SC2016 # perl's
	perl -e 'open(F, ">", "$ARGV[0]/emu/cgroup.procs") && syswrite(F, "0") && close(F) or die $!;
		for (1 .. 2000) { $p = fork; last if !defined $p; next if $p; sleep 600; exit }
		$why = $!; open(F, ">", $ARGV[1]); print F "$why\n"; close(F); sleep 600' "$POD" "$WORK/bomb" &
	bomb=$!
	check "a fork bomb in the pod comes to its end" wait_line "$WORK/bomb" . 60 1 "$bomb"
	is "its fork fails" "$(cat "$WORK/bomb")" "Resource temporarily unavailable"
	is "the pod is full" "$(group pids.current)" "$(group pids.max)"
	check "pids.events counts it" test "$(group pids.events | cut -d ' ' -f 2)" -gt 0
	check "inspect counts it" test "$(inspected $ISO .cgroup.events.pidsLimitHits)" -gt 0
	check "the VM is deleted all the same" vp delete vmi $ISO --grace-period 0
	is "the bomb is dead, its children with it" "$(pgrep -f "$WORK/bomb")" ""
	is "the group is gone" "$(ls -d "$POD" 2>/dev/null)" ""
	is "and its CPUs are the host's again" "$(cat $CG/cpuset.cpus.effective)" 0-3
	wait "$bomb" 2>/dev/null
}

# A process in the pod's group takes what the pod may have: all of the pod goes.
out_of_memory() {
	kill -STOP "$HANDLER_PID" # the group is to stay until it was read
	{ bash -c 'echo 0 >"$1/emu/cgroup.procs"; exec dd if=/dev/zero of=/dev/null count=1 bs="$2"' - \
		"$POD" "$(group memory.max)"; } 2>/dev/null
	is "out of memory: who took it is killed" "$?" 137
	check "out of memory: QEMU is killed" wait_gone "$Q" 30
	check "out of memory: so is the launcher" dead "$L"
	like "out of memory: as one group" "$(group memory.events)" 'oom_group_kill 1'
	kill -CONT "$HANDLER_PID"
	run_wait $LIMITED 60
	is "out of memory: run's exit status" "$RUN_STATUS" 1
	like "out of memory: run says why" "$(cat "$WORK/$LIMITED.err")" 'memory limit of [0-9]+ MiB'
	like "out of memory: so does the VMI" "$(vp get vmi $LIMITED -o json)" 'Failed.*memory limit of|memory limit of.*Failed'
	is "out of memory: the group is gone" "$(ls -d "$POD" 2>/dev/null)" ""
	vm_down $LIMITED
}

# The guest itself takes more than its pod may have, as it were with a limit that was reckoned too low;
# nobody but the kernel and the handler does anything about it.
guest_out_of_memory() {
	local from
	vmi $GREEDY dedicated 'grace(0)' >"$WORK/$GREEDY.json"
	vm_up $GREEDY "$WORK/$GREEDY.json" || fatal "the greedy guest does not come up"
	learn $GREEDY
	isnt "guest out of memory: it holds a CPU" "$(grep -F "$ROOT" /run/virtpod.cpus)" ""
	from=$(($(wc -l <"$WORK/handler.log") + 1))
	echo $(($(group memory.current) + (8 << 20))) >"$POD/memory.max"
	is "guest out of memory: with the lower limit it still runs" "$(qemu_pid $GREEDY)" "$Q"
	printf 'alloc 96\n' >&"${CON_FD[$GREEDY]}"
	check "guest out of memory: QEMU is killed" wait_gone "$Q" 60
	run_wait $GREEDY 60
	is "guest out of memory: run's exit status" "$RUN_STATUS" 1
	like "guest out of memory: run says why" "$(cat "$WORK/$GREEDY.err")" 'memory limit of [0-9]+ MiB'
	check "guest out of memory: so does the handler" \
		wait_line "$WORK/handler.log" "$GREEDY: ended: Crashed" 10 "$from"
	is "guest out of memory: the launcher is gone" "$(ls -d "/proc/$L" 2>/dev/null)" ""
	is "guest out of memory: the VMI has failed" "$(vp get vmi $GREEDY -o json | jq -r .status.phase)" Failed
	like "guest out of memory: and says why" "$(vp get vmi $GREEDY -o json | jq -c .status)" 'memory limit of [0-9]+ MiB'
	is "guest out of memory: the group is gone" "$(ls -d "$POD" 2>/dev/null)" ""
	is "guest out of memory: no CPU is held" "$(grep -F "$ROOT" /run/virtpod.cpus)" ""
	vm_down $GREEDY
}

# Ended, though its parent did not look yet.
# shellcheck disable=SC2317 # by way of check
dead() { # PID
	[[ ! -e /proc/$1 || $(status_of "$1" State) == Z* ]]
}

# --- a partition that somebody breaks ----------------------------------------------------------

broken() {
	local out
	mkdir $SIBLING
	echo 1 >$SIBLING/cpuset.cpus
	like "broken: the kernel says so" "$(group cpuset.cpus.partition)" '^root invalid '
	check "broken: condition Exclusive becomes False" wait_for $ISO condition=virtpod.io/Exclusive=False 30
	like "broken: it names the group" "$(condition $ISO virtpod.io/Exclusive)" \
		"^False PartitionInvalid .*/${SIBLING##*/}/.* CPU 1"
	is "broken: inspect" "$(inspected $ISO .exclusivity)" '"ledger"'
	out=$(vp verify $ISO 2>&1)
	is "broken: verify's exit status" "$?" 1
	like "broken: verify says that the promise was the kernel's" "$out" 'is "ledger", must be "kernel"'
	pins broken 1 2
	handler_kill
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	check "broken, a new handler: it has the VM" wait_for $ISO 'jsonpath={.status.phase}=Running' 30
	like "broken, a new handler: it says so, too" "$(condition $ISO virtpod.io/Exclusive)" '^False PartitionInvalid '
}

# The partition inside the pod's has a file of its own.
inner_broken() {
	local from
	from=$(($(wc -l <"$WORK/handler.log") + 1))
	echo member >"$POD/vcpu/cpuset.cpus.partition"
	check "the vCPUs' partition is taken: somebody notices" \
		wait_line "$WORK/handler.log" 'made invalid by somebody: repaired' 20 "$from"
	is "and puts it right" "$(group cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "root isolated"
	pins "the vCPUs' partition" 1 2
}

# The files of cpuset go, with all that was in them, and no file tells of it.
switched_off() {
	local from
	from=$(($(wc -l <"$WORK/handler.log") + 1))
	echo -cpuset >"$POD/cgroup.subtree_control"
	check "cpuset is switched off below the pod: somebody notices" \
		wait_line "$WORK/handler.log" 'made invalid by somebody: repaired' 30 "$from"
	is "and puts it right" "$(group cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "root isolated"
	pins "cpuset switched off" 1 2
	check "verify after that" vp verify $ISO
	inner_broken # which is watched again
}

set_changed() {
	local from
	from=$(($(wc -l <"$WORK/handler.log") + 1))
	echo 1 >"$POD/cpuset.cpus"
	check "the pod's own set is made smaller: somebody notices" \
		wait_line "$WORK/handler.log" 'made invalid by somebody: repaired' 30 "$from"
	is "and puts it right" "$(group cpuset.cpus cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "1-2 root isolated"
	pins "the pod's own set" 1 2
}

repaired() {
	echo >$SIBLING/cpuset.cpus
	check "put right: the condition goes" vmi_when $ISO \
		'[.status.conditions[] | select(.type == "virtpod.io/Exclusive")] == []' 60
	is "put right: both are partitions again" \
		"$(group cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "root isolated"
	pins "put right" 1 2
	is "put right: inspect" "$(inspected $ISO .exclusivity)" '"kernel"'
	check "put right: verify" vp verify $ISO
	rmdir $SIBLING
}

# --- a new handler -----------------------------------------------------------------------------

# What would differ if anything of the pod was made anew.
identity() {
	local pid
	stat -c %i "$POD" "$POD/emu" "$POD/vcpu"
	for pid in /proc/{"$L","$Q"}/task/*; do
		sed 's/.*) //' "$pid/stat" | cut -d ' ' -f 20 # its start time
	done
}

handler_replaced() {
	local before
	before=$(identity)
	devices "before"
	handler_kill
	is "without a handler: partitions" "$(group cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "root isolated"
	like "without a handler: devices" "$(opens_as "$Q" /dev/mem "<")" 'Operation not permitted'
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	check "new handler: it has the VM" wait_for $ISO 'jsonpath={.status.phase}=Running' 30
	is "new handler: the same groups and threads" "$(identity)" "$before"
	is "new handler: the same partitions" "$(group cpuset.cpus.partition vcpu/cpuset.cpus.partition)" "root isolated"
	pins "new handler" 1 2
	is "new handler: inspect" "$(inspected $ISO '[.exclusivity, .cpus.ledger]')" '["kernel","1-2"]'
	devices "new handler"
	check "new handler: verify" vp verify $ISO
	broken
	repaired
	inner_broken
	switched_off
	set_changed
}

# The plain VM: masks that somebody changed are right after the next change of the pool.
repinned_plain() {
	local stray
	learn $PLAIN
	stray=$(threads_of "$Q" | awk -F'\t' '$2 ~ /^IO / { print $1 }')
	echo 2-3 >"$POD/vcpu/cpuset.cpus"
	echo 3 >"$POD/vcpu/cpuset.cpus"
	echo "$VCPU" >"$POD/emu/cgroup.threads"
	is "moved by somebody, plain: the vCPU's mask" "$(status_of "$VCPU" Cpus_allowed_list)" 0
	echo "$stray" >"$POD/vcpu/cgroup.threads"
	is "moved by somebody, plain: another thread is on its CPU" "$(status_of "$stray" Cpus_allowed_list)" 3
	learn $ISO
	fork_bomb # whose end gives the pool two CPUs
	learn $PLAIN
	pins "plain, after the pool has changed" 3 0-2
	is "plain, after the pool has changed: the other thread's group" "$(cgroup_of "$stray" cpuset)" "$POD/emu"
	vm_down $PLAIN
}

# --- all ---------------------------------------------------------------------------------------

[ -f $CG/cgroup.subtree_control ] || { echo "Bail out! no cgroup v2 at $CG"; exit 1; }
pod_begin
conf >"$WORK/config.yaml"
echo +cpuset >$CG/cgroup.subtree_control
mkdir $EMPTY
touch "$ROOT/idle"
tail -f "$ROOT/idle" & # which names our root, so that nothing survives us
SLEEPER=$!
echo $SLEEPER >$EMPTY/cgroup.procs
pod_ready
nad vt-cg 10.78.0.1/24 >"$WORK/nad.json"
check "a network is applied" vp apply -f "$WORK/nad.json"
plain_and_kernel
held_before
isolated_form
kernel_threads
plain_form
handler_replaced
repinned_plain
limits
out_of_memory
guest_out_of_memory
kill $SLEEPER
wait $SLEEPER 2>/dev/null
pod_stop
rmdir $EMPTY
pod_end

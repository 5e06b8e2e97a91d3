#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Dedicated CPUs: who runs where from the guest's first line on, exclusive or refused, what happens when
# somebody else moves a thread, and the policies. Needs two CPUs; the first is reserved.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

ONE=vt-pin1 TWO=vt-pin2 SHARED=vt-pinshared

# Threads of a process whose CPUs are not LIST; vCPU threads are left out.
others_not_on() { # PID LIST
	threads_of "$1" | awk -F'\t' -v l="$2" '$2 !~ /^CPU [0-9]+\// && $3 != l'
}

pins() { # WHEN
	local vcpus
	vcpus=$(vcpu_tids "$Q")
	is "$1: one vCPU thread" "$(wc -w <<<"$vcpus")" 1
	is "$1: it may run on exactly one CPU" "$(status_of "$vcpus" Cpus_allowed_list)" "$CPU"
	is "$1: it last ran there" "$(sed 's/.*) //' "/proc/$vcpus/stat" | cut -d' ' -f37)" "$CPU"
	is "$1: QEMU's other threads run elsewhere" "$(others_not_on "$Q" "$REST")" ""
	is "$1: the launcher runs elsewhere" "$(others_not_on "$L" "$REST")" ""
}

first_line() {
	OTHERS=$(other_sets)
	run_start $ONE "$WORK/$ONE.json" --rm --console
	wait_line "$WORK/$ONE.out" . 60 1 "${RUN_PID[$ONE]}" >/dev/null ||
		fatal "nothing on the console: $(cat "$WORK/$ONE.err")"
	Q=$(qemu_pid $ONE) L=$(parent_of "$Q")
	pins "at the first line"
	check "the guest comes up" wait_line "$WORK/$ONE.out" "$READY" 60 1 "${RUN_PID[$ONE]}"
	pins "later"
}

# Cpusets of others that hold the CPU.
other_sets() {
	[ -z "$V2" ] || return 0
	find /sys/fs/cgroup/cpuset -mindepth 2 -maxdepth 2 -name cpuset.cpus ! -path "*${TAG:-none}*" \
		-exec awk -F '[,-]' -v RS=, -v cpu="$CPU" \
		'/[0-9]/ && cpu >= $1 + 0 && cpu <= $NF + 0 { print FILENAME }' {} \; 2>/dev/null
}

# The kernel can give this CPU to one set only when no set beside ours holds it; that is up to the host.
# On v2 it gives CPUs to a whole pod only: tests/lab has those.
exclusivity() { # GROUP of the vCPUs
	local others flag
	others=$OTHERS$(other_sets)
	if [ -n "$V2" ]; then
		is "the kernel's: none" "$(cat "$1/cpuset.cpus.partition")" member
		is "inspect: exclusivity" "$(jq -r .exclusivity "$WORK/inspect.json")" ledger
		return
	fi
	flag=$(cat "$1/cpuset.cpu_exclusive")
	if [ -z "$others" ]; then
		is "exclusively" "$flag" 1
	else
		is "not exclusively, as others hold the CPU in theirs" "$flag" 0
		diag "$others"
	fi
	is "inspect: exclusivity" "$(jq -r .exclusivity "$WORK/inspect.json")" \
		"$([ "$flag" = 1 ] && echo kernel || echo ledger)"
}

cpusets() {
	local vcpu emu tid
	vp inspect $ONE -o json >"$WORK/inspect.json"
	tid=$(vcpu_tids "$Q")
	vcpu=$(cgroup_of "$tid" cpuset) emu=$(cgroup_of "$Q" cpuset)
	isnt "the vCPU thread's cpuset is not QEMU's" "$vcpu" "$emu"
	is "its cpuset holds its CPU alone" "$(cat "$vcpu/cpuset.cpus")" "$CPU"
	exclusivity "$vcpu"
	is "QEMU's own cpuset has the others" "$(cat "$emu/cpuset.cpus")" "$REST"
	is "one thread is in it" "$(cat "$(threads_file "$vcpu")")" "$tid"
	is "the handler leaves the CPU alone, too" "$(status_of "$HANDLER_PID" Cpus_allowed_list)" "$REST"
	check "the host's list of holders names the VM" grep -F "$ROOT" /run/virtpod.cpus
	is "inspect: the vCPU's thread and its CPU" "$(jq -c '[.processes[].threads[] |
		select(.role == "vcpu") | [.tid, .vcpu, .cpus]]' "$WORK/inspect.json")" "[[$tid,0,\"$CPU\"]]"
	is "inspect: no other thread on it" "$(jq -c --arg c "$REST" '[.processes[].threads[] |
		select(.role != "vcpu" and .cpus != $c)]' "$WORK/inspect.json")" "[]"
	check "verify: all as promised" vp verify $ONE
}

# Somebody else moves the vCPU's thread to the other threads' cpuset, and back.
meddling() {
	local tid vcpu emu out status
	tid=$(vcpu_tids "$Q") vcpu=$(cgroup_of "$tid" cpuset) emu=$(cgroup_of "$Q" cpuset)
	kill -STOP "$HANDLER_PID" # it would repair this, at a time of its own choosing
	echo "$tid" >"$(threads_file "$emu")"
	is "the thread was moved" "$(status_of "$tid" Cpus_allowed_list)" "$REST"
	kill -CONT "$HANDLER_PID"
	out=$(vp verify $ONE 2>&1)
	status=$?
	is "verify: a moved vCPU thread is a violation" "$status" 1
	like "it names the thread" "$out" "$tid"
	like "what was wanted and what is" "$out" "$CPU.*$REST|$REST.*$CPU"
	echo "$tid" >"$(threads_file "$vcpu")"
	taskset -pc "$CPU" "$tid" >/dev/null
	check "verify: content again when it is back" vp verify $ONE
}

second_refused() {
	local message
	vmi $TWO dedicated 'grace(0)' >"$WORK/$TWO.json"
	run_refused "a second dedicated VM" $TWO "default/$ONE"
	message=$(condition $TWO PodScheduled)
	like "its condition" "$message" '^False Unschedulable '
	like "says what was wanted" "$message" '(^|[^0-9])1([^0-9]|$)'
	like "what is free" "$message" '(0|none|no).*free|free.*(0|none)'
	like "what is reserved" "$message" 'reserved'
	like "and who holds the rest" "$message" "default/$ONE"
	is "it stays pending" "$(vp get vmi $TWO -o json | jq -r .status.phase)" Pending
}

shared_beside() {
	local q
	vmi $SHARED 'grace(0)' >"$WORK/$SHARED.json"
	vm_up $SHARED "$WORK/$SHARED.json" --rm || return
	q=$(qemu_pid $SHARED)
	is "a shared VM beside it: every thread off the dedicated CPU" \
		"$(threads_of "$q" | awk -F'\t' -v l="$REST" '$3 != l')" ""
	is "its launcher, too" "$(threads_of "$(parent_of "$q")" | awk -F'\t' -v l="$REST" '$3 != l')" ""
	check "verify: the shared VM" vp verify $SHARED
	guest $SHARED 'burn 1' >/dev/null
	pins "while the other burns"
}

policy_held() {
	local out status
	out=$(vp apply -f "$WORK/none.yaml" 2>&1)
	status=$?
	isnt "policy none is refused while CPUs are held" "$status" 0
	like "the refusal names the holder" "$out" "$1"
}

takes_over() {
	check "the first VM is deleted" vp delete vmi $ONE
	run_wait $ONE 40
	is "its run ends with 0" "$RUN_STATUS" 0
	check "the waiting VM starts by itself" wait_for $TWO 'jsonpath={.status.phase}=Running' 20
	Q=$(qemu_pid $TWO) L=$(parent_of "$Q")
	pins "the second VM"
	policy_held $TWO
	check "deleted" vp delete vmi $TWO
	is "the shared VM gets the CPU back" \
		"$(threads_of "$(qemu_pid $SHARED)" | cut -f3 | sort -u)" "0-$CPU"
}

policy_none() {
	check "policy none is taken when no CPU is held" vp apply -f "$WORK/none.yaml"
	run_refused --rm "policy none: a dedicated VM" $TWO cpuManagerPolicy
}

too_many() {
	vmi $TWO dedicated '.spec.domain.cpu.cores = 2' >"$WORK/$TWO.json"
	run_refused --rm "more CPUs than there can be" $TWO '2.*1|1.*2'
	is "and with --rm it is gone" "$(vp get vmi -o name)" ""
}

pod_begin
CPU=$LAST_CPU REST=$REST_CPUS
sed 's/cpuManagerPolicy: static/cpuManagerPolicy: none/' "$WORK/config.yaml" >"$WORK/none.yaml"
pod_ready
vmi $ONE dedicated >"$WORK/$ONE.json"
too_many
first_line
cpusets
meddling
second_refused
shared_beside
policy_held $ONE
takes_over
vm_down $SHARED
policy_none
pod_stop
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of everything that can be killed, at any time; a VM outlives its handler; what can't live
# together is refused; and nothing is left of any of it.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-fault OTHER_ROOT='' SEEN=''

phase() {
	vp get vmi $VM -o json | jq -r .status.phase
}

# shellcheck disable=SC2317 # by way of check
answers() {
	ping -c 2 -W 5 10.79.0.2
}

qemu_killed() {
	vm_up $VM "$WORK/$VM.json" || { not_ok "the VM comes up"; vm_down $VM; return; }
	console_close $VM
	kill -KILL "$(qemu_pid $VM)"
	run_wait $VM 30
	is "QEMU killed: run's exit status" "$RUN_STATUS" 1
	is "QEMU killed: the VMI has failed" "$(phase)" Failed
	no_leftovers "QEMU killed: nothing left, though the object is there"
	vm_down $VM
}

launcher_killed() {
	local q
	vm_up $VM "$WORK/$VM.json" || { not_ok "the VM comes up"; vm_down $VM; return; }
	console_close $VM
	q=$(qemu_pid $VM)
	kill -KILL "$(parent_of "$q")"
	check "launcher killed: QEMU goes with it" wait_gone "$q" 20
	run_wait $VM 30
	is "launcher killed: run's exit status" "$RUN_STATUS" 1
	is "launcher killed: the VMI has failed" "$(phase)" Failed
	no_leftovers "launcher killed: nothing left"
	vm_down $VM
}

# The same VM under a new handler.
adopted() { # HOW
	is "$1: the VMI runs" "$(phase)" Running
	is "$1: it is the same" "$(vp get vmi $VM -o json | jq -r .metadata.uid)" "$UID_OF_POD"
	is "$1: so is QEMU" "$(qemu_pid $VM)" "$Q"
	check "$1: the guest answers" answers
	check "$1: inspect" vp inspect $VM -o json
	check "$1: verify" vp verify $VM
	check "$1: the console, with what was said before" console_open $VM
	like "$1: it takes commands" "$(guest $VM 'ping 10.79.0.1 1')" 'received=1'
	console_close $VM
}

# The search for leftovers is no use if it finds nothing of what is there.
leftovers_seen() {
	local found what
	found=$(leftovers)
	for what in 'link ' 'cgroup ' 'mount .*/netns/' 'mount .*/pods/' "lock OFDLCK .*$WORK/disk\.img" \
		"record of pod.*$VM" 'record of CPU' "descriptor $ROOT/run/pods/" "descriptor $ROOT/run/netns/" \
		'descriptor socket:' 'descriptor anon_inode:\[pidfd' 'process [0-9]+ /usr[^ ]*qemu' 'file .*/launcher\.sock' \
		'/run/virtpod.cpus|"cpus"'; do
		check "what a VM has is seen as left: $what" grep -qE -- "$what" <<<"$found"
	done
	is "its QEMU is seen by its user id, too" "$(id_pids | grep -x "$Q")" "$Q"
}

handler_replaced() {
	check "a VM is created, with nobody waiting for it" vp apply -f "$WORK/$VM.json"
	check "it runs" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	console_open $VM || { not_ok "the VM comes up"; return; }
	console_close $VM
	Q=$(qemu_pid $VM) UID_OF_POD=$(vp get vmi $VM -o json | jq -r .metadata.uid)
	[ -n "$SEEN" ] || leftovers_seen
	SEEN=yes
	handler_kill
	check "handler killed: the guest answers" answers
	is "handler killed: QEMU runs on" "$(qemu_pid $VM)" "$Q"
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	adopted "after kill -9"
	handler_stop
	is "handler ended: its exit status" "$HANDLER_STATUS" 0
	check "handler ended: the guest answers" answers
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	adopted "after SIGTERM"
}

# A launcher that lives and says nothing: its guest may be well, and is kept until it answers.
silent_launcher() {
	local l
	l=$(parent_of "$Q")
	handler_kill
	kill -STOP "$l"
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	check "silent launcher: the status says so" vmi_when $VM \
		'[.status.conditions[] | select(.type == "Synchronized" and .reason == "LauncherUnresponsive")] != []' 30
	is "silent launcher: QEMU runs on" "$(qemu_pid $VM)" "$Q"
	check "silent launcher: the guest answers" answers
	kill -CONT "$l"
	check "silent launcher: when it answers, the word goes" vmi_when $VM \
		'[.status.conditions[] | select(.type == "Synchronized")] == []' 30
	adopted "after a silent launcher"
}

# The file of all roots' CPUs is no file of ours any more: what runs is served, and can be stopped.
damaged_ledger() {
	handler_kill
	echo garbage >/run/virtpod.cpus
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	is "damaged ledger: the VM is taken over" "$(phase)" Running
	like "damaged ledger: the log has the cure" "$(cat "$WORK/handler.log")" '/run/virtpod\.cpus: damaged.*then remove it'
	vmi vt-faultsecond dedicated >"$WORK/second.json"
	run_start vt-faultsecond "$WORK/second.json"
	run_wait vt-faultsecond 30
	is "damaged ledger: no CPU is given" "$RUN_STATUS" 3
	like "damaged ledger: and why" "$(cat "$WORK/vt-faultsecond.err")" '/run/virtpod\.cpus: damaged'
	vp delete vmi vt-faultsecond >/dev/null
	vp delete vmi $VM --grace-period 0 --wait=false >/dev/null
	check "damaged ledger: the VM can be stopped" wait_gone "$Q" 30
	rm /run/virtpod.cpus
	check "removed, as the cure says: it is gone" wait_for $VM delete 30
	no_leftovers "a damaged ledger leaves nothing"
}

no_second_handler() {
	local out status
	out=$(timeout 20 "$BUILD/virt-handler" --root "$ROOT" 2>&1 </dev/null)
	status=$?
	is "a second handler of the same root is refused" "$status" 1
	like "it says that another runs" "$out" 'another|already|running'
	is "the VM doesn't mind" "$(phase)" Running
}

# A second root on the same host: the CPU is taken, though its own ledger is empty.
other_root() {
	local first=$HANDLER_PID status
	OTHER_ROOT=$ROOT.other
	mkdir -p "$OTHER_ROOT/lib"
	cp -al "$ROOT/lib/images" "$OTHER_ROOT/lib/"
	handler_start "$OTHER_ROOT" || { not_ok "a second root has its own handler" "$(tail -n 1 "$WORK/handler.log")"; HANDLER_PID=$first; return; }
	"$BUILD/virtpod" --root "$OTHER_ROOT" apply -f "$WORK/config.yaml" >/dev/null
	vmi vt-othercpu dedicated >"$WORK/other.json"
	timeout $((20 * SLOW)) "$BUILD/virtpod" --root "$OTHER_ROOT" run -f "$WORK/other.json" --rm >"$WORK/other.err" 2>&1
	status=$?
	is "two roots: a CPU that the other holds is refused" "$status" 3
	like "two roots: the message names the root that holds it" "$(cat "$WORK/other.err")" "$ROOT([^.]|$)"
	handler_stop
	HANDLER_PID=$first
}

# What one root holds exclusively, no VM of another may run on, whoever came first.
two_roots_apart() {
	local first=$HANDLER_PID shared=vt-faultshared other=("$BUILD/virtpod" --root "$OTHER_ROOT") run held
	vmi $shared 'grace(0)' >"$WORK/$shared.json"
	run_start $shared "$WORK/$shared.json" --rm
	run_running $shared || { not_ok "two roots: a shared VM in the first"; return; }
	handler_start "$OTHER_ROOT" || fatal "no handler for the other root: $(tail -n 1 "$WORK/handler.log")"
	"${other[@]}" run -f "$WORK/other.json" --rm >/dev/null 2>"$WORK/other.err" &
	run=$!
	wait_line "$WORK/other.err" 'Running|wanted' 30 1 "$run" >/dev/null
	held=$(jq -r --arg root "$OTHER_ROOT" '.[] | select(.root == $root).cpus' /run/virtpod.cpus)
	is "two roots: no thread of the first's VM may run on what the second holds" \
		"$(threads_of "$(qemu_pid $shared)" | awk -F'\t' -v h="${held:-none}" '$3 ~ "(^|[-,])" h "([-,]|$)"')" ""
	check "two roots: verify in the first" vp verify $shared
	check "two roots: the other's VM is deleted" timeout $((60 * SLOW)) "${other[@]}" delete vmi vt-othercpu --grace-period 0
	check "two roots: and its run ends" wait_gone "$run" 30
	handler_stop
	HANDLER_PID=$first
	vm_down $shared
}

deleted_after() {
	check "delete under the new handler" vp delete vmi $VM
	is "QEMU is gone" "$(qemu_pid $VM)" ""
	no_leftovers "an adopted VM leaves nothing"
}

# With nobody else to start one, the client that waits brings a new handler.
run_survives() {
	local pid here=/sys/fs/cgroup/pids/vptest-$$
	[ -z "$V2" ] || here=/sys/fs/cgroup/vptest-$$
	# the client's group, which its handler must not stay in
	mkdir "$here"
	echo $$ >"$here/cgroup.procs"
	vm_up $VM "$WORK/$VM.json" --rm || { not_ok "the VM comes up"; vm_down $VM; return; }
	console_close $VM
	handler_kill
	check "run goes on with a handler of its own" vp delete vmi $VM
	run_wait $VM 60
	is "run ends with 0" "$RUN_STATUS" 0
	echo $$ >"${here%/*}/cgroup.procs"
	check "the new handler is not in its client's cgroup" rmdir "$here"
	for pid in $(handler_pids "$ROOT"); do
		check "a handler started on demand ends by itself" wait_gone "$pid" 60
	done
	no_leftovers "and leaves nothing"
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
}

after() { # MS: as seconds, on a machine that is as slow as this one
	printf '%d.%03d' $(($1 * SLOW / 1000)) $(($1 * SLOW % 1000))
}

# Killed so many milliseconds after the client began: each time somewhere else in the start.
killed_in_start() { # MS
	local client fd
	"$BUILD/virtpod" --root "$ROOT" create -f "$WORK/$VM.json" >/dev/null 2>&1 &
	client=$!
	exec {fd}<> <(:)
	read -r -t "$(after "$1")" -u "$fd" # nothing comes: a timer
	exec {fd}>&-
	kill -KILL "$client" 2>/dev/null
	handler_kill
	wait "$client" 2>/dev/null
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	vp delete vmi $VM --grace-period 0 >/dev/null 2>&1
	is "killed after $1 ms: the VM can be deleted" "$(vp get vmi -o name)" ""
	no_leftovers "killed after $1 ms: nothing left"
}

killed_in_stop() { # MS
	local fd
	vp create -f "$WORK/$VM.json" >/dev/null
	wait_for $VM 'jsonpath={.status.phase}=Running' 30 >/dev/null
	vp delete vmi $VM --grace-period 0 --wait=false >/dev/null
	exec {fd}<> <(:)
	read -r -t "$(after "$1")" -u "$fd"
	exec {fd}>&-
	handler_kill
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	check "killed in a stop after $1 ms: the new handler ends it" wait_for $VM delete 30
	no_leftovers "killed in a stop after $1 ms: nothing left"
}

pod_begin
pod_ready
nad vt-faultnet 10.79.0.1/24 >"$WORK/nad.json"
check "a network is applied" vp apply -f "$WORK/nad.json"
truncate -s 8M "$WORK/disk.img" # its lock must end with each of its VMs
vmi $VM dedicated 'nic("vt-faultnet"; "10.79.0.2/24")' 'hostdisk("d"; "'"$WORK"'/disk.img")' >"$WORK/$VM.json"
qemu_killed
launcher_killed
handler_replaced
silent_launcher
no_second_handler
other_root
deleted_after
handler_replaced
damaged_ledger
two_roots_apart
run_survives
for ms in 10 30 60 100 150 220 300 450; do
	killed_in_start $ms
done
for ms in 0 20 60; do
	killed_in_stop $ms
done
pod_stop
pod_end

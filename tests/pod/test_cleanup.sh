#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A root whose handler does not come again: virtpod cleanup removes what is left of it, but no VM that
# runs unless it is told to; a boot id of yesterday makes runtime records void, and keeps objects.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-clean

cleanup() { # [OPTION...]: sets OUT and STATUS
	OUT=$(timeout $((60 * SLOW)) "${VP[@]}" cleanup "$@" 2>&1 </dev/null)
	STATUS=$?
}

# A VM that runs, and no handler.
alone() {
	[ -n "$HANDLER_PID" ] || handler_up
	vp delete vmi $VM >/dev/null 2>&1 # of the case before
	vm_up $VM "$WORK/$VM.json" || fatal "the VM comes up"
	console_close $VM
	kill -KILL "${RUN_PID[$VM]}" # it would start a new handler
	wait "${RUN_PID[$VM]}" 2>/dev/null
	unset "RUN_PID[$VM]"
	Q=$(qemu_pid $VM)
	handler_kill
}

refused() {
	cleanup
	is "beside a handler: refused" "$STATUS" 3
	like "beside a handler: the message names it" "$OUT" "another virt-handler \\(pid $HANDLER_PID\\) serves this root"
	alone
	cleanup
	is "beside a VM that runs: refused" "$STATUS" 3
	like "beside a VM that runs: the message says what to do" "$OUT" \
		"default/$VM runs \\(process [0-9]+\\): .*delete vmi.*--force"
	is "the VM runs on" "$(qemu_pid $VM)" "$Q"
	is "no handler was started" "$(handler_pids "$ROOT")" ""
	check "its guest answers" ping -c 1 -W 5 10.79.2.2
}

forced() {
	cleanup --force
	is "--force: done" "$STATUS" 0
	like "--force: it says so" "$OUT" 'nothing of it is left in the kernel'
	no_leftovers "--force: nothing is left"
	is "no CPU is held" "$(grep -F "$ROOT" /run/virtpod.cpus 2>/dev/null)" ""
	check "no socket is left that nobody serves" test ! -e "$ROOT/run/handler.sock"
	is "no handler was started" "$(handler_pids "$ROOT")" ""
	cleanup
	is "again: nothing to do, done" "$STATUS" 0
	handler_up
	is "the object is there, and tells its end" "$(vp get vmi $VM -o json | jq -r .status.phase)" Failed
	vm_down $VM
}

# The launcher dies while no handler is there: now it is only rubble.
after_a_crash() {
	alone
	kill -KILL "$(parent_of "$Q")"
	check "QEMU goes with its launcher" wait_gone "$Q" 20
	isnt "there is something to remove" "$(leftovers)" ""
	cleanup
	is "after a crash: done without --force" "$STATUS" 0
	no_leftovers "after a crash: nothing is left"
}

# Records are lost, too: by the names in the kernel alone.
without_records() {
	alone
	rm -f "$ROOT"/run/runtime.db*
	cleanup
	is "without records: a VM that runs is refused, too" "$STATUS" 3
	like "without records: what is known of it is said" "$OUT" 'pod [0-9a-f-]+ has processes.*--force'
	is "without records: the VM runs on" "$(qemu_pid $VM)" "$Q"
	kill -KILL "$(parent_of "$Q")"
	check "QEMU goes with its launcher" wait_gone "$Q" 20
	cleanup
	is "without records: done" "$STATUS" 0
	no_leftovers "without records: nothing is left"
}

# The same for a handler: what it can't find in its stores is no reason to end a guest.
lost_stores() {
	local db
	for db in run/runtime.db lib/store.db; do
		alone
		mkdir "$WORK/away"
		mv "$ROOT/$db"* "$WORK/away"
		OUT=$(timeout $((20 * SLOW)) "$HANDLER" --root "$ROOT" 2>&1 </dev/null)
		is "without $db: no handler starts" $? 1
		like "without $db: what to do is said" "$OUT" "$db.*put that file back.*cleanup --force"
		is "without $db: the VM runs on" "$(qemu_pid $VM)" "$Q"
		rm -f "$ROOT/$db"*
		mv "$WORK"/away/* "$ROOT/${db%/*}"
		rmdir "$WORK/away"
		adopted "with $db"
	done
	alone
	sqlite3 "$ROOT/run/runtime.db" 'DELETE FROM status' || fatal "no status could be deleted"
	adopted "without its status"
}

adopted() { # WHAT
	local from
	from=$(($(wc -l <"$WORK/handler.log") + 1))
	handler_up
	check "$1: the VM is adopted" wait_line "$WORK/handler.log" "default/$VM: adopted" 30 "$from"
	check "$1: it is Running" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	is "$1: it is the same QEMU" "$(qemu_pid $VM)" "$Q"
	vm_down $VM
}

# Who comes back after a reboot finds records of processes and groups that are no more: they say
# nothing, and what is to run is started. Here it is the first handler that was told another boot id.
rebooted() {
	handler_stop
	echo 01234567-89ab-cdef-0123-456789abcdef >"$WORK/boot_id"
	# shellcheck disable=SC2016 # expanded by the inner shell
	HANDLER_BY=(unshare -m bash -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$WORK/boot_id")
	handler_up
	HANDLER_BY=()
	# the kernel mounts no new proc for a pod where something hides a part of the old one
	nsenter -t "$HANDLER_PID" -m umount /proc/sys/kernel/random/boot_id
	alone
	kill -KILL "$(parent_of "$Q")"
	check "QEMU goes with its launcher" wait_gone "$Q" 20
	handler_up
	check "after a reboot: what is to run runs" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	like "after a reboot: what was left was removed" "$(cat "$WORK/handler.log")" 'leftover cgroup of pod .*: removed'
	vm_down $VM
	no_leftovers "after a reboot: nothing is left"
}

# A test that is killed cleans nothing: the next run of the tests does, and leaves alone those that run.
killed_test() {
	local victim out=$WORK/killed.out
	# shellcheck disable=SC2016 # expanded by the inner shell
	VIRTPOD_TEST_TURN=1 bash -c 'source tests/pod/lib.sh; pod_begin; pod_ready
		vmi vt-killed dedicated >"$WORK/vm.json"
		vm_up vt-killed "$WORK/vm.json" && echo "up $TAG"
		read -r' tests/pod/test_killed "$BUILD" >"$out" 2>&1 </dev/zero &
	victim=$!
	check "a test has its VM" wait_line "$out" '^up ' 60 1 $victim
	kill -KILL $victim
	wait $victim 2>/dev/null
	TAG_KILLED=$(sed -n 's/^up //p' "$out")
	isnt "killed, it leaves groups" "$(find /sys/fs/cgroup -name "virtpod-$TAG_KILLED")" ""
	out=$(bash tests/pod/sweep.sh "$BUILD")
	like "the next run says what it removes" "$out" "removing what a killed test left: virtpod-$TAG_KILLED"
	is "no group is left of it" "$(find /sys/fs/cgroup -name "*virtpod-$TAG_KILLED*")" ""
	is "no process" "$(pids_by cmdline -E "vptest\.$victim\.")" ""
	is "no folder" "$(compgen -G "$(dirname "$WORK")/vptest.$victim.*")" ""
	is "no CPU is held by it" "$(grep -F "vptest.$victim." /run/virtpod.cpus)" ""
	is "this test's handler runs" "$(handler_pids "$ROOT")" "$HANDLER_PID"
}

usage() {
	cleanup one
	is "a name: not understood" "$STATUS" 2
	like "a name: it says so" "$OUT" "'one': it takes no names"
	OUT=$("$BUILD/virtpod" --root "$WORK/rooot" cleanup 2>&1)
	is "no such root: failed" "$?" 1
	like "no such root: it says so" "$OUT" "$WORK/rooot: no such root"
	check "no such root: none is made" test ! -e "$WORK/rooot"
}

pod_begin
pod_ready
nad vt-cleannet 10.79.2.1/24 >"$WORK/nad.json"
check "a network is applied" vp apply -f "$WORK/nad.json"
vmi $VM dedicated 'nic("vt-cleannet"; "10.79.2.2/24")' >"$WORK/$VM.json"
usage
refused
forced
after_a_crash
without_records
lost_stores
rebooted
killed_test
pod_stop
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# /var or /run full, read-only, missing or not what they should be: what is asked for is refused with the
# reason, what runs goes on, and with room again all is as before.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-store RUNS=vt-store-runs

# lib and run as file systems of their own, small enough to be filled; in the order of pod_cleanup's umounts.
small_disks() {
	local images=$WORK/images
	mv "$ROOT/lib/images" "$images"
	mkdir -p "$ROOT/lib" "$ROOT/run"
	mount -t tmpfs -o size=64M vtest "$ROOT/lib" || fatal "no file system for lib"
	mount -t tmpfs -o size=8M,mode=711 vtest "$ROOT/run" || fatal "no file system for run"
	cp -r "$images" "$ROOT/lib/images"
	host_state >"$WORK/before"
}

fill() { # FOLDER
	dd if=/dev/zero of="$1/filler" bs=64k 2>/dev/null
	dd if=/dev/zero of="$1/filler2" bs=1 count=4096 2>/dev/null
	return 0
}

# The VM that runs does not notice.
goes_on() { # WHAT
	is "$1: the VM that runs goes on" "$(qemu_pid $RUNS)" "$Q"
	like "$1: its guest answers" "$(guest $RUNS cpus)" 'ok'
}

create() { # sets OUT and STATUS
	OUT=$(timeout $((30 * SLOW)) "${VP[@]}" create -f "$WORK/$VM.json" 2>&1 </dev/null)
	STATUS=$?
}

lib_full() {
	fill "$ROOT/lib"
	create
	is "lib full: create fails" "$STATUS" 1
	like "lib full: the message names the file and why" "$OUT" "lib/store\.db: .*full"
	is "lib full: it is one line" "$(wc -l <<<"$OUT")" 1
	goes_on "lib full"
	check "lib full: what is there is shown" vp get vmi $RUNS
	rm -f "$ROOT"/lib/filler*
	works "lib with room again"
}

run_full() {
	local out status
	fill "$ROOT/run"
	create
	is "run full: create fails" "$STATUS" 1
	like "run full: the message names the file and why" "$OUT" "run/runtime\.db: .*full"
	is "run full: it is one line" "$(wc -l <<<"$OUT")" 1
	is "run full: nothing of it is there" "$(vp get vmi -o name)" "virtualmachineinstance.kubevirt.io/$RUNS"
	out=$(timeout $((20 * SLOW)) "${VP[@]}" wait vmi/$VM --for='jsonpath={.status.phase}=Running' --timeout=1s 2>&1)
	status=$?
	is "run full: wait fails" "$status" 1
	like "run full: and says so" "$out" "$VM: .*it is not there"
	goes_on "run full"
	is "run full: no second QEMU" "$(qemu_pid $VM)" ""
	restarted_full kill
	restarted_full stop
	rm -f "$ROOT"/run/filler*
	works "run with room again"
}

# Nothing that a handler writes at its start is worth a guest.
restarted_full() { # HOW
	console_close $RUNS
	"handler_$1"
	fill "$ROOT/run" # the old one's last writes may have made room
	handler_start "$ROOT" || fatal "run full, handler after $1: $(tail -n 1 "$WORK/handler.log")"
	is "run full, handler after $1: what runs is Running" "$(vp get vmi $RUNS -o json | jq -r .status.phase)" Running
	check "run full, handler after $1: its console" console_open $RUNS
	goes_on "run full, handler after $1"
}

works() { # WHAT
	check "$1: a VM is created" vp create -f "$WORK/$VM.json"
	check "$1: and runs" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	check "$1: and goes" vp delete vmi $VM --grace-period 0
}

# A handler that can't have its folders says which, and why.
no_folder() { # WHAT REGEX
	local out status
	out=$(timeout $((20 * SLOW)) "$HANDLER" --root "$WORK/bad" 2>&1 </dev/null)
	status=$?
	is "$1: the handler ends" "$status" 1
	like "$1: it says which and why" "$out" "$2"
	is "$1: in one line" "$(wc -l <<<"$out")" 1
}

bad_folders() {
	mkdir "$WORK/bad"
	echo >"$WORK/bad/lib"
	no_folder "a file in lib's place" "bad/lib: .*[Nn]ot a directory"
	rm "$WORK/bad/lib"
	mkdir "$WORK/bad/lib"
	echo >"$WORK/bad/run"
	no_folder "a file in run's place" "bad/run: .*[Nn]ot a directory"
	rm -rf "$WORK/bad/run"
	mkdir "$WORK/bad/run"
	mount -t tmpfs -o ro vtest "$WORK/bad/run"
	no_folder "run read-only" "bad/run/handler.lock: .*[Rr]ead-only"
	umount "$WORK/bad/run"
	mount -t tmpfs -o ro vtest "$WORK/bad/lib"
	no_folder "lib read-only" "bad/lib/store\.db: .*(directory|[Rr]ead-only)"
	umount "$WORK/bad/lib"
	mkdir "$WORK/bad/lib/store.db"
	no_folder "a folder in the store's place" "bad/lib/store\.db: .*(directory|[Rr]ead-only)"
}

pod_begin
small_disks
pod_ready
vmi $VM dedicated >"$WORK/$VM.json"
vmi $RUNS >"$WORK/$RUNS.json"
check "a VM is created, with nobody waiting for it" vp create -f "$WORK/$RUNS.json"
check "it runs" wait_for $RUNS 'jsonpath={.status.phase}=Running' 30
console_open $RUNS || fatal "a VM comes up"
Q=$(qemu_pid $RUNS)
lib_full
run_full
bad_folders
vm_down $RUNS
pod_stop
umount "$ROOT/lib" "$ROOT/run"
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A QEMU that is missing, dies, hangs, or speaks nonsense: the start fails with the reason, the handler
# and other VMs do not notice, and nothing is left. Something else lies in QEMU's place in the handler's
# view of the files only.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

QEMU=$(command -v qemu-system-x86_64)

# A handler that finds this file where QEMU is.
handler_with() { # FILE
	# shellcheck disable=SC2016 # expanded by the inner shell
	HANDLER_BY=(unshare -m bash -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$1" "$QEMU")
	handler_up
	HANDLER_BY=()
}

# The fake behaves as the VM's name says.
fails() { # NAME REGEX
	vmi "$1" >"$WORK/$1.json"
	run_start "$1" "$WORK/$1.json" --rm
	run_wait "$1" 60
	is "$1: run's exit status" "$RUN_STATUS" 1
	like "$1: the reason" "$(cat "$WORK/$1.err")" "$2"
	is "$1: it is one line" "$(grep -cE "$2" "$WORK/$1.err")" 1
	no_leftovers "$1: nothing is left"
}

# One that says nothing is waited for, as large guests take long; but not by who does not want it any more,
# and not for ever: launcher/internal.h's START_TIMEOUT_US. What else is tried meanwhile costs no time.
mute() {
	vmi mute >"$WORK/mute.json"
	run_start mute "$WORK/mute.json" --rm
	wait_for mute 'jsonpath={.status.phase}=Scheduled' 30 >/dev/null
	hangs
	spews
	run_wait mute 90
	is "mute: run's exit status" "$RUN_STATUS" 1
	like "mute: the reason" "$(cat "$WORK/mute.err")" 'no greeting from QEMU in time'
	no_leftovers "mute, hangs, spews: nothing is left"
}

hangs() {
	vmi hangs >"$WORK/hangs.json"
	run_start hangs "$WORK/hangs.json" --rm
	check "hangs: it is there" wait_for hangs 'jsonpath={.status.phase}=Scheduled' 30
	check "hangs: the handler answers meanwhile" vp get vmi
	check "hangs: it can be deleted" timeout $((30 * SLOW)) "${VP[@]}" delete vmi hangs
	run_wait hangs 30
	isnt "hangs: run ends" "$RUN_STATUS" timeout
}

# Nothing for a terminal or for a log of ours: ESC and its like, and CSI of the C1 set, as a byte or as UTF-8.
no_codes() { # WHAT FILE
	is "spews: no terminal codes in $1" "$(LC_ALL=C grep -acP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]' "$2")" 0
	is "spews: no C1 codes in $1" "$(LC_ALL=C grep -ac $'\x9b' "$2")" 0
}

spews() {
	local before log
	before=$(($(wc -c <"$WORK/handler.log") + 1))
	vmi spews >"$WORK/spews.json"
	run_start spews "$WORK/spews.json" # it stays, and its logs
	run_wait spews 60
	is "spews: the start fails" "$RUN_STATUS" 1
	tail -c "+$before" "$WORK/handler.log" >"$WORK/spews.handler"
	# 200000 lines were said; those that the launcher keeps as QEMU's last words are passed on
	check "spews: the last of it is in the handler's log" grep -q 'default/spews: .*fake: .*line 199999' "$WORK/spews.handler"
	check "spews: the log has grown by less than 16 KiB" test "$(stat -c %s "$WORK/spews.handler")" -lt 16384
	no_codes "the handler's log" "$WORK/spews.handler"
	for log in qemu launcher; do # as on a person's terminal
		script -qec "$(printf '%q ' "${VP[@]}" logs spews -c $log)" /dev/null </dev/null >"$WORK/spews.$log"
		no_codes "virtpod logs -c $log" "$WORK/spews.$log"
	done
	# of its 256 KiB at least half are there
	check "spews: virtpod logs -c qemu has thousands of lines" test "$(LC_ALL=C grep -ac 'fake: .*line [0-9]' "$WORK/spews.qemu")" -gt 2000
	check "spews: virtpod logs -c launcher has its reason" grep -q 'fake: .*line 199999' "$WORK/spews.launcher"
	check "spews: it is deleted" vp delete vmi spews
}

# What runs needs no file of QEMU: it is taken over and can be looked at and ended. What is to start waits.
missing() {
	local words='no QEMU: none of .*install qemu-system-x86 .*or qemu-kvm' q
	echo not a program >"$WORK/no-program"
	chmod 755 "$WORK/no-program"
	handler_with "$WORK/no-program"
	fails noprogram 'execute.*Exec format error'
	handler_stop
	handler_up
	check "no QEMU: before, a VM is created" vp create -f "$WORK/vt-badqemu.json"
	check "no QEMU: and runs" wait_for vt-badqemu 'jsonpath={.status.phase}=Running' 30
	q=$(qemu_pid vt-badqemu)
	handler_stop
	chmod 644 "$WORK/no-program"
	handler_with "$WORK/no-program"
	like "no QEMU: the handler says it at its start" "$(grep 'no QEMU' "$WORK/handler.log")" "$words.*; no VM starts"
	check "no QEMU: the VM that runs is looked at" vp inspect vt-badqemu
	is "no QEMU: it is taken over" "$(vp get vmi vt-badqemu -o json | jq -r .status.phase) $(qemu_pid vt-badqemu)" "Running $q"
	like "no QEMU: verify says why it can't tell" "$(vp verify vt-badqemu 2>&1)" "$words"
	vmi vt-waits >"$WORK/vt-waits.json"
	run_refused "no QEMU" vt-waits "$words"
	like "no QEMU: the VMI's condition" "$(condition vt-waits Synchronized)" "^False FailedCreate $words"
	check "no QEMU: the VM that runs is deleted" vp delete vmi vt-badqemu
	check "no QEMU: it has ended" wait_gone "$q" 5
	nsenter -t "$HANDLER_PID" -m umount "$QEMU"
	check "QEMU is back: the VM that waits starts by itself" wait_for vt-waits 'jsonpath={.status.phase}=Running' 30
	check "QEMU is back: verify" vp verify vt-waits
	check "QEMU is back: it is deleted" vp delete vmi vt-waits --grace-period 0
	no_leftovers "no QEMU: nothing is left"
	handler_stop
}

pod_begin
[ -x "$BUILD/fake-qemu" ] || fatal "$BUILD/fake-qemu is not there: make $BUILD/fake-qemu"
pod_ready
vmi vt-badqemu >"$WORK/vt-badqemu.json"
vm_up vt-badqemu "$WORK/vt-badqemu.json" --rm || fatal "a VM with the real QEMU comes up"
vm_down vt-badqemu
handler_stop
handler_with "$BUILD/fake-qemu"
fails dies 'QEMU did not start: fake: first line; fake: cannot do it'
fails dies-later 'fake: out of cheese'
fails nonsense 'QMP'
fails huge 'QMP'
fails deep 'QMP'
fails babbles 'query-cpus-fast: unexpected answer'
fails lies 'thread'
mute
handler_stop
missing
handler_up
pod_stop
pod_end

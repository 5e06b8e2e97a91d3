#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A QEMU that is missing, dies, hangs, or speaks nonsense: the start fails with the reason, the handler
# and the next VM do not notice, and nothing is left. Something else lies in QEMU's place in the handler's
# view of the files only.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

QEMU=$(command -v qemu-system-x86_64)

# A handler that finds this file where QEMU is.
handler_with() { # FILE
	# shellcheck disable=SC2016 # expanded by the inner shell
	HANDLER_BY=(unshare -m bash -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$1" "$QEMU")
	handler_start "$ROOT" || fatal "virt-handler does not start: $(tail -n 1 "$WORK/handler.log")"
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

# One that says nothing is waited for, as large guests take long; but not by who does not want it any more.
hangs() {
	vmi hangs >"$WORK/hangs.json"
	run_start hangs "$WORK/hangs.json" --rm
	wait_for hangs 'jsonpath={.status.phase}=Scheduled' 30 >/dev/null
	check "hangs: the handler answers meanwhile" vp get vmi
	check "hangs: it can be deleted" timeout $((30 * SLOW)) "${VP[@]}" delete vmi hangs
	run_wait hangs 30
	isnt "hangs: run ends" "$RUN_STATUS" timeout
	no_leftovers "hangs: nothing is left"
}

spews() {
	local before
	before=$(stat -c %s "$WORK/handler.log")
	vmi spews >"$WORK/spews.json"
	run_start spews "$WORK/spews.json" --rm
	wait_line "$WORK/handler.log" 'QEMU: fake: .*line' 30 >/dev/null
	run_wait spews 60
	is "spews: the start fails" "$RUN_STATUS" 1
	# 200000 lines were said; ten at once and one a second are passed on
	check "spews: the log has grown by less than 16 KiB" test $(($(stat -c %s "$WORK/handler.log") - before)) -lt 16384
	is "spews: no terminal codes in the log" "$(grep -c $'\033' "$WORK/handler.log")" 0
	no_leftovers "spews: nothing is left"
}

missing() {
	local out status
	echo not a program >"$WORK/no-program"
	chmod 755 "$WORK/no-program"
	handler_with "$WORK/no-program"
	fails noprogram 'execute.*Exec format error'
	handler_stop
	chmod 644 "$WORK/no-program"
	# shellcheck disable=SC2016 # expanded by the inner shell
	out=$(timeout $((20 * SLOW)) unshare -m bash -c 'mount --bind "$0" "$1" && shift && exec "$@"' \
		"$WORK/no-program" "$QEMU" "$HANDLER" --root "$ROOT" 2>&1 </dev/null)
	status=$?
	is "no QEMU: the handler ends" "$status" 1
	like "no QEMU: with what to install" "$out" "no QEMU: none of .*install qemu-system-x86 .*or qemu-kvm"
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
hangs
spews
handler_stop
missing
handler_start "$ROOT" || fatal "virt-handler does not start: $(tail -n 1 "$WORK/handler.log")"
pod_stop
pod_end

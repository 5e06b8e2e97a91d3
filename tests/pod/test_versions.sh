#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A handler newer and older than the launchers it finds: it adopts them, or lets their guests run and does
# not start. Handler and launcher that start together are of one version. The other version is
# BUILD_DIR/stops (Makefile).
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-version OURS=$BUILD OTHER=$BUILD/stops

record() { # SQL: of runtime.db, while no handler runs
	sqlite3 "$ROOT/run/runtime.db" "$1" || fatal "sqlite3 does not do: $1"
}

# The VM goes over from a handler to the next one, of another build.
hand_over() { # BUILD
	console_close $VM
	handler_kill
	HANDLER=$1/virt-handler
	handler_up
}

adopted() { # WHAT
	check "$1: adopted" wait_line "$WORK/handler.log" "default/$VM: adopted" 30 "$FROM"
	is "$1: the guest runs on" "$(qemu_pid $VM)" "$Q"
	check "$1: its console is there" console_open $VM
	like "$1: and its shell answers" "$(guest $VM cpus)" 'ok'
	FROM=$(($(wc -l <"$WORK/handler.log") + 1))
}

# Started by a build, adopted by another, ended by that.
from_to() { # FROM TO
	local what="${1##*/} to ${2##*/}"
	HANDLER=$1/virt-handler
	handler_up
	vp create -f "$WORK/$VM.json" >"$WORK/create.log" 2>&1 || fatal "create: $(cat "$WORK/create.log")"
	check "$what: it runs" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	console_open $VM || fatal "its guest comes up"
	Q=$(qemu_pid $VM) FROM=$(($(wc -l <"$WORK/handler.log") + 1))
	hand_over "$2"
	adopted "$what"
	like "$what: what its launcher said meanwhile is logged" "$(vp logs $VM -c launcher)" 'waiting for another'
	console_close $VM
	check "$what: a delete with grace" vp delete vmi $VM
	check "$what: it goes" wait_for $VM delete 40
	like "$what: the guest was asked" "$(tail -n "+$FROM" "$WORK/handler.log")" "default/$VM: ended: Shutdown"
	no_leftovers "$what: nothing is left"
	handler_stop
}

# What another version would have stored, made of what this one did.
records() {
	handler_up
	vm_up $VM "$WORK/$VM.json" || fatal "the VM comes up"
	console_close $VM
	kill -KILL "${RUN_PID[$VM]}" # it would start a new handler
	wait "${RUN_PID[$VM]}" 2>/dev/null
	unset "RUN_PID[$VM]"
	Q=$(qemu_pid $VM) FROM=$(($(wc -l <"$WORK/handler.log") + 1))
	handler_kill
	record "UPDATE pods SET plan = json_remove(json_set(plan, '$.novelty', 1, '$.nics[0].novelty', 'x'), '$.watchdog')"
	handler_up
	adopted "a plan with more and with less"

	console_close $VM
	handler_kill
	record "UPDATE pods SET plan = json_set(plan, '$.accel', 'novel')"
	refused "a plan that can't be read" "default/$VM runs by a plan of another version.*virtpod cleanup --force"
	record "UPDATE pods SET plan = json_set(plan, '$.accel', 'tcg'); PRAGMA user_version = 99"
	refused "another format" "run/runtime.db: written by another version of virtpod \\(format 99"
	record "PRAGMA user_version = 1"
	handler_up
	adopted "readable again"
	vm_down $VM
	no_leftovers "nothing is left of it"
	handler_stop
}

refused() { # WHAT REGEX
	local out status
	out=$(timeout $((20 * SLOW)) "$HANDLER" --root "$ROOT" 2>&1 </dev/null)
	status=$?
	is "$1: the handler does not start" "$status" 1
	like "$1: it says why, and what to do" "$out" "$2"
	is "$1: the guest runs on" "$(qemu_pid $VM)" "$Q"
	FROM=$(($(wc -l <"$WORK/handler.log") + 1))
}

# An installation that is half of one version and half of another.
mixed() {
	mkdir "$WORK/mixed"
	cp "$OURS/virt-handler" "$OTHER/virt-launcher" "$WORK/mixed"
	HANDLER=$WORK/mixed/virt-handler
	handler_up
	run_start $VM "$WORK/$VM.json" --rm
	run_wait $VM 30
	is "a launcher of another version: the start fails" "$RUN_STATUS" 1
	like "a launcher of another version: it says so, and what to do" "$(cat "$WORK/$VM.err")" \
		'virt-launcher is of version [0-9.]+, virt-handler of [0-9.]+: install both from one'
	no_leftovers "a launcher of another version: nothing is left"
	handler_stop
}

pod_begin
[ -x "$OTHER/virt-handler" ] || fatal "$OTHER/virt-handler is not there: make test builds it"
isnt "the two are of different versions" "$("$OTHER/virt-handler" --version)" "$("$OURS/virt-handler" --version)"
pod_ready
nad vt-versionnet 10.79.3.1/24 >"$WORK/nad.json"
check "a network is applied" vp apply -f "$WORK/nad.json"
handler_stop
vmi $VM dedicated 'nic("vt-versionnet"; "10.79.3.2/24")' >"$WORK/$VM.json"
from_to "$OURS" "$OTHER"
from_to "$OTHER" "$OURS"
records
mixed
HANDLER=$OURS/virt-handler
handler_up
pod_stop
pod_end

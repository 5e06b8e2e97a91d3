#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo, as `make run` runs it: without a terminal and with one.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"
DEMO=$(realpath "$(dirname "$0")/../../examples/demo.sh")

shows() { # FILE HOW
	check "$2: the kernel's first lines" grep -qaE 'Linux version|\[ +0\.000000\]' "$1"
	check "$2: the guest's ready line" grep -qa "$READY" "$1"
	check "$2: the boundary" grep -qaE '^ +seccomp +filter, 4 filters' "$1"
	check "$2: namespaces" grep -qaE '^ +own namespaces +cgroup ipc mnt net pid user uts' "$1"
	check "$2: the vCPU's thread" grep -qaE 'CPU 0/(TCG|KVM)' "$1"
	check "$2: the links" grep -qaE 'k6t-' "$1"
	check "$2: the tap" grep -qaE 'tap[0-9a-f]+' "$1"
	check "$2: the ping is answered" grep -qaE '[1-9][0-9]* (packets )?received' "$1"
	check "$2: start-up time by step" grep -qaE '^ +pin +[0-9.]+ ms' "$1"
	check "$2: the guest saw its power button" grep -qa 'power button' "$1"
	check "$2: what was cleaned: links" grep -qa 'no link of ours left' "$1"
	check "$2: what was cleaned: groups" grep -qa 'no cgroup of ours left' "$1"
	check "$2: verify" grep -qaE 'as promised: [0-9]+ checks, no difference' "$1"
}

# Nothing is left when it returns, though a handler may idle on.
clean() { # HOW
	local pid left
	left=$(new_state)
	is "$1: no link, namespace, cgroup or mount is left when it returns" "$left" ""
	is "$1: no QEMU is left" "$(qemu_pid demo)" ""
	for pid in $(handler_pids "$ROOT"); do
		check "$1: the handler ends by itself" wait_gone "$pid" 60
	done
	no_leftovers "$1: nothing is left without a handler"
}

plain() {
	local pid status begun=$SECONDS
	"$DEMO" "$BUILD" "$ROOT" </dev/null >"$WORK/plain.out" 2>&1 &
	pid=$!
	RUN_PID[plain]=$pid
	wait_line "$WORK/plain.out" "$READY" 60 1 "$pid" >/dev/null
	run_wait plain 60
	is "without a terminal: exit status" "$RUN_STATUS" 0
	diag "took $((SECONDS - begun)) s"
	[ "$RUN_STATUS" = 0 ] || diag "$(tail -n 15 "$WORK/plain.out")"
	shows "$WORK/plain.out" "without a terminal"
	clean "without a terminal"
}

terminal() {
	local status
	timeout 90 script -qefc "'$DEMO' '$BUILD' '$ROOT'" "$WORK/tty.out" </dev/null >/dev/null 2>&1
	status=$?
	is "with a terminal: exit status" "$status" 0
	[ "$status" = 0 ] || diag "$(tail -n 15 "$WORK/tty.out")"
	shows "$WORK/tty.out" "with a terminal"
	clean "with a terminal"
}

pod_begin
[ -x "$DEMO" ] || fatal "examples/demo.sh is not there"
plain
terminal
pod_end

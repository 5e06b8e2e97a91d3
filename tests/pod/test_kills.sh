#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of handler, launcher and QEMU at each named step of a start and of an end (lib/stop.h): the next
# handler, or the one that goes on, cleans, the VMI has failed or is gone, and nothing is left.
# By the build with stops, BUILD_DIR/stops.
# shellcheck disable=SC2317 # functions by name
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-kill HANDLER=$BUILD/stops/virt-handler CLIENT='' FROM=''
SOURCES=$(dirname "$0")/../..
NOTHING_YET=(admit-done plan-done) # no record: the next handler starts the VM as if it were new
ASKED=(stop-asked stop-sigterm) # in an end, with a QEMU still there
START=(cpus cpus-done cgroup cgroup-done net net-done disks disks-done spawn spawn-unrecorded
	launcher-enter launcher-entered spawn-done qemu launcher-start qemu-exec launcher-started qemu-done
	pin pin-done run launcher-continued run-done)
END=(launcher-ended launcher-told undo-run undo-pin undo-qemu undo-spawn undo-disks undo-net undo-cgroup
	undo-cpus undone forgotten)
END_LAUNCHER=(launcher-ended launcher-told)
# of START: from here on there is a launcher, or a QEMU
LAUNCHER_FROM=spawn-unrecorded QEMU_FROM=launcher-started
KIND=dedicated
# On v2 the pod is a partition where CPUs suffice: most is to be undone then. The lab, where all takes longer,
# has the steps at which v2's tree is another one than v1's: groups made and removed, a process born in its
# group, threads placed in threaded ones.
if [ -n "$V2" ] && [ "$LAST_CPU" -ge 2 ]; then
	KIND+=' | .spec.domain.cpu.isolateEmulatorThread = true'
	REST_CPUS=0-$((LAST_CPU - 2))
fi
if [ -n "$V2" ] && [ -n "${VIRTPOD_TEST_SLOW:-}" ]; then
	START=(cgroup cgroup-done spawn spawn-unrecorded launcher-entered pin pin-done)
	END=(undo-pin undo-spawn undo-cgroup undone)
	END_LAUNCHER=(launcher-told)
	LAUNCHER_FROM=launcher-entered QEMU_FROM=pin
fi

# Clients are no functions: a function's subshell would be killed in their place.
stop_in_start() { # STEP
	begin "$1"
	"${VP[@]}" create -f "$WORK/$VM.json" >"$WORK/client.log" 2>&1 &
	CLIENT=$!
	stopped "$1"
}

stop_in_end() { # STEP
	begin "$1"
	vp create -f "$WORK/$VM.json" >"$WORK/client.log" 2>&1
	wait_for $VM 'jsonpath={.status.phase}=Running' 30 >/dev/null
	"${VP[@]}" delete vmi $VM --grace-period 0 >"$WORK/client.log" 2>&1 &
	CLIENT=$!
	stopped "$1"
}

# A handler that will stand still at a step, or have its launcher do so.
begin() { # STEP
	FROM=$(($(wc -l <"$WORK/handler.log") + 1))
	HANDLER_BY=(env "VIRTPOD_STOP=$1")
	handler_up
	HANDLER_BY=()
}

# The line in the log says which process it is.
stopped() { # STEP
	wait_line "$WORK/handler.log" "stopped at '$1'" 30 "$FROM" >/dev/null && return
	not_ok "$1: the step is reached" "$(tail -n "+$FROM" "$WORK/handler.log")"
	return 1
}

launcher_pid() {
	pgrep -P "$HANDLER_PID" -x virt-launcher
}

# Whoever stands still goes on.
go_on() {
	local pid
	pid=$(launcher_pid)
	kill -CONT "$HANDLER_PID"
	# shellcheck disable=SC2046,SC2086 # a pid or two
	[ -z "$pid" ] || kill -CONT $pid $(pgrep -P "$pid") 2>/dev/null
}

client_ends() {
	kill -KILL "$CLIENT" 2>/dev/null
	wait "$CLIENT" 2>/dev/null
}

kill_handler() { # STEP
	client_ends
	handler_kill
	handler_start "$ROOT" || fatal "$1: no new handler: $(tail -n 1 "$WORK/handler.log")"
}

kill_launcher() { # STEP
	local pid
	pid=$(launcher_pid) || { not_ok "$1: there is a launcher"; return; }
	kill -KILL "$pid"
	go_on
	client_ends
}

kill_qemu() { # STEP
	local pid
	pid=$(qemu_pid "$VM" || pgrep -P "$(launcher_pid)") || { not_ok "$1: there is a QEMU"; return; }
	kill -KILL "$pid"
	go_on
	client_ends
}

# What must be so after a death in a start: the VMI failed, whatever had been reached.
start_failed() { # WHAT
	check "$1: the VMI has failed" wait_for $VM 'jsonpath={.status.phase}=Failed' 30
	gone "$1"
}

gone() { # WHAT
	no_leftovers "$1: nothing is left but the object"
	vp delete vmi $VM --grace-period 0 >/dev/null 2>&1
	is "$1: the VMI can be deleted" "$(vp get vmi -o name)" ""
	is "$1: no CPU is held" "$(grep -F "$ROOT" /run/virtpod.cpus 2>/dev/null)" ""
	handler_stop
	is "$1: the handler ends with 0" "$HANDLER_STATUS" 0
}

# The guest had been let go: it is no start that failed, and the next handler has it.
start_adopted() { # WHAT
	kill -CONT "$(parent_of "$(qemu_pid $VM)")" # the launcher, nobody's child now
	check "$1: the VMI is adopted" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	check "$1: its guest runs" qemu_pid $VM
	vp delete vmi $VM --grace-period 0 >/dev/null 2>&1
	gone "$1"
}

each_start() { # VICTIM FROM
	local step there=''
	for step in "${START[@]}"; do
		[ "$step" != "$2" ] || there=yes
		[ -n "$there" ] || continue
		stop_in_start "$step" || continue
		"kill_$1" "$step"
		case $1-$step in
		handler-launcher-continued | handler-run-done) start_adopted "$1 killed at $step" ;;
		*) start_failed "$1 killed at $step" ;;
		esac
	done
}

each_end() { # VICTIM STEP...
	local victim=$1 step
	shift
	for step; do
		stop_in_end "$step" || continue
		"kill_$victim" "$step"
		check "$victim killed at $step: the VMI goes" wait_for $VM delete 30
		gone "$victim killed at $step"
	done
}

# All names in the sources; pod.c makes some of a step's, most of them where there is something to undo.
names() {
	local all undone name
	all=$(grep -ohE '\{"[a-z]+", step_[a-z]+, [a-zA-Z_]+\}' "$SOURCES/handler/steps.c")
	undone=$(grep -v 'NULL}' <<<"$all" | cut -d'"' -f2)
	all=$(cut -d'"' -f2 <<<"$all")
	grep -rohE --include='*.c' 'stop_at\("[^"]*"' "$SOURCES"/{lib,sandbox,cgroups,net,launcher,handler,cmd} |
		cut -d'"' -f2 | while read -r name; do
		case $name in
		%s-done) awk '{ print $0 "-done" }' <<<"$all" ;;
		%s | *-%s) awk -v kind="${name%\%s}" '{ print kind $0 }' <<<"$undone" ;;
		*) echo "$name" ;;
		esac
	done
}

# A name that none of the lists above has is a place at which nobody kills anything.
all_tried() {
	is "every stop in the sources is one of this test's" \
		"$(names | grep -vxf <(sed -n '/^[A-Z_]*=(/,/)/{s/#.*//;p}' "$0" | grep -oE '[a-z]+(-[a-z]+)*'))" ""
	like "they are found: some of each kind" "$(names | sort -u | xargs)" 'cpus cpus-done .*launcher-ended .*undo-cpus '
}

kill_before() { # STEP
	stop_in_start "$1" || return
	kill_handler "$1"
	check "handler killed at $1: the next one starts the VM" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	vp delete vmi $VM --grace-period 0 >/dev/null 2>&1
	gone "handler killed at $1"
}

pod_begin
all_tried
[ -x "$HANDLER" ] || fatal "$HANDLER is not there: make stops"
VP[0]=$BUILD/stops/virtpod # of the same version
pod_ready
nad vt-killnet 10.79.1.1/24 >"$WORK/nad.json"
check "a network is applied" vp apply -f "$WORK/nad.json"
truncate -s 8M "$WORK/disk.img"
vmi $VM "$KIND" 'nic("vt-killnet"; "10.79.1.2/24")' 'hostdisk("d"; "'"$WORK"'/disk.img")' >"$WORK/$VM.json"
vm_up $VM "$WORK/$VM.json" --rm || fatal "the VM comes up"
[ "$KIND" = dedicated ] || is "its pod is a partition" "$(vp inspect $VM -o json | jq -r .exclusivity)" kernel
vm_down $VM
handler_stop
each_start handler "${START[0]}"
each_start launcher $LAUNCHER_FROM
each_start qemu $QEMU_FROM
for step in "${NOTHING_YET[@]}"; do kill_before "$step"; done
stop_in_start qemu-exec && kill_qemu qemu-exec && start_failed "QEMU's child killed at qemu-exec"
for victim in handler launcher qemu; do each_end $victim "${ASKED[@]}"; done
each_end handler "${END[@]}"
each_end launcher "${END_LAUNCHER[@]}"
handler_up
pod_stop
pod_end

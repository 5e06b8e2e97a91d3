#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The host's clock is set a day forward, then a year back, while VMs run, start and end and while others wait
# for a time: a grace period, `virtpod wait --timeout`, a VirtualMachine's next try. None of them may be over
# before its time by the uptime, nor last for ever. Sets the clock: for the lab alone.
export VIRTPOD_TEST_SLOW=${VIRTPOD_TEST_SLOW:-8}
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"

RUNS=vt-runs OTHER=vt-other DEAF=vt-deaf FAILS=vt-fails
DAY=86400 YEAR=$((365 * 86400))
WAIT=20 BACK_OFF=10 # seconds: of a wait and a grace period, of a first back-off
declare -A BEGAN=() WAITER=()

uptime_now() { # whole seconds
	cut -d . -f 1 /proc/uptime
}

# In the background: COMMAND's end, its status and uptime, are in WORK/NAME.end.
ends() { # NAME COMMAND...
	local name=$1
	shift
	rm -f "$WORK/$name.end"
	BEGAN[$name]=$(uptime_now)
	{
		"$@" >"$WORK/$name.log" 2>&1
		echo "$? $(uptime_now)" >"$WORK/$name.end"
	} &
	WAITER[$name]=$!
}

# Not before its time, as only a late end is the machine's fault, but some time.
ended_after() { # WHAT NAME SECONDS STATUS
	local end=0 status=none
	wait_gone "${WAITER[$2]}" 30 && wait "${WAITER[$2]}" && read -r status end <"$WORK/$2.end"
	is "$1: it ends" "$status" "$4"
	check "$1: after no less than $3 s" test $((end - BEGAN[$2])) -ge "$3"
}

# All that waits while the clock is set.
arm() {
	local q
	run_start $DEAF "$WORK/$DEAF.json"
	run_running $DEAF || fatal "$DEAF does not run"
	q=$(qemu_pid $DEAF)
	echo "$q" >"$WORK/deaf.pid"
	ends wait "${VP[@]}" wait vmi/$RUNS --for=delete --timeout=${WAIT}s
	ends grace pidwait -F "$WORK/deaf.pid"
	check "a VM that does not listen is deleted" vp delete vmi $DEAF --grace-period $WAIT --wait=false
	ends retry "${VP[@]}" wait vm/$FAILS --for='jsonpath={.status.startFailure.consecutiveFailCount}=2' \
		--timeout=$((30 * SLOW))s
	check "a VM that can't start" vp apply -f "$WORK/$FAILS.json"
	check "waits for its next try" vp wait vm/$FAILS --for='jsonpath={.status.printableStatus}=CrashLoopBackOff' \
		--timeout=$((20 * SLOW))s
}

# A start and an end, each of which has the handler look at all VMs.
others() { # WHAT
	local from
	from=$(($(wc -l <"$WORK/watched") + 1))
	run_start $OTHER "$WORK/$OTHER.json" --rm
	check "$1: another VM starts" run_running $OTHER
	check "$1: a watch tells it" wait_line "$WORK/watched" "$OTHER Running" 20 "$from"
	check "$1: and is ready, a condition says" wait_for $OTHER condition=Ready 20
	vm_down $OTHER
	is "$1: and ends" "$RUN_STATUS" 0
}

goes_on() { # WHAT
	like "$1: the guest answers" "$(guest $RUNS cmdline)" 'console=ttyS0'
	is "$1: in the same QEMU" "$(qemu_pid $RUNS)" "$Q"
	is "$1: it runs, says the status" "$(vp get vmi $RUNS -o json | jq -r .status.phase)" Running
	check "$1: verify" vp verify $RUNS
	check "$1: its first event is kept" grep -q "$FIRST_EVENT" <(events)
}

events() {
	vp get events -o json | jq -r '.items[] | "\(.involvedObject.name) \(.reason) \(.metadata.uid)"'
}

waited() { # WHAT
	ended_after "$1: virtpod wait" wait $WAIT 1
	like "$1: it says why" "$(cat "$WORK/wait.log")" 'timed out'
	ended_after "$1: grace period" grace $WAIT 0
	is "$1: the launcher has kept it" \
		"$(cat "$WORK/handler.log" "$ROOT/run/handler.log" 2>/dev/null | grep 'did not end its guest in time')" ""
	run_wait $DEAF 30
	ended_after "$1: next try of the VM that can't start" retry $BACK_OFF 0
	check "$1: and can be deleted" vp delete vm $FAILS
}

# Those who wait start another handler at once: none of the test's own has a chance.
restart() { # WHAT SIGNAL
	local ended=$HANDLER_PID
	kill "-$2" "$ended"
	check "$1: the handler ends" wait_gone "$ended" 20
	check "$1: there is another one" vp get node
	HANDLER_PID=$(handler_pids "$ROOT")
	isnt "$1: which is not the same" "$HANDLER_PID" "$ended"
	console_close $RUNS # it went with the handler
	check "$1: the console can be had again" console_open $RUNS
}

jump() { # WHAT SECONDS
	arm
	check "$1: the clock is set" date -s "@$((EPOCHSECONDS + $2))"
	others "$1"
	goes_on "$1"
}

[ -e /run/lab/env ] || { echo "Bail out! this test sets the clock: make lab-test"; exit 1; }
pod_begin
vmi $RUNS dedicated >"$WORK/$RUNS.json"
# firmware alone: it starts at once, and no power button means anything to it
vmi $OTHER 'del(.spec.domain.firmware)' >"$WORK/$OTHER.json"
vmi $DEAF 'del(.spec.domain.firmware)' >"$WORK/$DEAF.json"
vmi $FAILS 'del(.spec.domain.firmware)' 'hostdisk("d"; "'"$WORK"'/gone.img")' |
	jq '{apiVersion, kind: "VirtualMachine", metadata, spec: {runStrategy: "Always", template: {spec: .spec}}}' \
		>"$WORK/$FAILS.json"
pod_ready
vm_up $RUNS "$WORK/$RUNS.json" --rm || fatal "the VM comes up"
Q=$(qemu_pid $RUNS)
FIRST_EVENT=$(events | grep -m1 "^$RUNS ")
isnt "there is an event of it" "$FIRST_EVENT" ""
: >"$WORK/watched"
"${VP[@]}" get vmi -w -o json 2>"$WORK/watch.log" \
	> >(exec jq --unbuffered -r '"\(.metadata.name) \(.status.phase)"' >"$WORK/watched") &
WATCH=$!
jump "a day forward" $DAY
restart "SIGKILL, a day forward" KILL # while all wait
waited "a day forward"
others "after SIGKILL"
jump "a year back" -$YEAR
waited "a year back" # by the same launcher and handler
restart "SIGTERM, a year back" TERM
others "after SIGTERM"
goes_on "after SIGTERM"
date -s "@$((EPOCHSECONDS + YEAR - DAY))" >/dev/null # for those who come after
kill $WATCH
wait $WATCH 2>/dev/null
vm_down $RUNS
is "the VM's run has seen its end" "$RUN_STATUS" 0
wait_gone "$HANDLER_PID" 20 # one that was started on demand ends by itself
pod_ready
pod_stop
pod_end

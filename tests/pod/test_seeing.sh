#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a person sees of VMs without being there: events, describe, logs; and that no guest can flood any of it.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

ONE=vt-see1 TWO=vt-see2 VM=vt-seevm follow=

# type, reason and message of an object's events, the oldest first
events_of() { # KIND NAME
	vp get events -o json | jq -r --arg k "$1" --arg n "$2" '.items[] |
		select(.involvedObject.kind == $k and .involvedObject.name == $n) |
		"\(.type) \(.reason) \(.message)"'
}

reasons_of() { # KIND NAME
	events_of "$1" "$2" | cut -d' ' -f2 | xargs
}

a_life() {
	local watch
	vmi $ONE >"$WORK/$ONE.json"
	"${VP[@]}" get events -w >"$WORK/watched" 2>&1 & # no function: its pid is virtpod's
	watch=$!
	vm_up $ONE "$WORK/$ONE.json" || fatal "no guest"
	is "events of a start" "$(reasons_of VirtualMachineInstance $ONE)" "SuccessfulCreate Created Started"
	check "the watch shows them" wait_line "$WORK/watched" \
		"Normal +Started +virtualmachineinstance/$ONE +VirtualMachineInstance started" 20
	kill "$watch" # else it starts a handler when ours is killed
	wait "$watch" 2>/dev/null
	vp get events >"$WORK/table"
	like "a table" "$(head -n 1 "$WORK/table")" '^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$'
	is "with a row for each" "$(grep -c "virtualmachineinstance/$ONE" "$WORK/table")" 3
	like "wide" "$(vp get events -o wide)" 'SOURCE .*COUNT.*virt-handler'
}

# They outlive the handler and the object.
described() {
	local text
	text=$(vp describe vmi/$ONE)
	like "describe: who it is" "$text" "^Name: +$ONE"$'\n'"Namespace: +default"
	like "describe: what it does" "$text" "Phase: +Running"
	like "describe: its conditions" "$text" "Conditions:"$'\n'"  TYPE +STATUS +REASON"
	like "describe: its events, at the end" "$text" \
		$'\n'"Events:"$'\n'"  TYPE +REASON +AGE +FROM +MESSAGE"$'\n'.*"  Normal +Started +[0-9a-z]+ +virt-handler +VirtualMachineInstance started\.\$"
	like "describe node: who is on it" "$(vp describe node)" "VMs:"$'\n'".* default +$ONE +Running"
	is "describe: what is not there" "$(vp describe vmi nobody 2>&1 | wc -l)" 1
}

size_of() { # FILE
	stat -c %s "$1" 2>/dev/null || echo 0
}

# Below the bound and, so that it was reached, above half of it.
bounded() { # NAME SIZE BOUND
	if [ "$2" -le "$3" ] && [ "$2" -ge $(($3 / 2)) ]; then ok "$1"; else not_ok "$1" "$2 bytes of $3"; fi
}

# A guest, a QEMU and a launcher that say more than anybody wants to keep.
floods() {
	local dir q before
	dir=$ROOT/run/pods/$(vp get vmi $ONE -o json | jq -r .metadata.uid)
	q=$(qemu_pid $ONE)
	like "the console's log" "$(vp logs $ONE)" "$READY"
	is "its last line only" "$(vp logs $ONE --tail 1 | wc -l)" 1
	"${VP[@]}" logs $ONE -f >"$WORK/followed" 2>"$WORK/followed.err" &
	follow=$!
	before=$(size_of "$WORK/handler.log")
	like "the guest floods its console" "$(guest $ONE 'flood 53000' 300)" 'ok$'
	bounded "the console's log is bounded" "$(size_of "$dir/console.log")" 4194304
	is "QEMU floods its stderr" "$(yes 'a line of QEMU' | head -c 4M >"/proc/$q/fd/2" && echo said)" said
	wait_line "$dir/qemu.log" . 20 >/dev/null
	bounded "QEMU's log is bounded" "$(size_of "$dir/qemu.log")" 262144
	like "virtpod logs -c qemu" "$(vp logs $ONE -c qemu --tail 2)" '^a line of QEMU'$'\n'
	printf '\na code \302\2332J \2332J \033[2J\n' >"/proc/$q/fd/2"
	wait_line "$dir/qemu.log" 'a code' 20 >/dev/null
	is "virtpod logs for a program" "$(vp logs $ONE -c qemu --tail 1)" $'a code \302\2332J \2332J \033[2J'
	is "virtpod logs on a terminal" \
		"$(script -qec "$(printf '%q ' "${VP[@]}" logs $ONE -c qemu --tail 1)" /dev/null </dev/null)" \
		$'a code ?2J ?2J ?[2J\r'
	is "the launcher floods its stderr" \
		"$(yes 'a line of the launcher' | head -c 400K >"/proc/$(parent_of "$q")/fd/2" && echo said)" said
	bounded "the launcher's log is bounded" "$(size_of "$dir/launcher.log")" 262144
	like "virtpod logs -c launcher" "$(vp logs $ONE -c launcher --tail 1)" '^[0-9T:-]+Z a line of the launcher'
	check "the handler's own log takes little of all that" \
		test $(($(size_of "$WORK/handler.log") - before)) -lt 16384
	is "no event of it" "$(reasons_of VirtualMachineInstance $ONE)" "SuccessfulCreate Created Started"
	like "the guest lives" "$(guest $ONE mem)" 'ok$'
	is "no such log" "$(vp logs $ONE -c compute 2>&1 >/dev/null | wc -l)" 1
}

an_end() {
	local console
	console_close $ONE
	"${VP[@]}" console $ONE >"$WORK/plain" 2>"$WORK/plain.err" </dev/null &
	console=$!
	wait_line "$WORK/plain" "$READY" 20 >/dev/null
	kill -STOP "${RUN_PID[$ONE]}" # nor does run
	handler_kill
	wait "$console"
	is "a console is told that the handler has gone: exit status" "$?" 1
	is "and in words" "$(cat "$WORK/plain.err")" \
		"virtpod: vmi default/$ONE: the console's connection is gone: virt-handler has ended; the VM runs on"
	wait "$follow"
	is "a follower is told that the handler has gone: exit status" "$?" 4
	is "and how to go on" "$(cat "$WORK/followed.err")" \
		"virtpod: virt-handler has ended, the VM lives on; virtpod --root $ROOT logs $ONE -c console -f --tail 10 goes on"
	check "it has followed" grep -qa "$READY" "$WORK/followed"
	handler_start "$ROOT" || fatal "no handler"
	kill -CONT "${RUN_PID[$ONE]}"
	is "after kill -9 of the handler" "$(reasons_of VirtualMachineInstance $ONE)" \
		"SuccessfulCreate Created Started"
	check "deleted" vp delete vmi $ONE
	run_wait $ONE 60
	is "events of its end" "$(events_of VirtualMachineInstance $ONE | tail -n 2)" \
		"Normal ShuttingDown Signaled Graceful Shutdown"$'\n'"Normal Stopped The VirtualMachineInstance was shut down."
}

killed() {
	vmi $TWO 'grace(0)' >"$WORK/$TWO.json"
	vm_up $TWO "$WORK/$TWO.json" || fatal "no guest"
	kill -KILL "$(qemu_pid $TWO)"
	run_wait $TWO 30
	like "its log is kept" "$(vp logs $TWO)" "$READY"
	is "followed, it ends" "$(timeout 60 "${VP[@]}" logs $TWO -f --tail 1 | wc -l)" 1
	like "a QEMU that was killed" "$(events_of VirtualMachineInstance $TWO | tail -n 1)" \
		'^Warning Stopped The VirtualMachineInstance crashed: QEMU died of signal 9'
}

forgotten() {
	check "what has ended is deleted" vp delete vmi $TWO
	is "its logs go with it" "$(find "$ROOT/lib/logs" -mindepth 1)" ""
}

refused() {
	vmi wide dedicated '.spec.domain.cpu.cores = 64' >"$WORK/wide.json"
	run_refused "too many CPUs" wide
	like "a refusal says why" "$(events_of VirtualMachineInstance wide)" '^Warning FailedScheduling .*64'
	check "some other object changes" vp create -f <(jq -n '{apiVersion: "v1", kind: "Namespace", metadata: {name: "vt-see"}}')
	is "tried again it is no other event" "$(events_of VirtualMachineInstance wide | wc -l)" 1
	vp delete vmi wide >/dev/null
}

virtualmachine() {
	vmi $VM | jq '.kind = "VirtualMachine" | .spec = {runStrategy: "Once", template: {spec: .spec}}' >"$WORK/$VM.json"
	check "a VirtualMachine" vp create -f "$WORK/$VM.json"
	check "runs" wait_for $VM 'jsonpath={.status.phase}=Running' 60
	is "its event" "$(events_of VirtualMachine $VM)" \
		"Normal SuccessfulCreate Started the virtual machine by creating the new virtual machine instance $VM"
	check "is deleted" vp delete vm $VM --grace-period 0
	is "its reasons" "$(reasons_of VirtualMachine $VM)" "SuccessfulCreate SuccessfulDelete"
}

pod_begin
pod_ready
a_life
described
floods
an_end
killed
forgotten
refused
virtualmachine
pod_stop
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many clients at once: a hundred VMs come and go, and two clients that want the same name are told apart.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

COUNT=100 NAME=vt-race

# One client's whole life with a VM: its exit statuses and what went wrong.
come_and_go() { # NAME
	vmi "$1" 'grace(0)' '.spec.domain.memory.guest = "32Mi"' >"$WORK/$1.json"
	vp create -f "$WORK/$1.json" >"$WORK/$1.out" 2>&1
	echo "create $?"
	vp delete vmi "$1" --grace-period 0 >>"$WORK/$1.out" 2>&1
	echo "delete $?"
}

crowd() {
	local i pids=()
	for ((i = 0; i < COUNT; i++)); do
		come_and_go "vt-crowd$i" >"$WORK/crowd$i.status" &
		pids+=($!)
	done
	wait "${pids[@]}"
	is "$COUNT at once: each is created and deleted" \
		"$(cat "$WORK"/crowd*.status | sort | uniq -c | tr -s ' ')" " $COUNT create 0"$'\n'" $COUNT delete 0"
	is "$COUNT at once: no object is left" "$(vp get vmi -o name)" ""
	check "$COUNT at once: the handler is the same" kill -0 "$HANDLER_PID"
	is "$COUNT at once: no descriptor of theirs is left in it" "$(find "/proc/$HANDLER_PID/fd" -mindepth 1 | wc -l)" "$FDS"
	no_leftovers "$COUNT at once: nothing is left"
}

# Two of the same command at once: sorted exit statuses, what they said in NAME.1 and NAME.2.
both() { # COMMAND...
	local a b first second
	"${VP[@]}" "$@" >"$WORK/both.1" 2>&1 &
	a=$!
	"${VP[@]}" "$@" >"$WORK/both.2" 2>&1 &
	b=$!
	wait "$a"
	first=$?
	wait "$b"
	second=$?
	printf '%s\n' "$first" "$second" | sort -n | xargs
}

races() {
	local i creates='' deletes='' uids=''
	for ((i = 0; i < 10; i++)); do
		creates+="$(both create -f "$WORK/$NAME.json"),"
		grep -hq 'already exists' "$WORK"/both.[12] || creates+="without a word,"
		uids+="$(vp get vmi $NAME -o json | jq -r .metadata.uid) "
		deletes+="$(both delete vmi $NAME --grace-period 0 --wait=true | sed 's/^0 0$\|^0 1$/one at least/'),"
		is "race $i: it is gone" "$(vp get vmi -o name)" ""
	done
	is "ten times two creates: one has it, the other is refused" "$creates" "$(printf '0 3,%.0s' {1..10})"
	is "ten times: another object each" "$(tr ' ' '\n' <<<"$uids" | grep -c .),$(tr ' ' '\n' <<<"$uids" | sort -u | grep -c .)" 10,10
	is "ten times two deletes: it goes for both, or is gone already" "$deletes" "$(printf 'one at least,%.0s' {1..10})"
	no_leftovers "nothing is left of the races"
}

pod_begin
pod_ready
vmi $NAME 'grace(0)' >"$WORK/$NAME.json"
vm_up $NAME "$WORK/$NAME.json" --rm || fatal "a VM comes up"
vm_down $NAME
FDS=$(find "/proc/$HANDLER_PID/fd" -mindepth 1 | wc -l)
races
crowd
pod_stop
pod_end

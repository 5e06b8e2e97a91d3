#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names of links that somebody else has: a refusal, nothing of theirs touched, and a start once the name
# is free.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-netfault NET=vt-faults
THEIRS=()

# As handler/linknames.c makes them: a prefix, and the beginning of a SHA-256.
link_name() { # PREFIX TEXT
	echo "$1$(printf %s "$TAG/$2" | sha256sum | cut -c1-11)"
}

# What somebody else's link is, apart from what the kernel counts.
link_state() { # NAME
	ip -d -j link show dev "$1" | jq -c '.[] | [.ifindex, .address, .mtu, .flags, .ifalias, .master, .linkinfo.info_kind]'
	ip -j addr show dev "$1" | jq -c '.[].addr_info | map(.local)'
}

theirs() { # NAME ip-link-add ARGUMENT...: a link of somebody else
	THEIRS+=("$1")
	ip link add "$@"
}

# The last resort of a test that was stopped half-way.
# shellcheck disable=SC2317 # by way of trap
drop_theirs() {
	local link
	for link in "${THEIRS[@]}"; do ip link del "$link" 2>/dev/null; done
	pod_cleanup
}

# A VM that waits for the name: it says so, the link is as before, and there is nothing of ours.
waits_for() { # CASE NAME WHO
	local before
	before=$(link_state "$2")
	run_start $VM "$WORK/$VM.json"
	run_wait $VM 30
	is "$1: refused" "$RUN_STATUS" 3
	refusal_says "$1" "$2" "$3"
	is "$1: the link is as it was" "$(link_state "$2")" "$before"
}

refusal_says() { # CASE NAME WHO
	local said
	said=$(condition $VM Synchronized)
	like "$1: what was wanted, what is there, and what to do" "$said" \
		"^False FailedCreate interface 'net0': .* must be named '$2', and a link of that name is there that is not ours \\($3\\): remove or rename it"
	is "$1: one line" "$(wc -l <<<"$said")" 1
	is "$1: the VM waits" "$(vp get vmi $VM -o json | jq -r .status.phase)" Pending
	like "$1: an event says the same" "$(vp get events)" "FailedCreate .*must be named '$2'"
	is "$1: nothing of ours is there" "$(ours_beside "$2")" ""
}

# What is left but for the link and its peer. A start that is tried again, every ten seconds, may pass by
# while it is looked for, but not twice.
ours_beside() { # NAME
	local found
	for _ in 1 2; do
		found=$(leftovers | grep -vE "^link $1(-p)? ")
		[ -n "$found" ] || break
	done
	echo "$found"
}

bridge_taken() {
	local name
	name=$(link_name vb "default/$NET")
	theirs "$name" type bridge
	waits_for "a bridge without a name of ours" "$name" "bridge, alias ''"
	ip link set "$name" alias "virtpod:ffffffff:default/$NET"
	vm_down $VM
	waits_for "another root's bridge" "$name" "bridge, alias 'virtpod:ffffffff:default/$NET': virtpod's, of another root or network"
	vm_down $VM
	ip link del "$name"
	ip link add "$name" type veth peer name "$name-p"
	waits_for "no bridge at all" "$name" "veth, alias ''"
	ip link del "$name"
	check "the name is free: the VM starts" wait_for $VM 'jsonpath={.status.phase}=Running' 40
	is "and the refusal goes" "$(condition $VM Synchronized)" ""
	check "and all is as promised" vp verify $VM
	vm_down $VM
	no_leftovers "after a bridge's name was taken: nothing is left"
}

# Which name the veth has is known once the VM has its uid: it waits for its network first.
veth_taken() {
	local name before
	vp delete net-attach-def $NET >/dev/null
	vp apply -f "$WORK/$VM.json" >/dev/null
	check "a VM waits for its network" vmi_when $VM '[.status.conditions[] | select(.reason == "FailedCreate")] != []' 30
	name=$(link_name vv "$(vp get vmi $VM -o json | jq -r .metadata.uid)/net0")
	theirs "$name" type veth peer name "$name-p"
	before=$(link_state "$name")
	vp apply -f "$WORK/nad.json" >/dev/null
	check "the veth's name is taken: said" vmi_when $VM '[.status.conditions[] | select(.message // "" | test("must be named"))] != []' 30
	refusal_says "the veth's name is taken" "$name" "veth, alias ''"
	is "the veth's name is taken: the link is as it was" "$(link_state "$name")" "$before"
	handler_kill
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	is "nor does a new handler touch it" "$(link_state "$name")" "$before"
	ip link del "$name"
	check "the veth's name is free: the VM starts" wait_for $VM 'jsonpath={.status.phase}=Running' 40
	vm_down $VM
	no_leftovers "after a veth's name was taken: nothing is left"
}

pod_begin
trap drop_theirs EXIT
pod_ready
nad $NET 10.79.5.1/24 >"$WORK/nad.json"
check "a network is applied" vp apply -f "$WORK/nad.json"
vmi $VM "nic(\"$NET\"; \"10.79.5.2/24\")" >"$WORK/$VM.json"
bridge_taken
veth_taken
pod_stop
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names of links that somebody else has: a refusal, nothing of theirs touched, and a start once the name
# is free. Links and the namespace's pin that somebody removes below a VM: it runs on, its status says what
# is missing and for how long, a new handler takes it over, and it can be deleted.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-netfault OTHER=vt-netother NET=vt-faults
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

# --- what is removed below a VM ------------------------------------------------------------------

up() {
	vp apply -f "$WORK/$VM.json" >/dev/null # nobody waits for it, who would start a handler
	check "a VM is there" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	console_open $VM || fatal "the VM comes up"
	Q=$(qemu_pid $VM)
	PIN=$ROOT/run/netns/$(vp get vmi $VM -o json | jq -r .metadata.uid)
	VETH=$(link_name vv "${PIN##*/}/net0") BRIDGE=$(link_name vb "default/$NET")
	TAP=$(in_netns "$Q" ip -j -d link | jq -r '.[] | select(.linkinfo.info_kind == "tun").ifname')
	check "as it was made: verify" vp verify $VM
	is "as it was made: no word of it" "$(condition $VM virtpod.io/Network)" ""
}

# shellcheck disable=SC2317 # by way of check
reaches() { # NAME: the host answers its guest
	[[ $(guest "$1" 'ping 10.79.5.1 2') =~ received=[12] ]]
}

# The status says it, and by and by just that: the checks of verify that fail are those named.
lost() { # WHAT CHECKS REGEX
	check "$1: the status says so" vmi_when $VM "[.status.conditions[] | select(.type == \"virtpod.io/Network\"
		and .status == \"False\" and .reason == \"LinksChanged\" and (.message | test(\"$3\")))] != []" 30
	like "$1: so does an event" "$(vp get events)" "Warning +LinksChanged +virtualmachineinstance/$VM .*$3"
	is "$1: verify finds this alone" "$(vp verify $VM -o json | jq -r '[.differences[].what] | unique | join(" ")')" "$2"
	is "$1: the VM runs" "$(vp get vmi $VM -o json | jq -r .status.phase)" Running
	like "$1: its guest, too" "$(guest $VM addr)" 'nic=eth0'
	is "$1: it is the same QEMU" "$(qemu_pid $VM)" "$Q"
}

# A new handler takes the VM over and says the same, once.
taken_over() { # WHAT REGEX
	local said
	said=$(condition $VM virtpod.io/Network)
	console_close $VM
	handler_kill
	[ $# -lt 3 ] || "${@:3}"
	handler_start "$ROOT" || fatal "no new handler: $(tail -n 1 "$WORK/handler.log")"
	check "$1: a new handler takes it over" wait_line "$WORK/handler.log" "$VM: adopted" 30
	check "$1: and says so" vmi_when $VM "[.status.conditions[] | select(.type == \"virtpod.io/Network\"
		and (.message | test(\"$2\")))] != []" 30
	[ $# -gt 2 ] || is "$1: in the same words" "$(condition $VM virtpod.io/Network)" "$said"
	is "$1: QEMU runs on" "$(qemu_pid $VM)" "$Q"
	check "$1: and can be talked to" console_open $VM
}

gone() { # WHAT
	vm_down $VM
	is "$1: QEMU is gone" "$(qemu_pid $VM)" ""
	no_leftovers "$1: nothing is left"
}

pin_gone() {
	up
	umount -l "$PIN" && rm "$PIN"
	lost "no pin" netnsPin 'pinned below run/netns is false, must be true'
	is "no pin: inspect says it" "$(vp inspect $VM -o json | jq .netnsPinned)" false
	check "no pin: the network works" reaches $VM
	taken_over "no pin" 'pinned below run/netns'
	check "no pin: the network works with a new handler" reaches $VM
	gone "no pin"
}

veth_gone() {
	up
	ip link del "$VETH"
	lost "no veth" "hostVeths podNics" "$VETH .*is absent, must be .*veth"
	taken_over "no veth" "$VETH"
	is "no veth: inspect shows the bridge alone, which no new handler removes" \
		"$(vp inspect $VM -o json | jq -r '[.links.host[].name] | join(" ")')" "$BRIDGE"
	gone "no veth"
}

tap_gone() {
	up
	in_netns "$Q" ip link del "$TAP"
	lost "no tap" taps "$TAP .*is absent, must be .*tun"
	taken_over "no tap" "$TAP"
	gone "no tap"
}

# While no handler looks: the next one says it.
all_gone_unseen() {
	up
	taken_over "while no handler was there" "$VETH.*pinned below run/netns" remove_all
	check "while no handler was there: the status says so" test -n "$(condition $VM virtpod.io/Network)"
	gone "while no handler was there"
}

# shellcheck disable=SC2317 # by way of taken_over
remove_all() {
	ip link del "$VETH"
	ip link del "$BRIDGE"
	umount -l "$PIN" && rm "$PIN"
}

# Another VM of the network makes it anew; what is mended is seen, too.
bridge_gone() {
	up
	ip link del "$BRIDGE"
	lost "no bridge" "hostBridges hostVeths" "$BRIDGE .*is absent, must be .*bridge"
	vm_up $OTHER "$WORK/$OTHER.json" --rm || fatal "another VM comes up"
	check "another VM makes the bridge: the network works for it" reaches $OTHER
	check "for the first one its port is missing" vmi_when $VM "[.status.conditions[] | select(.type == \"virtpod.io/Network\"
		and (.message | test(\"^host link $VETH master is absent, must be [^;]*\$\")))] != []" 30
	ip link set "$VETH" master "$BRIDGE"
	check "put back by hand: the word goes" vmi_when $VM '[.status.conditions[] | select(.type == "virtpod.io/Network")] == []' 30
	like "put back by hand: an event says it" "$(vp get events)" "Normal +Network .*as it was made again"
	check "put back by hand: verify" vp verify $VM
	check "put back by hand: the network works" reaches $VM
	vm_down $OTHER
	gone "put back by hand"
}

# The bridge has gone and somebody else has its name by the time the VM is deleted.
bridge_replaced() {
	local before
	up
	ip link del "$BRIDGE"
	theirs "$BRIDGE" type bridge
	before=$(link_state "$BRIDGE")
	lost "somebody else's bridge in its place" "hostBridges hostVeths" "$BRIDGE .*is absent, must be .*bridge"
	vm_down $VM
	is "somebody else's bridge in its place: it is as it was" "$(link_state "$BRIDGE")" "$before"
	ip link del "$BRIDGE"
	no_leftovers "somebody else's bridge in its place: nothing else is left"
}

pod_begin
trap drop_theirs EXIT
pod_ready
nad $NET 10.79.5.1/24 >"$WORK/nad.json"
check "a network is applied" vp apply -f "$WORK/nad.json"
vmi $VM "nic(\"$NET\"; \"10.79.5.2/24\")" >"$WORK/$VM.json"
vmi $OTHER "nic(\"$NET\"; \"10.79.5.3/24\")" >"$WORK/$OTHER.json"
bridge_taken
veth_taken
pin_gone
veth_gone
tap_gone
all_gone_unseen
bridge_gone
bridge_replaced
pod_stop
pod_end

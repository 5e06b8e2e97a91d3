#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# l2bridge: the links of a pod and of the host, frames between guests and the network's own address,
# none between networks, the same MAC at every start, and nothing left.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

ONE=vt-net1 TWO=vt-net2 FAR=vt-net3

# A member of a link in a pod's namespace: links are told apart by what they are, not by name.
pod_link() { # KIND-FILTER MEMBER
	jq -r ".[] | select($1) | $2" "$WORK/pod.links"
}

BRIDGE='.linkinfo.info_kind == "bridge"'
NIC='.linkinfo.info_kind == "veth"'
TAP='.linkinfo.info_kind == "tun"'

in_the_pod() {
	local bridge
	in_netns "$Q" ip -j -d link >"$WORK/pod.links"
	bridge=$(pod_link "$BRIDGE" .ifname)
	like "pod: one bridge" "$bridge" '^k6t-[^ ]+$'
	is "pod: the bridge has no IPv4 address" "$(in_netns "$Q" ip -j -4 addr show dev "$bridge" | jq -r '.[].addr_info[].local')" ""
	like "pod: the NIC is renamed" "$(pod_link "$NIC" .ifname)" '^[^ ]+-nic$'
	is "pod: the NIC is a port of the bridge" "$(pod_link "$NIC" .master)" "$bridge"
	is "pod: the NIC has no address" "$(in_netns "$Q" ip -j addr show dev "$(pod_link "$NIC" .ifname)" | jq -r '.[].addr_info[].local')" ""
	is "pod: the NIC's port doesn't learn" "$(pod_link "$NIC" .linkinfo.info_slave_data.learning)" false
	is "pod: one tap" "$(pod_link "$TAP" .linkinfo.info_data.type)" tap
	is "pod: the tap is a port of the bridge" "$(pod_link "$TAP" .master)" "$bridge"
	is "pod: the tap carries virtio headers" "$(pod_link "$TAP" .linkinfo.info_data.vnet_hdr)" true
	is "pod: MTU of bridge, NIC and tap" "$(pod_link "$BRIDGE or $NIC or $TAP" .mtu | xargs)" "1450 1450 1450"
	is "pod: all three are up" "$(pod_link "$BRIDGE or $NIC or $TAP" '.flags | index("UP") != null' | xargs)" "true true true"
	isnt "pod: the NIC's MAC is not the guest's" "$(pod_link "$NIC" .address)" "$MAC"
	is "pod: arp_ignore" "$(in_netns "$Q" cat /proc/sys/net/ipv4/conf/all/arp_ignore)" 1
	is "pod: no other link but lo and a dummy" \
		"$(pod_link "($BRIDGE or $NIC or $TAP or .linkinfo.info_kind == \"dummy\" or .ifname == \"lo\") | not" .ifname)" ""
}

# The host bridge that a pod's veth is a port of, by its peer's index.
host_bridge() { # QEMU_PID
	local peer
	peer=$(in_netns "$1" ip -j -d link | jq -r ".[] | select($NIC) | .link_index")
	ip -j link | jq -r --argjson i "$peer" '.[] | select(.ifindex == $i).master'
}

on_the_host() {
	HOST=$(host_bridge "$Q")
	isnt "host: the pod's veth is a port of a bridge" "$HOST" null
	is "host: the bridge has the gateway's address" \
		"$(ip -j -4 addr show dev "$HOST" | jq -r '.[].addr_info[] | "\(.local)/\(.prefixlen)"')" 10.187.7.1/24
	is "host: its MTU" "$(ip -j link show dev "$HOST" | jq '.[].mtu')" 1450
	is "host: its ports' MTU" "$(ip -j link show master "$HOST" | jq '.[].mtu' | sort -u)" 1450
	is "host: both VMs of the network are on it" "$(host_bridge "$(qemu_pid $TWO)")" "$HOST"
	is "host: it has one port per VM" "$(ip -j link show master "$HOST" | jq length)" 2
	isnt "host: the other network has another bridge" "$(host_bridge "$(qemu_pid $FAR)")" "$HOST"
	like "inspect: the pod's links" "$(vp inspect $ONE -o json | jq -c '[.links.pod[].name] | sort')" '-nic.*k6t-.*tap'
	like "inspect: the host's links" "$(vp inspect $ONE -o json | jq -c '[.links.host[].name]')" "$HOST"
	check "verify" vp verify $ONE
}

# No two VMs share a host id, and a network namespace least of all.
apart() {
	local ids='' spaces='' vm q
	for vm in $ONE $TWO $FAR; do
		q=$(qemu_pid "$vm")
		ids+="$(status_of "$q" Uid | cut -d' ' -f1)"$'\n'
		spaces+="$(readlink "/proc/$q/ns/net" "/proc/$q/ns/user" "/proc/$q/ns/pid")"$'\n'
	done
	is "three VMs, three host ids" "$(sort -u <<<"${ids%$'\n'}" | wc -l)" 3
	is "and nine namespaces" "$(sort -u <<<"${spaces%$'\n'}" | wc -l)" 9
}

mac_of() { # NAME: as the guest sees it
	guest "$1" addr | sed -n 's/^nic=e.* mac=\([^ ]*\) .*/\1/p'
}

frames() {
	check "ping: the network's address to the first guest" ping -c 3 -W 5 10.187.7.2
	check "ping: the network's address to the second guest" ping -c 3 -W 5 10.187.7.3
	check "ping: the biggest frame that fits" ping -c 2 -W 5 -M "do" -s $((1450 - 28)) 10.187.7.2
	like "ping: guest to guest" "$(guest $ONE 'ping 10.187.7.3 3')" 'received=[123]'
	like "ping: guest to the network's address" "$(guest $TWO 'ping 10.187.7.1 3')" 'received=[123]'
	like "no ping to the other network" "$(guest $ONE 'ping 10.187.7.9 2')" 'received=0'
	like "no ping from the other network" "$(guest $FAR 'ping 10.187.7.2 2')" 'received=0'
	like "guest: MTU" "$(guest $ONE addr)" 'mtu=1450'
	like "guest: carrier" "$(guest $ONE addr)" 'carrier=1'
}

macs() {
	like "MAC: unicast, locally administered" "$MAC" '^[0-9a-f][26ae]:'
	isnt "MAC: another VM has another" "$(mac_of $TWO)" "$MAC"
	is "MAC: status says the same" "$(vp get vmi $ONE -o json | jq -r '.status.interfaces[0].mac')" "$MAC"
	is "MAC: QEMU's command line says the same" "$(tr '\0' '\n' <"/proc/$Q/cmdline" | grep -c "mac.*$MAC")" 1
}

again() {
	vm_down $ONE
	check "the bridge stays for the other VM" ip link show dev "$HOST"
	check "which still answers" ping -c 2 -W 5 10.187.7.3
	is "the first VM's port is gone" "$(ip -j link show master "$HOST" | jq length)" 1
	vm_up $ONE "$WORK/$ONE.json" --rm || return
	is "MAC: the same after a restart" "$(mac_of $ONE)" "$MAC"
	check "ping after a restart" ping -c 2 -W 5 10.187.7.2
}

refusals() {
	local kind
	for kind in '{masquerade: {}}' '{sriov: {}}' '{binding: {name: "other"}}'; do
		vmi vt-netbad "nic(\"lab\"; \"10.187.7.5/24\")
			| .spec.domain.devices.interfaces[0] = ({name: \"net0\"} + $kind)" >"$WORK/vt-netbad.json"
		run_refused --rm "binding $kind" vt-netbad 'spec\.domain\.devices\.interfaces\[0\]'
	done
	vmi vt-netbad 'del(.spec.domain.devices.autoattachPodInterface)' >"$WORK/vt-netbad.json"
	run_refused --rm "no interface, and not said so" vt-netbad
	vmi vt-netbad 'nic("nowhere"; "10.187.7.5/24")' >"$WORK/vt-netbad.json"
	run_refused --rm "a network that isn't there" vt-netbad nowhere
}

pod_begin
pod_ready
nad lab 10.187.7.1/24 >"$WORK/lab.json"
nad far 10.188.7.1/24 >"$WORK/far.json"
check "networks are applied" vp apply -f "$WORK/lab.json" -f "$WORK/far.json"
is "a network alone makes no link" "$(new_state | grep '^link')" ""
vmi $ONE dedicated 'nic("lab"; "10.187.7.2/24")' >"$WORK/$ONE.json"
vmi $TWO 'nic("lab"; "10.187.7.3/24")' >"$WORK/$TWO.json"
vmi $FAR 'nic("far"; "10.187.7.9/24")' >"$WORK/$FAR.json"
for vm in $ONE $TWO $FAR; do run_start "$vm" "$WORK/$vm.json" --rm; done
for vm in $ONE $TWO $FAR; do vm_attach "$vm" || fatal "$vm does not come up"; done
Q=$(qemu_pid $ONE) MAC=$(mac_of $ONE)
in_the_pod
on_the_host
apart
frames
macs
again
vm_down $ONE
vm_down $TWO
is "the bridge goes with its last VM" "$(ip -br link show dev "$HOST" 2>/dev/null)" ""
is "the network's object stays" "$(vp get net-attach-def lab -o json | jq -r .metadata.name)" lab
vm_down $FAR
refusals
pod_stop
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# vhost-net on l2bridge taps: the kernel's own thread in the pod's groups, frames between guests and none
# between networks; and what happens on a node that has no vhost-net.
export VIRTPOD_TEST_SLOW=${VIRTPOD_TEST_SLOW:-8}
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"

ONE=vt-vhost1 TWO=vt-vhost2 FAR=vt-vhost3 LATE=vt-late E1000=vt-e1000 BARE=vt-bare
VHOST=/dev/vhost-net

# The thread that moves the frames: a kernel thread, from Linux 6.4 on one of QEMU's.
workers() { # QEMU_PID
	(cd /proc && grep -lx "vhost-$1" -- [0-9]*/comm "$1"/task/[0-9]*/comm 2>/dev/null) |
		sed -E 's|/comm$||; s|.*/||' | sort -un
}

argv() { # QEMU_PID
	tr '\0' '\n' <"/proc/$1/cmdline"
}

# A VM whose interfaces have so many queues with vhost-net, all in all.
in_use() { # NAME QUEUES
	local q tid emu
	q=$(qemu_pid "$1")
	emu=$(cgroup_of "$q" cpuset)
	is "$1: QEMU holds $VHOST $2 times" "$(descriptors_of "$q" $VHOST)" "$2"
	is "$1: the launcher holds it not" "$(descriptors_of "$(parent_of "$q")" "$VHOST.*")" 0
	is "$1: nor does the handler" "$(descriptors_of "$HANDLER_PID" "$VHOST.*")" 0
	is "$1: a thread of the kernel's for each" "$(workers "$q" | wc -l)" "$2"
	for tid in $(workers "$q"); do
		is "$1: in the pod's emu group" "$(cgroup_of "$tid" cpuset)" "$emu"
		is "$1: on its CPUs" "$(status_of "$tid" Cpus_allowed_list)" "$(cat "$emu/cpuset.cpus.effective")"
	done
	is "$1: inspect: queues" "$(vp inspect "$1" -o json | jq .vhostQueues)" "$2"
	check "$1: verify" vp verify "$1"
}

command_lines() {
	is "one queue: one descriptor" "$(argv "$(qemu_pid $ONE)" | grep -cE '^tap,.*vhost=on,vhostfd=[0-9]+$')" 1
	is "two queues: two descriptors" \
		"$(argv "$(qemu_pid $TWO)" | grep -cE '^tap,.*vhost=on,vhostfds=[0-9]+:[0-9]+$')" 1
	is "virtio and e1000e: only virtio has it" \
		"$(argv "$(qemu_pid $FAR)" | grep -E '^tap,' | grep -o 'vhost=on' | wc -l) of $(argv "$(qemu_pid $FAR)" | grep -c '^tap,')" \
		"1 of 2"
	like "the emu group is a pod's" "$(cgroup_of "$(qemu_pid $ONE)" cpuset)" '/virtpod-[^/]*.*/emu$'
	is "the dedicated CPU is not its threads'" "$(cat "$(cgroup_of "$(qemu_pid $ONE)" cpuset)/cpuset.cpus.effective")" \
		"$REST_CPUS"
}

frames() {
	like "ping: guest to guest" "$(guest $ONE 'ping 10.187.7.3 3')" 'received=[123]'
	like "ping: and back" "$(guest $TWO 'ping 10.187.7.2 3')" 'received=[123]'
	check "ping: the network's address to a guest" ping -c 2 -W 10 10.187.7.3
	like "no ping to the other network" "$(guest $ONE 'ping 10.187.7.9 2')" 'received=0'
	like "no ping from the other network" "$(guest $FAR 'ping 10.187.7.2 2')" 'received=0'
	isnt "whose guest does send frames" "$(in_netns "$(qemu_pid $FAR)" ip -j -s -d link |
		jq 'map(select(.linkinfo.info_kind == "tun").stats64.rx.packets) | max')" 0
}

three() {
	vmi $ONE dedicated 'grace(0)' 'nic("lab"; "10.187.7.2/24")' >"$WORK/$ONE.json"
	vmi $TWO '.spec.domain.cpu.cores = 2' 'grace(0)' 'nic("lab"; "10.187.7.3/24")' \
		'.spec.domain.devices.networkInterfaceMultiqueue = true' >"$WORK/$TWO.json"
	# its address is one of the first network's
	vmi $FAR 'grace(0)' 'nic("far"; "10.187.7.9/24")' '.spec.domain.devices.interfaces +=
		[{name: "slow", model: "e1000e", binding: {name: "l2bridge"}}]' \
		'.spec.networks += [{name: "slow", multus: {networkName: "far"}}]' >"$WORK/$FAR.json"
	for vm in $ONE $TWO $FAR; do run_start "$vm" "$WORK/$vm.json" --rm; done
	for vm in $ONE $TWO $FAR; do vm_attach "$vm" || fatal "$vm does not come up"; done
	in_use $ONE 1
	in_use $TWO 2
	in_use $FAR 1
	command_lines
	frames
	rm $VHOST
	check "a node that goes while a VM uses it breaks no promise" vp verify $ONE
	for vm in $ONE $TWO $FAR; do vm_down "$vm"; done
}

node_has() {
	vp get node -o json | jq -r '.items[0].status.capacity["devices.kubevirt.io/vhost-net"]'
}

# As KubeVirt's pod asks for the device: with a virtio interface, and emulation not allowed.
refused() {
	is "without the module there is no device" "$(ls $VHOST 2>&1)" "ls: cannot access '$VHOST': No such file or directory"
	is "the node says so" "$(node_has)" 0
	vmi $LATE dedicated 'grace(0)' 'nic("lab"; "10.187.7.4/24")' >"$WORK/$LATE.json"
	run_refused "a virtio interface without vhost-net" $LATE \
		"interface 'net0': virtio needs vhost-net.*$VHOST.*modprobe vhost_net.*useEmulation: true"
	like "it stays unschedulable" "$(condition $LATE PodScheduled)" '^False Unschedulable .*vhost-net'
	is "and pending" "$(vp get vmi $LATE -o json | jq -r .status.phase)" Pending
	is "with no QEMU" "$(qemu_pid $LATE)" ""
	is "and no CPU" "$(grep -F "$ROOT" /run/virtpod.cpus 2>/dev/null)" ""
	no_leftovers "and nothing else"
}

cured() {
	modprobe vhost_net
	check "modprobe vhost_net is the cure: it starts by itself" wait_for $LATE 'jsonpath={.status.phase}=Running' 30
	is "the node says so" "$(node_has)" 1k
	is "with vhost" "$(descriptors_of "$(qemu_pid $LATE)" $VHOST)" 1
	vm_down $LATE
	rmmod vhost_net
}

none_used() { # NAME
	local q
	q=$(qemu_pid "$1")
	is "$1: runs under KVM" "$(descriptors_of "$q" 'anon_inode:kvm-vm')" 1
	is "$1: its tap has no vhost" "$(argv "$q" | grep -c '^tap,') $(argv "$q" | grep -c vhost)" "1 0"
	is "$1: QEMU holds none, no thread serves it" "$(descriptors_of "$q" "$VHOST.*") $(workers "$q" | wc -l)" "0 0"
	is "$1: inspect: no queue" "$(vp inspect "$1" -o json | jq .vhostQueues)" 0
	check "$1: verify" vp verify "$1"
}

without() {
	vmi $E1000 'grace(0)' 'nic("lab"; "10.187.7.5/24")' \
		'.spec.domain.devices.interfaces[0].model = "e1000e"' >"$WORK/$E1000.json"
	run_start $E1000 "$WORK/$E1000.json" --rm
	check "an e1000e needs no vhost-net" run_running $E1000
	none_used $E1000
	vm_down $E1000
	config true >"$WORK/emulation.yaml"
	check "useEmulation: true" vp apply -f "$WORK/emulation.yaml"
	vmi $BARE 'grace(0)' 'nic("lab"; "10.187.7.6/24")' >"$WORK/$BARE.json"
	vm_up $BARE "$WORK/$BARE.json" --rm || { not_ok "with it, virtio comes up without vhost-net"; return; }
	none_used $BARE
	like "ping: without vhost-net" "$(guest $BARE 'ping 10.187.7.1 3')" 'received=[123]'
	vm_down $BARE
}

pod_begin
for node in /dev/kvm $VHOST; do [ -c "$node" ] || fatal "this test needs a $node"; done
config false >"$WORK/config.yaml"
pod_ready
nad lab 10.187.7.1/24 >"$WORK/lab.json"
nad far 10.188.7.1/24 >"$WORK/far.json"
check "networks are applied" vp apply -f "$WORK/lab.json" -f "$WORK/far.json"
three
check "nothing holds the module" rmmod vhost_net # modprobe -r takes tun with it
refused
cured
without
modprobe vhost_net
pod_stop
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A node without KVM: VMs are refused, and say what cures it, until a KubeVirt object allows emulation;
# then the same VM starts by itself.
export VIRTPOD_TEST_SLOW=${VIRTPOD_TEST_SLOW:-8}
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"

VM=vt-nokvm PLAIN=vt-plain

# A VM that is refused, and stays.
refused() { # NAME FILTER...
	local name=$1
	shift
	vmi "$name" 'grace(0)' "$@" >"$WORK/$name.json"
	run_refused "$name" "$name" \
		'KVM does not work.*/dev/kvm.*load the kvm module.*useEmulation: true'
	like "$name: so does its condition" "$(condition "$name" PodScheduled)" \
		'^False Unschedulable KVM does not work.*useEmulation: true'
	is "$name: it stays pending" "$(vp get vmi "$name" -o json | jq -r .status.phase)" Pending
	is "$name: nothing runs" "$(vp inspect "$name" -o json | jq -c '[.running, .accel]')" "[false,null]"
	is "$name: no QEMU" "$(qemu_pid "$name")" ""
}

refusals() {
	is "there is no /dev/kvm" "$(ls /dev/kvm 2>&1)" "ls: cannot access '/dev/kvm': No such file or directory"
	is "the node says so" "$(vp get node -o json |
		jq -r '.items[0].status.capacity["devices.kubevirt.io/kvm"]')" 0
	refused $VM dedicated loud
	is "no CPU is held for it" "$(grep -F "$ROOT" /run/virtpod.cpus 2>/dev/null)" ""
	refused $PLAIN 'nic("lab"; "10.187.7.3/24")'
	no_leftovers "nothing of them is there"
	check "one can be deleted" vp delete vmi $PLAIN
}

emulated() {
	config true >"$WORK/emulation.yaml"
	check "useEmulation: true" vp apply -f "$WORK/emulation.yaml"
	check "is the cure: it starts by itself" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	Q=$(qemu_pid $VM)
	vp inspect $VM -o json >"$WORK/inspect.json"
	is "QEMU has nothing of KVM's" "$(descriptors_of "$Q" '(anon_inode:kvm-|/dev/kvm).*')" 0
	like "QEMU was told so" "$(tr '\0' ' ' <"/proc/$Q/cmdline")" '-accel tcg,'
	is "its vCPU thread is TCG's" "$(threads_of "$Q" | cut -f 2 | grep '^CPU ')" "CPU 0/TCG"
	is "on the CPU that it is to have" "$(status_of "$(vcpu_tids "$Q")" Cpus_allowed_list)" "$LAST_CPU"
	is "inspect: tcg, no vhost" "$(jq -c '[.accel, .vhostQueues]' "$WORK/inspect.json")" '["tcg",0]'
	like "the status says it" "$(condition $VM SoftwareEmulation)" '^True UseEmulation .*TCG'
	is "no kvm in the pod's /dev" "$(find "/proc/$Q/root/dev" -mindepth 1 -printf '%f\n' | sort | xargs)" \
		"full null random urandom zero"
	is "nor on its allowlist" "$(jq -c '.devices | sort' "$WORK/inspect.json")" \
		'["c 1:3 rw","c 1:5 rw","c 1:7 rw","c 1:8 r","c 1:9 r"]'
	check "verify" vp verify $VM
}

guest_works() {
	console_open $VM || { not_ok "the guest comes up"; return; }
	like "the guest answers" "$(guest $VM cpus)" 'ok'
	like "the guest says what it sees" "$(cat "$WORK/$VM.con")" 'Linux version'
	is "the guest sees no KVM" "$(grep -c 'Hypervisor detected' "$WORK/$VM.con")" 0
}

# A VM that runs keeps what it has.
forbidden_again() {
	check "useEmulation: false again" vp apply -f "$WORK/config.yaml"
	is "the VM runs on" "$(qemu_pid $VM)" "$Q"
	check "verify: it is what was promised" vp verify $VM
	refused $PLAIN .
	check "deleted" vp delete vmi $PLAIN
}

pod_begin
[ ! -e /dev/kvm ] || fatal "this test needs a node without /dev/kvm"
config false >"$WORK/config.yaml"
pod_ready
nad lab 10.187.7.1/24 >"$WORK/lab.json"
check "a network is applied" vp apply -f "$WORK/lab.json"
refusals
emulated
guest_works
forbidden_again
vm_down $VM
pod_stop
pod_end

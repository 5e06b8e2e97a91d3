#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A guest under KVM, with emulation not allowed: what QEMU holds, what the pod may open, and the limits
# that only a machine with CAP_SYS_RESOURCE lets a handler raise.
export VIRTPOD_TEST_SLOW=${VIRTPOD_TEST_SLOW:-8}
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"

VM=vt-kvm
NOFILE=4096 # what launcher and QEMU are to have (api/limits.h)

boots() {
	vmi $VM dedicated loud >"$WORK/$VM.json"
	vm_up $VM "$WORK/$VM.json" --rm || fatal "the guest does not come up"
	Q=$(qemu_pid $VM) L=$(parent_of "$Q")
	vp inspect $VM -o json >"$WORK/inspect.json"
	like "the guest sees KVM" "$(cat "$WORK/$VM.con")" 'Hypervisor detected: KVM'
	like "the guest answers" "$(guest $VM cpus)" 'ok'
}

accel() {
	is "QEMU holds one VM of the kernel's" "$(descriptors_of "$Q" 'anon_inode:kvm-vm')" 1
	is "and one vCPU" "$(descriptors_of "$Q" 'anon_inode:kvm-vcpu:[0-9]+')" 1
	is "the launcher holds none" "$(descriptors_of "$L" 'anon_inode:kvm-.*|/dev/kvm')" 0
	is "QEMU's vCPU thread is KVM's" "$(threads_of "$Q" | cut -f 2 | grep '^CPU ')" "CPU 0/KVM"
	like "QEMU was told so" "$(tr '\0' ' ' <"/proc/$Q/cmdline")" '-accel kvm( |$)'
	is "inspect: kvm" "$(jq -r .accel "$WORK/inspect.json")" kvm
	is "no word of emulation in the status" "$(condition $VM SoftwareEmulation)" ""
	is "the node has it" "$(vp get node -o json |
		jq -r '.items[0].status.capacity["devices.kubevirt.io/kvm"]')" 1k
}

dev() {
	local id
	id=$(status_of "$Q" Uid | cut -d ' ' -f 1)
	is "/dev of the pod" "$(find "/proc/$Q/root/dev" -mindepth 1 -printf '%f\n' | sort | xargs)" \
		"full kvm null random urandom zero"
	is "its kvm is KVM, the pod's own" "$(stat -c '%F %t:%T %u:%g' "/proc/$Q/root/dev/kvm")" \
		"character special file a:e8 $id:$id"
	is "inspect: the same" "$(jq -c '[.processes[].devEntries | sort] | unique' "$WORK/inspect.json")" \
		'[["full","kvm","null","random","urandom","zero"]]'
	is "inspect: the allowlist" "$(jq -c '.devices | sort' "$WORK/inspect.json")" \
		'["c 10:232 rw","c 1:3 rw","c 1:5 rw","c 1:7 rw","c 1:8 r","c 1:9 r"]'
}

allowlist() {
	local node
	for node in null zero full kvm; do
		check "the group may open /dev/$node" opens_as "$Q" "/dev/$node" '<>'
	done
	check "the group may read /dev/urandom" opens_as "$Q" /dev/urandom '<'
	for node in urandom net/tun vhost-net vhost-vsock loop-control mem hwrng tty; do
		[ -e "/dev/$node" ] || continue
		like "the group may not open /dev/$node" "$(opens_as "$Q" "/dev/$node" '<>')" 'not permitted'
	done
	check "which can be opened from outside" test -c /dev/vhost-net -a -c /dev/net/tun
	check "at all" bash -c 'exec 3<>/dev/vhost-net 4<>/dev/net/tun 5<>/dev/urandom'
}

limits() {
	is "the handler was started with few descriptors" "$(limit_of "$HANDLER_PID" 'Max open files')" "256 $HARD"
	is "the launcher has more" "$(limit_of "$L" 'Max open files')" "$NOFILE $HARD"
	is "QEMU, too" "$(limit_of "$Q" 'Max open files')" "$NOFILE $HARD"
	is "no core dumps" "$(limit_of "$L" 'Max core file size'), $(limit_of "$Q" 'Max core file size')" "0 0, 0 0"
	is "inspect: QEMU's limit" "$(jq -r '.processes[] | select(.name == "qemu").limits[] |
		select(.name == "Max open files") | "\(.soft) \(.hard)"' "$WORK/inspect.json")" "$NOFILE $HARD"
}

# A hard limit below what they are to have: the handler raises it, where it has CAP_SYS_RESOURCE.
raised() {
	vm_down $VM
	handler_stop
	ulimit -Hn 2000
	handler_start "$ROOT" || fatal "virt-handler does not start"
	is "the handler's own hard limit is low" "$(limit_of "$HANDLER_PID" 'Max open files')" "256 2000"
	run_start $VM "$WORK/$VM.json" --rm
	check "a VM runs" run_running $VM
	Q=$(qemu_pid $VM)
	is "QEMU's is raised" "$(limit_of "$Q" 'Max open files')" "$NOFILE $NOFILE"
	is "the launcher's, too" "$(limit_of "$(parent_of "$Q")" 'Max open files')" "$NOFILE $NOFILE"
}

pod_begin
[ -c /dev/kvm ] || fatal "this test needs a /dev/kvm"
config false >"$WORK/config.yaml"
HARD=$(ulimit -Hn)
ulimit -Sn 256
pod_ready
boots
accel
dev
allowlist
limits
check "verify" vp verify $VM
raised
check "verify" vp verify $VM
vm_down $VM
pod_stop
pod_end

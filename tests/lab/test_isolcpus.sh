#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host with isolcpus= and nohz_full=. Linux 6.1 crashes over a partition whose CPUs for all but vCPUs are
# all isolated ones; so there such a VM is a VM without a partition, or refused. Wants 4 CPUs, the last of
# which is isolated. Guests have no disk and no kernel: their firmware idles.
export VIRTPOD_TEST_SLOW=${VIRTPOD_TEST_SLOW:-8}
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"

VM=vt-isolcpus
ISOLATED='.spec.domain.cpu.isolateEmulatorThread = true'
KERNEL='annotate("virtpod.io/exclusivity"; "kernel")'

# With these CPUs reserved, and so all others for VMs.
reserve() { # LIST
	config | sed "s/^reservedSystemCPUs:.*/reservedSystemCPUs: \"$1\"/" >"$WORK/config.yaml"
	check "CPUs $1 are reserved" vp apply -f "$WORK/config.yaml"
}

up() { # FILTER...
	vmi $VM dedicated 'del(.spec.domain.firmware)' 'grace(0)' "$@" >"$WORK/$VM.json"
	run_start $VM "$WORK/$VM.json" --rm
	run_running $VM || fatal "$VM does not run: $(cat "$WORK/$VM.err")"
	Q=$(qemu_pid $VM) L=$(parent_of "$Q") VCPU=$(vcpu_tids "$Q")
}

others_of() { # PID: CPUs of its threads but vCPUs
	threads_of "$1" | awk -F'\t' '$2 !~ /^CPU / { print $3 }' | sort -u | xargs
}

# Who runs where, that the kernel keeps it so, as WHOSE exclusivity, and that nothing is amiss.
runs() { # WHAT VCPU-CPU OTHERS WHOSE
	local ran
	is "$1: the vCPU's thread" "$(status_of "$VCPU" Cpus_allowed_list)" "$2"
	ran=$(sed 's/.*) //' "/proc/$VCPU/stat" | cut -d ' ' -f 37)
	is "$1: it last ran there" "$ran" "$2"
	is "$1: QEMU's other threads" "$(others_of "$Q")" "$3"
	is "$1: the launcher" "$(others_of "$L")" "$3"
	is "$1: its groups" "$(cat "$(dirname "$(cgroup_of "$Q" cpuset)")"/{emu,vcpu}/cpuset.cpus | xargs)" "$3 $2"
	is "$1: exclusivity" "$(vp inspect $VM -o json | jq -r .exclusivity)" "$4"
	check "$1: verify" vp verify $VM
}

partitions() { # of the pod and its vCPUs' group
	cat "$(dirname "$(cgroup_of "$Q" cpuset)")"/{,vcpu/}cpuset.cpus.partition | xargs
}

# Nothing that crashes or warns, and groups can be changed: after the crash their locks are held for ever.
# shellcheck disable=SC2016 # expanded by the inner shell
survived() { # WHAT
	is "$1: the kernel has no complaint" \
		"$(dmesg | grep -E 'WARNING:|BUG:|Oops|protection fault|Call Trace|blocked for more than')" ""
	check "$1: cpusets still change" timeout 60 bash -c 'g=/sys/fs/cgroup/vttest-alive
		mkdir $g && echo 0 >$g/cpuset.cpus && rmdir $g'
	check "$1: the handler answers" timeout 60 "${VP[@]}" get vmi
	is "$1: it is the same" "$(pids_by comm -x virt-handler)" "$HANDLER_PID"
}

# Two CPUs for VMs, 2 and the isolated 3, which is left to the emulator.
emulator_there() {
	reserve 0-1
	up "$ISOLATED"
	runs "the emulator's CPU is isolated" 2 3 ledger
	is "the emulator's CPU is isolated: no partition" "$(partitions)" "member member"
	vm_down $VM
	survived "the emulator's CPU is isolated"

	vmi $VM dedicated 'del(.spec.domain.firmware)' "$ISOLATED" "$KERNEL" >"$WORK/$VM.json"
	run_start $VM "$WORK/$VM.json" --rm
	run_wait $VM 60
	is "exclusivity of the kernel's: refused" "$RUN_STATUS" 3
	like "exclusivity of the kernel's: the message says why" "$(cat "$WORK/$VM.err")" 'isolcpus'
	like "exclusivity of the kernel's: and which CPUs" "$(cat "$WORK/$VM.err")" '\(3\)'
	[ "$RUN_STATUS" != timeout ] || vm_down $VM
	survived "exclusivity of the kernel's"
	no_leftovers "exclusivity of the kernel's: nothing is left"
}

# The isolated CPU is the only one for VMs.
vcpu_there() {
	reserve 0-2
	up
	runs "the vCPU's CPU is isolated" 3 0-2 ledger
	vm_down $VM
	survived "the vCPU's CPU is isolated"
}

# Two others are free: the partition is as on any host.
neither_there() {
	reserve 0,3
	up "$ISOLATED" "$KERNEL"
	runs "beside the isolated CPU" 1 2 kernel
	is "beside the isolated CPU: partitions" "$(partitions)" "root isolated"
	vm_down $VM
	survived "beside the isolated CPU"
}

is_shape() {
	[ "$(nproc --all)" -eq 4 ] && [ "$(cat /sys/devices/system/cpu/isolated)" = 3 ]
}

is_shape || { echo "Bail out! wants 4 CPUs with isolcpus=3: the lab's shape small,isolcpus"; exit 1; }
pod_begin
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
pod_ready
emulator_there
vcpu_there
neither_there
pod_stop
pod_end

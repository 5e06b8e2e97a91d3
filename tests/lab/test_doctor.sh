#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# virtpod doctor on a node with KVM, vhost-net and cgroup v2: ready, and partitions tried without anybody's
# losing a CPU or a pin. In the lab only: the controller cpuset is switched on for the groups below the root.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"
# shellcheck source=tests/pod/doctor.sh
source "$(dirname "$0")/../pod/doctor.sh"

CG=/sys/fs/cgroup STRANGER=/sys/fs/cgroup/vttest-doctor

ready() {
	local id
	for id in kvm-cpu kvm-module kvm-device vhost-net tun qemu qemu-machines cgroup-version cgroup-controllers \
		bpf-jit-harden user-namespaces; do
		finds "a node that is ready" $id ok
	done
	is "a node that is ready: nested" "$(told kvm-nested found)" "kvm_amd nested=$(cat /sys/module/kvm_amd/parameters/nested)"
	is "a node that is ready: controllers" "$(told cgroup-controllers found)" "$(cat $CG/cgroup.controllers)"
	is "a node that is ready: exit status" "$STATUS" 0
}

# Nothing can be tried without a group that has the controller, and it is not switched on for that.
partitions() {
	local cpus
	finds "no cpuset yet" cpuset-partition unknown 'cgroup.subtree_control' 'echo \+cpuset'
	is "no cpuset yet: it stays so" "$(grep -ow cpuset $CG/cgroup.subtree_control)" ""
	echo +cpuset >$CG/cgroup.subtree_control
	cpus=$(cat $CG/cpuset.cpus.effective)
	taskset -pc 1 "$PINNED" >/dev/null
	doctor
	finds "partitions" cpuset-partition ok
	is "a thread's pin is what it was" "$(status_of "$PINNED" Cpus_allowed_list)" 1
	mkdir $STRANGER
	echo 0 >$STRANGER/cpuset.cpus
	doctor
	finds "a group that holds a CPU" cpuset-partition warning 'vttest-doctor/cpuset.cpus holds CPU 0' 'take the CPUs out'
	rmdir $STRANGER
	is "nobody lost a CPU" "$(cat $CG/cpuset.cpus.effective)" "$cpus"
	is "the group is gone" "$(ls -d $CG/virtpod-* 2>/dev/null)" ""
}

pod_begin
sleep infinity &
PINNED=$!
echo -cpuset >$CG/cgroup.subtree_control # a test before this one may have left it on
doctor
ready
partitions
kill $PINNED
no_leftovers "nothing is left"
pod_end

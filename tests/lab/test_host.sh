#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The lab host is what its shape says, by what its kernel reports; runs in the lab only.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"
CPU=/sys/devices/system/cpu NODE=/sys/devices/system/node
CPUS=$(nproc --all)
SHAPE=${SHAPE:?runs in the lab only: make lab-test}

has() { # OPTION: of the shape
	[[ ,$SHAPE, == *,$1,* ]]
}

base() {
	is "cgroup v2 alone" "$(awk '$3 ~ /^cgroup/ { print $2, $3 }' /proc/mounts)" "/sys/fs/cgroup cgroup2"
	is "controllers" "$(cat /sys/fs/cgroup/cgroup.controllers)" "cpuset cpu io memory hugetlb pids rdma misc"
	check "loopback answers" ping -c 1 -W 20 127.0.0.1
	check "the host's name resolves" getent hosts "$(hostname)"
	check "open files can be raised" bash -c 'ulimit -n 1000000'
	check "memory can be locked without limit" bash -c 'ulimit -l unlimited'
	check "modules load by name" modprobe -a bridge veth dummy 8021q macvtap
	is "tun" "$(stat -c '%t:%T %a' /dev/net/tun)" "a:c8 666"
	like "vhost-net" "$(stat -c '%F %a' /dev/vhost-net)" '^character special file 6[06]0$'
	check "vhost-vsock" test -c /dev/vhost-vsock
	check "the project is the one that was built" test "$BUILD/virtpod" -ef "$(command -v virtpod)"
	is "what is written to the root stays here" "$(stat -f -c %T /)" overlayfs
}

kvm() {
	is "kvm has its node's modes" "$(stat -c '%U:%G %a' /dev/kvm)" "root:kvm 660"
	guest_boots || not_ok "a guest boots with KVM" "$(tail -n 5 "$WORK/serial")"
}

# The test guest as QEMU alone starts it, until it says that it is up and powers itself off.
guest_boots() {
	timeout 120 qemu-system-x86_64 -machine q35 -accel kvm -cpu host -m 192 -nodefaults -display none \
		-no-reboot -serial "file:$WORK/serial" -kernel "$BUILD/guest/vmlinuz" -initrd "$BUILD/guest/initrd" \
		-append "$GUEST_ARGS virtpod.do=poweroff" >"$WORK/qemu" 2>&1 || cat "$WORK/qemu" >>"$WORK/serial"
	grep -q "$READY" "$WORK/serial" && ok "a guest boots with KVM"
}

no_kvm() {
	check "no kvm device" test ! -e /dev/kvm
	check "no kvm module" test ! -e /sys/module/kvm_amd
}

small() {
	is "CPUs" "$(cat $CPU/online)" 0-3
	is "one thread per core" "$(cat $CPU/cpu3/topology/thread_siblings_list)" 3
	is "one node" "$(cat $NODE/online)" 0
}

smt_numa() {
	local node pages
	is "CPUs" "$(cat $CPU/online)" 0-15
	is "siblings" "$(cat $CPU/cpu*/topology/thread_siblings_list | sort -nu | paste -sd' ')" \
		"0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15"
	is "sockets" "$(cat $CPU/cpu*/topology/package_cpus_list | sort -nu | paste -sd' ')" "0-7 8-15"
	is "CPUs of the nodes" "$(cat $NODE/node*/cpulist | paste -sd' ')" "0-7 8-15"
	is "distances" "$(cat $NODE/node*/distance | paste -sd,)" "10 20,20 10"
	for node in 0 1; do
		pages=$(cat $NODE/node$node/hugepages/hugepages-2048kB/free_hugepages)
		check "node $node has hugepages for two guests of 256 MiB: $pages" test "$pages" -ge 256
	done
}

systemd() {
	is "process 1" "$(cat /proc/1/comm)" systemd
	systemd_runs "systemd's state"
	check "a service starts" timeout 120 systemd-run --wait --quiet true
}

WORK=$(mktemp -d) # there is no pod here
trap 'rm -rf "$WORK"' EXIT
base
case $SHAPE in
small*) small ;;
smt-numa*) smt_numa ;;
systemd*) small && systemd ;;
esac
if has no-kvm; then no_kvm; else kvm; fi
QUARTER=$((CPUS * 3 / 4))-$((CPUS - 1)) # as lab.sh says it to the kernel: the last one
[ "${QUARTER%-*}" != "${QUARTER#*-}" ] || QUARTER=${QUARTER#*-}
is "isolated CPUs" "$(cat $CPU/isolated)" "$(! has isolcpus || echo "$QUARTER")"
is "CPUs without a tick" "$(sed 's/^ *(null)$//' $CPU/nohz_full)" "$(! has nohz_full || echo "$QUARTER")"
pod_end

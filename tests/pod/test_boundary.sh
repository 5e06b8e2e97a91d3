#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every layer of a pod's boundary as the kernel reports it from outside, then what `virtpod inspect`
# says of the same, and each layer switched off alone.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

NAMESPACES="user pid mnt net ipc uts cgroup"
VM=vt-bound

own_namespaces() { # PID WHO
	local ns
	for ns in $NAMESPACES; do
		isnt "$2: $ns namespace of its own" "$(readlink "/proc/$1/ns/$ns")" "$(readlink "/proc/$$/ns/$ns")"
	done
}

no_capabilities() { # PID WHO
	local found
	found=$(grep -h '^Cap' /proc/"$1"/task/*/status | grep -vE '^Cap(Inh|Prm|Eff|Bnd|Amb):\s0{16}$')
	is "$2: five empty capability sets in every thread" "$found" ""
	is "$2: no_new_privs in every thread" \
		"$(grep -h '^NoNewPrivs' /proc/"$1"/task/*/status | sort -u)" $'NoNewPrivs:\t1'
	is "$2: a seccomp filter on every thread" \
		"$(grep -h '^Seccomp:' /proc/"$1"/task/*/status | sort -u)" $'Seccomp:\t2'
}

one_id() { # PID WHO
	local uid
	uid=$(status_of "$1" Uid | cut -d' ' -f1)
	like "$2: a uid far from the host's" "$uid" '^[1-9][0-9]{6,9}$'
	is "$2: real, effective, saved and file uid are one" "$(status_of "$1" Uid)" "$uid $uid $uid $uid"
	is "$2: and so are the gids" "$(status_of "$1" Gid | tr ' ' '\n' | sort -u | wc -l)" 1
	is "$2: no supplementary group" "$(status_of "$1" Groups | tr -d ' ')" ""
	is "$2: nobody of passwd has this uid" "$(getent passwd "$uid")" ""
	is "$2: one id is mapped" "$(awk '{ print $2, $3 }' "/proc/$1/uid_map")" "$uid 1"
	is "$2: one group is mapped" "$(awk '{ print $3 }' "/proc/$1/gid_map")" 1
	is "$2: setgroups denied" "$(cat "/proc/$1/setgroups")" deny
}

private_root() { # PID WHO
	local root=/proc/$1/root err
	is "$2: the root is mounted read-only" \
		"$(awk '$5 == "/" { print substr($6, 1, 2) }' "/proc/$1/mountinfo" | sort -u)" ro
	err=$(touch "$root/vptest.$$" 2>&1)
	rm -f "$root/vptest.$$"
	like "$2: even root can't write there" "$err" 'Read-only file system'
	is "$2: no folder of the host in it" \
		"$(for d in home root boot srv media mnt opt sys "$WORK"; do [ -e "$root/$d" ] && [ -n "$(ls -A "$root/$d")" ] && echo "$d"; done)" ""
	is "$2: no accounts in it" "$(cat "$root/etc/shadow" "$root/etc/passwd" 2>/dev/null)" ""
	is "$2: whatever disk is mounted there is read-only, nosuid, nodev" \
		"$(awk '{ for (i = 7; $i != "-"; i++); if ($(i + 2) ~ /^\/dev\// && !($6 ~ /^ro,/ && $6 ~ /nosuid/ && $6 ~ /nodev/)) print $5, $6 }' "/proc/$1/mountinfo")" ""
	is "$2: /dev has only what QEMU needs" \
		"$(find "$root/dev" -mindepth 1 -maxdepth 1 \( -type c -o -type b \) -printf '%f\n' |
			grep -vxE 'null|zero|full|random|urandom|kvm|ptmx|tty|vhost-net')" ""
	is "$2: its /proc shows none of the host's processes" \
		"$(find "$root/proc" -maxdepth 1 -name '[0-9]*' -printf '%f\n' | awk '$1 > 99')" ""
}

groups() {
	local c limit
	for c in cpuset cpu memory pids devices; do
		like "QEMU is in the pod's $c group" "$(cgroup_of "$Q" "$c")" "$TAG.*$UID_OF_POD"
		is "the launcher is in the pod's $c group, too" \
			"$(cgroup_of "$L" "$c" | grep -c "$UID_OF_POD")" 1
	done
	limit=$(memory_limit "$Q")
	check "memory: limited, and above what the guest has" \
		test "$limit" -gt $((192 << 20)) -a "$limit" -lt $((4 << 30))
	like "pids: limited" "$(cat "$(cgroup_of "$Q" pids)/pids.max")" '^[0-9]+$'
	is "devices: /dev/null opens in the group" "$(opens_as "$Q" /dev/null '<>')" ""
	like "devices: /dev/net/tun doesn't" "$(opens_as "$Q" /dev/net/tun '<>')" 'Operation not permitted'
	like "devices: /dev/fuse doesn't" "$(opens_as "$Q" /dev/fuse '<')" 'Operation not permitted'
	is "inspect: memory limit" "$(jq .cgroup.limits.memoryMax "$INSPECT")" "$limit"
	is "inspect: pids limit" "$(jq .cgroup.limits.pidsMax "$INSPECT")" "$(cat "$(cgroup_of "$Q" pids)/pids.max")"
	is "inspect: devices" "$(jq -r '.cgroup.devices[]' "$INSPECT" | LC_ALL=C sort | paste -sd,)" \
		"${KVM:+c 10:232 rw,}c 1:3 rw,c 1:5 rw,c 1:7 rw,c 1:8 r,c 1:9 r"
	[ -n "$V2" ] || is "devices: the kernel's list is the same" \
		"$(sort "$(cgroup_of "$Q" devices)/devices.list")" "$(jq -r '.cgroup.devices[]' "$INSPECT" | sort)"
}

one_process_inspected() { # PID NAME
	local of ns
	of=$(jq -c --arg n "$2" '.processes[] | select(.name == $n)' "$INSPECT")
	is "inspect: $2 is pid $1" "$(jq .pid <<<"$of")" "$1"
	is "inspect: $2's uid" "$(jq '.uids[0]' <<<"$of")" "$(status_of "$1" Uid | cut -d' ' -f1)"
	is "inspect: $2's effective capabilities" "$(jq -r .capabilities.effective <<<"$of")" "$(status_of "$1" CapEff)"
	is "inspect: $2's bounding set" "$(jq -r .capabilities.bounding <<<"$of")" "$(status_of "$1" CapBnd)"
	is "inspect: $2's filters" "$(jq .seccomp.filters <<<"$of")" "$(status_of "$1" Seccomp_filters)"
	for ns in $NAMESPACES; do
		is "inspect: $2's $ns namespace" "$(jq ".namespaces.$ns.inode" <<<"$of")" \
			"$(stat -Lc %i "/proc/$1/ns/$ns")"
	done
	is "inspect: $2's threads" "$(jq '.threads[].tid' <<<"$of" | sort)" \
		"$(threads_of "$1" | cut -f1 | sort)"
}

outside() {
	own_namespaces "$L" launcher
	own_namespaces "$Q" qemu
	is "launcher is PID 1 of the pod" "$(status_of "$L" NSpid | awk '{ print $NF }')" 1
	isnt "its launcher has a uid that is not the handler's" "$(status_of "$L" Uid)" "$(status_of "$HANDLER_PID" Uid)"
	one_id "$L" launcher
	one_id "$Q" qemu
	no_capabilities "$L" launcher
	no_capabilities "$Q" qemu
	is "launcher: two filters" "$(status_of "$L" Seccomp_filters)" 2
	is "qemu: four filters on every thread" \
		"$(grep -h '^Seccomp_filters' /proc/"$Q"/task/*/status | sort -u)" $'Seccomp_filters:\t4'
	# the kernel gives the files of a process that can't be dumped to root
	is "launcher: not dumpable" "$(stat -c %u "/proc/$L/environ")" 0
	is "no core file of either" "$(awk '/^Max core/ { print $5, $6 }' "/proc/$L/limits" "/proc/$Q/limits" | sort -u)" "0 0"
	private_root "$L" launcher
	private_root "$Q" qemu
	is "the handler's environment ends at the pod" \
		"$(cat "/proc/$L/environ" "/proc/$Q/environ" | tr '\0' '\n' | grep VT_MARK)" ""
	is "no descriptor of the handler's files in the pod" \
		"$(find "/proc/$L/fd" "/proc/$Q/fd" -printf '%l\n' | grep -E "$ROOT/(lib|etc)|handler|\.db|sqlite")" ""
	is "the network namespace belongs to the host's user namespace" \
		"$(lsns -n -t net -o NS,ONS | awk -v ns="$(stat -Lc %i "/proc/$Q/ns/net")" '$1 == ns { print $2 }')" \
		"$(stat -Lc %i "/proc/$$/ns/user")"
	is "nothing but lo in the namespace of a VM with no interface" \
		"$(in_netns "$Q" ip -j link | jq -r '.[].ifname')" lo
	isnt "host name: not the host's" "$(nsenter -t "$Q" -u hostname)" "$(hostname)"
}

# Only what its table names, of what it was started with.
handler_itself() {
	local had has
	had=$((16#$(status_of $$ CapEff))) has=$((16#$(status_of "$HANDLER_PID" CapEff)))
	isnt "handler: fewer capabilities than root's" "$has" "$had"
	is "handler: none that it didn't have" "$((has & ~had))" 0
	is "handler: no CAP_SYS_MODULE, CAP_SYS_BOOT, CAP_SYS_TIME" "$((has & (1 << 16 | 1 << 22 | 1 << 25)))" 0
	is "handler: its bounding set is as small" "$(status_of "$HANDLER_PID" CapBnd)" "$(status_of "$HANDLER_PID" CapEff)"
}

inside() {
	like "guest: has the memory it was given" "$(guest $VM mem)" 'total_kib=1[0-9]{5} '
	like "guest: one CPU" "$(guest $VM cpus)" 'online=0'
	like "guest: virtio random numbers" "$(guest $VM rng)" 'rng=virtio'
}

# The layers that are not in force for a VM's launcher and QEMU.
layers_off() { # QEMU LAUNCHER
	local ns
	for ns in $NAMESPACES; do
		[ "$(readlink "/proc/$1/ns/$ns")" != "$(readlink "/proc/$$/ns/$ns")" ] || echo "${ns/mnt/mount}"
	done
	[ -n "$(opens_as "$1" /dev/net/tun '<>')" ] || echo devices
	! grep -hE '^Cap' "/proc/$1/status" "/proc/$2/status" | grep -qvE '\s0{16}$' || echo capabilities
	[ "$(status_of "$2" NoNewPrivs)" = 1 ] || echo no-new-privs
	[ "$(stat -c %u "/proc/$2/environ")" = 0 ] || echo dumpable
	[ "$(memory_limit "$1")" -lt $((4 << 30)) ] 2>/dev/null || echo limits
	[ "$(status_of "$2" Seccomp)" = 2 ] || echo seccomp
}

without() { # LAYER [VALUE]
	local layer=$1 name=vt-$1-${2:-off} q
	vmi "$name" "isolation(\"$layer=${2:-off}\") | grace(0)" >"$WORK/$name.json"
	if [ "$layer" = mount ] && [ -n "$KVM" ] && ! [[ $(stat -c %a /dev/kvm) =~ [67]$ ]]; then
		run_refused --rm "mount=off, as the host's /dev/kvm is not for everybody" "$name" '/dev/kvm'
		return
	fi
	run_start "$name" "$WORK/$name.json" --rm
	if ! run_running "$name"; then
		not_ok "$layer=${2:-off}: the VM runs"
		vm_down "$name"
		return
	fi
	q=$(qemu_pid "$name")
	is "$layer=${2:-off}: that layer and only that" "$(layers_off "$q" "$(parent_of "$q")" | sort | xargs)" \
		"${3-$layer}"
	check "$layer=${2:-off}: verify finds it as asked for" vp verify "$name"
	check "$layer=${2:-off}: deleted" vp delete vmi "$name" --grace-period 0
	run_wait "$name" 20
}

refused_annotation() {
	vmi vt-bad 'isolation("usr=off")' >"$WORK/vt-bad.json"
	run_refused --rm "a layer that doesn't exist" vt-bad usr
	vmi vt-bad 'isolation("net=off") | nic("lab"; "10.187.9.2/24")' >"$WORK/vt-bad.json"
	run_refused --rm "l2bridge without a network namespace" vt-bad
}

pod_begin
export VT_MARK=leaked
pod_ready
nad lab 10.187.9.1/24 >"$WORK/nad.json"
check "a network is applied" vp apply -f "$WORK/nad.json"
vmi $VM 'grace(0)' >"$WORK/vm.json"
vm_up $VM "$WORK/vm.json" --rm || fatal "the guest does not come up"
Q=$(qemu_pid $VM) L=$(parent_of "$Q") INSPECT=$WORK/inspect.json
KVM=$(find "/proc/$Q/fd" -lname 'anon_inode:kvm-vm')
UID_OF_POD=$(vp get vmi $VM -o json | jq -r .metadata.uid)
check "inspect answers" vp inspect $VM -o json
vp inspect $VM -o json >"$INSPECT"
outside
handler_itself
groups
one_process_inspected "$L" launcher
one_process_inspected "$Q" qemu
check "verify says that all of this is as promised" vp verify $VM
inside
console_close $VM
check "deleted" vp delete vmi $VM --grace-period 0
run_wait $VM 20
is "run ends with 0 when its VM is deleted" "$RUN_STATUS" 0
for layer in user pid mount net ipc uts cgroup devices capabilities no-new-privs dumpable limits seccomp; do
	without $layer
done
without seccomp audit ""
refused_annotation
pod_stop
pod_end

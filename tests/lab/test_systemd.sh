#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The installed project on a host with systemd: virtpod starts the unit, and VMs with their groups,
# partitions and pins outlive whatever is done to it and to systemd itself.
export VIRTPOD_TEST_SLOW=${VIRTPOD_TEST_SLOW:-8}
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"

PINNED=vt-sdpin SHARED=vt-sdshare
UNIT=virt-handler.service
PINS=2-3 # of four CPUs: the vCPU's and the emulator's

unit() { # PROPERTY
	systemctl show -P "$1" $UNIT
}

# -o all: the build folder is as it was handed over
installed() {
	local image
	check "make install" make --no-print-directory -o all install BUILD="$BUILD"
	check "systemd knows the unit" systemctl cat $UNIT
	is "nothing is delegated to it" "$(unit Delegate)" no
	image=/var/lib/virtpod/images/virtpod/test-guest:latest
	rm -f $image && mkdir -p ${image%/*} # a lab has a link there
	cp -r "$ROOT/lib/images/virtpod/${image##*/}" $image
	is "it does not run yet" "$(unit ActiveState)" inactive
}

started() {
	check "a client's first command" vp apply -f "$WORK/config.yaml"
	is "started the unit" "$(unit ActiveState) $(unit SubState)" "active running"
	is "which says when it is ready" "$(unit Type)" notify
	is "its main process is the installed handler" "$(readlink "/proc/$(unit MainPID)/exe")" \
		/usr/local/libexec/virtpod/virt-handler
	is "there is no other" "$(pids_by comm -x virt-handler)" "$(unit MainPID)"
	like "systemctl status" "$(systemctl status $UNIT --no-pager 2>&1)" 'Active: active \(running\)'
	like "the log is in the journal" "$(journalctl -u $UNIT --no-pager -o cat)" 'serving /run/virtpod/handler.sock'
}

vms() {
	vmi $PINNED 'grace(0)' dedicated '.spec.domain.cpu.isolateEmulatorThread = true' >"$WORK/$PINNED.json"
	vmi $SHARED 'grace(0)' 'nic("lab"; "10.187.7.3/24")' >"$WORK/$SHARED.json"
	nad lab 10.187.7.1/24 >"$WORK/lab.json"
	check "VMs are created" vp apply -f "$WORK/lab.json" -f "$WORK/$PINNED.json" -f "$WORK/$SHARED.json"
	for vm in $PINNED $SHARED; do
		vmi_when "$vm" '.status.phase == ("Running", "Failed")' 60
		[ "$(vp get vmi "$vm" -o json | jq -r .status.phase)" = Running ] ||
			fatal "$vm does not run: $(vp get vmi "$vm" -o json | jq -c .status)"$'\n'"$(journalctl -u $UNIT --no-pager -o cat)"
	done
	TAG=$(basename /sys/fs/cgroup/virtpod-????????) TAG=${TAG#virtpod-}
	Q=$(qemu_pid $PINNED)
	isnt "QEMU runs" "$Q" ""
	is "the kernel keeps its CPUs for it" "$(vp inspect $PINNED -o json | jq -r .exclusivity)" kernel
	is "the pod is a partition, and its vCPUs' group" \
		"$(cat "/sys/fs/cgroup/virtpod-$TAG."*/{,vcpu/}cpuset.cpus.partition | xargs)" "root isolated"
	is "pods are beside systemd's groups, not in the unit's" \
		"$(cat /proc/"$Q"/cgroup /proc/"$(qemu_pid $SHARED)"/cgroup | cut -d / -f 2 | cut -c 1-16 | sort -u)" "virtpod-$TAG"
	is "which holds the handler alone" "$(cat "/sys/fs/cgroup$(unit ControlGroup)/cgroup.procs")" "$(unit MainPID)"
}

born() { # PID: when
	sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20
}

# All that must not change, as the kernel has it.
state() {
	local vm q file
	for vm in $PINNED $SHARED; do
		q=$(qemu_pid "$vm")
		echo "$vm: QEMU $q of $(born "$q"), launcher $(parent_of "$q") of $(born "$(parent_of "$q")")"
	done
	threads_of "$Q" | grep -P "^$Q\t|CPU 0/"
	find /sys/fs/cgroup -path '*virtpod*' -type d -printf '%i %p\n' | sort
	for file in "/sys/fs/cgroup/virtpod-$TAG."*/{,*/}cpuset.cpus{,.partition}; do
		echo "$file: $(cat "$file")"
	done
	grep -ow cpuset /sys/fs/cgroup/cgroup.subtree_control
}

# shellcheck disable=SC2317 # called by check
answers() { # NAME
	console_open "$1" && guest "$1" cpus | grep -q '^ok' && console_close "$1"
}

same() { # AFTER-WHAT
	is "$1: VMs, groups, partitions, pins are what they were" "$(state)" "$STATE"
	for vm in $PINNED $SHARED; do
		check "$1: verify $vm" vp verify "$vm"
		is "$1: $vm runs, says the status" "$(vp get vmi "$vm" -o json | jq -r .status.phase)" Running
	done
	check "$1: the guest answers" answers $PINNED
}

systemd_itself() {
	local main
	main=$(unit MainPID)
	check "daemon-reload" systemctl daemon-reload
	same "daemon-reload"
	check "daemon-reexec" systemctl daemon-reexec
	same "daemon-reexec"
	check "set-property AllowedCPUs=0-1" systemctl set-property system.slice AllowedCPUs=0-1
	is "it was done" "$(cat /sys/fs/cgroup/system.slice/cpuset.cpus)" 0-1
	same "AllowedCPUs=0-1"
	# systemd lets go of a controller that no unit of its own needs any more
	check "set-property AllowedCPUs= again" systemctl set-property system.slice AllowedCPUs=
	check "and daemon-reload" systemctl daemon-reload
	same "AllowedCPUs="
	is "the handler is the same all the time" "$(unit MainPID)" "$main"
}

# Somebody gives the VM's CPUs to all services: nothing can stop that, but it is said, and ends with its cause.
overlap() {
	check "set-property AllowedCPUs=$PINS" systemctl set-property system.slice AllowedCPUs=$PINS
	check "an overlap is in the status" \
		vmi_when $PINNED '[.status.conditions[] | select(.type == "virtpod.io/Exclusive" and .status == "False")] != []' 30
	like "with who it is" "$(condition $PINNED virtpod.io/Exclusive)" 'system\.slice'
	check "and cured" systemctl set-property system.slice AllowedCPUs=0-1
	check "the partition is repaired" vmi_when $PINNED '[.status.conditions[] |
		select(.type == "virtpod.io/Exclusive" and .status == "False")] == []' 30
	same "after the overlap"
}

handler_restarts() {
	local main
	main=$(unit MainPID)
	check "restart" systemctl restart $UNIT
	isnt "restart: another handler" "$(unit MainPID)" "$main"
	same "restart"

	check "stop" systemctl stop $UNIT
	is "stop: it ended well" "$(unit ActiveState) $(unit Result)" "inactive success"
	is "stop: no handler" "$(pids_by comm -x virt-handler)" ""
	is "stop: VMs live on" "$(state)" "$STATE"
	check "start" systemctl start $UNIT
	same "stop and start"

	main=$(unit MainPID)
	kill -KILL "$main"
	wait_gone "$main" 30
	check "kill -9: the next command has a handler" vp get vmi
	isnt "kill -9: systemd started it" "$(unit MainPID)" "$main"
	is "kill -9: as its unit" "$(pids_by comm -x virt-handler)" "$(unit MainPID)"
	same "kill -9"
	is "each handler adopted both VMs, and said nothing else of it" \
		"$(journalctl -u $UNIT --no-pager -o cat | grep -i adopt | sort | uniq -c | xargs)" \
		"3 virt-handler: default/$PINNED: adopted 3 virt-handler: default/$SHARED: adopted"
}

left() {
	host_state | grep -Fvxf "$WORK/before"
	find /run/virtpod/pods /run/virtpod/netns -mindepth 1 2>/dev/null
	pids_by cgroup "virtpod-$TAG"
	grep -F /var/lib/virtpod /run/virtpod.cpus
}

ended() {
	for vm in $PINNED $SHARED; do check "$vm is deleted" vp delete vmi "$vm"; done
	is "nothing of them is left" "$(left)" ""
	check "stop" systemctl stop $UNIT
	is "it ended well" "$(unit ActiveState) $(unit Result)" "inactive success"
	is "nothing is left without it" "$(left)" ""
	is "no group at all" "$(find /sys/fs/cgroup -name '*virtpod*')" ""
	check "make uninstall" make --no-print-directory uninstall
	systemd_runs "systemd still runs well"
}

REST_CPUS=0-1
pod_begin
[ -d /run/systemd/system ] || fatal "this test needs systemd as init"
VP=(/usr/local/bin/virtpod)
installed
started
vms
STATE=$(state)
same "at first"
systemd_itself
overlap
handler_restarts
ended
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Dedicated CPUs on a host with two sockets, SMT and two NUMA nodes: where they are, how a VM that can't
# have them is refused, and, from the scheduler's own events, who ran on them from the guest's first
# instruction on. Guests but one have no disk and no kernel: their firmware starts all vCPUs and idles.
export VIRTPOD_TEST_SLOW=${VIRTPOD_TEST_SLOW:-8}
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"
# shellcheck source=tests/lab/trace.sh
source "$(dirname "$0")/trace.sh"

SYS=/sys/devices/system
SHARED=vt-shared PLAIN=vt-plain ISO=vt-iso WHOLE=vt-whole NODE=vt-node TOO_MUCH=vt-toomuch
ISOLATED='.spec.domain.cpu.isolateEmulatorThread = true'

# --- helpers -----------------------------------------------------------------------------------

kubelet() { # LINE...: the configuration, CPUs 0 and 1 reserved, with more lines
	config | sed 's/^reservedSystemCPUs:.*/reservedSystemCPUs: "0-1"/'
	printf '%s\n' "$@"
}

bare() { # NAME CORES THREADS [FILTER...]
	local name=$1 cpu=".spec.domain.cpu += {cores: $2, threads: $3}"
	shift 3
	vmi "$name" dedicated "$cpu" 'del(.spec.domain.firmware)' 'grace(0)' "$@" >"$WORK/$name.json"
}

learn() { # NAME: QEMU, group, and "vCPU CPU tid" lines
	Q=$(qemu_pid "$1")
	POD=$(dirname "$(cgroup_of "$Q" cpuset)")
	VCPUS=$(threads_of "$Q" | sed -nE 's/^([0-9]+)\tCPU ([0-9]+)\/KVM\t(.*)/\2 \3 \1/p' | sort -n)
}

up() { # NAME
	run_start "$1" "$WORK/$1.json" --rm
	run_running "$1" || fatal "$1 does not run"
	learn "$1"
}

cpus_of_vcpus() { # one line
	cut -d ' ' -f 2 <<<"$VCPUS" | xargs
}

# "0-3,8" as numbers, one a line
expand() { # LIST
	local range
	for range in ${1//,/ }; do seq "${range%-*}" "${range#*-}"; done
}

siblings() { # CPU: all threads of its core, one a line
	expand "$(cat "$SYS/cpu/cpu$1/topology/thread_siblings_list")"
}

nodes_of() { # CPU...
	local cpu
	for cpu; do basename "$SYS/cpu/cpu$cpu"/node*; done | sort -u | xargs
}

# CPUs of a set, one a line, which have a sibling outside of it.
torn() { # CPU...
	local cpu
	for cpu; do
		[ -z "$(comm -23 <(siblings "$cpu" | sort) <(printf '%s\n' "$@" | sort))" ] || echo "$cpu"
	done
}

refused() { # WHAT CORES THREADS MESSAGE...
	bare $TOO_MUCH "$2" "$3"
	run_refused --rm "$1" $TOO_MUCH "${@:4}"
}

# --- what the scheduler did ----------------------------------------------------------------------

# Leaves "times CPU pid name" of each task that ran on these CPUs since the guest's first instruction.
ran_end() { # CPU...
	trace_end "$@"
	awk -v begin="${BEGIN:-none}" '$1 + 0 >= begin + 0 { sub(/^[^ ]+ /, ""); print }' "$WORK/switches" |
		sed -E 's/^([0-9]+ [0-9]+) [0-9]+/\1/' | sort | uniq -c | sort -k 2n >"$WORK/ran"
}

# A thread of the kernel's that belongs to this CPU: "ksoftirqd/3", "kworker/3:1H".
bound() { # CPU PID NAME
	local flags
	[[ $3 =~ ^[a-z_]+/$1([:A-Z].*)?$ ]] || return
	flags=$(sed 's/.*) //' "/proc/$2/stat" 2>/dev/null | cut -d ' ' -f 7) # PF_KTHREAD
	[ -z "$flags" ] || ((flags & 0x200000))
}

# A task of this root: in its groups, its handler, or called as ours are (it may be gone by now).
ours() { # PID NAME
	grep -qs "virtpod.*$TAG" "/proc/$1/cgroup" || [ -e "/proc/$HANDLER_PID/task/$1" ] ||
		[[ $2 =~ ^(virt-|qemu-|CPU\ [0-9]+/|IO\ |worker$|vhost-|kvm-|passt|swtpm|dnsmasq) ]]
}

# Of those that ran, all who had no right to, with how often. WHO: everybody or ours.
violators() { # WHO
	local times cpu pid name
	while read -r times cpu pid name; do
		! grep -q " $cpu $pid\$" <<<"$VCPUS" || continue
		! bound "$cpu" "$pid" "$name" || continue
		[ "$1" = everybody ] || ours "$pid" "$name" || continue
		echo "on CPU $cpu, $times times: $pid $name"
	done <"$WORK/ran"
}

# The shared VM's guest and, with OWN, three processes of our own burn while a VM starts and after.
start_under_load() { # NAME OWN
	local i burners=()
	trace_begin
	for ((i = 0; i < $2; i++)); do
		timeout 4 bash -c 'while :; do :; done' &
		burners+=($!)
	done
	run_start "$1" "$WORK/$1.json" --rm
	for ((i = 0; i < 40; i++)); do
		guest $SHARED 'burn 1' >/dev/null
		! grep -q Running "$WORK/$1.err" || break
		kill -0 "${RUN_PID[$1]}" 2>/dev/null || break
	done
	run_running "$1" || fatal "$1 does not run"
	learn "$1"
	printf 'burn 2\n' >&"${CON_FD[$SHARED]}"
	vp inspect $SHARED -o json >/dev/null # our own daemon has work, too
	vp verify "$1" >/dev/null 2>&1
	guest $SHARED 'burn 1' >/dev/null
	for i in "${burners[@]}"; do wait "$i"; done
}

usage_of() { # PID: CPU time of its pod
	sed -n 's/^usage_usec //p' "$(cgroup_of "$1" cpu)/cpu.stat"
}

alone() { # NAME WHO OWN
	local before vcpu cpu tid ran
	before=$(usage_of "$SHARED_QEMU")
	start_under_load "$1" "$3"
	check "$1: the other VM burned all the while" \
		test "$(($(usage_of "$SHARED_QEMU") - before))" -gt 2000000
	# shellcheck disable=SC2046 # one word each
	ran_end $(cpus_of_vcpus)
	while read -r vcpu cpu tid; do
		ran=$(awk -v c="$cpu" -v t="$tid" '$2 == c && $3 == t { print $1 }' "$WORK/ran")
		check "$1: vCPU $vcpu ran on its CPU $cpu" test "${ran:-0}" -gt 0
	done <<<"$VCPUS"
	is "$1: on its CPUs nobody else ran ($2)" "$(violators "$2")" ""
	diag "$1: who ran there: $(awk '{ print $4, $5 }' "$WORK/ran" | sort -u | paste -sd,)"
}

shared_vm() {
	vmi $SHARED 'grace(0)' >"$WORK/$SHARED.json"
	vm_up $SHARED "$WORK/$SHARED.json" --rm || fatal "the shared VM does not come up"
	SHARED_QEMU=$(qemu_pid $SHARED)
}

# --- siblings, and CPUs that run out -----------------------------------------------------------------

pairs() { # NAME
	local even odd vcpu cpu tid
	while read -r vcpu cpu tid; do
		((vcpu % 2)) || { even=$cpu && continue; }
		odd=$cpu
		is "$1: vCPUs $((vcpu - 1)) and $vcpu are on one core" "$(siblings "$even" | xargs)" \
			"$(printf '%s\n' "$even" "$odd" | sort -n | xargs)"
	done <<<"$VCPUS"
	like "$1: QEMU is told of threads" "$(tr '\0' ' ' <"/proc/$Q/cmdline")" 'threads=2'
	is "$1: inspect has these CPUs" "$(vp inspect "$1" -o json | jq -r '.cpus.vcpus | map(tostring) | join(" ")')" \
		"$(cpus_of_vcpus)"
	check "$1: verify" vp verify "$1"
}

ledger_form() {
	bare $PLAIN 2 2
	alone $PLAIN ours 0
	is "$PLAIN: four vCPUs" "$(wc -l <<<"$VCPUS")" 4
	is "$PLAIN: on none that is reserved" "$(cpus_of_vcpus | tr ' ' '\n' | grep -cx '[01]')" 0
	pairs $PLAIN
	is "$PLAIN: no partition" "$(cat "$POD/cpuset.cpus.partition")" member
	refused "too few CPUs" 6 2 '12 CPUs wanted' '10 free' 'reserved CPUs 0-1' "default/$PLAIN'?: [0-9]"
	refused "more than there are" 15 1 '15 CPUs wanted' 'never has more than 14'
	vm_down $PLAIN
}

partition_form() {
	bare $ISO 1 2 "$ISOLATED"
	alone $ISO everybody 3
	is "$ISO: two vCPUs" "$(wc -l <<<"$VCPUS")" 2
	pairs $ISO
	is "$ISO: partitions" "$(cat "$POD/cpuset.cpus.partition" "$POD/vcpu/cpuset.cpus.partition" | xargs)" "root isolated"
	vm_down $ISO
}

# --- whole cores, one node ----------------------------------------------------------------------------

policies() {
	local all
	kubelet 'cpuManagerPolicyOptions: {full-pcpus-only: "true"}' 'topologyManagerPolicy: single-numa-node' \
		>"$WORK/numa.yaml"
	check "whole cores and one node: the policy is taken" vp apply -f "$WORK/numa.yaml"
	refused "no whole cores" 3 1 '3 CPUs wanted' 'whole cores of 2 CPUs and 3 is no multiple of 2'
	refused "larger than a node" 5 2 '10 CPUs wanted' 'single-numa-node' '6 on 0, 8 on 1'
	bare $WHOLE 3 1 "$ISOLATED"
	up $WHOLE
	all=$(expand "$(cat "$POD/cpuset.cpus")" | xargs)
	is "three vCPUs and the emulator's" "$(wc -w <<<"$all")" 4
	# shellcheck disable=SC2086 # one word each
	is "whole cores" "$(torn $all)" ""
	# shellcheck disable=SC2086
	is "of one node" "$(nodes_of $all | wc -w)" 1
	bare $NODE 4 2
	up $NODE
	# shellcheck disable=SC2046
	is "eight vCPUs: all of the one node that has eight" "$(nodes_of $(cpus_of_vcpus))" node1
	# shellcheck disable=SC2046
	is "eight vCPUs: whole cores" "$(torn $(cpus_of_vcpus))" ""
	pairs $NODE
	refused "the other node is too small now" 2 2 '4 CPUs wanted' '2 free' "default/$WHOLE" "default/$NODE"
}

# --- memory is on the node of the CPUs --------------------------------------------------------------------

# Pages of QEMU's largest mapping, guest memory, by node: "N1=123".
guest_pages() {
	local range rest from
	from=$(while read -r range rest; do
		echo "$((16#${range#*-} - 16#${range%-*})) ${range%-*}"
	done <"/proc/$Q/maps" | grep "^$((192 << 20)) " | head -n 1 | cut -d ' ' -f 2)
	grep "^0*$from " "/proc/$Q/numa_maps" | grep -oE 'N[0-9]+=[0-9]+' | xargs
}

memory_follows() {
	learn $NODE
	is "memory: the pod may use the node of its CPUs" "$(cat "$POD/cpuset.mems.effective")" 1
	like "memory: all of the guest's is there" "$(guest_pages)" '^N1=[0-9]+$'
	learn $WHOLE
	is "memory: the other VM's node" "$(cat "$POD/cpuset.mems.effective")" 0
	like "memory: all of its guest's is there" "$(guest_pages)" '^N0=[0-9]+$'
}

# --- all ---------------------------------------------------------------------------------------

[ "$(nproc --all)" -eq 16 ] || { echo "Bail out! wants 2 sockets x 4 cores x 2 threads: the lab's shape smt-numa"; exit 1; }
pod_begin
kubelet >"$WORK/config.yaml"
pod_ready
shared_vm
ledger_form
partition_form
vm_down $SHARED
policies
memory_follows
vm_down $NODE
vm_down $WHOLE
pod_stop
pod_end

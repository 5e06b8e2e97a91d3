#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Memory on a host with two NUMA nodes and huge pages: a guest's memory is where its CPUs are, as the kernel
# has it; refused where a node is short; guest nodes; realtime vCPUs and locked memory. In the lab only.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/../pod/lib.sh"
# shellcheck source=tests/lab/trace.sh
source "$(dirname "$0")/trace.sh"

ONE=vt-mem1 TWO=vt-mem2
NODE=/sys/devices/system/node POOL=hugepages/hugepages-2048kB
RT=/proc/sys/kernel/sched_rt_runtime_us
PAGES=128 # of a guest of 256 MiB

# --- the host ----------------------------------------------------------------------------------

free_pages() { # NODE
	cat "$NODE/node$1/$POOL/free_hugepages"
}

set_pool() { # NODE PAGES
	echo "$2" >"$NODE/node$1/$POOL/nr_hugepages"
}

node_of() { # CPU
	local dir
	for dir in "/sys/devices/system/cpu/cpu$1"/node*; do echo "${dir##*/node}"; done
}

# The last core of a node: as the kernel lists its threads.
last_core() { # NODE
	local cpu
	cpu=$(grep -oE '[0-9]+' "$NODE/node$1/cpulist" | tail -n 1)
	cat "/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list"
}

# A list with all CPUs of the host but those of LIST.
all_but() { # LIST
	local first last range
	declare -A out=()
	for range in ${1//,/ }; do
		first=${range%-*} last=${range#*-}
		for ((; first <= last; first++)); do out[$first]=1; done
	done
	for ((first = 0; first < $(nproc --all); first++)); do
		[ -n "${out[$first]:-}" ] || echo "$first"
	done | paste -sd,
}

kubelet() { # RESERVED TOPOLOGY_POLICY: the CPUs that no VM gets
	cat >"$WORK/kubelet.yaml" <<-END
	apiVersion: kubelet.config.k8s.io/v1beta1
	kind: KubeletConfiguration
	cpuManagerPolicy: static
	topologyManagerPolicy: $2
	reservedSystemCPUs: "$1"
	END
	check "policy $2, CPUs reserved: $1" vp apply -f "$WORK/kubelet.yaml"
}

# --- what the kernel says of a QEMU ---------------------------------------------------------------

# "bind:1 N1=128" for each mapping of its memory that is bound or in huge pages
guest_maps() { # PID
	awk '/ huge | bind:/ { printf "%s", $2; for (i = 3; i <= NF; i++) if ($i ~ /^N[0-9]+=/) printf " %s", $i; print "" }' \
		"/proc/$1/numa_maps"
}

vcpu_nodes() { # PID
	local tid
	for tid in $(vcpu_tids "$1"); do node_of "$(status_of "$tid" Cpus_allowed_list)"; done | sort -u
}

# policy and priority of each vCPU thread, in order
vcpu_scheduling() { # PID
	local tid
	for tid in $(vcpu_tids "$1"); do
		chrt -p "$tid" | sed -n 's/.*: //p' | paste -sd' '
	done | paste -sd,
}

# Its QEMU runs: what is looked at here is there before the guest has booted, which takes long in the lab.
up() { # NAME: sets Q
	run_start "$1" "$WORK/$1.json" --rm
	run_running "$1" || fatal "$1 does not run"
	Q=$(qemu_pid "$1") || fatal "$1 has no QEMU"
}

# --- the tests ---------------------------------------------------------------------------------

# All CPUs of node 0 are reserved: both VMs can only be on node 1.
HUGE='.spec.domain.memory = {guest: "256Mi", hugepages: {pageSize: "2Mi"}}'
TWO_VCPUS='.spec.domain.cpu = {cores: 2, dedicatedCpuPlacement: true}'

ordinary_pages() {
	vmi $TWO "$TWO_VCPUS" >"$WORK/$TWO.json"
	up $TWO
	is "ordinary memory: its vCPUs are on node 1" "$(vcpu_nodes "$Q")" 1
	like "and so is every page of the guest's" "$(guest_maps "$Q")" $'^(bind:1 N1=[0-9]+\n?)+$'
	check "verify: ordinary memory on its node" vp verify $TWO
	vm_down $TWO
}

huge_pages() {
	local before
	before=$(free_pages 1)
	vmi $ONE "$TWO_VCPUS" "$HUGE" >"$WORK/$ONE.json"
	up $ONE
	is "huge pages: the vCPUs are on node 1" "$(vcpu_nodes "$Q")" 1
	is "all pages are, too" "$(guest_maps "$Q")" "bind:1 N1=$PAGES"
	is "the node has as many fewer" "$((before - $(free_pages 1)))" $PAGES
	is "QEMU may have memory of this node only" "$(status_of "$Q" Mems_allowed_list)" 1
	is "inspect: the same" "$(vp inspect $ONE -o json | jq -cS .memory.guest)" \
		"[{\"nodes\":{\"1\":$((PAGES << 21))},\"pageBytes\":2097152,\"policy\":\"bind:1\"}]"
	check "verify: huge pages on their node" vp verify $ONE
	like "descriptors: enough" "$(limit_of "$Q" 'Max open files')" '^4096 '
}

# Node 1 is short of pages while node 0 has plenty.
short_node() {
	local message total
	total=$(cat $NODE/node1/$POOL/nr_hugepages)
	set_pool 1 $((PAGES + 10))
	vmi $TWO "$TWO_VCPUS" "$HUGE" 'grace(0)' >"$WORK/$TWO.json"
	run_refused "a node without pages" $TWO
	message=$(condition $TWO PodScheduled)
	like "its condition" "$message" '^False Unschedulable '
	like "says what was wanted, and where" "$message" "wanted $PAGES pages of 2Mi on NUMA node 1"
	like "what is free" "$message" "free 10 of $((PAGES + 10))"
	like "and who holds the rest" "$message" "default/$ONE $PAGES"
	like "and what to do" "$message" "echo $((2 * PAGES)) > $NODE/node1/$POOL/nr_hugepages"
	set_pool 1 $((2 * PAGES))
	check "done so, the VM starts by itself" wait_for $TWO 'jsonpath={.status.phase}=Running' 60
	vm_down $TWO
	set_pool 1 "$total"
}

# One core of each node is free: a VM of their threads is on both.
guest_nodes() {
	local seen wanted pages distance
	vm_down $ONE
	kubelet "$(all_but "$(last_core 0),$(last_core 1)")" best-effort
	VCPUS=$(($(nproc --all) - $(sed -nE 's/.*CPUs: "(.*)"/\1/p' "$WORK/kubelet.yaml" | tr ',' '\n' | wc -l)))
	vmi $ONE ".spec.domain.cpu = {cores: $VCPUS, dedicatedCpuPlacement: true,
		numa: {guestMappingPassthrough: {}}}" "$HUGE" >"$WORK/$ONE.json"
	up $ONE
	pages=$((PAGES / 2)) distance=$(cut -d' ' -f2 $NODE/node0/distance)
	is "passthrough: half of the pages on each node" "$(guest_maps "$Q" | sort)" \
		"bind:0 N0=$pages"$'\n'"bind:1 N1=$pages"
	console_open $ONE || fatal "no guest on two nodes"
	seen=$(guest $ONE nodes)
	wanted="node=0 cpus=.* total_kib=[0-9]+ distance=10 $distance"
	like "the guest sees two nodes" "$seen" "$wanted"
	like "with the host's distances" "$seen" "node=1 cpus=.* distance=$distance 10"
	is "and no third one" "$(grep -c '^node=' <<<"$seen")" 2
	is "its vCPUs are where they are on the host" "$(guest_cpus "$seen")" "$(host_cpus "$Q")"
	check "verify: two nodes" vp verify $ONE
	vm_down $ONE
}

# "CPU NODE" of each vCPU: as the guest has it, and by the CPUs that its threads have on the host
guest_cpus() { # ANSWER
	sed -nE 's/^node=([0-9]+) cpus=([^ ]*) .*/\1 \2/p' <<<"$1" | while read -r node list; do
		for range in ${list//,/ }; do seq -f "%g $node" "${range%-*}" "${range#*-}"; done
	done | sort -n
}

# "VCPU CPU TID" of each, in order
vcpus_of() { # PID
	threads_of "$1" | sed -nE 's/^([0-9]+)\tCPU ([0-9]+)\/[A-Z]+\t([0-9]+)$/\2 \3 \1/p' | sort -n
}

host_cpus() { # PID
	local vcpu cpu tid
	vcpus_of "$1" | while read -r vcpu cpu tid; do echo "$vcpu $(node_of "$cpu")"; done
}

realtime() {
	local was
	was=$(cat $RT)
	echo 950000 >$RT
	vmi $ONE ".spec.domain.cpu = {cores: $VCPUS, dedicatedCpuPlacement: true,
		numa: {guestMappingPassthrough: {}}, realtime: {mask: \"0-$((VCPUS - 1)),^1\"}}" "$HUGE" \
		>"$WORK/$ONE.json"
	run_refused --rm "realtime where the kernel throttles it" $ONE 'kernel.sched_rt_runtime_us is 950000, must be -1'
	echo -1 >$RT
	may_not_raise
	realtime_runs
	check "it is deleted" vp delete vmi $ONE --grace-period 0
	echo "$was" >$RT
}

# A hard limit of locked memory that is low, and a handler that may not raise it.
may_not_raise() {
	local was
	was=$(ulimit -Hl)
	handler_stop
	ulimit -l 64
	HANDLER_BY=(setpriv --inh-caps=-sys_resource --bounding-set=-sys_resource --)
	handler_start "$ROOT" || fatal "virt-handler does not start without CAP_SYS_RESOURCE"
	is "a handler with a low limit of locked memory" "$(limit_of "$HANDLER_PID" 'Max locked memory')" "65536 65536"
	is "may not raise it" "$((0x$(status_of "$HANDLER_PID" CapEff) >> 24 & 1))" 0
	run_refused "realtime without memory to lock" $ONE 'wanted no limit of locked memory' \
		'virt-handler has 64 KiB' 'CAP_SYS_RESOURCE' 'LimitMEMLOCK=infinity'
	like "without memory to lock: its condition" "$(condition $ONE PodScheduled)" '^False Unschedulable .*locked memory'
	is "without memory to lock: it stays pending" "$(vp get vmi $ONE -o json | jq -r .status.phase)" Pending
	is "without memory to lock: no QEMU" "$(qemu_pid $ONE)" ""
	is "without memory to lock: no CPU is held" "$(grep -F "$ROOT" /run/virtpod.cpus 2>/dev/null)" ""
	handler_stop
	HANDLER_BY=()
	trace_begin
	handler_start "$ROOT" || fatal "virt-handler does not start with a low limit"
	ulimit -l "$was"
	is "the next one's limit is as low" "$(limit_of "$HANDLER_PID" 'Max locked memory')" "65536 65536"
	is "but it may raise it" "$((0x$(status_of "$HANDLER_PID" CapEff) >> 24 & 1))" 1
}

# The VMI that was refused is there; no `run` that would start a handler of its own.
realtime_runs() {
	local policies
	check "realtime: it starts by itself" wait_for $ONE 'jsonpath={.status.phase}=Running' 60
	Q=$(qemu_pid $ONE) || fatal "no realtime VM: $(condition $ONE PodScheduled)"
	policies="SCHED_FIFO 1,SCHED_OTHER 0$(printf ',SCHED_FIFO 1%.0s' $(seq 3 "$VCPUS"))"
	is "the mask's vCPUs are SCHED_FIFO, the other isn't" "$(vcpu_scheduling "$Q")" "$policies"
	is "no other thread of QEMU is" "$(other_policies "$Q")" SCHED_OTHER
	is "memory may be locked without limit" "$(limit_of "$Q" 'Max locked memory')" "unlimited unlimited"
	like "and is locked" "$(status_of "$Q" VmLck)" '^[1-9][0-9]* kB$'
	check "verify: realtime" vp verify $ONE
	realtime_from_the_first "$Q"
	chrt -o -p 0 "$(vcpu_tids "$Q" | head -n 1)"
	handler_kill
	handler_start "$ROOT" || fatal "virt-handler does not start again"
	check "the next handler has it" wait_line "$WORK/handler.log" "$ONE: adopted" 30
	is "and sets the policy again" "$(vcpu_scheduling "$Q")" "$policies"
}

# By the scheduler's events, as a policy that is set after the guest has begun looks the same afterwards.
# The kernel's number of FIFO 1 is 98, of an ordinary thread 120.
realtime_from_the_first() { # PID
	local vcpu cpu tid wanted
	# shellcheck disable=SC2046 # one word each
	trace_end $(vcpus_of "$1" | cut -d ' ' -f 2)
	is "the first instruction is vCPU 0's" "${FIRST:-}" "$(vcpus_of "$1" | sed -n 's/^0 .* //p')"
	while read -r vcpu cpu tid; do
		wanted=98
		[ "$vcpu" != 1 ] || wanted=120
		is "vCPU $vcpu: its priority on CPU $cpu from the guest's first instruction on" \
			"$(priorities_of "$tid")" $wanted
	done < <(vcpus_of "$1")
}

other_policies() { # PID
	local dir
	for dir in /proc/"$1"/task/*; do
		[[ $(cat "$dir/comm") == CPU\ * ]] || chrt -p "${dir##*/}" | sed -n 's/.*policy: //p'
	done | sort -u
}

pod_begin
[ -d $NODE/node1/$POOL ] || { echo "Bail out! needs two NUMA nodes: make lab-test SHAPE=smt-numa"; exit 1; }
pod_ready
kubelet "$(cat $NODE/node0/cpulist)" single-numa-node
ordinary_pages
huge_pages
short_node
guest_nodes
realtime
pod_stop
pod_end

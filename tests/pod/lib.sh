# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What every pod test shares: TAP, a root of its own with a handler, manifests, guests with their
# consoles, the kernel's view of a pod, and the search for what was left behind.
#
# A test sources this with BUILD as its first argument, calls pod_begin, makes its checks and ends with
# pod_end. Waiting is always for an event (a line, a watch, the end of a process) with a time limit,
# never for time to pass. Processes are ended by pid, and only those that belong to the test's own root.
set -u
BUILD=$(realpath "${1:?usage: $0 BUILD_DIR}")
GUEST_ARGS="console=ttyS0 tsc=reliable no_timer_check mitigations=off nokaslr"
READY='virtpod-guest: ready'
# one CPU for a VM of its own, all others reserved: on any host only one such VM fits
LAST_CPU=$(($(nproc --all) - 1))
REST_CPUS=0
[ "$LAST_CPU" -le 1 ] || REST_CPUS=0-$((LAST_CPU - 1))
# limits of time are for a machine of today; on an emulated one everything takes this many times as long
SLOW=${VIRTPOD_TEST_SLOW:-3} # and labs and fuzzers may run beside
# there each line on the console, and each timer that is tried, costs the guest a tenth of a second
[ -z "${VIRTPOD_TEST_SLOW:-}" ] || GUEST_ARGS+=" quiet lpj=4000000 rcupdate.rcu_expedited=1 nowatchdog audit=0"
V2='' # the host's groups are in the one tree of cgroup v2
[ ! -e /sys/fs/cgroup/cgroup.controllers ] || V2=yes
TESTS=0 FAILED=0 TAG='' HANDLER_PID='' WORK='' ROOT='' VP=()
declare -A RUN_PID=() CON_FD=() CON_PID=()

# --- TAP ---------------------------------------------------------------------------------------

ok() { # NAME
	TESTS=$((TESTS + 1))
	echo "ok $TESTS - $1"
}

not_ok() { # NAME [WHY]
	TESTS=$((TESTS + 1)) FAILED=$((FAILED + 1))
	echo "not ok $TESTS - $1"
	[ $# -lt 2 ] || diag "$2"
}

diag() {
	local text=$*
	echo "# ${text//$'\n'/$'\n'# }"
}

check() { # NAME COMMAND...: it succeeds
	local name=$1
	shift
	if "$@" >"$WORK/check.out" 2>&1; then
		ok "$name"
	else
		not_ok "$name" "failed: $*"$'\n'"$(cat "$WORK/check.out")"
	fi
}

is() { # NAME FOUND WANTED
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "found:  $2"$'\n'"wanted: $3"; fi
}

isnt() { # NAME FOUND UNWANTED
	if [ -n "$2" ] && [ "$2" != "$3" ]; then ok "$1"; else not_ok "$1" "found: $2"; fi
}

like() { # NAME TEXT REGEX
	if [[ $2 =~ $3 ]]; then ok "$1"; else not_ok "$1" "found:  $2"$'\n'"wanted: =~ $3"; fi
}

systemd_runs() { # NAME: it has started all, and no unit failed
	is "$1" "$(timeout 120 systemctl is-system-running --wait)$(systemctl --failed --plain --no-legend)" running
}

# --- the test's world --------------------------------------------------------------------------

vp() {
	"${VP[@]}" "$@"
}

pod_begin() {
	local image file
	[ "$(id -u)" -eq 0 ] || { echo "Bail out! pod tests need root"; exit 1; }
	for file in virtpod virt-handler virt-launcher guest/vmlinuz guest/initrd; do
		[ -e "$BUILD/$file" ] || { echo "Bail out! $BUILD/$file is not there: make all guest"; exit 1; }
	done
	take_turns
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/vptest.$$.XXXXXX") # tests/pod/sweep.sh reads the pid
	ROOT=$WORK/root
	VP=("$BUILD/virtpod" --root "$ROOT")
	TAG=$(tag_of "$(realpath "$WORK")/root")
	trap pod_cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	image=$ROOT/lib/images/virtpod/test-guest:latest
	mkdir -p "$image"
	ln "$BUILD/guest/vmlinuz" "$BUILD/guest/initrd" "$image/" 2>/dev/null ||
		cp "$BUILD/guest/vmlinuz" "$BUILD/guest/initrd" "$image/" || exit 1
	config true >"$WORK/config.yaml"
	host_state >"$WORK/before"
}

# The hash in the names of everything of a root (handler/paths.c: FNV-1a), so that all of it is found
# whatever happened to the test.
tag_of() { # ROOT
	local i char hash=2166136261 LC_ALL=C
	for ((i = 0; i < ${#1}; i++)); do
		printf -v char %d "'${1:i:1}"
		hash=$((((hash ^ char) * 16777619) & 0xffffffff))
	done
	printf '%08x\n' "$hash"
}

# One pod test at a time on this host: they want the same CPU. The lock's holder ends with our end of
# its pipe, however we end.
take_turns() {
	[ -z "${VIRTPOD_TEST_TURN:-}" ] || return 0 # tests/run.sh has it for the whole run
	coproc TURN { exec flock /run/virtpod-test.lock -c 'echo mine; exec cat'; }
	read -r <&"${TURN[0]}"
}

# What the sanitizers have said, those of a launcher by way of its handler's log.
sanitizer_words() {
	cat "$WORK"/*.log "$ROOT/run/handler.log" 2>/dev/null |
		grep -aE 'ERROR: [A-Za-z]*Sanitizer|runtime error: |LeakSanitizer has'
}

# The plan line and the exit status; the trap cleans.
pod_end() {
	! grep -q __asan_init "$BUILD/virt-handler" ||
		is "the sanitizers have found nothing" "$(sanitizer_words)" ""
	[ "$FAILED" -eq 0 ] || diag "the handler's last words:"$'\n'"$(tail -n 25 "$WORK/handler.log" "$ROOT/run/handler.log" 2>/dev/null)"
	echo "1..$TESTS"
	[ "$FAILED" -eq 0 ]
	exit
}

fatal() { # WHY: nothing that follows would mean anything
	not_ok "the test can go on" "$1"
	pod_end
}

# Last resort. Silent when there is nothing, as there should be.
pod_cleanup() {
	local pid name
	trap '' INT TERM HUP
	for name in "${!CON_PID[@]}"; do console_close "$name"; done
	exec 2>/dev/null # the shell would report each of these kills
	for pid in "${RUN_PID[@]}"; do kill -KILL "$pid"; done
	root_sweep
	[ -z "${TURN[1]:-}" ] || eval "exec ${TURN[1]}>&-"
	wait
	rm -rf --one-file-system "$WORK"
}

# Everything of this root, in the order in which it holds each other.
root_sweep() {
	local pid mount link dir
	for pid in $(root_pids) $(handler_pids "$ROOT"); do kill -KILL "$pid"; done
	for pid in $(root_pids); do wait_gone "$pid" 10; done
	while read -r mount; do umount -l "$mount"; done < <(root_mounts)
	while read -r link; do ip link del "$link" 2>/dev/null; done < <(tagged_links)
	while read -r dir; do rmdir "$dir" 2>/dev/null; done < <(tagged_cgroups | sort -r)
	# shellcheck disable=SC2016 # expanded by the inner shell
	flock /run/virtpod.cpus.lock bash -c 'left=$(jq -c --arg root "$1" "map(select(.root != \$root))" "$0") &&
		printf %s "$left" >"$0"' /run/virtpod.cpus "$ROOT" 2>/dev/null
}

# --- waiting -----------------------------------------------------------------------------------

# Print the first line that matches, from line FROM on; fails after SECONDS, or when PID has ended
# and the line was not there.
wait_line() { # FILE REGEX SECONDS [FROM [PID]]
	local fd tail_pid status pid=()
	[ -z "${5:-}" ] || pid=(--pid="$5")
	: >>"$1"
	exec {fd}< <(exec tail -n "+${4:-1}" "${pid[@]}" -f -- "$1" 2>/dev/null)
	tail_pid=$!
	timeout $(($3 * SLOW)) grep -a -m1 -E -- "$2" <&"$fd"
	status=$?
	kill "$tail_pid" 2>/dev/null
	exec {fd}<&-
	wait "$tail_pid" 2>/dev/null
	return "$status"
}

# A process of anybody's has ended; by pidfd.
wait_gone() { # PID SECONDS
	echo "$1" >"$WORK/pid"
	timeout $(($2 * SLOW)) pidwait -F "$WORK/pid"
	[ "$?" -ne 124 ]
}

wait_for() { # NAME EXPRESSION SECONDS: `virtpod wait`
	local limit=$(($3 * SLOW))
	timeout "$((limit + 5))" "${VP[@]}" wait "vmi/$1" --for="$2" --timeout="${limit}s"
}

# A VMI's JSON makes FILTER true, now or after some change; by a watch.
vmi_when() { # NAME FILTER SECONDS
	local watch fd status
	exec {fd}< <(exec timeout $(($3 * SLOW)) "${VP[@]}" get vmi "$1" -w -o json)
	watch=$!
	jq -en "first(inputs | select($2))" <&"$fd" >/dev/null
	status=$?
	kill "$watch" 2>/dev/null
	exec {fd}<&-
	return "$status"
}

# --- handler -----------------------------------------------------------------------------------

HANDLER=$BUILD/virt-handler
HANDLER_BY=() # a command that starts it in its own place

handler_start() { # ROOT [OPTION...]: HANDLER_PID is its pid; fails when it ended instead
	local root=$1 log=$WORK/handler.log from
	shift
	: >>"$log"
	from=$(($(wc -l <"$log") + 1))
	"${HANDLER_BY[@]}" "$HANDLER" --root "$root" "$@" >>"$log" 2>&1 </dev/null &
	HANDLER_PID=$!
	wait_line "$log" "serving $root/run/handler.sock" 30 "$from" "$HANDLER_PID" >/dev/null
}

handler_up() { # as HANDLER_BY says, of this root, or nothing that follows would mean anything
	handler_start "$ROOT" || fatal "virt-handler does not start: $(tail -n 1 "$WORK/handler.log")"
}

handler_stop() { # sets HANDLER_STATUS
	[ -n "$HANDLER_PID" ] || return 0
	kill -TERM "$HANDLER_PID" 2>/dev/null
	wait_gone "$HANDLER_PID" 20 || diag "virt-handler $HANDLER_PID does not end"
	handler_reap
}

handler_kill() {
	kill -KILL "$HANDLER_PID"
	handler_reap
}

handler_reap() {
	wait "$HANDLER_PID" 2>/dev/null
	# shellcheck disable=SC2034 # for the tests
	HANDLER_STATUS=$?
	HANDLER_PID=''
}

# Pids of handlers of a root, also of those that virtpod started.
handler_pids() { # ROOT
	local pid exe
	for pid in $(pids_by cmdline -F "$1"); do
		exe=$(readlink "/proc/$pid/exe" 2>/dev/null) || continue
		[[ $exe == */virt-handler* ]] || continue
		tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -Fxq -- "$1" && echo "$pid"
	done
}

# --- manifests ---------------------------------------------------------------------------------

# shellcheck disable=SC2120 # others give it one
config() { # [USE-EMULATION]
	cat <<-END
	apiVersion: kubevirt.io/v1
	kind: KubeVirt
	metadata: {name: kubevirt, namespace: kubevirt}
	spec:
	  configuration:
	    developerConfiguration:
	      useEmulation: ${1:-true}
	---
	apiVersion: kubelet.config.k8s.io/v1beta1
	kind: KubeletConfiguration
	cpuManagerPolicy: static
	reservedSystemCPUs: "$REST_CPUS"
	END
}

nad() { # NAME GATEWAY/PREFIX: a network whose bridge carries this address
	jq -n --arg name "$1" --arg gateway "${2%/*}" --arg net "$2" '{
		apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition",
		metadata: {name: $name},
		spec: {config: ({cniVersion: "0.3.1", name: $name, type: "bridge", mtu: 1450,
			isGateway: true, ipam: {type: "static",
			addresses: [{address: $net, gateway: $gateway}]}} | tojson)}}'
}

# A condition of a VMI: its status, reason and message.
condition() { # NAME TYPE
	vp get vmi "$1" -o json |
		jq -r --arg t "$2" '.status.conditions[] | select(.type == $t) | "\(.status) \(.reason) \(.message)"'
}

# A small VMI as JSON, changed by jq filters; those of VMI_DEFS are at hand.
vmi() { # NAME [FILTER...]
	local name=$1 filter=.
	shift
	while [ $# -gt 0 ]; do filter+=" | $1" && shift; done
	jq -n --arg name "$name" --arg args "$GUEST_ARGS" '{
		apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance",
		metadata: {name: $name},
		spec: {terminationGracePeriodSeconds: 20, domain: {
			memory: {guest: "192Mi"},
			firmware: {kernelBoot: {container: {image: "virtpod/test-guest:latest",
				kernelPath: "/vmlinuz", initrdPath: "/initrd"}, kernelArgs: $args}},
			devices: {autoattachGraphicsDevice: false, autoattachMemBalloon: false,
				autoattachPodInterface: false, rng: {}}}}}' |
		jq "$VMI_DEFS $filter"
}
# shellcheck disable=SC2016 # jq's variables
VMI_DEFS='
def args($a): .spec.domain.firmware.kernelBoot.kernelArgs += " " + $a;
def loud: args("loglevel=7"); # whatever GUEST_ARGS says
def dedicated: .spec.domain.cpu = {cores: 1, dedicatedCpuPlacement: true}
	| .spec.domain.resources = {requests: {memory: "192Mi"}, limits: {memory: "192Mi"}};
def grace($s): .spec.terminationGracePeriodSeconds = $s;
def annotate($k; $v): .metadata.annotations[$k] = $v;
def isolation($v): annotate("virtpod.io/isolation"; $v);
def nic($net; $ip): (.spec.domain.devices.interfaces | length) as $n
	| .spec.domain.devices.interfaces += [{name: "net\($n)", binding: {name: "l2bridge"}}]
	| .spec.networks += [{name: "net\($n)", multus: {networkName: $net}}]
	| args("virtpod.ip=\($n)/\($ip)");
def volume($name; $disk; $volume): .spec.domain.devices.disks += [{name: $name} + $disk]
	| .spec.volumes += [{name: $name} + $volume];
def hostdisk($name; $path): volume($name; {disk: {bus: "virtio"}};
	{hostDisk: {path: $path, type: "Disk"}});'

# --- guests ------------------------------------------------------------------------------------

# `virtpod run` in the background: its output in WORK/NAME.out and .err, its pid in RUN_PID.
run_start() { # NAME FILE [OPTION...]
	local name=$1 file=$2
	shift 2
	rm -f "$WORK/$name.out" "$WORK/$name.err" # else somebody finds a line of the last run
	# the shell starts background processes with SIGINT ignored
	env --default-signal=INT,QUIT "${VP[@]}" run -f "$file" "$@" \
		>"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null &
	RUN_PID[$name]=$!
}

# run says on stderr when its VM runs.
run_running() { # NAME
	wait_line "$WORK/$1.err" Running 60 1 "${RUN_PID[$1]}" >/dev/null && return
	diag "$1 does not run: $(cat "$WORK/$1.err")"
	return 1
}

# The end of NAME's run: its exit status, or "timeout".
run_wait() { # NAME [SECONDS]: sets RUN_STATUS
	local run=${RUN_PID[$1]}
	RUN_STATUS=timeout
	if wait_gone "$run" "${2:-60}"; then
		wait "$run"
		# shellcheck disable=SC2034 # for the tests
		RUN_STATUS=$?
		unset "RUN_PID[$1]"
	fi
}

# `virtpod run` of WORK/NAME.json ends with the status of a refusal, and says all that is to be matched.
# Without --rm the VMI stays and waits.
run_refused() { # [--rm] WHAT NAME [REGEX...]
	local what name regex options=()
	[ "$1" != --rm ] || { options=("$1") && shift; }
	what=$1 name=$2
	shift 2
	run_start "$name" "$WORK/$name.json" "${options[@]}"
	run_wait "$name" 30
	is "$what: refused" "$RUN_STATUS" 3
	for regex; do like "$what: the message says $regex" "$(cat "$WORK/$name.err")" "$regex"; done
	[ "$RUN_STATUS" != timeout ] || vm_down "$name"
}

# Start a VM and wait until its guest is up, with its console attached (guest NAME COMMAND).
vm_up() { # NAME FILE [OPTION of run...]
	run_start "$@"
	vm_attach "$1"
}

vm_attach() { # NAME, whose run was started
	run_running "$1" && console_open "$1"
}

# The console with a terminal, as a person would have it: what is written to CON_FD is typed.
console_open() { # NAME
	local name=$1 fd fifo=$WORK/$1.in
	rm -f "$fifo"
	mkfifo "$fifo"
	: >"$WORK/$name.con"
	exec {fd}<>"$fifo"
	CON_FD[$name]=$fd
	script -qfec "exec $(printf '%q ' "${VP[@]}" console "$name")" /dev/null \
		<"$fifo" >"$WORK/$name.con" 2>&1 &
	CON_PID[$name]=$!
	wait_line "$WORK/$name.con" "$READY" 60 1 "${CON_PID[$name]}" >/dev/null && return
	diag "$name: no '$READY' on its console:"
	diag "$(tail -n 5 "$WORK/$name.con")"
	diag "its QEMU's threads, with the time that they ran:"
	diag "$(ps -L -o lwp=,stat=,psr=,time=,etime=,wchan:24=,comm= -p "$(qemu_pid "$name")")"
	return 1
}

console_close() { # NAME: the escape key, else by force
	local client=${CON_PID[$1]} fd=${CON_FD[$1]}
	printf '\035' >&"$fd"
	wait_gone "$client" 5 || kill -TERM "$client" 2>/dev/null
	wait "$client" 2>/dev/null
	exec {fd}>&-
	unset "CON_PID[$1]" "CON_FD[$1]"
}

# A root with a handler and the configuration that these tests need.
pod_ready() {
	handler_up
	check "configuration is applied" vp apply -f "$WORK/config.yaml"
}

# Delete a VM at once and see its run end.
vm_down() { # NAME
	[ -z "${CON_PID[$1]:-}" ] || console_close "$1"
	vp delete vmi "$1" --grace-period 0 >"$WORK/down.log" 2>&1 || diag "$(cat "$WORK/down.log")"
	[ -z "${RUN_PID[$1]:-}" ] || run_wait "$1" 30
}

# A command of the guest's shell; prints its answer, the last line of which is ok or error: …
guest() { # NAME COMMAND [SECONDS]
	local file=$WORK/$1.con from
	from=$(($(wc -l <"$file") + 1))
	printf '%s\n' "$2" >&"${CON_FD[$1]}"
	wait_line "$file" '^(ok|error: .*)[[:space:]]*$' "${3:-20}" "$from" "${CON_PID[$1]}" >/dev/null ||
		echo "error: no answer"
	tail -n "+$from" "$file" | tr -d '\r'
}

# --- the kernel's view -------------------------------------------------------------------------

# Pids whose file in /proc matches; one process reads them all, since a node has many.
pids_by() { # FILE GREP-ARGUMENT...
	local file=$1
	shift
	(cd /proc && grep -al "$@" -- [0-9]*/"$file" 2>/dev/null | sed 's|/.*||')
}

# The host pid of the QEMU of this root whose -name says NAME.
qemu_pid() { # NAME
	local pid arg
	for pid in $(pids_by comm '^qemu-'); do
		arg=$(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -A1 -Fx -- -name | tail -n 1)
		[[ $arg =~ (^|[=_/])$1(,|$) ]] && is_ours "$pid" && echo "$pid" && return
	done
	return 1
}

is_ours() { # PID
	grep -q "virtpod.*$TAG" "/proc/$1/cgroup"
}

status_of() { # PID FIELD: of /proc/PID/status, blanks folded
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" 2>/dev/null | tr -s '\t' ' '
}

parent_of() { # PID
	status_of "$1" PPid
}

# The folder of the group that a thread is in. On v2 only cpuset goes by threads: all else is the pod's.
cgroup_of() { # TID CONTROLLER
	local path
	if [ -n "$V2" ]; then
		path=$(sed -n 's/^0:://p' "/proc/$1/cgroup")
		[ "$2" = cpuset ] || path=${path%/*}
		echo "/sys/fs/cgroup$path"
		return
	fi
	path=$(awk -F: -v c="$2" '$2 == c { print $3 }' "/proc/$1/cgroup")
	echo "/sys/fs/cgroup/$2$path"
}

# How many descriptors of a process are of this file, as the kernel calls it.
descriptors_of() { # PID REGEX
	find "/proc/$1/fd" -mindepth 1 -printf '%l\n' 2>/dev/null | grep -cE "^$2\$"
}

limit_of() { # PID NAME: soft and hard, as /proc/PID/limits has them
	sed -nE "s/^$2 +([^ ]+) +([^ ]+).*/\1 \2/p" "/proc/$1/limits"
}

threads_file() { # GROUP: the file of it that lists threads, and takes them
	if [ -n "$V2" ]; then echo "$1/cgroup.threads"; else echo "$1/tasks"; fi
}

# In bytes; "max" or a huge number when there is none.
memory_limit() { # PID
	if [ -n "$V2" ]; then
		cat "$(cgroup_of "$1" memory)/memory.max"
	else
		cat "$(cgroup_of "$1" memory)/memory.limit_in_bytes"
	fi
}

# Have a process of our own join the groups that say which devices a pod's processes may open, and
# try; fails then and prints what went wrong. By a redirection, so that no child's device is opened.
opens_as() { # PID FILE MODE
	local group
	group=$(cgroup_of "$1" devices)
	[ -z "$V2" ] || group+=/emu
	# shellcheck disable=SC2016 # expanded by the inner shell
	bash -c 'echo $$ >"$1/cgroup.procs" && eval "exec 3'"$3"'$2"' - "$group" "$2" 2>&1
}

# tid, name and allowed CPUs of each thread of a process
threads_of() { # PID
	local dir
	for dir in /proc/"$1"/task/*; do
		printf '%s\t%s\t%s\n' "${dir##*/}" "$(cat "$dir/comm")" \
			"$(sed -n 's/^Cpus_allowed_list:\t//p' "$dir/status")"
	done
}

vcpu_tids() { # QEMU_PID
	threads_of "$1" | awk -F'\t' '$2 ~ /^CPU [0-9]+\// { print $1 }'
}

in_netns() { # PID COMMAND...
	local target=$1
	shift
	nsenter -t "$target" -n "$@"
}

# --- what is left behind -----------------------------------------------------------------------

tagged_links() {
	ip -j link | jq -r --arg tag "$TAG" '.[] | select((.ifalias // "") | contains($tag)).ifname'
}

tagged_cgroups() {
	find /sys/fs/cgroup -type d -path "*$TAG*" 2>/dev/null
}

root_mounts() { # mount points below our root, the innermost first
	awk -v root="$ROOT/" 'index($5, root) == 1 { print $5 }' /proc/self/mountinfo | tac
}

# Processes of this root: those in its cgroups, and those that name it on their command line.
root_pids() {
	local pid
	for pid in $({ pids_by cgroup "virtpod.*$TAG"; pids_by cmdline -F "$ROOT"; } | sort -un); do
		[ "$pid" != "$$" ] || continue
		# a zombie is its parent's affair: init's, or the handler's, which leftovers looks at
		grep -q '^State:.[^Z]' "/proc/$pid/status" 2>/dev/null && echo "$pid"
	done
}

# Everything that a pod can leave in the kernel, one line each. What carries another root's tag is
# not ours: other tests may run beside this one.
host_state() {
	ip -j link | jq -r '.[] | "link \(.ifname) \(.ifalias // "-")"'
	find /sys/fs/cgroup -type d -path '*virtpod*' -printf 'cgroup %p\n' 2>/dev/null
	awk -v root="$ROOT/" '$5 !~ /\/(netns|pods)\/[0-9a-f-]+$/ || index($5, root) == 1 {
		print "mount", $5 }' /proc/self/mountinfo
	find /run/netns -mindepth 1 -printf 'netns %p\n' 2>/dev/null
	find /dev/shm /dev/mqueue -mindepth 1 -printf 'shm %p\n' 2>/dev/null
}

# What of host_state was not at pod_begin, and is no other root's.
new_state() {
	local now
	now=$(host_state) # one look: what comes between two would be known to one of them alone
	grep -Fvxf "$WORK/before" <<<"$now" | grep -Ev "$(foreign <<<"$now")"
}

# Processes with a user id of this root's pods (handler/ids.c), whatever groups they are in.
id_pids() {
	local first=$((0x70000000 + (0x$TAG % 65536) * 4096))
	awk -v first="$first" '$1 == "State:" { zombie = $2 == "Z" }
		$1 == "Uid:" && $2 >= first && $2 < first + 4096 && !zombie { split(FILENAME, part, "/"); print part[3] }' \
		/proc/[0-9]*/status 2>/dev/null
}

# Locks on files of this test. The handler has some of its own; those of disks are nobody's by pid.
file_locks() {
	local dev inode path kind pid where
	local -A files=()
	while read -r dev inode path; do
		printf -v where '%02x:%02x:%s' $((dev >> 8 & 0xfff)) $((dev & 0xff | dev >> 12 & 0xfff00)) "$inode"
		files[$where]=$path
	done < <(find "$WORK" -type f -printf '%D %i %p\n' 2>/dev/null)
	while read -r _ kind _ _ pid where _; do
		[ -z "${files[${where:-none}]:-}" ] || [ "$pid" = "$HANDLER_PID" ] ||
			echo "lock $kind of $pid on ${files[$where]}"
	done </proc/locks
}

# What the handler has open for a pod: its namespaces, processes, devices, files, a socket to its launcher.
pod_descriptors() {
	local launchers # inodes of sockets of their kind, SEQPACKET
	launchers=$(awk '$5 == "0005" { printf "socket:\\[%s\\]|", $7 }' /proc/net/unix)
	find "/proc/$HANDLER_PID/fd" -mindepth 1 -printf 'descriptor %l\n' 2>/dev/null | grep -E \
		"^descriptor ($launchers(net|mnt|pid|user|uts|ipc|cgroup):\[|anon_inode:\[pidfd|/dev/(kvm|net|vhost)|$ROOT/run/(pods|netns)/)"
}

# Rows of the records, of pods that are none any more: pods and CPUs whatever objects there are.
record_rows() {
	local runtime
	[ -e "$ROOT/run/runtime.db" ] || return 0
	runtime=$(database "$ROOT/run/runtime.db")
	sqlite3 -readonly -cmd '.timeout 5000' "$runtime" "ATTACH '$(database "$ROOT/lib/store.db")' AS lib;
		SELECT 'record of pod', ns, name, step FROM pods;
		SELECT 'record of CPU', cpu, uid FROM cpus;
		SELECT 'status of no object', uid FROM status WHERE uid NOT IN
			(SELECT json_extract(body, '\$.metadata.uid') FROM lib.objects);" 2>&1
}

# A database as something to read that stays as it is: where there is no WAL nobody has it open.
database() { # FILE
	if [ -e "$1-wal" ]; then echo "file:$1?mode=ro"; else echo "file:$1?immutable=1"; fi
}

# Print what is there now and was not at pod_begin.
leftovers() {
	local pid
	new_state
	file_locks
	record_rows
	[ -z "$HANDLER_PID" ] || pod_descriptors
	for pid in $({ root_pids; id_pids; } | sort -un); do
		[ "$pid" = "$HANDLER_PID" ] || [ "$(parent_of "$pid")" = "$$" ] ||
			echo "process $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
	done
	[ -z "$HANDLER_PID" ] || ps -o stat=,pid=,comm= --ppid "$HANDLER_PID" | sed -n 's/^Z/zombie &/p'
	find "$ROOT/run/pods" "$ROOT/run/netns" -mindepth 1 -printf 'file %p\n' 2>/dev/null
	grep -Fn -- "$ROOT" /run/virtpod.cpus 2>/dev/null
}

# A regular expression for those lines of stdin's host_state that carry a tag, but not ours.
foreign() {
	grep -oE 'virtpod[-:./_]?[0-9a-f]{8}' | grep -oE '[0-9a-f]{8}$' |
		grep -vx "$TAG" | sort -u | paste -sd'|' | sed 's/^$/^$/'
}

no_leftovers() { # NAME
	local found
	found=$(leftovers)
	if [ -z "$found" ]; then ok "$1"; else not_ok "$1" "$(head -n 20 <<<"$found" | cut -c1-160)"; fi
}

# The end of a test: its handler goes, as asked, and nothing stays.
pod_stop() {
	no_leftovers "nothing left with the handler idle"
	handler_stop
	is "the handler ends with 0" "$HANDLER_STATUS" 0
	no_leftovers "nothing left without a handler"
	is "no CPU is held" "$(grep -F "$ROOT" /run/virtpod.cpus 2>/dev/null)" ""
}

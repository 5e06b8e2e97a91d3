#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# virtpod doctor on this host: what it finds is what the kernel says to others, too, and changes when the
# test changes what can be seen, in namespaces that end with it. No handler is started, nothing is left.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/pod/doctor.sh
source "$(dirname "$0")/doctor.sh"

KVM_IDS='"kvm-cpu", "kvm-module", "kvm-device", "vhost-net"'
NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)

exit_status() { # WHAT
	is "$1: the exit status follows the problems" "$STATUS" "$(jq '[.checks[] | select(.verdict == "problem")] | if length > 0 then 1 else 0 end' <<<"$OUT")"
}

either() { # WORD-IF-TRUE WORD-ELSE COMMAND...
	local yes=$1 no=$2
	shift 2
	if "$@" >/dev/null 2>&1; then echo "$yes"; else echo "$no"; fi
}

# --- the report itself -------------------------------------------------------------------------

schema() {
	local docs
	check "members and their types" jq -e '
		(keys == ["checks", "counts", "ok", "privileged", "virtpodVersion"])
		and (.virtpodVersion | type == "string") and .privileged == true
		and (.counts | keys == ["ok", "problem", "unknown", "warning"])
		and .ok == (.counts.problem == 0)
		and all(.checks[]; keys == ["fix", "found", "id", "means", "verdict"]
			and (.found | type == "string" and length > 0)
			and (if .verdict == "ok" then .fix == null and .means == null
				else (.fix | length > 0) and (.means | length > 0) end))' <<<"$OUT"
	is "counts" "$(jq -c '.counts' <<<"$OUT")" \
		"$(jq -c '.checks as $c | .counts | with_entries(.key as $k | .value = ([$c[] | select(.verdict == $k)] | length))' <<<"$OUT")"
	# shellcheck disable=SC2016 # no expansions: Markdown
	docs=$(sed -n '/^| id |/,/^$/s/^| `\([a-z0-9-]*\)` .*/\1/p' "$(dirname "$0")/../../docs/doctor.md")
	is "the ids are those that docs/doctor.md lists, in its order" "$(jq -r '.checks[].id' <<<"$OUT")" "$docs"
	exit_status "as root"
}

text() {
	local table
	table=$(vp doctor 2>&1)
	is "as text: the exit status is the same" $? "$STATUS"
	is "as text: a line for each check, and one for each fix" "$(grep -c . <<<"$table")" \
		"$(jq '[.checks[] | 1, (select(.fix) | 1)] | length + 1' <<<"$OUT")"
	is "as text: the verdicts" "$(grep -E '^(ok|warning|problem|unknown) ' <<<"$table" | awk '{ print $1, $2 }')" \
		"$(jq -r '.checks[] | "\(.verdict) \(.id)"' <<<"$OUT")"
	is "as text: each fix is below its check" "$(grep -A1 -E '^[a-z]+ +realtime ' <<<"$table" | sed -n 's/^ *fix: //p')" \
		"$(told realtime fix | grep -v null)"
	is "as YAML: the same" "$(vp doctor -o yaml | grep -c '^  id: ')" "$(jq '.checks | length' <<<"$OUT")"
	vp doctor nonsense >/dev/null 2>&1
	is "a word more is refused" $? 2
	vp doctor -o name >/dev/null 2>&1
	is "a form that there is not is refused" $? 2
}

# --- against the kernel's own words --------------------------------------------------------------

# Problems as long as nothing allows emulation.
this_host() {
	local cpus=/sys/devices/system/cpu pool=/sys/kernel/mm/hugepages/hugepages-2048kB
	finds host kvm-cpu "$(either ok problem grep -qwE '^flags.*(vmx|svm)' /proc/cpuinfo)"
	finds host kvm-module "$(either ok problem test -d /sys/module/kvm_intel -o -d /sys/module/kvm_amd)"
	[ -e /sys/class/misc/vhost-net ] || [ -e "/lib/modules/$(uname -r)/modules.dep" ] ||
		finds host vhost-net problem 'no driver' CONFIG_VHOST_NET
	finds host tun ok
	finds host qemu ok "$(qemu-system-x86_64 --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')"
	finds host qemu-machines ok "^$(($(qemu-system-x86_64 -machine help | wc -l) - 1)) types; q35 "
	finds host firmware-bios ok
	finds host firmware-uefi "$(either ok warning ls /usr/share/OVMF/OVMF_CODE{,_4M}.fd)"
	finds host cgroup-version "${V2:+ok}$([ -n "$V2" ] || echo warning)" "^v$([ -n "$V2" ] && echo 2 || echo 1)"
	if [ -n "$V2" ]; then
		is "host: controllers" "$(told cgroup-controllers found)" "$(cat /sys/fs/cgroup/cgroup.controllers)"
	else
		is "host: controllers" "$(told cgroup-controllers found)" "$(awk '!/^#/ && $2 { print $1 }' /proc/cgroups | xargs)"
		finds host cpuset-partition warning 'v1 has no' unified_cgroup_hierarchy
	fi
	finds host isolcpus "$(either warning ok grep -q . $cpus/isolated)"
	finds host realtime "$(either ok warning grep -qx -- -1 /proc/sys/kernel/sched_rt_runtime_us)" "is $(cat /proc/sys/kernel/sched_rt_runtime_us)$"
	finds host hugepages "$(either warning ok test "$(cat /sys/kernel/mm/hugepages/*/nr_hugepages | sort -u)" = 0)" \
		"2Mi: [0-9]+ free of $(cat $pool/nr_hugepages)(,|$)"
	finds host limit-memlock "$(either ok warning bash -c 'ulimit -l unlimited')"
	finds host limit-nofile ok
	finds host user-namespaces ok
	finds host user-ids ok
	finds host irqbalance "$(either warning ok pgrep -x irqbalance)"
	finds host cpu-policy warning 'nothing is configured' 'cpuManagerPolicy: static'
}

no_handler() {
	is "no handler was started" "$(handler_pids "$ROOT")" ""
	is "and nothing was made in the root" "$(find "$ROOT" -mindepth 1 -maxdepth 1)" "$ROOT/lib"
	is "nor for one" "$(find "$ROOT/lib" -mindepth 1 -maxdepth 1)" "$ROOT/lib/images"
}

# --- what the test changes -----------------------------------------------------------------------

over() { # FILE TEXT: a command that shows TEXT there
	printf 'printf "%%s\\n" %q >%q && mount --bind %q %q' "$2" "$WORK/over" "$WORK/over" "$1"
}

changed() {
	doctor_where "$(over /sys/devices/system/cpu/isolated 1)"
	finds "an isolated CPU" isolcpus warning 'CPUs 1$' isolcpus=
	doctor_where "$(over /proc/sys/kernel/sched_rt_runtime_us -1)"
	finds "no throttling" realtime ok '-1$'
	doctor_where "$(over /proc/cpuinfo 'processor : 0
flags : fpu
flags : fpu svm vmx')"
	finds "no virtualization" kvm-cpu problem 'neither vmx nor svm' BIOS
	exit_status "no virtualization"
	is "no virtualization: exit status" "$STATUS" 1
	doctor_where "$(over /proc/sys/user/max_user_namespaces 0)"
	finds "no user namespaces" user-namespaces problem 'is 0' sysctl
	doctor_where "$(over /usr/bin/qemu-system-x86_64 'not a program')"
	finds "no QEMU" qemu problem 'none of /usr/bin/qemu-system-x86_64' install
	finds "no QEMU" qemu-machines unknown
	doctor_where "$(over /usr/bin/qemu-system-x86_64 '#!/bin/sh
echo "error while loading shared libraries" >&2; exit 127') && chmod 0755 '$WORK/over'"
	finds "a QEMU that does not run" qemu problem 'exit status 127: error while loading'
}

no_nodes() {
	mkdir -p "$WORK/dev"
	doctor_where "mount -t tmpfs none '$WORK/dev' && mknod '$WORK/dev/null' c 1 3 && mount --move '$WORK/dev' /dev"
	finds "an empty /dev" kvm-device problem '/dev/kvm'
	finds "an empty /dev" tun problem 'the node is not' 'mknod /dev/net/tun c 10 200'
	is "an empty /dev: exit status" "$STATUS" 1
}

in_chroot() {
	mkdir -p "$WORK/chroot"
	doctor_where "mount --rbind / '$WORK/chroot' && set -- chroot '$WORK/chroot' \"\$@\""
	finds "in a chroot" user-namespaces problem 'not permitted' 'leave the chroot'
}

unprivileged() {
	local id
	chmod 0755 "$WORK"
	BY=("${NOBODY[@]}")
	doctor
	BY=()
	for id in limit-memlock limit-nofile user-namespaces; do
		finds "not root" "$id" unknown 'for root' 'run as root: sudo'
	done
	[ -z "$V2" ] || finds "not root" cpuset-partition unknown 'for root' 'run as root: sudo'
	finds "not root" qemu ok
	is "not root: said so" "$(jq .privileged <<<"$OUT")" false
	exit_status "not root"
}

# --- the configuration -----------------------------------------------------------------------------

files_of_root() {
	find "$ROOT/lib" -maxdepth 1 -printf '%f\n' | sort | xargs
}

configured() { # WHEN
	local files
	files=$(files_of_root)
	doctor
	is "$1: what lacks KVM or vhost-net is a warning with useEmulation" \
		"$(jq "[.checks[] | select(.verdict == \"problem\" and ([.id] | inside([$KVM_IDS])))] | length" <<<"$OUT")" 0
	finds "$1" cpu-policy ok "static, reservedSystemCPUs $REST_CPUS; for VMs: $LAST_CPU$"
	is "$1: no file came or went" "$(files_of_root)" "$files"
	exit_status "$1"
}

configuration() {
	local was
	pod_ready
	was=$HANDLER_PID
	configured "beside a handler"
	is "the handler is the same" "$(handler_pids "$ROOT")" "$was"
	BY=("${NOBODY[@]}")
	doctor
	BY=()
	finds "not root, a store" cpu-policy unknown 'for root' sudo
	handler_kill
	configured "after its kill"
	is "no handler was started for it" "$(handler_pids "$ROOT")" ""
	handler_start "$ROOT" || fatal "virt-handler does not start again"
	handler_stop
	configured "after its end"
	is "nor for that" "$(handler_pids "$ROOT")" ""
}

pod_begin
doctor
schema
text
this_host
no_handler
changed
no_nodes
in_chroot
unprivileged
no_handler
configuration
no_leftovers "nothing is left"
pod_end

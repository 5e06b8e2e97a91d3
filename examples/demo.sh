#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One VM from boot to power-off, with a report in between, and what is left afterwards.
# usage: examples/demo.sh BUILD_DIR ROOT_DIR   (from the top folder, as root; `make run` does it)
# BUILD_DIR has virtpod and guest/{vmlinuz,initrd}; everything that is kept goes below ROOT_DIR.
# shellcheck disable=SC2317 # functions are called by name: through step, there and gone
set -u
build=${1:?usage: examples/demo.sh BUILD_DIR ROOT_DIR}
root=${2:?usage: examples/demo.sh BUILD_DIR ROOT_DIR}
host=10.77.0.1 guest=10.77.0.2 # as in demo.yaml
failed=0

virtpod() { "$build/virtpod" --root "$root" "$@"; }
title() { printf '\n=== %s\n' "$*"; }
step() { # command...: what it says, and whether all went well
	"$@" && return
	failed=1
	echo "demo: failed: $*" >&2
}
# What the handler had to say may be more than what its client printed.
see_log() {
	[ ! -s "$root/run/handler.log" ] || echo "demo: see also $root/run/handler.log" >&2
}

if [ "$(id -u)" -ne 0 ]; then
	echo "demo: must run as root: it makes namespaces, cgroups and links" >&2
	exit 4
fi
image="$root/lib/images/virtpod/demo-guest:latest"
mkdir -p "$image" && cp "$build/guest/vmlinuz" "$build/guest/initrd" "$image/" || exit 1

report() {
	local seen
	seen=$(virtpod inspect demo) || return 1
	# what the cleaning up is checked against
	host_uid=$(sed -n 's/^  host uid *//p' <<<"$seen" | head -n 1)
	tag=$(sed -n 's/^  [a-z]* *\/virtpod-\([0-9a-f]\{8\}\)[/.].*/\1/p' <<<"$seen" | head -n 1)
	# what looks for leftovers must see them now, or finding none later would mean nothing
	for kind in links namespaces processes cgroups; do
		step there "$kind"
	done
	title "the pod, as the kernel reports it"
	echo "$seen"
	title "ping of the guest across the l2bridge, from the network's own address"
	step ping -n -c 3 -i 0.2 -W 5 -I "$host" "$guest"
	title "what was promised, against what the kernel says"
	step virtpod verify demo
}

there() { [ -n "$("our_$1")" ]; }
# Prints what there is of it and counts it as a failure; nothing is what should be there.
gone() { # what, command...
	local what=$1 left
	shift
	left=$("$@")
	if [ -z "$left" ]; then
		echo "  no $what left"
	else
		printf '  %s left:\n%s\n' "$what" "$left"
		failed=1
	fi
}
our_links() { ip -o link show | grep -F "alias virtpod:$tag"; }
our_cgroups() { find /sys/fs/cgroup -type d -name "virtpod-$tag*" -prune 2>/dev/null; }
our_namespaces() { find "$root/run/netns" -mindepth 1 2>/dev/null; }
our_mounts() { awk -v d="$(realpath "$root")/run/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo; }
our_processes() { ps -eo pid=,stat=,uid=,comm= | awk -v u="$host_uid" '$3 == u && $2 !~ /^Z/'; }

title "virtpod run -f examples/demo.yaml --rm --console"
coproc RUN { exec "$build/virtpod" --root "$root" run -f examples/demo.yaml --rm --console </dev/null; }
run_pid=${RUN_PID:?}
exec 3<&"${RUN[0]}"
trap 'kill -TERM "$run_pid" 2>/dev/null' INT TERM

reported=''
while IFS= read -r line <&3; do
	line=${line%$'\r'}
	printf '%s\n' "$line"
	[[ $line == *'virtpod-guest: ready'* && -z $reported ]] || continue
	reported=yes host_uid='' tag=''
	step report
	title "virtpod delete vmi demo: shut down through ACPI"
	step virtpod delete vmi demo
done
wait "$run_pid"
status=$?
if [ -z "$reported" ]; then
	echo "demo: the guest did not come up (virtpod run: exit code $status)" >&2
	see_log
	exit $((status ? status : 1))
fi
[ "$status" -eq 0 ] || {
	echo "demo: virtpod run: exit code $status" >&2
	see_log
	exit "$status"
}

title "what is left, while the handler may still idle"
gone "link of ours" our_links
gone "pinned network namespace" our_namespaces
gone "mount of a pod" our_mounts
gone "process of the pod's user $host_uid (launcher, QEMU)" our_processes
gone "cgroup of ours" our_cgroups
[ "$failed" -eq 0 ] || see_log
exit "$failed"

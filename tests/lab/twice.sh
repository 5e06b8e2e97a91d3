#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lab.sh, and once more when it ended without a result: QEMU's emulation of several CPUs at once fails now
# and then when the kernel patches its own code (hold-kvm.c has what is known of it), and once in some sixty
# labs a kernel's stack was corrupted in kvm_amd's shutdown of a guest. That it happened is said; what the
# first one's tests said does not count, good or bad; a second time is a failure.
set -u
lab=$(dirname "$0")/lab.sh said=$(mktemp)
trap 'rm -f "$said"' EXIT
"$lab" "$@" >"$said" 2>&1
status=$?
if [ "$status" -ne 0 ] && grep -q ': NO RESULT: ' "$said"; then
	grep -vE '^(ok |not ok |1\.\.)' "$said"
	echo "lab: no result: ONCE MORE"
	"$lab" "$@"
	exit
fi
cat "$said"
exit "$status"

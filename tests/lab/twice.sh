#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lab.sh, and once more when it ended without a result: emulated nested virtualization corrupts its kernel's
# stack now and then (seen once in some sixty labs: "corrupted stack end detected", in kvm_amd's shutdown of a
# guest). That it happened is said; what the first one's tests said does not count, good or bad; a second
# time is a failure.
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

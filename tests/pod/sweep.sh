#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Removes what tests that were killed have left in the kernel: a dead test's pod holds its CPU, and no
# other test could have it. Nothing of a test that still runs is touched.
# usage: tests/pod/sweep.sh BUILD_DIR
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

# A test or lab of that pid runs. Pids come again, so its name counts, too.
runs() { # PID
	grep -aqsE 'test_|lab\.sh' "/proc/$1/cmdline"
}

sweep() { # ROOT TAG: of the test whose folder is WORK
	ROOT=$1 TAG=$2
	[ -z "$(root_pids)$(root_mounts)$(tagged_links)$(tagged_cgroups)" ] ||
		echo "$ROOT: removing what a killed test left: virtpod-$TAG"
	root_sweep
}

# of pod tests, and of the handler's unit tests: each root is a folder
for WORK in "${TMPDIR:-/tmp}"/vptest.*.* /tmp/virtpod-roots.*.*; do
	[ -d "$WORK" ] || continue
	pid=${WORK%.*}
	! runs "${pid##*.}" || continue
	for root in "$WORK"/*/; do
		sweep "${root%/}" "$(tag_of "$(realpath "$root")")" 2>/dev/null
	done
	rm -rf --one-file-system "$WORK"
done

# of the unit tests of groups: the folder says the tag
for WORK in /tmp/virtpod-test-*.*; do
	[ -d "$WORK" ] || continue
	! runs "${WORK##*.}" || continue
	tag=${WORK%.*}
	sweep "$WORK" "${tag##*-}" 2>/dev/null
	rm -rf --one-file-system "$WORK"
done

# of labs, all of whose processes go with the first: files
for WORK in /run/virtpod-lab.*.*; do
	pid=${WORK%.*}
	runs "${pid##*.}" || rm -rf --one-file-system "$WORK"
done

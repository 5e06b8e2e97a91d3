#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every test of the project, one line per program, and the sum: "N passed, N failed".
# usage: tests/run.sh BUILD_DIR [PATTERN]   (from the top folder; PATTERN: only programs that match)
# With the pattern lab/, LAB_SHAPE and LAB_TESTS choose other than what tests/lab/suites says.
set -u
build=${1:?usage: tests/run.sh BUILD_DIR [PATTERN]}
# shellcheck disable=SC2034 # for tap.sh
tap_pattern=${2:-}
# shellcheck source=tests/tap.sh
source "$(dirname "$0")/tap.sh"

all() { # prefix command-before path...: each one a program that must be there
	local prefix=$1 before=$2 t found=0
	shift 2
	for t in "$@"; do
		[ -f "$t" ] || continue
		[ -n "$before" ] || [ -x "$t" ] || continue
		found=1
		# shellcheck disable=SC2086 # one word or none
		tap_run "$prefix/$(tap_name "$t")" $before "$t" "$build"
	done
	[ "$found" = 1 ] || tap_static "$prefix: there are tests" false
}

# SHAPE PROGRAM...: the lines of tests/lab/suites, or the one asked for
suites() {
	sed -e ':a' -e '/\\$/N; s/\\\n//; ta' tests/lab/suites | awk -v shape="${LAB_SHAPE:-}" -v tests="${LAB_TESTS:-}" '
		/^#/ || (shape != "" && $1 != shape) { next }
		{ found = 1; print tests == "" ? $0 : $1 " " tests }
		END { if (!found) print shape, tests }'
}

labs() {
	local shape programs
	while read -r shape programs; do
		# shellcheck disable=SC2086 # words
		tap_live "lab/$shape" tests/lab/lab.sh "$build" test "$shape" $programs
	done < <(suites)
}

# One run at a time on a host: tests want the same CPU for themselves. The lock goes with this process.
# A lab has a host of its own.
exec 9>/run/virtpod-test.lock
[[ $tap_pattern == lab/* ]] || flock -n 9 ||
	{ echo "waiting for another run of the tests on this host" && flock 9; }
export VIRTPOD_TEST_TURN=1

tap_static lint make --no-print-directory lint
tap_static layering tests/layering.sh
tap_static hardening tests/hardening.sh "$build"
all unit "" "$build"/unit/*/test_*
all san "" "$build"/san/unit/*/test_*
all tests bash tests/pod/test_*.sh
labs
echo "$((SECONDS / 60)) min $((SECONDS % 60)) s in all"
tap_sum

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

# Labs have a host of their own each, and limits of time that bear a loaded machine. So they run from the
# start, beside all else and with less right to the CPUs: the table's first line beside the others, which
# come one after the other. What one says is shown at once behind its name, and counted at the end.
lab_workers=()
labs_start() {
	mkdir -p "$build/lab/said"
	rm -f "$build"/lab/said/*
	lab_worker < <(suites | head -n 1) &
	lab_workers+=($!)
	lab_worker < <(suites | tail -n +2) &
	lab_workers+=($!)
	trap labs_stop EXIT
}

lab_worker() {
	local shape programs said start=$SECONDS
	exec 9>&-
	while read -r shape programs; do
		[[ lab/$shape == *$tap_pattern* ]] || continue
		said=$build/lab/said/$shape start=$SECONDS
		# shellcheck disable=SC2086 # words
		nice tests/lab/lab.sh "$build" test "$shape" $programs 2>&1 </dev/null | tee "$said" |
			grep --line-buffered -vE '^(ok |not ok |1\.\.)' | sed -u "s/^/[$shape] /"
		echo "${PIPESTATUS[0]} $((SECONDS - start))" >"$said.status"
	done
}

labs_count() {
	local shape programs status seconds
	wait "${lab_workers[@]}"
	while read -r shape programs; do
		[[ lab/$shape == *$tap_pattern* ]] || continue
		status=125 seconds=0
		read -r status seconds <"$build/lab/said/$shape.status"
		cat "$build/lab/said/$shape" >"$tap_log"
		tap_count "lab/$shape" "$status" "$seconds"
	done < <(suites)
}

labs_stop() { # nobody waits for them any more
	local pid
	rm -f "$tap_log"
	for pid in "${lab_workers[@]}"; do pkill -TERM -P "$pid"; done
}

# One run at a time on a host: tests want the same CPU for themselves. The lock goes with this process.
# A lab has a host of its own.
exec 9>/run/virtpod-test.lock
[[ $tap_pattern == lab/* ]] || flock -n 9 ||
	{ echo "waiting for another run of the tests on this host" && flock 9; }
export VIRTPOD_TEST_TURN=1

trap 'exit 130' INT
trap 'exit 143' TERM HUP
labs_start
tap_static lint make --no-print-directory lint
tap_static layering tests/layering.sh
tap_static hardening tests/hardening.sh "$build"
all unit "" "$build"/unit/*/test_*
all san "" "$build"/san/unit/*/test_*
all tests bash tests/pod/test_*.sh
labs_count
echo "$((SECONDS / 60)) min $((SECONDS % 60)) s in all"
tap_sum

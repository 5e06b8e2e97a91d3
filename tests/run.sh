#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every test of the project, one line per program, and the sum: "N passed, N failed".
# usage: tests/run.sh BUILD_DIR [PATTERN]   (from the top folder; PATTERN: only programs that match)
# With the pattern lab/, LAB_SHAPE and LAB_TESTS choose other than what tests/lab/suites says.
set -u
build=${1:?usage: tests/run.sh BUILD_DIR [PATTERN]}
results=$build # also where another build's programs are run
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
		tap_run "$prefix/$(tap_name "$t")" timeout -k 20 900 $before "$t" "$build"
		labs_look
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

# Labs, and the test of the lab itself, have a host of their own each and limits of time that bear a loaded
# machine: they run from the start, beside all else and with less right to the CPUs, LAB_JOBS at a time,
# two if not said. What one said is shown when it has ended.
lab_queue=()
declare -A lab_name=() lab_log=() lab_start=()

lab_begin() { # NAME COMMAND...
	local name=$1 log pid
	shift
	log=$(mktemp)
	# timeout, told to end, tells all of them; its limit is beyond what a lab should ever take, and well below
	# what a whole run may
	CMOCKA_MESSAGE_OUTPUT=TAP nice timeout -k 30 3600 "$@" >"$log" 2>&1 </dev/null 9>&- &
	pid=$!
	lab_name[$pid]=$name lab_log[$pid]=$log lab_start[$pid]=$SECONDS
	echo "$name: begins; what it says meanwhile is below $results/${name%%/*}"
}

lab_end() { # of the one that ends first
	local pid status
	wait -n -p pid "${!lab_name[@]}"
	status=$?
	mv "${lab_log[$pid]}" "$tap_log"
	grep -vE '^(ok |1\.\.)' "$tap_log"
	tap_count "${lab_name[$pid]}" "$status" $((SECONDS - lab_start[$pid]))
	unset "lab_name[$pid]" "lab_log[$pid]" "lab_start[$pid]"
}

labs_fill() { # as many as may run at once; the fuzz targets take no lab's place
	local most=${LAB_JOBS:-2}
	[[ " ${lab_name[*]} " != *" fuzz "* ]] || most=$((most + 1))
	while [ ${#lab_queue[@]} -gt 0 ] && [ ${#lab_name[@]} -lt "$most" ]; do
		# shellcheck disable=SC2086 # words
		lab_begin ${lab_queue[0]}
		lab_queue=("${lab_queue[@]:1}")
	done
}

# The next one as soon as one has ended, not when all else has.
labs_look() {
	local pid
	for pid in "${!lab_name[@]}"; do
		kill -0 "$pid" 2>/dev/null && continue
		lab_end
		labs_fill
		return
	done
}

lab_add() { # NAME COMMAND...
	[[ $1 != *$tap_pattern* ]] || lab_queue+=("$*")
}

labs_begin() {
	local shape programs
	while read -r shape programs; do
		lab_add "lab/$shape" tests/lab/twice.sh "$build" test "$shape" "$programs"
	done < <(suites)
	[ -n "${LAB_SHAPE:-}${LAB_TESTS:-}" ] || lab_add lab/selftest tests/lab/selftest.sh "$build"
	labs_fill
}

labs_finish() {
	while [ ${#lab_name[@]} -gt 0 ]; do
		lab_end
		labs_fill
	done
}

# shellcheck disable=SC2317 # by the trap
labs_stop() {
	[ ${#lab_name[@]} -eq 0 ] || kill "${!lab_name[@]}" 2>/dev/null
	wait
	rm -f "$tap_log" "${lab_log[@]}"
}
trap labs_stop EXIT
trap 'exit 130' INT TERM HUP

# One run at a time on a host: tests want the same CPU for themselves. The lock goes with this process.
# A lab has a host of its own.
exec 9>/run/virtpod-test.lock
[[ $tap_pattern == lab/* ]] || flock -n 9 ||
	{ echo "waiting for another run of the tests on this host" && flock 9; }
export VIRTPOD_TEST_TURN=1
[[ $tap_pattern == lab/* ]] || bash tests/pod/sweep.sh "$build"

# A minute of each target, all but idle: on a machine that is busy it is some seconds' worth.
[[ fuzz != *$tap_pattern* ]] || lab_begin fuzz nice -n 9 tests/fuzz/run.sh "$build"
labs_begin
tap_static lint make --no-print-directory lint
tap_static layering tests/layering.sh
tap_static hardening tests/hardening.sh "$build"
all unit "" "$build"/unit/*/test_*
all san "" "$build"/san/unit/*/test_*
last=tests/pod/test_bench.sh # what it tries is meant for a host that has nothing else to do
mapfile -t others < <(printf '%s\n' tests/pod/test_*.sh | grep -Fvx "$last")
all tests bash "${others[@]}"
# the same programs made with sanitizers, in pods: start and end, faults, the API
build=$build/san all san bash tests/pod/test_{faults,cli}.sh
labs_finish
all tests bash "$last"
echo "$((SECONDS / 60)) min $((SECONDS % 60)) s in all"
tap_sum

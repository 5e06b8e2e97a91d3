#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every test of the project, one line per program, and the sum: "N passed, N failed".
# usage: tests/run.sh BUILD_DIR [PATTERN]   (from the top folder; PATTERN: only programs that match)
# A program speaks TAP. One that ends without a plan, or with a status that its lines do not explain,
# counts as one more failure; a skipped test is a failure, too.
set -u
build=${1:?usage: tests/run.sh BUILD_DIR [PATTERN]}
pattern=${2:-}
passed=0 failed=0 bad_names=
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() { # name command...
	local name=$1 start=$SECONDS status ok bad skip planned
	shift
	[[ $name == *$pattern* ]] || return 0
	CMOCKA_MESSAGE_OUTPUT=TAP "$@" >"$log" 2>&1 </dev/null 9>&-
	status=$?
	skip=$(grep -cEi '^ok .*# *skip' "$log")
	ok=$(($(grep -cE '^ok ' "$log") - skip))
	bad=$(($(grep -cE '^not ok ' "$log") + skip))
	planned=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$log" | awk '{n += $1} END {print NR ? n : "none"}')
	if [ "$planned" != $((ok + bad)) ] || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
		echo "not as planned: 1..$planned, exit status $status" >>"$log"
		bad=$((bad + 1))
	fi
	passed=$((passed + ok)) failed=$((failed + bad))
	printf '%-44s %4d passed %3d failed %4d s\n' "$name" "$ok" "$bad" $((SECONDS - start))
	if [ "$bad" -ne 0 ]; then
		bad_names+=" $name"
		echo "--- $name: exit status $status; what failed, and the last of what it said:"
		grep -E '^not ok ' "$log"
		tail -n 60 "$log"
		echo "---"
	fi
}

static() { # name command...: a check that is one test by its exit status
	local name=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	run "$name" bash -c 'if "$@"; then echo "ok 1 - $0"; else echo "not ok 1 - $0"; fi; echo 1..1' \
		"$name" "$@"
}

all() { # prefix command-before path...: each one a program that must be there
	local prefix=$1 before=$2 t found=0
	shift 2
	for t in "$@"; do
		[ -f "$t" ] || continue
		[ -n "$before" ] || [ -x "$t" ] || continue
		found=1
		# shellcheck disable=SC2086 # one word or none
		run "$prefix/$(basename "$(dirname "$t")")/$(basename "$t" .sh)" $before "$t" "$build"
	done
	[ "$found" = 1 ] || static "$prefix: there are tests" false
}

# One run at a time on a host: tests want the same CPU for themselves. The lock goes with this process.
exec 9>/run/virtpod-test.lock
flock -n 9 || { echo "waiting for another run of the tests on this host" && flock 9; }
export VIRTPOD_TEST_TURN=1

static lint make --no-print-directory lint
static layering tests/layering.sh
static hardening tests/hardening.sh "$build"
all unit "" "$build"/unit/*/test_*
all san "" "$build"/san/unit/*/test_*
all tests bash tests/pod/test_*.sh
echo "$((SECONDS / 60)) min $((SECONDS % 60)) s in all"
[ -z "$bad_names" ] || echo "failed:$bad_names"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

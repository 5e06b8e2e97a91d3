#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every test of the project, one line per program, and the sum: "N passed, N failed".
# usage: tests/run.sh BUILD_DIR [PATTERN]   (from the top folder; PATTERN: only programs that match)
# A program speaks TAP. One that ends without a plan, or with a status that its lines do not explain,
# counts as one more failure; a skipped test is a failure, too.
set -u
build=${1:?usage: tests/run.sh BUILD_DIR [PATTERN]}
pattern=${2:-}
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() { # name command...
	local name=$1 start=$SECONDS status ok bad skip
	shift
	[[ $name == *$pattern* ]] || return 0
	CMOCKA_MESSAGE_OUTPUT=TAP "$@" >"$log" 2>&1 </dev/null
	status=$?
	skip=$(grep -cEi '^ok .*# *skip' "$log")
	ok=$(($(grep -cE '^ok ' "$log") - skip))
	bad=$(($(grep -cE '^not ok ' "$log") + skip))
	if ! grep -qE '^1\.\.[0-9]+' "$log" || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
		bad=$((bad + 1))
	fi
	passed=$((passed + ok)) failed=$((failed + bad))
	printf '%-44s %4d passed %3d failed %4d s\n' "$name" "$ok" "$bad" $((SECONDS - start))
	if [ "$bad" -ne 0 ]; then
		echo "--- $name: exit status $status; the last of what it said:"
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

static lint make --no-print-directory lint
static layering tests/layering.sh
for t in "$build"/unit/*/test_*; do
	[ -x "$t" ] && [ -f "$t" ] && run "unit/${t#"$build"/unit/}" "$t"
done
for t in "$build"/san/unit/*/test_*; do
	[ -x "$t" ] && [ -f "$t" ] && run "san/${t#"$build"/san/unit/}" "$t"
done
for t in tests/pod/test_*.sh; do
	[ -e "$t" ] && run "pod/$(basename "$t" .sh)" bash "$t" "$build"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Running test programs that speak TAP, one line of summary for each, and the sum.
# A program that ends without a plan, runs nothing, or ends with a status that its lines do not explain,
# counts as one more failure; a skipped test is a failure, too.
#   tap_pattern  only programs whose name contains it are run
#   tap_out      file for the results of all programs as one TAP stream
tap_pattern=${tap_pattern:-} tap_out=${tap_out:-/dev/null}
tap_passed=0 tap_failed=0 tap_bad_names=
tap_log=$(mktemp)
trap 'rm -f "$tap_log"' EXIT

tap_run() { # NAME COMMAND...
	local name=$1 start=$SECONDS
	shift
	[[ $name == *$tap_pattern* ]] || return 0
	CMOCKA_MESSAGE_OUTPUT=TAP "$@" >"$tap_log" 2>&1 </dev/null 9>&-
	tap_count "$name" $? $((SECONDS - start)) && return
	echo "--- the last of what it said:"
	tail -n 60 "$tap_log"
	echo "---"
}

tap_static() { # NAME COMMAND...: a check that is one test by its exit status
	local name=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	tap_run "$name" bash -c 'if "$@"; then echo "ok 1 - $0"; else echo "not ok 1 - $0"; fi; echo 1..1' \
		"$name" "$@"
}

tap_name() { # PROGRAM: as its line calls it
	echo "$(basename "$(dirname "$1")")/$(basename "$1" .sh)"
}

tap_count() { # NAME STATUS SECONDS: of the program whose words are in the log; fails if it did
	local name=$1 status=$2 ok bad skip planned
	skip=$(grep -cEi '^ok .*# *skip' "$tap_log")
	ok=$(($(grep -cE '^ok ' "$tap_log") - skip))
	bad=$(($(grep -cE '^not ok ' "$tap_log") + skip))
	planned=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$tap_log" | awk '{n += $1} END {print NR ? n : "none"}')
	if [ "$planned" != $((ok + bad)) ] || [ "$planned" = 0 ] || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
		echo "not ok - as planned: 1..$planned, exit status $status" >>"$tap_log"
		bad=$((bad + 1))
	fi
	tap_keep "$name"
	tap_passed=$((tap_passed + ok)) tap_failed=$((tap_failed + bad))
	printf '%-44s %4d passed %3d failed %4d s\n' "$name" "$ok" "$bad" "$3"
	[ "$bad" -ne 0 ] || return 0
	tap_bad_names+=" $name"
	echo "$name: exit status $status; what failed:"
	# and why, as far as a few lines tell
	awk '/^(not )?ok / { said = 20; bad = /^not ok / || tolower($0) ~ /# *skip/; if (bad) print }
		/^#/ && bad && said-- > 0' "$tap_log"
	return 1
}

tap_keep() { # NAME: its results, numbered on, to tap_out
	awk -v name="$1" -v n=$((tap_passed + tap_failed)) '
		/^(not )?ok / {
			result = /^ok / && tolower($0) !~ /# *skip/ ? "ok" : "not ok"
			sub(/^(not )?ok [0-9]*[ -]*/, "")
			print result, ++n, "- " name ": " $0
		}' "$tap_log" >>"$tap_out"
}

tap_sum() {
	echo "1..$((tap_passed + tap_failed))" >>"$tap_out"
	[ -z "$tap_bad_names" ] || echo "failed:$tap_bad_names"
	echo "$tap_passed passed, $tap_failed failed"
	[ "$tap_failed" -eq 0 ] && [ "$tap_passed" -gt 0 ]
}

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The fuzz targets, one after the other, FUZZ_SECONDS each (60 if not said); each is one test. A target
# begins with its corpus below tests/fuzz/corpus. What it finds besides stays in BUILD/fuzz/found/TARGET,
# from where a later run goes on, and the input of a failure in BUILD/fuzz/failed.
# usage: tests/fuzz/run.sh BUILD_DIR [TARGET...]   (TARGET: yaml, qmp, …; all if not said)
set -u
build=${1:?usage: tests/fuzz/run.sh BUILD_DIR [TARGET...]}
shift
corpus=$(dirname "$0")/corpus
failed=0 n=0 pid=''
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null' EXIT
trap 'exit 143' TERM INT HUP

run() { # TARGET: its words are in the log
	mkdir -p "$build/fuzz/found/$1" "$build/fuzz/failed"
	# in the background, so that whoever ends us ends it, too; a slow input is one of a minute, as the
	# machine may have much else to do
	"$build/fuzz/fuzz_$1" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=60 -rss_limit_mb=1024 \
		-print_final_stats=1 -verbosity=1 -artifact_prefix="$build/fuzz/failed/$1-" \
		"$build/fuzz/found/$1" "$corpus/$1" >"$build/fuzz/$1.log" 2>&1 </dev/null &
	pid=$!
	wait "$pid"
	status=$?
	pid=
	return "$status"
}

[ $# -gt 0 ] || mapfile -t targets < <(cd "$(dirname "$0")" && printf '%s\n' fuzz_*.c | sed 's/^fuzz_//; s/\.c$//')
[ $# -eq 0 ] || targets=("$@")
for t in "${targets[@]}"; do
	n=$((n + 1))
	if run "$t"; then
		echo "ok $n - $t: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz/$t.log") inputs"
		continue
	fi
	failed=$((failed + 1))
	echo "not ok $n - $t: $(sed -n 's/.*Test unit written to //p' "$build/fuzz/$t.log")"
	tail -n 60 "$build/fuzz/$t.log" | sed 's/^/# /'
done
echo "1..$n"
[ "$failed" -eq 0 ]

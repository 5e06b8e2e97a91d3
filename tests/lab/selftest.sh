#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A lab that panics, hangs or ends without a result is a failure, and so is a program whose TAP is not
# whole: neither may ever count as passed. Boots nine labs. usage: tests/lab/selftest.sh BUILD_DIR
set -u
build=$(realpath "${1:?usage: $0 BUILD_DIR}")
cd "$(dirname "$0")/../.." || exit
export LAB_RESULTS=$build/lab/selftest # below the build folder, as a lab sees that
tests=0 failed=0

verdict() { # NAME HOLDS [WHY]
	tests=$((tests + 1))
	if [ "$2" = yes ]; then
		echo "ok $tests - $1"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $tests - $1"
	echo "# ${3//$'\n'/$'\n'# }"
}

like() { # NAME TEXT REGEX
	verdict "$1" "$([[ $2 =~ $3 ]] && echo yes)" "found: $2"
}

# --- what counts ---------------------------------------------------------------------------------

# Has tap.sh count a program that says LOG and ends with STATUS; prints "PASSED FAILED sum:VERDICT".
counted() { # STATUS LOG
	(
		# shellcheck source=tests/tap.sh
		source tests/tap.sh
		printf '%b' "$2" >"$tap_log"
		tap_count program "$1" 0 >/dev/null
		echo "$tap_passed $tap_failed sum:$(tap_sum >/dev/null && echo good || echo bad)"
	)
}

counts() { # NAME STATUS LOG PASSED FAILED
	local sum=good
	[ "$5" = 0 ] || sum=bad
	like "$1" "$(counted "$2" "$3")" "^$4 $5 sum:$sum\$"
}

accounting() {
	counts "all as planned: passed" 0 'ok 1 - a\nok 2 - b\n1..2\n' 2 0
	counts "one not ok: failed" 1 'ok 1 - a\nnot ok 2 - b\n1..2\n' 1 1
	counts "one not ok, exit status 0: failed" 0 'not ok 1 - a\n1..1\n' 0 1
	counts "no plan: one failure more" 0 'ok 1 - a\n' 1 1
	counts "nothing at all: a failure" 0 '' 0 1
	counts "fewer than planned: one failure more" 0 'ok 1 - a\n1..2\n' 1 1
	counts "more than planned: one failure more" 0 'ok 1 - a\nok 2 - b\n1..1\n' 2 1
	counts "a plan of nothing: a failure" 0 '1..0 # SKIP no kvm\n' 0 1
	counts "a skipped test: a failure" 0 'ok 1 - a\nok 2 - b # SKIP no kvm\n1..2\n' 1 1
	counts "an exit status that no line explains: one failure more" 1 'ok 1 - a\n1..1\n' 1 1
	counts "ended by a limit of time: one failure more" 124 'ok 1 - a\n1..1\n' 1 1
	counts "bail out: one failure more" 1 'ok 1 - a\nBail out! no\n' 1 1
}

# --- labs that fail --------------------------------------------------------------------------------

# Boots a lab; OUT and STATUS are what came of it.
lab() { # MODE ARGUMENT...
	local mode=$1
	shift
	OUT=$(timeout -k 30 900 tests/lab/lab.sh "$build" "$mode" small "$@" 2>&1 9>&-)
	STATUS=$?
}

no_result() { # WHAT MESSAGE
	like "$1: the exit status is a failure's" "$STATUS" '^([1-9]|[1-9][0-9]+)$'
	like "$1: it says so" "$OUT" "NO RESULT: $2"
	like "$1: it did come up" "$OUT" 'up after [0-9]+ s'
}

# The second of two programs, so that there are results of the first.
panics() {
	printf 'echo "ok 1 - fine"\necho 1..1\n' >"$LAB_RESULTS/fine.sh"
	echo 'echo c >/proc/sysrq-trigger' >"$LAB_RESULTS/panic.sh"
	lab test "$LAB_RESULTS/fine.sh" "$LAB_RESULTS/panic.sh"
	no_result "a panic" 'it ended early'
	like "a panic: the console is shown" "$OUT" 'Kernel panic'
	like "a panic: what had passed is one pass, and no whole" "$(counted "$STATUS" "$OUT")" '^1 1 sum:bad$'
	BOOT=$(sed -nE 's/.*up after ([0-9]+) s.*/\1/p' <<<"$OUT")
}

# Its result is there, and then it dies: what takes a VM's groups, threads and devices down is tried, too.
panics_late() {
	cat >"$LAB_RESULTS/late.sh" <<-'END'
	setsid bash -c 'until [ -s /run/lab/rc ]; do sleep 0.01; done; echo c >/proc/sysrq-trigger' >/dev/null 2>&1 &
	echo "ok 1 - fine"
	echo 1..1
	END
	lab test "$LAB_RESULTS/late.sh"
	no_result "a panic after the result" 'it did not power off in order'
	like "a panic after the result: is no whole" "$(counted "$STATUS" "$OUT")" '^1 1 sum:bad$'
}

# A signal to lab.sh itself.
# shellcheck disable=SC2016 # expanded by the inner shell
ended() {
	local lab=$LAB_RESULTS/small
	rm -f "$lab/up"
	tests/lab/lab.sh "$build" test small "$LAB_RESULTS/sleeps.sh" >"$LAB_RESULTS/ended" 2>&1 9>&- &
	timeout 300 bash -c 'until [ -s "$1" ]; do sleep 0.3; done' - "$lab/up"
	kill -TERM $!
	wait $!
	like "SIGTERM: the exit status" "$?" '^143$'
	is_gone "SIGTERM"
	like "SIGTERM: the folder of its sockets is gone" "$(ls -d "$(cat "$lab/work")" 2>&1)" 'No such file'
}

# A terminal that goes away, as a closed window does: nobody tells the lab.
# shellcheck disable=SC2016 # expanded by the inner shell
terminal_goes() {
	local lab=$LAB_RESULTS/small terminal
	rm -f "$lab/up"
	setsid script -qfc "tests/lab/lab.sh $build shell small" /dev/null >"$LAB_RESULTS/terminal" 2>&1 < <(sleep infinity) 9>&- &
	timeout 300 bash -c 'until [ -s "$1" ]; do sleep 0.3; done' - "$lab/up"
	terminal=$(pgrep -f "script -qfc tests/lab/lab.sh $build shell small")
	# shellcheck disable=SC2086 # one
	kill -KILL $terminal
	timeout 60 bash -c 'while [ -e "$1" ]; do sleep 0.3; done' - "$(cat "$lab/work")"
	like "a terminal that goes away: the folder of its sockets is gone" "$(ls -d "$(cat "$lab/work")" 2>&1)" 'No such file'
	is_gone "a terminal that goes away"
}

wrong_shapes() {
	local shape
	for shape in '' ',' no-kvm bad small,bad; do
		lab=$(tests/lab/lab.sh "$build" shell "$shape" true 2>&1)
		like "shape '$shape': refused" "$?" '^1$'
		like "shape '$shape': it says what there is" "$lab" 'small, smt-numa and systemd are shapes'
	done
}

powers_off() {
	lab shell 'echo a word; busybox poweroff -f'
	no_result "a power-off" 'it ended early'
	like "a power-off: what was said is shown" "$OUT" '(^|'$'\n'')a word'
	is_gone "a power-off"
}

qemu_of_ours() {
	pgrep -f -- "-serial file:$LAB_RESULTS/"
}

is_gone() { # WHAT
	like "$1: its QEMU is gone" "$(qemu_of_ours)" '^$'
}

# QEMU itself stops as soon as the job is at work: SIGTERM does nothing then.
# shellcheck disable=SC2016 # expanded by the inner shell
hangs() {
	local freezer up=$LAB_RESULTS/small/up
	rm -f "$up"
	timeout 900 bash -c 'until [ -s "$1" ]; do sleep 0.3; done; kill -STOP $(pgrep -f -- "-serial file:$2/")' - \
		"$up" "$LAB_RESULTS" 9>&- &
	freezer=$!
	LAB_HANG_LIMIT=20 lab shell 'sleep infinity'
	no_result "a lab that hangs" 'no sign of life for 20 s'
	is_gone "a lab that hangs"
	kill "$freezer" 2>/dev/null
	wait "$freezer" 2>/dev/null
}

# One that is booted twice, and comes up neither time.
no_boot() {
	LAB_BOOT_LIMIT=1 lab test "$LAB_RESULTS/fine.sh"
	like "no boot: the exit status is a failure's" "$STATUS" '^([1-9]|[1-9][0-9]+)$'
	like "no boot: it was tried twice" "$OUT" 'booting once more'
	like "no boot: it says so" "$OUT" 'NO RESULT: it did not come up in [0-9]+ s'
	is_gone "no boot"
}

never_ends() {
	LAB_LIMIT=$((${BOOT:-20} * 2 + 10)) lab shell 'sleep infinity'
	no_result "a job without an end" 'still at work after [0-9]+ s'
	like "a job without an end: where the lab's CPUs were is shown" "$OUT" 'NMI backtrace for cpu'
	is_gone "a job without an end"
}

mkdir -p "$LAB_RESULTS"
accounting
wrong_shapes
panics
panics_late
echo 'sleep infinity' >"$LAB_RESULTS/sleeps.sh"
ended
terminal_goes
powers_off
hangs
no_boot
never_ends
echo "1..$tests"
[ "$failed" -eq 0 ]

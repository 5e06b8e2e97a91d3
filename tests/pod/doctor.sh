# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# virtpod doctor and its findings, for tests that source tests/pod/lib.sh before.

# Run it, by BY if that is set: OUT is its JSON, STATUS what it ended with.
BY=()
doctor() {
	OUT=$("${BY[@]}" "${VP[@]}" doctor -o json 2>"$WORK/err" </dev/null)
	# shellcheck disable=SC2034 # for the tests
	STATUS=$?
	[ ! -s "$WORK/err" ] || diag "$(cat "$WORK/err")"
}

# The same where SCRIPT has changed what can be seen.
doctor_where() { # SCRIPT
	# shellcheck disable=SC2016 # expanded by the inner shell
	BY=(unshare -m bash -c 'script=$1; shift; eval "$script" || exit 99; exec "$@"' - "$1")
	doctor
	BY=()
}

told() { # ID MEMBER
	jq -r --arg id "$1" ".checks[] | select(.id == \$id).$2" <<<"$OUT"
}

finds() { # WHAT ID VERDICT [FOUND-REGEX [FIX-REGEX]]
	is "$1: $2" "$(told "$2" verdict)" "$3"
	[ -z "${4:-}" ] || like "$1: $2: found" "$(told "$2" found)" "$4"
	[ -z "${5:-}" ] || like "$1: $2: fix" "$(told "$2" fix)" "$5"
}

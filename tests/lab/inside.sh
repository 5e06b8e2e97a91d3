#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# In the lab: run test programs one after the other; their TAP becomes one file, /run/lab/results.tap.
# usage: tests/lab/inside.sh BUILD_DIR SECONDS PROGRAM...   (SECONDS: each one's limit)
# A program is a script, or unit/FOLDER for that folder's unit tests.
set -u
build=$1 limit=$2
shift 2
# shellcheck disable=SC2034 # for tap.sh
tap_out=/run/lab/results.tap
# shellcheck source=tests/tap.sh
source tests/tap.sh
export VIRTPOD_TEST_TURN=1 # nobody else is here
export VIRTPOD_TEST_SLOW=12 # limits of time only

if [ -c /dev/kvm ] && (: <>/dev/kvm); then echo accel=kvm; else echo accel=none; fi
for program; do
	if [ -f "$program" ]; then
		tap_run "$(tap_name "$program")" timeout -k 20 "$limit" bash "$program" "$build"
		continue
	fi
	for unit in "$build/$program"/test_*; do
		tap_run "$program/${unit##*/}" timeout -k 20 "$limit" "$unit"
	done
done
tap_sum

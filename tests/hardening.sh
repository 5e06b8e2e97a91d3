#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the compiler was asked for is in the executables: position-independent, full RELRO, stack
# protector, fortified calls, no executable stack. By gcc and by clang.
# usage: tests/hardening.sh BUILD_DIR
set -u
build=${1:?usage: tests/hardening.sh BUILD_DIR}
bad=0

need() { # file, what, pattern, readelf option
	if ! readelf -W "$4" "$1" | grep -qE "$3"; then
		echo "$1: $2 is missing"
		bad=1
	fi
}

for f in "$build"/{,clang/}{virtpod,virt-handler,virt-launcher}; do
	need "$f" "PIE" 'Type: +DYN' -h
	need "$f" "RELRO" 'GNU_RELRO' -l
	need "$f" "BIND_NOW" 'BIND_NOW|FLAGS_1.*NOW' -d
	need "$f" "a stack that is not executable" 'GNU_STACK.* RW ' -l
	need "$f" "the stack protector" '__stack_chk_fail' --dyn-syms
	need "$f" "fortified calls" '__[a-z]+_chk(@|$)' --dyn-syms
done
for f in "$build"/{virtpod,virt-handler,virt-launcher}; do
	# lib/stop.h
	if grep -q VIRTPOD_STOP "$f"; then
		echo "$f: has the hooks of a build for tests"
		bad=1
	fi
done
exit $bad

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes name the folder and point down only; folders of one tier never include each other.
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A tier=([lib]=1 [api]=2 [sandbox]=2 [cgroups]=2 [net]=2 [cpu]=2 [launcher]=3 [handler]=3 [cmd]=4)
bad=0
while IFS=: read -r file line include; do
	from=${file%%/*}
	to=$(sed -nE 's/.*#[ ]*include "([a-z]+)\/.*/\1/p' <<<"$include")
	if [ -z "$to" ] || [ -z "${tier[$to]:-}" ]; then
		echo "$file:$line: an include must name its folder: $include"
		bad=1
	elif [ "$from" != "$to" ] && [ "${tier[$to]}" -ge "${tier[$from]}" ]; then
		echo "$file:$line: $from/ (tier ${tier[$from]}) includes $to/ (tier ${tier[$to]})"
		bad=1
	fi
done < <(grep -nE '^[[:space:]]*#[[:space:]]*include "' "${!tier[@]}" -r --include='*.[ch]')
files=$(git ls-files '*.c' '*.h' '*.sh' '*.mk' '*.md' '*.service' '*.[18]' examples Makefile .ci/run \
	.clang-format .gitignore)
[ -n "$files" ]
while read -r file; do
	[ "$(head -c 200 "$file" | grep -c 'SPDX-License-Identifier: Apache-2.0')" -ge 1 ] || {
		echo "$file: no SPDX header"
		bad=1
	}
done <<<"$files"
exit $bad

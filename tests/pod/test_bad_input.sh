#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bad input: the table of manifests in tests/bad, each with the exact lines that refuse it, from render,
# from apply and from the API; then what is too large, too deep or no text at all. One handler answers
# all of it: it stays alive and small, and keeps nothing.
#
# A row of the table:
#   === NAME WHERE    WHERE: to which path it is posted (post_path), or cli: for the command line only
#   the manifest; a line of %head, %vmi, %spec, %small or %template stands for the usual ones
#   %%%
#   what stderr says, without "virtpod: FILE"; "API ..." where the API says it in other words
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"
TABLE=$(realpath "$(dirname "$0")/../bad")

# NAME.yaml, NAME.want and NAME.api of each row in the current folder, and the list of rows.
unfold() {
	awk '
	function part(ext) { if (out) close(out); out = name ext; printf "" >out }
	FNR == 1 { name = "" }
	/^=== / { name = $2; print name, $3 >"rows"; part(".api"); part(".want"); part(".yaml"); said = 0; next }
	!name { next }
	$0 == "%%%" { part(".want"); said = 1; next }
	said && /^API / { print substr($0, 5) >(name ".api"); close(name ".api"); next }
	said { print "virtpod: " name ".yaml" $0 >out; next }
	$0 == "%head" { print "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance" >out; next }
	$0 == "%vmi" { print "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: bad}\nspec:" >out; next }
	$0 == "%spec" { print "spec: {domain: {memory: {guest: 64Mi}, devices: {autoattachPodInterface: false}}}" >out; next }
	$0 == "%small" { print "  domain: {memory: {guest: 64Mi}, devices: {autoattachPodInterface: false}}" >out; next }
	$0 == "%template" { print "    spec: {domain: {memory: {guest: 64Mi}, devices: {autoattachPodInterface: false}}}" >out; next }
	{ print >out }' "$TABLE"/*.cases
}

post_path() { # WHERE
	case $1 in
	vmi) echo /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances ;;
	vm) echo /apis/kubevirt.io/v1/namespaces/default/virtualmachines ;;
	kubevirt) echo /apis/kubevirt.io/v1/namespaces/default/kubevirts ;;
	kubelet) echo /apis/kubelet.config.k8s.io/v1beta1/kubeletconfigurations ;;
	nad) echo /apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions ;;
	namespace) echo /api/v1/namespaces ;;
	esac
}

api() { # PATH [CURL-OPTION...]: CODE is the status, the answer is in WORK/answer
	local path=$1
	shift
	CODE=$(curl -s -m $((20 * SLOW)) --unix-socket "$ROOT/run/handler.sock" -o "$WORK/answer" -w '%{http_code}' \
		"$@" "http://x$path")
}

post() { # WHERE FILE [TYPE]
	api "$(post_path "$1")" -H "Content-Type: ${3:-application/yaml}" --data-binary "@$2"
}

# What a Status says, one line for each cause: "FIELD: MESSAGE".
words() {
	jq -r 'def line: gsub("[\\p{Cc}]"; "?");
		if .kind != "Status" or .status != "Failure" then "no Status: \(.)"
		elif .details.causes then .details.causes[]
			| (if .field == "" then "" else (.field | line) + ": " end) + .message
		else .message end' "$WORK/answer"
}

on_command_line() { # NAME
	local verb text
	for verb in render apply; do
		text=$(timeout $((20 * SLOW)) "${VP[@]}" "$verb" -f "$1.yaml" 2>&1 </dev/null)
		is "$1: $verb" "$? $text" "3 $(cat "$1.want")"
	done
}

# The API's words are the command line's, but for the place; errors of the syntax have it, too.
by_api() { # NAME WHERE
	local want
	post "$2" "$1.yaml"
	if [ -s "$1.api" ]; then
		want=$(cat "$1.api")
	elif [ "$CODE" = 400 ] && jq -e '.message | startswith("body:")' "$WORK/answer" >/dev/null; then
		want=$(sed "s/^virtpod: $1.yaml/body/" "$1.want")
	else
		want=$(sed -E "s/^virtpod: $1.yaml(:[0-9]+)?: //" "$1.want")
	fi
	like "$1: the API's status" "$CODE" '^4(00|22)$'
	is "$1: the API" "$(words)" "$want"
}

table() {
	local name where n=0
	while read -r name where; do
		on_command_line "$name"
		[ "$where" = cli ] || by_api "$name" "$where"
		n=$((n + 1))
	done <rows
	is "the table is whole" "$((n >= 80))" 1
	is "each name is there once" "$(cut -d' ' -f1 rows | sort | uniq -d)" ""
}

# --- what only the API takes -------------------------------------------------------------------

json() { # NAME CODE BODY MESSAGE
	printf '%b' "$3" >body
	post vmi body application/json
	is "JSON, $1" "$CODE $(words)" "$2 $4"
}

json_bodies() {
	local vmi='"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": {"name": "bad"}'
	json "empty" 400 '' "the body is empty; it must hold an object"
	json "a list" 400 '[]' "the body must be an object ({...})"
	json "cut off" 400 "{$vmi" "line 1, column 94: not JSON: '}' expected near end of file"
	json "two of them" 400 "{$vmi}{}" "line 1, column 96: not JSON: end of file expected near '{'"
	json "YAML" 400 'apiVersion: v1' "line 1, column 10: not JSON: invalid token near 'apiVersion'"
	json "a key twice" 400 "{$vmi,\n\"kind\": \"Pod\"}" "line 2, column 6: not JSON: duplicate object key near '\"kind\"'"
	json "a NUL" 400 "{$vmi\0}" "line 1: a NUL byte in JSON text"
	json "bad UTF-8" 400 "{$vmi, \"x\": \"\xff\"}" "line 1, column 102: not JSON: unable to decode byte 0xff near '\"'"
	json "beyond 64 bits" 400 "{$vmi, \"spec\": {\"domain\": {\"cpu\": {\"cores\": 99999999999999999999}}}}" \
		"line 1, column 153: not JSON: too big integer near '99999999999999999999'"
	json "a comment" 400 "{ // x\n}" "line 1, column 3: not JSON: string or '}' expected near '/'"
	json "a quoted number" 422 "{$vmi, \"spec\": {\"domain\": {\"cpu\": {\"cores\": \"4\"}}}}" \
		'spec.domain.cpu.cores: is the string "4", must be a number: write cores: 4 without quotes'
	json "another kind than the path's" 400 '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bad"}}' \
		"the object is a Namespace, but this path takes VirtualMachineInstance of kubevirt.io/v1"
	post vmi body text/html
	is "another type of body" "$CODE $(words)" \
		"415 the body of the request was in an unknown format - accepted media types include: application/json, application/yaml"
}

# --- what is made here -------------------------------------------------------------------------

repeat() { # TEXT TIMES
	awk -v text="$1" -v n="$2" 'BEGIN { while (n--) printf "%s", text }'
}

laughs() { # LEVELS WIDTH
	local i
	echo 'a0: &a0 [lol]'
	for ((i = 1; i <= $1; i++)); do echo "a$i: &a$i [$(repeat "*a$((i - 1)), " "$2")]"; done
}

merges() { # LEVELS
	local i
	echo 'a0: &a0 {}'
	for ((i = 1; i <= $1; i++)); do echo "a$i: &a$i {<<: [*a$((i - 1)), *a$((i - 1))]}"; done
}

# A body from stdin is refused in these words everywhere, and the handler answers the next request.
hostile() { # NAME CODE WANT [API-WANT]
	local want=$3
	cat >hostile.yaml
	is "$1: render" "$(timeout $((10 * SLOW)) "${VP[@]}" render -f hostile.yaml 2>&1 >/dev/null | head -n 2)" \
		"virtpod: hostile.yaml$want"
	post vmi hostile.yaml
	is "$1: the API" "$CODE $(words | head -n 1)" "$2 ${4:-body$want}"
	api /healthz
	is "$1: the next request" "$CODE $(cat "$WORK/answer")" "200 ok"
}

hostile_bodies() {
	local head=$'apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: bad}\nspec:\n'
	local large="Request entity too large: limit is 4194304 bytes"

	repeat $'# ten megabytes\n' 655360 | hostile "10 MB" 413 \
		": more than 4194304 bytes; at most that many are taken: split it" "$large"
	repeat '[' 4000000 | hostile "lists in lists" 400 ":1: nested deeper than 64 levels"
	repeat '{a: ' 1000000 | hostile "maps in maps" 400 ":1: nested deeper than 64 levels"
	repeat '- ' 2000000 | hostile "items in items" 400 ":1: nested deeper than 64 levels"
	laughs 9 9 | hostile "a billion laughs" 400 ":1: more than 100000 values once aliases are expanded; use fewer aliases"
	merges 30 | hostile "a billion merges" 400 ":2: more than 100000 values once aliases are expanded; use fewer aliases"
	{ echo "a: &a $(repeat x 100000)" && repeat $'- *a\n' 60 | sed '1s/^/b:\n/'; } |
		hostile "one large alias" 400 ":1: more than 4194304 bytes once aliases are expanded; use fewer aliases"
	repeat $'- \n' 100001 | hostile "many values" 400 ":100000: more than 100000 values and keys; split the file"
	seq -f '- &a%g x' 600 | hostile "many anchors" 400 ":513: more than 512 anchors in one document"
	seq -f '%%TAG !a%.0f! tag:x,2000:' 150000 |
		hostile "many tags" 400 ":65: more than 64 times '%TAG' in one stream; take them out"
	{ printf '%s' "$head" && repeat x 1000000 && echo ': 1'; } | hostile "a long key" 400 \
		":5: could not find expected ':'; a key needs ': ' after it, and has at most 1024 characters"
	{ printf '%s' "$head" && seq -f '  field%g: 1' 40000; } | hostile "many unknown fields" 422 \
		$':5: spec.field1: is not a field of this object: the API has none of that name\nvirtpod: hostile.yaml:6: spec.field2: is not a field of this object: the API has none of that name' \
		"spec.field1: is not a field of this object: the API has none of that name"
	{ printf '%s  domain: {devices: {disks: [' "$head" && repeat '{name: d},' 20000 && echo ']}}'; } |
		hostile "many disks" 422 ":5: spec.domain.devices.disks: are 20000, must be at most 32" \
			"spec.domain.devices.disks: are 20000, must be at most 32"
	{ printf '%s' "${head%%metadata:*}" && echo "metadata: {name: bad, annotations: {a: $(repeat x 262144)}}" &&
		echo 'spec: {domain: {memory: {guest: 64Mi}, devices: {autoattachPodInterface: false}}}'; } |
		hostile "large annotations" 422 ":3: metadata.annotations: are 262145 bytes, must be at most 262144 in all" \
			"metadata.annotations: are 262145 bytes, must be at most 262144 in all"
	{ printf '%s  domain: {memory: {guest: ' "$head" && repeat 9 1000000 && echo '}}'; } | hostile "a long number" 422 \
		":5: spec.domain.memory.guest: '99999999999999999999...' is longer than the 63 characters of a quantity" \
		"spec.domain.memory.guest: '99999999999999999999...' is longer than the 63 characters of a quantity"

	head -c 100000 "$BUILD/virtpod" | hostile "a program" 400 ":1: a NUL byte: this is a binary file, or UTF-16; save it as UTF-8"
	printf '%s' "$head" | iconv -t UTF-16 | hostile "UTF-16" 400 \
		":1: a NUL byte: this is a binary file, or UTF-16; save it as UTF-8"
	printf '\x1f\x8b\x08\x04abc' | hostile "compressed" 400 \
		":1: control characters are not allowed; write it as an escape in double quotes"
	{ printf '%s' "$head" && printf '  hostname: b\xfcro\n'; } | hostile "Latin-1" 400 \
		":5: invalid leading UTF-8 octet; save the file as UTF-8"
	{ printf '%s' "$head" && printf '  hostname: "\xed\xa0\x80"\n'; } | hostile "half a surrogate pair" 400 \
		":5: invalid Unicode character; save the file as UTF-8"
	{ printf '%s' "$head" && printf '  hostname: \xe2\x82'; } | hostile "a letter cut off" 400 \
		":5: incomplete UTF-8 octet sequence; save the file as UTF-8"
	{ printf '%s' "$head" && printf '  hostname: "\x07"\n'; } | hostile "a bell" 400 \
		":5: control characters are not allowed; write it as an escape in double quotes"
	repeat $'#\n' 3000000 >hostile.yaml
	api "$(post_path vmi)" -H 'Transfer-Encoding: chunked' -H 'Content-Type: application/yaml' --data-binary @hostile.yaml
	is "6 MB whose length is not told" "$CODE $(words)" "413 $large"
}

# --- what the handler keeps --------------------------------------------------------------------

kept() {
	local path
	for path in /apis/kubevirt.io/v1/{virtualmachineinstances,virtualmachines,kubevirts} /api/v1/namespaces \
		/apis/kubelet.config.k8s.io/v1beta1/kubeletconfigurations \
		/apis/k8s.cni.cncf.io/v1/network-attachment-definitions; do
		api "$path"
		jq -S . "$WORK/answer"
	done
}

peak() { # in KiB, of all memory that it had at once
	awk '/^VmHWM:/ {print $2}' "/proc/$HANDLER_PID/status"
}

pod_begin
shopt -s lastpipe # hostile counts its tests
pod_ready
mkdir "$WORK/bad" && cd "$WORK/bad" || exit 1
unfold
kept >../kept.before
table
json_bodies
hostile_bodies
kept >../kept.after
check "nothing of it is kept" diff ../kept.before ../kept.after
check "the handler is the same" kill -0 "$HANDLER_PID"
check "and has never had more than 96 MiB" test "$(peak)" -lt 98304
is "the handler's log says nothing of it" "$(grep -v serving "$WORK/handler.log")" ""
handler_stop
is "it ends well" "$HANDLER_STATUS" 0
no_leftovers "nothing is left"
pod_end

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The folder of static manifests: what its files say is there, follows their changes, and goes with them; a
# file with an error in it is told of, and is never applied by half.
# shellcheck disable=SC2317 # functions by way of check
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-static

# As an editor does: nobody sees half a file.
put() { # FILE, from stdin
	cat >"$FOLDER/.$1.new"
	mv "$FOLDER/.$1.new" "$FOLDER/$1"
}

node_says() { # of static manifests
	vp get node -o json | jq -r '.items[0].status.conditions[] | select(.type == "virtpod.io/Manifests") | "\(.status) \(.message)"'
}

# The node's condition becomes such; by a watch.
node_when() { # REGEX
	local fd watch
	exec {fd}< <(exec timeout $((30 * SLOW)) "${VP[@]}" get node -w -o json)
	watch=$!
	jq -en --arg re "$1" 'first(inputs | .status.conditions[] | select(.type == "virtpod.io/Manifests")
		| select("\(.status) \(.message)" | test($re)))' <&"$fd" >/dev/null
	local status=$?
	kill "$watch" 2>/dev/null
	exec {fd}<&-
	return "$status"
}

uid_of() {
	vp get vmi $VM -o json | jq -r .metadata.uid
}

applied() {
	check "a VM of a file runs" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	is "its file stands on it" "$(vp get vmi $VM -o json | jq -r '.metadata.annotations["virtpod.io/manifest"]')" vm.json
	like "configuration of another file came before it" "$(condition $VM SoftwareEmulation)" '^True '
	like "the node says that all is there" "$(node_says)" "^True .*$FOLDER"
	UID_OF_VM=$(uid_of)
}

deleted_by_hand() {
	vp delete vmi $VM --grace-period 0 >/dev/null
	check "deleted by hand: it comes again" vmi_when $VM '.status.phase == "Running" and .metadata.uid != "'"$UID_OF_VM"'"' 30
	UID_OF_VM=$(uid_of)
}

bad_files() {
	: | put vm.json
	check "an empty file: the node tells" node_when '^False .*vm\.json: no object in it'
	is "an empty file: what was there stays" "$(uid_of)" "$UID_OF_VM"
	{ vmi $VM 'grace(0)' annotate\(\"x\"\;\"y\"\) && printf -- '---\n' && vmi vt-half '.spec.domain.devics = {}'; } | put vm.json
	check "one bad document: the node tells" node_when '^False .*vm\.json:[0-9]+: spec.domain.devics'
	is "one bad document: nothing of the file is applied" "$(vp get vmi -o name)" "virtualmachineinstance.kubevirt.io/$VM"
	is "one bad document: what was there stays as it is" "$(uid_of)" "$UID_OF_VM"
	like "one bad document: the log has it, too" "$(cat "$WORK/handler.log")" "$FOLDER/vm\.json:[0-9]+: spec.domain.devics"
	vmi $VM 'grace(0)' >"$WORK/again.json"
	put twice.json <"$WORK/again.json"
	put vm.json <"$WORK/first.json"
	check "twice in two files: the second is told of" node_when '^False .*vm\.json:1: vmi default/'$VM': is in .*twice\.json'
	rm "$FOLDER/twice.json"
	check "mended: all is there again" node_when '^True '
	printf 'a: [\n' | put broken.yaml
	check "no YAML: the node tells" node_when '^False .*broken\.yaml:[0-9]+'
	rm "$FOLDER/broken.yaml"
	check "gone: all is there again" node_when '^True '
}

changed() {
	UID_OF_VM=$(uid_of)
	vmi $VM 'grace(0)' 'annotate("test/round"; "two")' | put vm.json
	check "a changed VM is made again" vmi_when $VM '.status.phase == "Running" and .metadata.annotations["test/round"] == "two"' 60
	isnt "as a new one" "$(uid_of)" "$UID_OF_VM"
	vmi vt-other 'grace(0)' >"$WORK/other.json"
	check "a VM from elsewhere" vp create -f "$WORK/other.json"
	put other.json <"$WORK/other.json"
	check "somebody's object of that name: told of" node_when '^False .*other\.json:1: an object of this name is there'
	is "and left alone" "$(vp get vmi vt-other -o json | jq -r '.metadata.annotations["virtpod.io/manifest"]')" null
	rm "$FOLDER/other.json"
	check "all is there again" node_when '^True '
	check "it is not removed with the file" vp get vmi vt-other
	vp delete vmi vt-other --grace-period 0 >/dev/null
}

restarted() {
	UID_OF_VM=$(uid_of)
	handler_stop
	handler_up
	check "a new handler finds all as it is" node_when '^True '
	is "and touches nothing" "$(uid_of)" "$UID_OF_VM"
	handler_stop
	mv "$FOLDER/vm.json" "$WORK/vm.json"
	handler_up
	check "gone while no handler was there: it goes" wait_for $VM delete 30
	no_leftovers "nothing is left of it"
}

# The folder itself may come and go.
folder_goes() {
	mv "$WORK/vm.json" "$FOLDER/vm.json"
	check "there again" wait_for $VM 'jsonpath={.status.phase}=Running' 30
	rm -r "$FOLDER"
	check "the folder is removed: so is what it said" wait_for $VM delete 30
	is "configuration of it, too" "$(vp get kubevirt -n kubevirt -o name)" ""
}

pod_begin
FOLDER=$ROOT/etc/manifests
mkdir -p "$FOLDER"
cp "$WORK/config.yaml" "$FOLDER/config.yaml"
vmi $VM 'grace(0)' >"$WORK/first.json"
cp "$WORK/first.json" "$FOLDER/vm.json"
handler_up
applied
deleted_by_hand
bad_files
changed
restarted
folder_goes
pod_stop
pod_end

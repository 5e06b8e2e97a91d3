#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The command line: exit codes, messages, the handler that is started on demand.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

# Run virtpod; OUT, ERR and STATUS are what came of it.
say() {
	OUT=$(vp "$@" 2>"$WORK/err" </dev/null)
	STATUS=$?
	ERR=$(cat "$WORK/err")
}
lines() { grep -c . <<<"$1"; }

usage() {
	local words
	while read -r words; do
		# shellcheck disable=SC2086 # several words
		say $words
		is "usage: virtpod $words: exit status" "$STATUS" 2
		is "usage: virtpod $words: one line" "$(lines "$ERR")" 1
	done <<-'END'
	nonsense
	run
	run --rm
	get
	get pods
	get vmi/A_b
	delete vmi
	delete vmi --grace-period=-1 a
	wait vmi/a
	wait vmi/a --for=ready
	render -f x --as svg
	console
	console a b
	inspect net-attach-def a
	END
	say help
	is "help: exit status" "$STATUS" 0
	say run --help
	like "a command's help" "$OUT" '^usage: virtpod run -f '
	say --version
	like "version" "$OUT" '^virtpod [0-9]+\.[0-9]+\.[0-9]+$'
	is "nothing of this started a handler" "$(handler_pids "$ROOT")" ""
}

invalid() {
	cat >"$WORK/bad.yaml" <<-'END'
	apiVersion: kubevirt.io/v1
	kind: VirtualMachineInstance
	metadata: {name: bad}
	spec:
	  domain:
	    cpu:
	      cores: many
	    memory: {guest: 64Mi}
	---
	apiVersion: kubevirt.io/v1
	kind: VirtualMachineInstanc
	metadata: {name: worse}
	END
	vmi good >"$WORK/good.json"
	say run -f "$WORK/bad.yaml" "$WORK/good.json"
	is "invalid manifest: exit status" "$STATUS" 3
	like "invalid manifest: file, line, field" "$ERR" "virtpod: $WORK/bad.yaml:7: spec.domain.cpu.cores: "
	like "invalid manifest: the other document's error, too" "$ERR" "bad.yaml:11: kind: "
	say run -f "$WORK/absent.yaml"
	is "absent manifest: exit status" "$STATUS" 1
	is "nothing of this started a handler either" "$(handler_pids "$ROOT")" ""
}

unprivileged() {
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chmod 0755 "$WORK"
	ERR=$("${nobody[@]}" "$BUILD/virtpod" --root "$ROOT" get vmi 2>&1)
	is "not root, no handler: exit status" $? 4
	like "not root, no handler: the cure" "$ERR" 'sudo'
	say get vmi
	ERR=$("${nobody[@]}" "$BUILD/virtpod" --root "$ROOT" get vmi 2>&1)
	is "not root, a handler: exit status" $? 4
	like "not root, a handler: why" "$ERR" "permission denied: virt-handler's socket is root's"
	like "not root, a handler: the cure" "$ERR" 'sudo'
}

# What the handler has of who started it: nothing.
on_demand() {
	local pid i watch
	"${VP[@]}" get vmi -w >/dev/null 2>&1 & # so that the handler does not end for want of work
	watch=$!
	for i in 1 2 3 4 5; do
		FOO=bar vp get vmi >/dev/null 2>"$WORK/start.$i" 7<"$WORK/good.json" &
		RUN_PID[start$i]=$!
	done
	for i in 1 2 3 4 5; do
		run_wait "start$i" 30
		is "five at once: $i has its answer" "$RUN_STATUS" 0
	done
	pid=$(handler_pids "$ROOT")
	is "one handler serves all" "$(lines "$pid")" 1
	is "its session is its own" "$(ps -o sid= -p "$pid" | tr -d ' ')" "$pid"
	is "its directory" "$(readlink "/proc/$pid/cwd")" /
	is "its stdin" "$(readlink "/proc/$pid/fd/0")" /dev/null
	is "its stderr" "$(readlink "/proc/$pid/fd/2")" "$ROOT/run/handler.log"
	is "its environment" "$(tr '\0' '\n' <"/proc/$pid/environ" | sed 's/=.*//' | sort | xargs)" \
		"NOTIFY_SOCKET PATH"
	is "no descriptor of ours" "$(find "/proc/$pid/fd" -lname "$WORK/good.json")" ""
	kill -KILL $watch "$pid"
	wait $watch 2>/dev/null
	wait_gone "$pid" 10
	say get vmi
	is "after kill -9 the next command has another one" "$STATUS" 0
}

# A handler that can't start says why through virtpod.
broken_start() {
	local other=$WORK/broken
	mkdir -p "$other/run/runtime.db" "$other/lib"
	ERR=$("$BUILD/virtpod" --root "$other" get vmi 2>&1)
	is "a handler that can't start: exit status" $? 4
	like "a handler that can't start: its last words" "$ERR" 'virtpod: virt-handler could not start: .*/run/runtime\.db: '
	is "a handler that can't start: one line" "$(lines "$ERR")" 1
}

objects() {
	say apply -f "$WORK/config.yaml"
	like "apply creates" "$OUT" 'kubevirt kubevirt/kubevirt created'
	say apply -f "$WORK/config.yaml"
	like "apply again changes nothing" "$OUT" 'kubevirt kubevirt/kubevirt unchanged'
	is "apply again: both" "$(grep -c unchanged <<<"$OUT")" 2
	sed 's/reservedSystemCPUs: .*/reservedSystemCPUs: "1"/' "$WORK/config.yaml" >"$WORK/config2.yaml"
	say apply -f "$WORK/config2.yaml"
	like "apply of a change" "$OUT" 'kubeletconfiguration configured'
	say create -f "$WORK/config.yaml"
	is "create of what is there: exit status" "$STATUS" 3
	say get kubevirt -A
	like "a table" "$OUT" '^NAMESPACE   NAME       AGE'
	say get kubevirt -n kubevirt -o name
	is "names" "$OUT" kubevirt.kubevirt.io/kubevirt
	say get kubeletconfiguration -o json
	is "a list as JSON" "$(jq -r '.items[0].reservedSystemCPUs' <<<"$OUT")" 1
	say get node -o yaml
	like "YAML" "$OUT" '(^|'$'\n'')kind: '
	say get vmi nobody
	is "get of what is not there: exit status" "$STATUS" 1
	is "get of what is not there: one line" "$(lines "$ERR")" 1
	say delete vmi nobody
	is "delete of what is not there: exit status" "$STATUS" 1
	say delete -f "$WORK/good.json"
	is "delete -f of what is not there: exit status" "$STATUS" 0
	say console nobody
	is "console of nobody: exit status" "$STATUS" 1
	say wait vmi/nobody --for=delete
	is "wait for the end of nobody: exit status" "$STATUS" 0
	say wait vmi/nobody --for=condition=Ready --timeout=1s
	is "wait in vain: exit status" "$STATUS" 1
}

refused() {
	vmi wide '.spec.domain.cpu = {cores: 4096, dedicatedCpuPlacement: true}' >"$WORK/wide.json"
	vmi many dedicated '.spec.domain.cpu.cores = 64' >"$WORK/many.json"
	vmi imageless '.spec.domain.firmware.kernelBoot.container.image = "no/such:image"' >"$WORK/imageless.json"
	say run -f "$WORK/many.json" --rm
	is "more CPUs than there are: exit status" "$STATUS" 3
	like "more CPUs than there are: why" "$ERR" '64'
	say get vmi many
	is "a refused VM with --rm is gone" "$STATUS" 1
	say run -f "$WORK/imageless.json" --rm
	is "no such image: it does not run" "$((STATUS == 1 || STATUS == 3))" 1
	like "no such image: why" "$ERR" 'no/such:image'
	jq '.kind = "VirtualMachine" | .spec = {runStrategy: "Halted", template: {spec: .spec}}' \
		"$WORK/good.json" >"$WORK/halted.json"
	say run -f "$WORK/halted.json"
	is "a halted VM is not run: exit status" "$STATUS" 3
	say get vm good
	is "nor created" "$STATUS" 1
	say run -f "$WORK/good.json" "$WORK/imageless.json" --console
	is "one console, two VMs: exit status" "$STATUS" 2
}

# One guest: its outcome, a name that is taken, and a VirtualMachine's end.
outcome() {
	vmi taken >"$WORK/taken.json"
	jq '.kind = "VirtualMachine" | .spec = {runStrategy: "Once", template: {spec: .spec}}' \
		"$WORK/good.json" >"$WORK/once.json"
	run_start taken "$WORK/taken.json" --rm --console
	wait_line "$WORK/taken.out" "$READY" 60 1 "${RUN_PID[taken]}" >/dev/null
	say run -f "$WORK/taken.json"
	is "a name that is taken: exit status" "$STATUS" 3
	like "a name that is taken: it is named" "$ERR" 'taken\.json:1: vmi default/taken is there already'
	kill -TERM "${RUN_PID[taken]}"
	run_wait taken
	is "SIGTERM shuts the guest down: exit status" "$RUN_STATUS" 0
	check "the console shows how" grep -qa 'power button' "$WORK/taken.out"
	like "the phases" "$(cat "$WORK/taken.err")" 'Scheduling.*Running.*shut down'
	say get vmi taken
	is "--rm: it is gone" "$STATUS" 1

	run_start once "$WORK/once.json" --rm -q
	say wait vmi/good --for=condition=Ready --timeout=60s
	is "a VirtualMachine's VMI is waited for" "$STATUS" 0
	say delete vm good
	is "deleting the VirtualMachine: exit status" "$STATUS" 0
	run_wait once
	is "its run ends: exit status" "$RUN_STATUS" 0
	is "-q says nothing" "$(cat "$WORK/once.err")" ""
}

finish() {
	local pid
	for pid in $(handler_pids "$ROOT"); do
		check "the handler ends by itself" wait_gone "$pid" 60
	done
	no_leftovers "nothing is left"
}

pod_begin
usage
invalid
unprivileged
on_demand
broken_start
objects
refused
outcome
finish
pod_end

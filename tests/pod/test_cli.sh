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
	wait vmi/a --for=jsonpath={.status.conditions[?(@.type=="Ready")].status}=True
	wait vmi/a --for=delete --timeout=5x
	render -f x --as svg
	console
	console a b
	inspect net-attach-def a
	-n Foo_ get vmi
	-n= get vmi
	--root= get vmi
	END
	say help
	is "help: exit status" "$STATUS" 0
	say run --help
	like "a command's help" "$OUT" '^usage: virtpod run -f '
	say --version
	like "version" "$OUT" '^virtpod [0-9]+\.[0-9]+\.[0-9]+$'
	say get vmi -xA
	like "an option in the midst of others" "$ERR" '^virtpod: -x: '
	say logs a --tail abc
	like "a number: what is taken" "$ERR" ' abc: must be a whole number'
	say wait vmi/a --for=delete --timeout=5x
	like "a time: what is taken" "$ERR" ' 5x: must be a duration such as 30s'
	say wait vmi/a --for='jsonpath={.a[*]}'
	like "a path: what is taken" "$ERR" 'jsonpath=.*without filters'
	say -n some delete
	like "a hint can be typed" "$ERR" "virtpod --root $ROOT -n some delete KIND NAME"
	is "nothing of this started a handler" "$(handler_pids "$ROOT")" ""
	ERR=$("$BUILD/virtpod" --root /proc get vmi 2>&1)
	is "a root that can't be: exit status" $? 4
	like "a root that can't be: why" "$ERR" '/proc/lib: .*directory: '
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
	say get kubevirt/kubevirt ns/default ns/nobody -n kubevirt -o=json
	is "several as JSON: one List of what is there" "$(jq -r '"\(.kind) \(.items | map(.kind) | join(" "))"' <<<"$OUT")" \
		"List KubeVirt Namespace"
	is "several, one not there: exit status" "$STATUS" 1
	say get ns default kubevirt
	is "several in a table: one header" "$(grep -c NAME <<<"$OUT")/$(lines "$OUT")" 1/3
	is "what -o name prints is a name" "$(vp get kubevirt -n kubevirt -o name |
		xargs "${VP[@]}" -n kubevirt wait --for='jsonpath={.metadata.name}=kubevirt')" \
		"kubevirt kubevirt/kubevirt condition met"
	say get vmi nobody
	is "get of what is not there: exit status" "$STATUS" 1
	is "get of what is not there: one line" "$(lines "$ERR")" 1
	say delete vmi nobody
	is "delete of what is not there: exit status" "$STATUS" 1
	say delete -f "$WORK/good.json"
	is "delete -f of what is not there: exit status" "$STATUS" 1
	like "delete -f of what is not there: it is named" "$ERR" '"good" not found'
	vmi good 'del(.metadata.name) | .metadata.generateName = "good-"' >"$WORK/generated.json"
	say delete -f "$WORK/generated.json"
	is "delete -f of what has no name: exit status" "$STATUS" 3
	like "delete -f of what has no name: where" "$ERR" 'generated\.json:1: has no name'
	say delete ns default
	is "delete of what must stay: exit status" "$STATUS" 3
	say delete node "$(hostname)"
	is "delete of a node: exit status" "$STATUS" 3
	like "delete of a node: what can be deleted" "$ERR" "virtpod --root $ROOT get vmi -A"
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

# What has ended without having run.
failed() {
	say apply -f "$WORK/imageless.json"
	say wait vmi/imageless --for=condition=Ready --timeout=-1
	is "what can't come is not waited for: exit status" "$STATUS" 1
	like "what can't come is not waited for: why" "$ERR" 'condition=Ready will not come: Failed: .*no/such:image'
	say logs imageless
	is "no log: why" "$ERR" "virtpod: vmi default/imageless: it has no log 'console': it never ran"
	say console imageless
	is "no console: exit status" "$STATUS" 3
	like "no console: why" "$ERR" 'vmi default/imageless is not running: Failed: .*no/such:image'
	say verify imageless
	like "nothing to verify: why" "$ERR" '^virtpod: vmi default/imageless is not running: Failed: .*no/such:image'
	say delete vmi.kubevirt.io/imageless
	is "it is deleted" "$OUT" "vmi default/imageless deleted"
	say wait node/"$(hostname)" --for=condition=ready=False --timeout=0
	like "a wait in vain: how it is" "$ERR" 'timed out .*Ready is True'
}

# Guests that do not hear: all are asked at once, and meanwhile it is seen.
deaf() {
	local name pid console
	for name in deaf1 deaf2; do
		vmi $name 'grace(6)' 'args("virtpod.acpi=ignore")' >"$WORK/$name.json"
	done
	say apply -f "$WORK/deaf1.json" "$WORK/deaf2.json"
	say wait vmi/deaf1 vmi/deaf2 --for=condition=ready --timeout=60s
	is "two guests: exit status" "$STATUS" 0
	is "fractions are short" "$(vp inspect deaf1 -o json | grep -E '\.[0-9]{16}')" ""
	check "a console on a terminal" console_open deaf2
	console_close deaf2
	check "is left with a word" grep -qa '^virtpod: left the console; the VM runs on' "$WORK/deaf2.con"
	"${VP[@]}" console deaf1 >/dev/null 2>"$WORK/deaf.con" </dev/null &
	console=$!
	vp get vmi -o name | xargs "${VP[@]}" delete >"$WORK/deaf.out" 2>"$WORK/deaf.err" &
	pid=$!
	for name in deaf1 deaf2; do
		check "delete says what it waits for: $name" \
			wait_line "$WORK/deaf.err" "vmi default/$name: asked to shut down, killed in [0-9]+ s" 5
	done
	say get vmi
	is "both are on their way out" "$(grep -c ' Terminating ' <<<"$OUT")" 2
	is "the objects keep their phase" "$(vp get vmi -o json | jq -r '.items[].status.phase' | xargs)" "Running Running"
	say get vmi -o wide
	like "wide says it, too" "$OUT" 'Terminating +it is being deleted'
	say apply -f "$WORK/deaf1.json"
	is "apply of what is being deleted: exit status" "$STATUS" 1
	like "apply of what is being deleted: why" "$ERR" 'vmi default/deaf1 is being deleted'
	wait $pid
	is "deleted: exit status" $? 0
	is "deleted: both" "$(sort "$WORK/deaf.out" | xargs)" "vmi default/deaf1 deleted vmi default/deaf2 deleted"
	wait $console
	is "the console's end: exit status" $? 0
	like "the console's end: why" "$(cat "$WORK/deaf.con")" \
		'^virtpod: vmi default/deaf1: (did not shut down within its grace period and was killed|deleted)$'
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
failed
deaf
outcome
finish
pod_end

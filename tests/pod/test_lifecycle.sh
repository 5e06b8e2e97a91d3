#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How VMs end and what `virtpod run` answers, disks, consoles, and starts that must be refused.
# shellcheck source=tests/pod/lib.sh
source "$(dirname "$0")/lib.sh"

VM=vt-life

# A VM that must not start: run's status, and what it says.
refused() { # NAME STATUS REGEX FILTER...
	local name=$1 status=$2 regex=$3
	shift 3
	vmi vt-refused "$@" >"$WORK/refused.json"
	run_start vt-refused "$WORK/refused.json" --rm
	run_wait vt-refused 30
	is "$name: exit status" "$RUN_STATUS" "$status"
	like "$name: says why" "$(cat "$WORK/vt-refused.err")" "$regex"
	is "$name: nothing stays with --rm" "$(vp get vmi -o name | grep vt-refused)" ""
}

# A VM up to its guest's ready line, its console followed by run itself.
follow() { # FILTER...
	vmi $VM "$@" >"$WORK/$VM.json"
	run_start $VM "$WORK/$VM.json" --rm --console
	wait_line "$WORK/$VM.out" "$READY" 60 1 "${RUN_PID[$VM]}" >/dev/null && return
	not_ok "the guest comes up" "$(cat "$WORK/$VM.err")"
	return 1
}

ended() { # NAME STATUS
	run_wait $VM 60
	is "$1: run's exit status" "$RUN_STATUS" "$2"
	is "$1: the object is gone" "$(vp get vmi -o name)" ""
	is "$1: QEMU is gone" "$(qemu_pid $VM)" ""
}

guest_ends() {
	vmi $VM 'args("virtpod.do=poweroff") | loud' >"$WORK/$VM.json"
	run_start $VM "$WORK/$VM.json" --rm --console
	ended "the guest powers off" 0
	like "its boot was seen from the first line" "$(head -n 3 "$WORK/$VM.out")" 'Linux version|\[ +0\.000000\]'
	check "up to its end" grep -q "$READY" "$WORK/$VM.out"

	follow || return
	check "delete from elsewhere" vp delete vmi $VM
	ended "deleted" 0
	like "deleted: the guest saw its power button" "$(cat "$WORK/$VM.out")" 'power button'

	follow || return
	kill -KILL "$(qemu_pid $VM)"
	ended "QEMU is killed" 1
	like "QEMU is killed: run says so" "$(cat "$WORK/$VM.err")" '[Kk]ill|signal 9|SIGKILL'
}

# The guest opens its watchdog and never feeds it.
watchdogs() {
	local first
	vmi $VM '.spec.domain.devices.watchdog = {name: "dog", i6300esb: {action: "poweroff"}}' \
		'args("virtpod.do=watchdog")' >"$WORK/$VM.json"
	run_start $VM "$WORK/$VM.json" --rm --console
	ended "the watchdog fires, action poweroff" 1
	like "run says that it was the watchdog" "$(cat "$WORK/$VM.err")" 'watchdog'

	vmi $VM '.spec.domain.devices.watchdog = {name: "dog", i6300esb: {action: "reset"}}' \
		'args("virtpod.do=watchdog")' >"$WORK/$VM.json"
	run_start $VM "$WORK/$VM.json" --rm --console
	check "action reset: the guest comes up" wait_line "$WORK/$VM.out" "$READY" 30
	first=$(grep -an -m1 "$READY" "$WORK/$VM.out" | cut -d: -f1)
	check "action reset: and again after the watchdog" wait_line "$WORK/$VM.out" "$READY" 60 $((first + 1))
	check "action reset: the same QEMU runs on" test -n "$(qemu_pid $VM)"
	check "it can be deleted" vp delete vmi $VM --grace-period 0
	ended "deleted between resets" 0
}

interrupts() {
	follow || return
	kill -INT "${RUN_PID[$VM]}"
	ended "Ctrl-C" 0
	like "Ctrl-C: the guest is asked" "$(cat "$WORK/$VM.out")" 'power button'

	follow 'args("virtpod.acpi=ignore")' 'grace(600)' || return
	kill -INT "${RUN_PID[$VM]}"
	check "first Ctrl-C: the guest ignores it" wait_line "$WORK/$VM.out" 'power button ignored' 20
	check "and runs on" test -n "$(qemu_pid $VM)"
	# a signal within half a second is an echo of the first: by the second press 5 s are over
	check "first Ctrl-C: it is asked again" wait_line "$WORK/$VM.out" 'power button ignored' 20 \
		"$(($(grep -an -m1 'power button ignored' "$WORK/$VM.out" | cut -d: -f1) + 1))"
	kill -INT "${RUN_PID[$VM]}"
	run_wait $VM 30
	is "second Ctrl-C: it ends at once, deleted on request" "$RUN_STATUS" 0
	is "second Ctrl-C: QEMU is gone" "$(qemu_pid $VM)" ""

	follow || return
	kill -TERM "${RUN_PID[$VM]}"
	ended "SIGTERM" 0
	like "SIGTERM: the guest is asked" "$(cat "$WORK/$VM.out")" 'power button'
}

graces() {
	local watch
	follow 'args("virtpod.acpi=ignore")' 'grace(2)' || return
	"$BUILD/virtpod" --root "$ROOT" get vmi $VM --watch -o json >"$WORK/watch.json" 2>/dev/null &
	watch=$!
	check "ignored ACPI: delete ends all the same" vp delete vmi $VM
	ended "ignored ACPI" 0
	kill "$watch" 2>/dev/null
	wait "$watch" 2>/dev/null
	like "ignored ACPI: the guest was asked" "$(cat "$WORK/$VM.out")" 'power button ignored'
	like "ignored ACPI: the status tells that the grace period was over" \
		"$(cat "$WORK/watch.json")" '"phase": *"Failed"'

	follow || return
	check "grace 0: delete" vp delete vmi $VM --grace-period 0
	ended "grace 0" 0
	is "grace 0: the guest is not asked" "$(grep -c 'power button' "$WORK/$VM.out")" 0
}

# The power button is pressed again and again: a guest that was busy at first gets another chance.
asked_again() {
	vmi $VM 'grace(120)' >"$WORK/$VM.json"
	vm_up $VM "$WORK/$VM.json" --rm || { not_ok "the guest comes up"; return; }
	like "ACPI: ignored for now" "$(guest $VM 'acpi ignore')" '^ok'
	check "ACPI: delete" vp delete vmi $VM --wait=false
	check "ACPI: first press" wait_line "$WORK/$VM.con" 'power button ignored' 20
	like "ACPI: obeyed from now on" "$(guest $VM 'acpi obey')" 'ok'
	run_wait $VM 30
	is "ACPI: a later press ends the guest long before the grace period" "$RUN_STATUS" 0
	console_close $VM
}

# A person's terminal: the console leaves it as it was.
terminal() {
	local fd
	vmi $VM >"$WORK/$VM.json"
	rm -f "$WORK/tty.in" "$WORK/tty.out"
	mkfifo "$WORK/tty.in"
	exec {fd}<>"$WORK/tty.in"
	# Ctrl-C goes to all who share the terminal: this shell must live to tell the status
	env --default-signal=INT,QUIT script -qfec "trap : INT; stty -g; '$BUILD/virtpod' --root '$ROOT' run -f '$WORK/$VM.json' --rm --console; echo rc=\$?; stty -g" \
		/dev/null <"$WORK/tty.in" >"$WORK/tty.out" 2>&1 &
	RUN_PID[tty]=$!
	check "terminal: the guest comes up" wait_line "$WORK/tty.out" "$READY" 60 1 "${RUN_PID[tty]}"
	printf '\003cmdline\n' >&"$fd"
	check "terminal: Ctrl-C is a key like any other, and goes to the guest" \
		wait_line "$WORK/tty.out" 'cmdline=console|no such command' 20 1 "${RUN_PID[tty]}"
	printf '\035' >&"$fd"
	# the terminal is the client's again when it has said something of its own
	check "terminal: Ctrl-] leaves the console" \
		wait_line "$WORK/tty.out" '[Cc]onsole' 20 "$(wc -l <"$WORK/tty.out")" "${RUN_PID[tty]}"
	is "terminal: the guest's line ends are its own" "$(grep -ac $'\r\r' "$WORK/tty.out")" 0
	check "terminal: the VM runs on" test -n "$(qemu_pid $VM)"
	printf '\003' >&"$fd"
	run_wait tty 60
	is "terminal: Ctrl-C now shuts down" "$(tr -d '\r' <"$WORK/tty.out" | grep -a '^rc=')" rc=0
	is "terminal: left as it was" "$(tr -d '\r' <"$WORK/tty.out" | grep -aE '^[0-9a-f]+(:[0-9a-f]+){10,}$' | sort -u | wc -l)" 1
	is "terminal: seen before and after" "$(tr -d '\r' <"$WORK/tty.out" | grep -acE '^[0-9a-f]+(:[0-9a-f]+){10,}$')" 2
	exec {fd}>&-
}

# A VirtualMachine that is to run always gets a new instance when its guest powers off.
always() {
	local vm=vt-always watch uid
	vmi $vm 'grace(0)' | jq '{apiVersion, kind: "VirtualMachine", metadata,
		spec: {runStrategy: "Always", template: {spec: .spec}}}' >"$WORK/$vm.json"
	check "VirtualMachine: created" vp apply -f "$WORK/$vm.json"
	check "VirtualMachine: its VMI runs" wait_for $vm 'jsonpath={.status.phase}=Running' 30
	console_open $vm || { not_ok "the guest comes up"; return; }
	uid=$(vp get vmi $vm -o json | jq -r .metadata.uid)
	"$BUILD/virtpod" --root "$ROOT" get vmi $vm -w -o json 2>/dev/null \
		> >(exec jq --unbuffered -r '"\(.metadata.uid) \(.status.phase)"' >"$WORK/uids") &
	watch=$!
	check "VirtualMachine: watched" wait_line "$WORK/uids" "$uid Running" 20
	printf 'poweroff\n' >&"${CON_FD[$vm]}"
	check "VirtualMachine: ended by its guest" wait_line "$WORK/uids" "$uid Succeeded" 30
	# the back-off is for guests that did not come up
	check "VirtualMachine: another instance runs" wait_line "$WORK/uids" Running 30 \
		"$(($(grep -n Succeeded "$WORK/uids" | tail -n 1 | cut -d: -f1) + 1))"
	kill $watch
	wait $watch 2>/dev/null
	console_close $vm
	is "VirtualMachine: its status" "$(vp get vm $vm -o json | jq -r '.status.printableStatus, .status.ready' | xargs)" "Running true"
	check "VirtualMachine: deleted" vp delete vm $vm
	is "VirtualMachine: its instance, too" "$(vp get vmi -o name)" ""
}

disk_images() {
	truncate -s 16M "$WORK/raw.img" "$WORK/sata.img" "$WORK/ro.img"
	qemu-img create -q -f qcow2 "$WORK/cow.qcow2" 16M
	vmi $VM loud 'hostdisk("raw"; "'"$WORK"'/raw.img")' 'hostdisk("cow"; "'"$WORK"'/cow.qcow2")' \
		'.spec.domain.devices.disks[0].serial = "RAW-1"' \
		'volume("sata"; {disk: {bus: "sata"}}; {hostDisk: {path: "'"$WORK"'/sata.img", type: "Disk"}})' \
		'volume("ro"; {disk: {bus: "scsi", readonly: true}}; {hostDisk: {path: "'"$WORK"'/ro.img", type: "Disk"}})' \
		'volume("made"; {disk: {bus: "virtio"}}; {hostDisk: {path: "'"$WORK"'/made.img", type: "DiskOrCreate", capacity: "8Mi"}})' \
		'volume("empty"; {disk: {bus: "scsi"}}; {emptyDisk: {capacity: "32Mi"}})' >"$WORK/$VM.json"
}

disks() {
	local list sata empty ro
	list=$(guest $VM disks)
	like "disks: raw, by serial" "$list" 'disk=vda bytes=16777216 ro=0 bus=virtio serial=RAW-1'
	like "disks: qcow2's virtual size" "$list" 'disk=vdb bytes=16777216 ro=0 bus=virtio'
	like "disks: sata" "$list" 'bytes=16777216 ro=0 bus=sata'
	like "disks: scsi, read-only" "$list" 'bytes=16777216 ro=1 bus=scsi'
	like "disks: emptyDisk, scsi" "$list" 'bytes=33554432 ro=0 bus=scsi'
	like "disks: one that was made for it" "$list" 'disk=vdc bytes=8388608 ro=0 bus=virtio'
	like "raw: write" "$(guest $VM 'write vda 8192 text-in-raw')" '^ok'
	like "qcow2: write" "$(guest $VM 'write vdb 8192 text-in-qcow2')" '^ok'
	empty=$(sed -n 's/^disk=\([^ ]*\) bytes=33554432.*/\1/p' <<<"$list")
	ro=$(sed -n 's/^disk=\([^ ]*\) .*ro=1.*/\1/p' <<<"$list")
	sata=$(sed -n 's/^disk=\([^ ]*\) .*bus=sata.*/\1/p' <<<"$list")
	like "emptyDisk: write" "$(guest $VM "write $empty 4096 text-in-empty")" '^ok'
	like "emptyDisk: read" "$(guest $VM "read $empty 4096")" 'text=text-in-empty'
	like "sata: write" "$(guest $VM "write $sata 8192 text-in-sata")" '^ok'
	like "read-only: takes no write" "$(guest $VM "write $ro 0 no")" '^error'
}

disk_contents() {
	is "raw: the guest's text is in the file" \
		"$(dd if="$WORK/raw.img" bs=1 skip=8192 count=11 status=none)" text-in-raw
	qemu-img convert -f qcow2 -O raw "$WORK/cow.qcow2" "$WORK/cow.raw"
	is "qcow2: the guest's text is in the image" \
		"$(dd if="$WORK/cow.raw" bs=1 skip=8192 count=13 status=none)" text-in-qcow2
	check "qcow2: the image is sound" qemu-img check -q "$WORK/cow.qcow2"
	is "sata: the guest's text is in the file" \
		"$(dd if="$WORK/sata.img" bs=1 skip=8192 count=12 status=none)" text-in-sata
	is "DiskOrCreate: the file stays" "$(stat -c %s "$WORK/made.img")" $((8 << 20))
	is "read-only: the file is as it was" "$(tr -d '\0' <"$WORK/ro.img" | wc -c)" 0
}

consoles() {
	local out status
	out=$(timeout 20 "$BUILD/virtpod" --root "$ROOT" console $VM 2>&1 </dev/null)
	status=$?
	is "console: a second client is refused" "$status" 3
	like "console: it says that somebody has it" "$out" '[Cc]onsole'
	console_close $VM
	check "console: free again, with what was said before" console_open $VM
	check "console: from the first line" grep -qE 'Linux version|\[ +0\.000000\]' "$WORK/$VM.con"
	like "console: and it takes commands" "$(guest $VM cmdline)" 'console=ttyS0'
	like "console: a flood comes whole" "$(guest $VM 'flood 500' | grep -c '^00000')" '^500$'
}

resets() {
	local from
	from=$(($(wc -l <"$WORK/$VM.con") + 1))
	printf 'reboot\n' >&"${CON_FD[$VM]}"
	check "reboot: the guest comes up again" wait_line "$WORK/$VM.con" "$READY" 60 "$from"
	is "reboot: in the same QEMU" "$(qemu_pid $VM)" "$Q"
	printf 'panic\n' >&"${CON_FD[$VM]}"
	check "panic: seen on the console" wait_line "$WORK/$VM.con" 'Kernel panic' 20 "$from"
	is "panic: without a panic device the VM runs on" "$(vp get vmi $VM -o json | jq -r .status.phase)" Running
}

command_line() {
	local words
	words=" $(tr '\0' ' ' <"/proc/$Q/cmdline")"
	like "QEMU's command line: the VM's name, threads with names" "$words" "-name [^ ]*$VM,debug-threads=on "
	[ "$NO_KVM" = 0 ] || like "QEMU's command line: a thread for each vCPU" "$words" 'accel[= ]tcg[^ ]*thread=multi'
	is "QEMU's command line: no path of this root" "$(grep -F "$WORK" <<<"$words")" ""
}

# A VM with every kind of disk, its consoles, and how it takes resets.
one_life() {
	disk_images
	vm_up $VM "$WORK/$VM.json" --rm || { not_ok "a VM with disks comes up"; return; }
	Q=$(qemu_pid $VM)
	command_line
	disks
	refused "a disk that another VM writes" 1 "raw\.img: in use by VM default/$VM, process $Q \(qemu-" \
		'hostdisk("d"; "'"$WORK"'/raw.img")'
	consoles
	check "verify" vp verify $VM
	resets
	vm_down $VM
	is "killed on request: run's exit status" "$RUN_STATUS" 0
	disk_contents
}

locked_by_stranger() {
	local fd
	mkfifo "$WORK/io"
	exec {fd}<>"$WORK/io"
	qemu-io -f raw "$WORK/raw.img" <"$WORK/io" >"$WORK/io.out" 2>&1 &
	IO_PID=$!
	echo 'read 0 512' >&"$fd"
	wait_line "$WORK/io.out" 'read 512' 20 1 "$IO_PID" >/dev/null || fatal "qemu-io: $(cat "$WORK/io.out")"
	refused "a disk that another program writes" 1 "raw.img.*(qemu-io|$IO_PID)" 'hostdisk("d"; "'"$WORK"'/raw.img")'
	echo quit >&"$fd"
	wait "$IO_PID"
	exec {fd}>&-
}

# What can't be a disk, though there is something of this name. Mode and owner stop no handler.
unreadable() {
	local path=$WORK/unreadable.img
	mkdir "$path"
	refused "a disk that is a folder" 1 'unreadable\.img: Is a directory' 'hostdisk("d"; "'"$path"'")'
	rmdir "$path"
	mkfifo "$path"
	refused "a disk that is a FIFO" 1 'unreadable\.img: neither a regular file' 'hostdisk("d"; "'"$path"'")'
	rm "$path"
	refused "a disk that is a socket" 1 'handler\.sock: No such device' 'hostdisk("d"; "'"$ROOT"'/run/handler.sock")'
	refused "a disk that is a character device" 1 '/dev/zero: neither a regular file' 'hostdisk("d"; "/dev/zero")'
	refused "a disk that can't be read" 1 '/proc/self/mem: Input/output error' 'hostdisk("d"; "/proc/self/mem")'
	truncate -s 1M "$path"
	if chattr +i "$path" 2>/dev/null; then # not every file system can
		refused "a disk that is immutable" 1 'unreadable\.img: Operation not permitted' 'hostdisk("d"; "'"$path"'")'
		chattr -i "$path"
	fi
	mkdir "$WORK/ro"
	mount --bind "$WORK/ro" "$WORK/ro"
	truncate -s 1M "$WORK/ro/disk.img"
	mount -o remount,bind,ro "$WORK/ro"
	refused "a disk on a read-only file system" 1 'ro/disk\.img: Read-only file system' 'hostdisk("d"; "'"$WORK"'/ro/disk.img")'
	umount "$WORK/ro"
}

refusals() {
	local bad=$WORK/bad.qcow2
	truncate -s 16M "$WORK/base.raw"
	qemu-img create -q -f qcow2 -b "$WORK/base.raw" -F raw "$bad"
	refused "qcow2 with a backing file" 1 'bad\.qcow2.*back' 'hostdisk("d"; "'"$bad"'")'
	cp "$WORK/cow.qcow2" "$WORK/looks.img"
	refused "a raw file that begins as qcow2" 1 'looks\.img.*qcow2' 'hostdisk("d"; "'"$WORK"'/looks.img")'
	unreadable
	refused "a path as two disks of a VM" 3 'volumes\[1\]\.hostDisk\.path: is the image of volumes\[0\], too' \
		'hostdisk("one"; "'"$WORK"'/base.raw")' 'hostdisk("two"; "'"$WORK"'/base.raw")'
	ln -s base.raw "$WORK/twin.raw"
	refused "a file as two disks of a VM" 1 "twin\.raw: in use by disk 'one' of this VM" \
		'hostdisk("one"; "'"$WORK"'/base.raw")' 'hostdisk("two"; "'"$WORK"'/twin.raw")'
	refused "a disk that isn't there" 1 'gone\.img' 'hostdisk("d"; "'"$WORK"'/gone.img")'
	refused "an image that isn't there" 1 'images/virtpod/none:latest' \
		'.spec.domain.firmware.kernelBoot.container.image = "virtpod/none:latest"'
	refused "a kernel that isn't in its image" 1 '/nokernel' \
		'.spec.domain.firmware.kernelBoot.container.kernelPath = "/nokernel"'
	refused "QEMU's words: machine" 1 'unsupported machine type' '.spec.domain.machine.type = "pc-q35-99.9"'
	refused "QEMU's words: CPU model" 1 'NoSuchCpu' '.spec.domain.cpu.model = "NoSuchCpu"'
	refused "an unknown field" 3 'refused\.json:[0-9]+: .*spec\.domain\.devics' '.spec.domain.devics = {}'
	refused "a field that isn't built yet" 3 'spec\.domain\.devices\.tpm.*not supported yet' '.spec.domain.devices.tpm = {}'
}

no_emulation() {
	check "useEmulation off is taken" vp apply -f "$WORK/noemu.yaml"
	refused "no /dev/kvm and no emulation" 3 'useEmulation' .
	check "useEmulation on again" vp apply -f "$WORK/config.yaml"
}

usages() {
	local status
	vp run >/dev/null 2>"$WORK/usage.err"
	status=$?
	is "run without -f: a question of usage" "$status" 2
	vp run --no-such-option >/dev/null 2>&1
	status=$?
	is "an unknown option" "$status" 2
	vp no-such-command >/dev/null 2>&1
	status=$?
	is "an unknown command" "$status" 2
}

pod_begin
sed 's/useEmulation: true/useEmulation: false/' "$WORK/config.yaml" >"$WORK/noemu.yaml"
pod_ready
# a node may be there and not work: what the handler found counts
NO_KVM=1
[ "$(vp get node -o json | jq -r '.items[0].status.capacity["devices.kubevirt.io/kvm"] // "0"')" = 0 ] || NO_KVM=0
usages
guest_ends
watchdogs
one_life
locked_by_stranger
no_leftovers "nothing left after these"
interrupts
graces
asked_again
terminal
always
refusals
[ "$NO_KVM" = 0 ] || no_emulation
pod_stop
pod_end

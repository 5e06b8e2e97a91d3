#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The lab host: a bare-metal node, emulated by QEMU, with a real /dev/kvm, cgroup v2, SMT and NUMA nodes.
# Its root is this machine's own, read-only, with a tmpfs above (init.sh); nothing is built but an initrd.
# usage: tests/lab/lab.sh BUILD_DIR test SHAPE[,OPTION...] PROGRAM...   test programs, as one TAP program
#        tests/lab/lab.sh BUILD_DIR run SHAPE[,OPTION...] FILE          virtpod run -f FILE --console --rm
#        tests/lab/lab.sh BUILD_DIR shell SHAPE[,OPTION...] [COMMAND]   its exit status is ours
# Shapes: small (4 CPUs), smt-numa (2 sockets x 4 cores x 2 threads, 2 nodes with hugepages), systemd (small,
# with systemd as init). Options: isolcpus, nohz_full (the last quarter of the CPUs), no-kvm, and a digit,
# which only makes another name.
# What it says and leaves is in BUILD_DIR/lab/results/SHAPE (LAB_RESULTS: another folder than results).
# Limits in seconds: LAB_BOOT_LIMIT (until the job begins), LAB_PROGRAM_LIMIT, LAB_HANG_LIMIT (without a sign
# of life), LAB_LIMIT (all).
# LAB_HUGEPAGES: 2 MiB pages per node.
set -u
usage() {
	sed -n 's/^# usage:/usage:/p; s/^#        tests/       tests/p' "$0" >&2
	exit 2
}
[ $# -ge 3 ] || usage
build=$(realpath "$1") mode=$2 shape=$3
shift 3
src=$(realpath "$(dirname "$0")/../..")
out=${LAB_RESULTS:-$build/lab/results}/${shape//,/+} # virtiofsd takes no comma in a path
# a first boot on a loaded machine may take minutes; hanging takes longer
boot_limit=${LAB_BOOT_LIMIT:-300} program_limit=${LAB_PROGRAM_LIMIT:-900} limit=${LAB_LIMIT:-2400}
hang_limit=${LAB_HANG_LIMIT:-180}
pids=() work='' qemu=''

die() {
	echo "lab: $*" >&2
	exit 1
}

clean() {
	[ -z "$qemu" ] || end_qemu
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	[ -z "$work" ] || rm -rf "$work"
}

# By SIGTERM, and by SIGKILL where that does nothing for 10 s.
end_qemu() {
	kill "$qemu" 2>/dev/null
	timeout 10 tail -f --pid="$qemu" /dev/null || kill -KILL "$qemu" 2>/dev/null
}

# --- shapes ------------------------------------------------------------------------------------

no_shape() { # NAME
	die "no shape or option is called '$1': small, smt-numa and systemd are shapes, isolcpus," \
		"nohz_full and no-kvm options"
}

# Sets smp, memory (of each node, in MiB), append and what env tells the lab.
choose() { # SHAPE[,OPTION...]
	local name last
	nodes=1 memory=3072 cpus=4 smp=4,sockets=1,cores=4,threads=1 kvm=yes systemd=no hugepages=0
	# as a real node is, but for what costs an emulated one seconds: time calibration and the like
	append="console=ttyS0 quiet panic=-1 tsc=reliable cpu_init_udelay=0 no_timer_check lpj=4000000"
	# an NMI makes it tell where each CPU is, and end: see autopsy()
	append+=" unknown_nmi_panic panic_print=0x40 tsc_early_khz=$("$build/lab/tsc-khz") mitigations=off nokaslr nowatchdog rcupdate.rcu_expedited=1 audit=0"
	case ${1%%,*} in small | smt-numa | systemd) ;; *) no_shape "${1%%,*}" ;; esac
	for name in ${1//,/ }; do
		last=$((cpus * 3 / 4))-$((cpus - 1))
		case $name in
		small) ;;
		smt-numa)
			nodes=2 memory=2560 cpus=16 smp=16,sockets=2,cores=4,threads=2
			hugepages=${LAB_HUGEPAGES:-320}
			;;
		systemd)
			systemd=yes
			append+=" systemd.gpt_auto=0 luks=no"
			[ -x /lib/systemd/systemd ] || die "no /lib/systemd/systemd: install the package systemd"
			;;
		isolcpus | nohz_full) append+=" $name=$last" ;;
		no-kvm) kvm=no ;;
		[0-9]) ;; # only a name, for another lab of the same shape
		*) no_shape "$name" ;;
		esac
	done
}

memory_args() {
	local i per=$((cpus / nodes))
	for ((i = 0; i < nodes; i++)); do
		# virtiofs needs memory that is shared with its daemon
		echo -object "memory-backend-memfd,id=m$i,size=${memory}M,share=on"
		echo -numa "node,nodeid=$i,cpus=$((i * per))-$((i * per + per - 1)),memdev=m$i"
	done
}

# --- the file systems that the lab gets ----------------------------------------------------------

# One daemon for each share. Debian 12 has the C one in qemu-system-common, later releases the Rust one.
share() { # TAG DIR CACHE
	local socket=$work/$1.sock log=$work/$1.log c=/usr/lib/qemu/virtiofsd rust=/usr/libexec/virtiofsd pid i
	# --rlimit-nofile=0: a container may not raise it. They need a descriptor for each file that was seen.
	ulimit -n "$(ulimit -Hn)"
	if [ -x $c ]; then
		$c --socket-path="$socket" -o source="$2" -o sandbox=chroot -o cache="$3" -o no_posix_lock -o xattr \
			--rlimit-nofile=0 -o log_level=err >"$log" 2>&1 </dev/null 6>&- 7>&- 8>&- &
	elif [ -x $rust ]; then
		$rust --socket-path="$socket" --shared-dir="$2" --sandbox=chroot --cache="${3/none/never}" --xattr \
			--rlimit-nofile=0 --no-announce-submounts --inode-file-handles=prefer --log-level=error \
			>"$log" 2>&1 </dev/null 6>&- 7>&- 8>&- &
	else
		die "neither $c nor $rust: install the package qemu-system-common (Debian 12) or virtiofsd"
	fi
	pid=$!
	pids+=("$pid")
	for ((i = 0; i < 200; i++)); do # until somebody listens there; 10 s
		! grep -q "00010000 .* $socket\$" /proc/net/unix || return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	die "virtiofsd does not start: $(cat "$log")"
}

# --- booting -----------------------------------------------------------------------------------

# Leaves for the lab what it is and what to do; SIZE ("ROWS COLUMNS") gives the job a terminal.
prepare() { # SIZE JOB
	trap clean EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	mkdir -p "$out"
	exec 8>"$out.lock"
	flock 8 # a shape's results are those of one lab
	rm -rf "${out:?}"/*
	touch "$out"/{stdout,stderr,up,alive,console.log}
	printf '%s\n' "$2" >"$out/job"
	printf '%s=%q\n' SRC "$src" BUILD "$build" SHAPE "$shape" KVM "$kvm" SYSTEMD "$systemd" \
		HUGEPAGES "$hugepages" SIZE "$1" TERM "${TERM:-linux}" >"$out/env"
	work=$(mktemp -d "/run/virtpod-lab.$$.XXXXXX")
	echo "$work" >"$out/work"
	mkfifo "$work/monitor"
	exec 7<>"$work/monitor"
	shares
}

shares() {
	share host / always
	share out "$out" none
}

# Emulated AMD: QEMU has SVM, and no VMX. It hides threads unless forced to tell (x-force-features),
# for which the kernel wants all leaves up to xlevel.
run_qemu() { # ARGUMENT...
	local memory_args
	mapfile -t memory_args < <(memory_args | tr ' ' '\n')
	exec qemu-system-x86_64 -name virtpod-lab -machine q35,hpet=off -accel tcg,thread=multi \
		-smp "$smp" -cpu max,+svm,+npt,+topoext,x-force-features=on,xlevel=0x8000001f \
		-m $((memory * nodes)) "${memory_args[@]}" \
		-nodefaults -no-user-config -display none -no-reboot \
		-kernel "$build/guest/vmlinuz" -initrd "$build/lab/initrd" -append "$append" \
		-chardev "socket,id=host,path=$work/host.sock" -device vhost-user-fs-pci,chardev=host,tag=host \
		-chardev "socket,id=out,path=$work/out.sock" -device vhost-user-fs-pci,chardev=out,tag=out \
		-device virtio-rng-pci -serial "file:$out/console.log" "$@" 6>&- 7>&- 8>&- 2>"$work/qemu.log"
}

# Start QEMU; succeeds when the job begins. Its monitor listens to descriptor 7.
boot() {
	(trap - EXIT; run_qemu -chardev stdio,id=monitor,signal=off -mon monitor) <&7 >"$work/monitor.log" &
	qemu=$!
	# in the background, as wait can be interrupted; ends with QEMU, too
	timeout "$((boot_limit < limit ? boot_limit : limit))" tail -n +1 -f --pid="$qemu" "$out/up" | grep -q . &
	wait $!
}

# Until QEMU ended; sets `why` if it had to be ended. The lab renews $out/alive every few seconds.
watch() { # START
	local alive='' since=$SECONDS done_since=''
	while sleep 1; kill -0 "$qemu" 2>/dev/null; do
		[ "$alive" = "$(<"$out/alive")" ] || { alive=$(<"$out/alive") since=$SECONDS; }
		[ -n "$done_since" ] || ! [ -s "$out/rc" ] || done_since=$SECONDS
		if [ -n "$done_since" ]; then # all is said; it only has to power off
			[ $((SECONDS - done_since)) -lt 30 ] || { why="it did not power off in 30 s"; break; }
		elif [ $((SECONDS - since)) -ge "$hang_limit" ]; then
			why="no sign of life for $hang_limit s"
			break
		elif [ $((SECONDS - $1)) -ge "$limit" ]; then
			why="still at work after $limit s"
			break
		fi
	done
	[ -z "$why" ] || autopsy
	end_qemu
}

# What the lab's CPUs do, into its console; what QEMU's and virtiofsd's threads do, into $out/threads.
autopsy() {
	local task
	for task in $(printf '/proc/%s/task/* ' "$qemu" "${pids[@]}"); do
		echo "$task $(cat "$task/comm" "$task/wchan" "$task/syscall" 2>/dev/null | tr '\n' ' ')"
	done >"$out/threads"
	timeout 5 bash -c 'printf "%s\n" "info cpus" "info registers -a" nmi >&7'
	timeout 20 tail -f --pid="$qemu" /dev/null
	cp "$work/monitor.log" "$out/monitor.log"
}

# The emulated kernel was seen to hang on a busy machine before it had a root (the last that it said was
# "sched_clock: Marking stable", right before it patches its own code: hold-kvm.c has the cause). Nothing was tried there by then, so a second boot
# hides nothing. There is no third.
boot_again() {
	kill -0 "$qemu" 2>/dev/null || return # it ended: that is no hang
	echo "lab: $shape: it did not come up in $boot_limit s; booting once more"
	end_qemu
	kill "${pids[@]}" 2>/dev/null
	wait "$qemu" "${pids[@]}" # and not for what shows our words
	pids=()
	rm -f "$work"/*
	shares
	boot
}

# Boot, show what the job says, and return its exit status. No status is a failure, whatever happened.
batch() { # JOB
	local start=$SECONDS why='' says
	prepare '' "$1"
	if boot || boot_again; then
		echo "lab: $shape: up after $((SECONDS - start)) s, $(cat "$out/up") s by its own clock"
		tail -n +1 -f --pid="$qemu" "$out/stdout" & # ends at a line
		says=$!
		watch "$start"
		wait "$says"
	else
		why="it did not come up in $((SECONDS - start)) s"
		autopsy
		end_qemu
	fi
	wait "$qemu"
	qemu=''
	result "$why" $((SECONDS - start))
}

# The last that its kernel said is that it powers off, and nothing before was its own fault.
in_order() {
	grep -q 'reboot: Power down' "$out/console.log" &&
		! grep -qE 'Kernel panic|\[#[0-9]+\] |BUG: (unable|kernel|scheduling)' "$out/console.log"
}

result() { # WHY SECONDS
	echo "lab: $shape: $2 s in all; more in $out"
	[ ! -s "$out/stderr" ] || { echo "lab: its stderr:" && tail -n 30 "$out/stderr"; }
	local why=$1
	[ -n "$why" ] || [ -s "$out/rc" ] || why="it ended early"
	[ -n "$why" ] || in_order || why="it did not power off in order"
	[ -n "$why" ] || return "$(cat "$out/rc")"
	echo "lab: $shape: NO RESULT: $why; the last of its console and of QEMU:"
	# of traces only what was called
	tr -cd '\n\t -~' <"$out/console.log" | grep -vE '\] +(\? |(R[A-Z0-9]{2}|Code|Hardware name): |</?TASK>)' | tail -n 60
	grep -v 'warning: TCG' "$work/qemu.log"
	return 1
}

# The same with this terminal as the job's: all keys, Ctrl-C too, go there.
interactive() { # JOB
	prepare "$(stty size)" "$1"
	echo "lab: $shape: booting, 15 to 30 s. Ctrl-^ x (on most keyboards Ctrl-6, then x) kills it at any time."
	# in the background, so that traps work meanwhile; still of the terminal's foreground processes
	(trap - EXIT; run_qemu -device virtio-serial-pci -device virtconsole,chardev=tty -echr 0x1e \
		-chardev stdio,id=tty,mux=on,signal=off) <&0 &
	qemu=$!
	# a terminal that goes away tells its session's leader only, which may be make
	while timeout 2 tail -f --pid="$qemu" /dev/null; [ $? -eq 124 ]; do
		[ -t 0 ] || end_qemu
	done
	wait "$qemu"
	qemu=''
	result '' "$SECONDS"
}

# Programs that are not there cost no boot.
check_programs() { # PROGRAM...
	local program
	for program; do
		[ -f "$program" ] || [ -d "$src/tests/$program" ] ||
			die "there is no test program '$program': tests/lab/suites names them"
	done
}

# What the job does first: the small guest becomes an image, under the names of the examples and tests.
# shellcheck disable=SC2016 # expanded in the lab
images='image=/var/lib/virtpod/images/virtpod/demo-guest:latest
mkdir -p "$image"
cp "$BUILD"/guest/{vmlinuz,initrd} "$image"
cp -r "$image" "${image%/*}/test-guest:latest"
'

readable() { # FILE
	[ -n "$1" ] || die "FILE=vm.yaml is needed"
	[ ! -d "$1" ] || die "FILE=vm.yaml is needed: '$1' is a folder"
	[ -r "$1" ] || die "FILE=vm.yaml is needed: '$1' can't be read"
}

run_job() { # FILE
	echo "$images"
	printf '%s\n' "cat >/tmp/vm.yaml <<'END-OF-MANIFEST'" "$(cat "$1")" END-OF-MANIFEST
	echo 'exec virtpod run -f /tmp/vm.yaml --console --rm'
}

shell_job() { # [COMMAND]
	echo "$images"
	echo "export PS1='lab:\w\\$ '"
	if [ -n "$1" ]; then echo "$1"; else echo 'exec bash --norc -i'; fi
}

on_console() { # JOB
	if [ -t 0 ] && [ -t 1 ]; then interactive "$1"; else batch "$1"; fi
}

main() {
	local status indent
	[ "$(id -u)" -eq 0 ] || die "needs root, to share this machine's root"
	[ -x "$build/lab/hold-kvm" ] || die "$build/lab is not there or not whole: make lab"
	[ "$mode" != run ] || readable "${1:-}"
	case $mode in test | check) check_programs "$@" ;; esac
	choose "$shape"
	case $mode in
	test)
		# indented: what the programs say is no TAP of ours, results.tap is
		exec 6> >(exec sed -u 's/^/  /')
		indent=$!
		batch "$(printf '%q ' exec bash tests/lab/inside.sh "$build" "$program_limit" "$@")" >&6
		status=$?
		exec 6>&-
		wait "$indent"
		[ ! -f "$out/results.tap" ] || cat "$out/results.tap"
		;;
	run) on_console "$(run_job "$1")" ;;
	shell)
		if [ $# -gt 0 ]; then batch "$(shell_job "$*")"; else on_console "$(shell_job '')"; fi
		;;
	check) ;; # what it was called with
	*) usage ;;
	esac
	return "${status:-$?}"
}

main "$@"

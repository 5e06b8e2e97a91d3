#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The lab host from the moment it has its root: what a bare-metal node's first seconds do, then the job
# that lab.sh left in /run/lab/job, then its exit status to /run/lab/rc, and power off.
# Process 1 without an argument; `stage2.sh job` is the part that systemd starts where it is the init.
set -u
set -a # for the job, too
# shellcheck source=/dev/null
source /run/lab/env # what lab.sh says: SRC BUILD SHAPE KVM SYSTEMD HUGEPAGES SIZE TERM
set +a
export PATH=$BUILD:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LANG=C.UTF-8 TMPDIR=/tmp

file_systems() {
	ln -sfn /proc/self/fd /dev/fd
	mkdir -p /dev/pts /dev/shm /dev/hugepages /dev/mqueue /run/lock
	mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
	mount -t tmpfs -o mode=1777 shm /dev/shm
	mount -t mqueue mqueue /dev/mqueue
	mount -t hugetlbfs hugetlbfs /dev/hugepages
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mkdir -p /var/lib/virtpod
	mount -t tmpfs virtpod /var/lib/virtpod # not the objects of the machine that runs the lab
}

names() {
	echo lab | tee /etc/hostname >/proc/sys/kernel/hostname
	printf '%s\n' '127.0.0.1 localhost' '127.0.1.1 lab' '::1 localhost' >/etc/hosts
	ip link set lo up
}

# Modules as the kernel package in the build folder has them; devices with the modes of a real node.
devices() {
	local release dir
	release=$(uname -r)
	dir=/lib/modules/$release
	[ -e "$dir" ] || { mkdir -p /lib/modules && ln -s "$BUILD/guest/kernel$dir" "$dir"; }
	[ "$KVM" = yes ] || echo 'blacklist kvm_amd' >/etc/modprobe.d/lab.conf
	[ "$KVM" = no ] || modprobe kvm-amd
	modprobe -a vhost_net vhost_vsock tun loop virtio_console
	getent group kvm >/dev/null || groupadd --system kvm
	[ ! -e /dev/kvm ] || { chgrp kvm /dev/kvm && chmod 0660 /dev/kvm; }
	[ ! -e /dev/kvm ] || "$BUILD/lab/hold-kvm" &
	chmod 0600 /dev/vhost-net /dev/vhost-vsock
	chmod 0666 /dev/net/tun
}

hugepages() {
	local file
	for file in /sys/devices/system/node/node*/hugepages/hugepages-2048kB/nr_hugepages; do
		echo "$HUGEPAGES" >"$file"
	done
}

# With a terminal on the first virtio console where lab.sh asks for one; else into files.
job() {
	local status
	ulimit -Hn 1048576
	ulimit -Sn 65536 -l unlimited -u unlimited
	cd "$SRC" || exit
	cut -d ' ' -f 1 /proc/uptime >/run/lab/up
	while sleep 5; do cut -d ' ' -f 1 /proc/uptime >/run/lab/alive; done & # else lab.sh takes it for hung
	if [ -n "$SIZE" ]; then
		# shellcheck disable=SC2016 # the size holds as long as the terminal is open
		setsid -w -c bash -c 'stty sane rows "${SIZE% *}" cols "${SIZE#* }"; exec bash /run/lab/job' \
			</dev/hvc0 >/dev/hvc0 2>&1
	else
		bash /run/lab/job </dev/null >>/run/lab/stdout 2>>/run/lab/stderr
	fi
	status=$?
	echo "$status" >/run/lab/rc
	busybox poweroff -f
}

# Only what every service needs is started, not what the machine that runs the lab has enabled.
become_systemd() {
	ln -sf /dev/null /etc/tmpfiles.d/tmp.conf # /tmp is new, and may hold the project
	: >/etc/fstab
	rm -f /.dockerenv # the machine that runs the lab may be a container; the lab is none
	ln -sf /dev/null /etc/systemd/system/timers.target
	cat >/etc/systemd/system/lab.service <<-END
	[Unit]
	After=basic.target
	[Service]
	ExecStart=/bin/bash $SRC/tests/lab/stage2.sh job
	LimitNOFILE=infinity
	LimitMEMLOCK=infinity
	END
	printf '[Unit]\nRequires=basic.target\nWants=lab.service\n' >/etc/systemd/system/lab.target
	exec /lib/systemd/systemd --unit=lab.target
}

if [ "${1:-}" != job ]; then
	file_systems
	names
	devices
	[ "$HUGEPAGES" = 0 ] || hugepages
	[ "$SYSTEMD" = no ] || become_systemd
fi
job

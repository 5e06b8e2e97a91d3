#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# build-guest.sh BUILD_DIR: make BUILD_DIR/guest/vmlinuz and BUILD_DIR/guest/initrd, the small guest
# of the demo and of the pod tests, from the distribution's kernel (kernel.sh) and BUILD_DIR/guest/init.
set -euo pipefail
# shellcheck source=tests/guest/kernel.sh
source "$(dirname "$0")/kernel.sh"

# With their dependencies, in this order; sd_mod before the drivers that bring its disks.
modules=(virtio_pci virtio_net virtio_blk sd_mod virtio_scsi ahci virtio-rng i6300esb button evdev)

# The first of the files that exists.
first_file() {
	local f
	for f; do
		[[ -f $f ]] && echo "$f" && return
	done
	die "none of these is there: $*"
}

# $2 bytes at offset $3 of file $1, as one unsigned number.
number_at() {
	od -An -tu"$2" -j "$3" -N "$2" "$1" | tr -d ' '
}

# Where the compressed kernel lies in bzImage $1: "offset length". Positions are those of the kernel's
# x86 boot protocol (Documentation/arch/x86/boot.rst, header 2.08).
payload_of() {
	local sectors
	sectors=$(number_at "$1" 1 $((0x1f1)))
	echo $(($(number_at "$1" 4 $((0x248))) + (sectors ? sectors : 4) * 512 + 512)) \
		"$(number_at "$1" 4 $((0x24c)))"
}

# $3 bytes at offset $2 of file $1.
bytes_at() {
	dd if="$1" bs=1M iflag=skip_bytes,count_bytes skip="$2" count="$3" status=none
}

# Kernel $1 with configuration $2 as $3. An emulated CPU needs 3 s to decompress XZ, the host 0.5 s;
# QEMU boots the bare ELF by its PVH entry. LZ4 costs the guest nothing: it is taken as it is.
# The kernel's build puts 4 bytes of size behind the payload, which is part of the format in gzip only.
pack_kernel() {
	local start length magic=none
	if grep -qx CONFIG_PVH=y "$2"; then
		read -r start length < <(payload_of "$1")
		magic=$(bytes_at "$1" "$start" 4 | od -An -tx1 | tr -d ' ')
	fi
	case $magic in
	fd377a58)
		need xz xz-utils
		bytes_at "$1" "$start" $((length - 4)) | xz -dc >"$3.new"
		;;
	28b52ffd)
		need zstd zstd
		bytes_at "$1" "$start" $((length - 4)) | zstd -qdc >"$3.new"
		;;
	1f8b*) bytes_at "$1" "$start" "$length" | gzip -dc >"$3.new" ;;
	*) cp "$1" "$3.new" ;;
	esac
	mv "$3.new" "$3"
}

pack_initrd() {
	local pkg=$1 version=$2 init=$3 out=$4 tree=$4.d
	rm -rf "$tree"
	mkdir -p "$tree"/{proc,sys,dev}
	cp "$init" "$tree/init"
	add_modules "$tree" "$pkg" "$version" "${modules[@]}"
	pack_tree "$tree" "$out"
}

main() {
	[[ $# -eq 1 ]] || die "usage: build-guest.sh BUILD_DIR"
	local guest=$1/guest pkg=$1/guest/kernel version kernel config
	[[ -x $guest/init ]] || die "$guest/init is not there: run 'make $guest/init'"
	if [[ $guest/initrd -nt $guest/init && $guest/initrd -nt ${BASH_SOURCE[0]} &&
		$guest/initrd -nt $(dirname "$0")/kernel.sh && -f $guest/vmlinuz ]]; then
		return
	fi
	PATH=$PATH:/usr/sbin:/sbin # depmod and modprobe, when not root
	fetch "$pkg"
	version=$(kernel_version "$pkg")
	kernel=$(first_file "$pkg/boot/vmlinuz-$version" "$pkg/lib/modules/$version/vmlinuz")
	config=$(first_file "$pkg/boot/config-$version" "$pkg/lib/modules/$version/config")
	pack_kernel "$kernel" "$config" "$guest/vmlinuz"
	pack_initrd "$pkg" "$version" "$guest/init" "$guest/initrd"
	touch "$guest/vmlinuz" "$guest/initrd"
}

main "$@"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# build-guest.sh BUILD_DIR: make BUILD_DIR/guest/vmlinuz and BUILD_DIR/guest/initrd, the small guest
# of the demo and of the pod tests, from the distribution's kernel and BUILD_DIR/guest/init.
#
# The kernel package is downloaded and taken apart, never installed: that would change what the host
# boots. What is needed of it stays in BUILD_DIR/guest/kernel-pkg, so there is one download only.
# It is the distribution's general kernel: Debian's smaller cloud kernel has neither AHCI nor the
# i6300esb watchdog.
set -euo pipefail

# With their dependencies, in this order; sd_mod before the drivers that bring its disks.
modules=(virtio_pci virtio_net virtio_blk sd_mod virtio_scsi ahci virtio-rng i6300esb button evdev)

# Parts of the kernel tree that no module above can need: two thirds of its size.
unneeded=(sound fs drivers/{gpu,media,infiniband,staging,usb,iio,hwmon,mmc,target,isdn,net/wireless,net/ethernet})

die() {
	echo "build-guest.sh: $*" >&2
	exit 1
}

need() {
	command -v "$1" >/dev/null || die "no program '$1': install the package $2"
}

# Download into and unpack below directory $1.
fetch_debian() {
	local dir=$1 package
	need dpkg-deb dpkg
	package=$(apt-cache depends linux-image-amd64 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1) || package=''
	[[ $package ]] || die "apt knows no linux-image-amd64: run 'apt-get update' as root, then again"
	# no sandbox user: it could not write here, and apt checks signatures all the same
	(cd "$dir" && apt-get -q -o APT::Sandbox::User=root download "$package") ||
		die "could not download $package: run 'apt-get update' as root, then again"
	dpkg-deb --fsys-tarfile "$dir/$package"_*.deb |
		tar -x -C "$dir" "${unneeded[@]/#/--exclude=./lib/modules/*/kernel/}" ./boot ./lib
	rm "$dir/$package"_*.deb
}

fetch_fedora() {
	local dir=$1 rpm
	need rpm2cpio rpm
	dnf -q download --destdir "$dir" --arch "$(uname -m)" \
		kernel-core kernel-modules-core kernel-modules ||
		die "could not download the kernel: is the plugin 'dnf download' (dnf-plugins-core) there?"
	for rpm in "$dir"/*.rpm; do
		(cd "$dir" && rpm2cpio "$rpm" | cpio -idm --quiet './lib/modules/*')
		rm "$rpm"
	done
}

# Fill the cache directory $1 once; a half-filled one never gets its final name.
fetch() {
	local pkg=$1 version
	[[ -d $pkg ]] && return
	need depmod kmod
	rm -rf "$pkg.new"
	mkdir -p "$pkg.new"
	if command -v apt-get >/dev/null; then
		fetch_debian "$(realpath "$pkg.new")"
	elif command -v dnf >/dev/null; then
		fetch_fedora "$(realpath "$pkg.new")"
	else
		die "neither apt-get nor dnf: put a kernel and its lib/modules into $pkg by hand"
	fi
	version=$(kernel_version "$pkg.new")
	depmod -b "$pkg.new" "$version"
	mv "$pkg.new" "$pkg"
}

kernel_version() {
	local dirs=("$1"/lib/modules/*)
	[[ ${#dirs[@]} -eq 1 && -d ${dirs[0]} ]] || die "$1 does not hold exactly one kernel: remove it"
	basename "${dirs[0]}"
}

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

# Paths of the modules' files, dependencies first, each once.
module_files() {
	local m
	for m in "${modules[@]}"; do
		# -C: the host's own options and blacklists are not the guest's
		modprobe -C /dev/null -d "$1" -S "$2" --show-depends "$m" ||
			die "kernel $2 has no module '$m'"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

pack_initrd() {
	local pkg=$1 version=$2 init=$3 out=$4 tree=$4.d files file name
	need cpio cpio
	rm -rf "$tree"
	mkdir -p "$tree"/{proc,sys,dev,ko}
	cp "$init" "$tree/init"
	files=$(module_files "$pkg" "$version")
	for file in $files; do
		name=$(basename "$file")
		case $name in
		*.xz) xz -dc "$file" >"$tree/ko/${name%.xz}" ;;
		*.zst) zstd -qdc "$file" >"$tree/ko/${name%.zst}" ;;
		*) cp "$file" "$tree/ko/" ;;
		esac
		name=${name%.xz}
		echo "/ko/${name%.zst}" >>"$tree/modules"
	done
	# not compressed: decompression under emulation costs more than copying
	(cd "$tree" && find . -print0 | LC_ALL=C sort -z |
		cpio -0 -o -H newc -R 0:0 --reproducible --quiet) >"$out.new"
	rm -rf "$tree"
	mv "$out.new" "$out"
}

main() {
	[[ $# -eq 1 ]] || die "usage: build-guest.sh BUILD_DIR"
	local guest=$1/guest pkg=$1/guest/kernel-pkg version kernel config
	[[ -x $guest/init ]] || die "$guest/init is not there: run 'make $guest/init'"
	if [[ $guest/initrd -nt $guest/init && $guest/initrd -nt ${BASH_SOURCE[0]} && -f $guest/vmlinuz ]]; then
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

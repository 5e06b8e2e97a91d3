# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The distribution's kernel for test machines: sourced by the scripts that make these.
#
# The kernel package is downloaded and taken apart, never installed: that would change what the host
# boots. What is needed of it stays in BUILD_DIR/guest/kernel, so there is one download only. It is the
# distribution's general kernel: Debian's smaller cloud kernel has neither AHCI nor the i6300esb
# watchdog. The lab host boots it, too, and loads its modules from there.

# Parts of the kernel tree that no test machine can need: half of its size.
unneeded=(sound drivers/{gpu,media,infiniband,staging,usb,iio,hwmon,mmc,target,isdn,net/wireless,net/ethernet})

die() {
	echo "${0##*/}: $*" >&2
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

# Modules with what they depend on into $1/ko; $1/modules lists their paths in loading order.
add_modules() { # TREE PKG VERSION MODULE...
	local tree=$1 pkg=$2 version=$3 m files file name
	shift 3
	files=$(for m; do
		# -C: the host's own options and blacklists are not the guest's
		modprobe -C /dev/null -d "$pkg" -S "$version" --show-depends "$m" ||
			die "kernel $version has no module '$m'"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }')
	mkdir -p "$tree/ko"
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
}

# Directory $1 as initrd $2, and the directory goes. Not compressed: decompression under emulation
# costs more than copying.
pack_tree() {
	need cpio cpio
	(cd "$1" && find . -print0 | LC_ALL=C sort -z |
		cpio -0 -o -H newc -R 0:0 --reproducible --quiet) >"$2.new"
	rm -rf "$1"
	mv "$2.new" "$2"
}

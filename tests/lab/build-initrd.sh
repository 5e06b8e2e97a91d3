#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build-initrd.sh BUILD_DIR: make BUILD_DIR/lab/initrd: busybox, init.sh, and the modules it takes to
# mount a root by virtiofs.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/guest/kernel.sh
source "$here/../guest/kernel.sh"

main() {
	local pkg=$1/guest/kernel out=$1/lab/initrd tree=$1/lab/initrd.d busybox applet
	PATH=$PATH:/usr/sbin:/sbin # modprobe
	busybox=$(command -v busybox) || die "no program 'busybox': install the package busybox-static"
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,proc,sys,dev,lower,over,new,whole}
	cp "$busybox" "$tree/bin/"
	for applet in sh mount insmod mkdir switch_root; do ln -s busybox "$tree/bin/$applet"; done
	install -m 0755 "$here/init.sh" "$tree/init"
	add_modules "$tree" "$pkg" "$(kernel_version "$pkg")" virtio_pci virtiofs overlay
	pack_tree "$tree" "$out"
}

main "$@"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# First process of the lab host, in its initrd, run by busybox. The root of the machine that runs the
# lab, shared read-only, becomes its root with a tmpfs above: every write ends with the lab. What is to
# stay goes to /run/lab. Whatever fails here ends process 1, hence the lab, without a result.
set -e
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "$module"; done </modules

mount -t virtiofs -o ro host /lower
mount -t tmpfs over /over
mkdir /over/up /over/work
mount -t overlay -o lowerdir=/lower,upperdir=/over/up,workdir=/over/work lab /new
mount --bind /new /whole # what the mounts below will cover can still be reached by this path

for dir in proc sys dev; do mount --move "/$dir" "/new/$dir"; done
mount -t tmpfs -o mode=755 run /new/run
mount -t tmpfs -o mode=1777 tmp /new/tmp
mkdir /new/run/lab
mount -t virtiofs out /new/run/lab

# the project may lie below /tmp or /run, which are empty now
# shellcheck source=/dev/null
. /new/run/lab/env
for dir in "$SRC" "$BUILD"; do
	mkdir -p "/new$dir"
	mount --bind "/whole$dir" "/new$dir"
done
exec switch_root /new /bin/bash "$SRC/tests/lab/stage2.sh"

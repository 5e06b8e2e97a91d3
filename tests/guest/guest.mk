# SPDX-License-Identifier: Apache-2.0
# The test guest: a static init of our own on the distribution's kernel. Built without the flags of
# the daemons, as a sanitizer's runtime can't be linked statically.

GUEST_SRCS := $(wildcard tests/guest/*.c) lib/err.c lib/file.c lib/util.c

$(BUILD)/guest/init: $(GUEST_SRCS) $(wildcard tests/guest/*.h lib/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -O2 $(WARN) -D_GNU_SOURCE -I. -static -s -o $@ $(GUEST_SRCS)

$(BUILD)/guest/vmlinuz $(BUILD)/guest/initrd &: $(BUILD)/guest/init tests/guest/build-guest.sh tests/guest/kernel.sh
	bash tests/guest/build-guest.sh $(BUILD)

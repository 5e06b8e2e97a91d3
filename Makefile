# SPDX-License-Identifier: Apache-2.0
# virtpod: one non-recursive Makefile. `make help` lists the targets.

BUILD   ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX  ?= /usr/local
VERSION := 0.1.0

PKGS_lib      := jansson yaml-0.1 libsystemd
PKGS_api      :=
PKGS_sandbox  := libseccomp libcap-ng
PKGS_cgroups  :=
PKGS_net      := libnl-3.0 libnl-route-3.0
PKGS_cpu      := hwloc
PKGS_launcher :=
PKGS_handler  := libmicrohttpd sqlite3
PKGS_cmd      := libcurl

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wmissing-declarations -Wundef -Wpointer-arith -Wcast-align -Wwrite-strings \
	-Wformat=2 -Wvla -Wimplicit-fallthrough -Wnull-dereference -Wold-style-definition \
	-Wno-missing-field-initializers
HARDEN  := -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fstack-clash-protection \
	-fcf-protection
OPT     ?= -O2 -g
CFLAGS  += -std=gnu17 $(OPT) $(WARN) $(HARDEN) -D_GNU_SOURCE -DVIRTPOD_VERSION='"$(VERSION)"' -I. \
	-MMD -MP $(SAN)
LDFLAGS += -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(SAN)

# Tiers, lowest first: a folder may include only folders of lower tiers (tests/layering.sh).
TIER1 := lib
TIER2 := api sandbox cgroups net cpu
TIER3 := launcher handler
FOLDERS := $(TIER1) $(TIER2) $(TIER3)

srcs = $(wildcard $(1)/*.c)
objs = $(patsubst %.c,$(BUILD)/%.o,$(call srcs,$(1)))
archives = $(patsubst %,$(BUILD)/%.a,$(1))
pkg_cflags := $(shell pkg-config --cflags $(foreach f,$(FOLDERS) cmd,$(PKGS_$(f))) cmocka 2>/dev/null)
# Debian's wslay has no .pc file
LIBS_handler := -lwslay
LIBS_cmd     := -lwslay
pkg_libs = $(shell pkg-config --libs $(foreach f,$(1),$(PKGS_$(f)))) $(foreach f,$(1),$(LIBS_$(f)))

BINS := $(BUILD)/virtpod $(BUILD)/virt-handler $(BUILD)/virt-launcher

.PHONY: all
all: $(BINS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(pkg_cflags) -c -o $@ $<

define archive_rule
$(BUILD)/$(1).a: $(call objs,$(1))
	@rm -f $$@ && mkdir -p $$(@D) && ar rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call archive_rule,$(f))))

# the command line has one file per command; the two daemons have one file each
VIRTPOD_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out cmd/virt-%.c,$(wildcard cmd/*.c)))

$(BUILD)/virtpod: $(VIRTPOD_OBJS) $(call archives,handler launcher cgroups net cpu api lib)
	$(CC) $(LDFLAGS) -o $@ $(VIRTPOD_OBJS) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(call pkg_libs,$(FOLDERS) cmd)

$(BUILD)/virt-handler: $(BUILD)/cmd/virt-handler.o $(call archives,handler $(TIER2) $(TIER1))
	$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(call pkg_libs,handler $(TIER2) $(TIER1))

$(BUILD)/virt-launcher: $(BUILD)/cmd/virt-launcher.o $(call archives,launcher sandbox api lib)
	$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(call pkg_libs,launcher sandbox api lib)

# --- tests -------------------------------------------------------------------------------------
# tests/unit/FOLDER/test_x.c links only FOLDER's archive and those of the tiers below it, so that a
# wrong dependency does not link.
below_lib      := lib
below_tier2     = $(1) lib
below_launcher := launcher api sandbox lib
below_handler  := handler api sandbox cgroups net cpu lib
below = $(if $(below_$(1)),$(below_$(1)),$(call below_tier2,$(1)))

UNIT_SRCS := $(wildcard tests/unit/*/test_*.c)
UNIT_BINS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRCS))

define unit_rule
$(BUILD)/unit/$(1)/%: $(BUILD)/tests/unit/$(1)/%.o $(call archives,$(call below,$(1)))
	@mkdir -p $$(@D)
	$(CC) $(LDFLAGS) -o $$@ $$< -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group \
		$(call pkg_libs,$(call below,$(1))) -lcmocka
endef
$(foreach f,$(FOLDERS),$(eval $(call unit_rule,$(f))))
.SECONDARY:

.PHONY: unit
unit: $(UNIT_BINS)

.PHONY: clean
clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

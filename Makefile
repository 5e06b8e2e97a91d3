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
PKGS_handler  := libmicrohttpd sqlite3 libarchive
PKGS_cmd      := libcurl

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wmissing-declarations -Wundef -Wpointer-arith -Wcast-align -Wwrite-strings \
	-Wformat=2 -Wvla -Wimplicit-fallthrough -Wnull-dereference -Wold-style-definition \
	-Wno-missing-field-initializers
HARDEN  := -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fstack-clash-protection \
	-fcf-protection
OPT     ?= -O2 -g
CFLAGS  += -std=gnu17 $(OPT) $(WARN) $(HARDEN) -D_GNU_SOURCE -DVIRTPOD_VERSION='"$(VERSION)"' -I. \
	-MMD -MP $(SAN) $(if $(STOPS),-DVIRTPOD_STOPS)
LDFLAGS += -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(SAN)

# Tiers, lowest first: a folder may include only folders of lower tiers (tests/layering.sh).
TIER1 := lib
TIER2 := api sandbox cgroups net cpu
TIER3 := launcher handler
FOLDERS := $(TIER1) $(TIER2) $(TIER3)

# V=1 shows the whole commands
say = $(if $(V),,@printf '  %-4s %s\n' $(1) $@; )

srcs = $(wildcard $(1)/*.c)
objs = $(patsubst %.c,$(BUILD)/%.o,$(call srcs,$(1)))
archives = $(patsubst %,$(BUILD)/%.a,$(1))
pkg_cflags := $(shell pkg-config --cflags $(foreach f,$(FOLDERS) cmd,$(PKGS_$(f))) cmocka 2>/dev/null)
# Debian's wslay has no .pc file
LIBS_handler := -lwslay
LIBS_cmd     := -lwslay
pkg_libs = $(shell pkg-config --libs $(foreach f,$(1),$(PKGS_$(f)))) $(foreach f,$(1),$(LIBS_$(f)))

BINS := $(BUILD)/virtpod $(BUILD)/virt-handler $(BUILD)/virt-launcher

.PHONY: all help
all: $(BINS)

help:
	@echo "make run        build, boot a small guest in a pod, report, shut it down"
	@echo "make test       every test; make test-full: the long ones, too"
	@echo "make all        the executables in $(BUILD)/; guest: the test guest; unit: the unit tests"
	@echo "make lab-shell  a shell on a bare-metal node, emulated: SHAPE=$(or $(SHAPE),smt-numa), CMD=..."
	@echo "make lab-test   the tests that run there: SHAPE=..., TESTS=...; lab-run: FILE=vm.yaml, a VM there"
	@echo "make fuzz       every fuzz target for a minute: TARGETS=..., FUZZ_SECONDS=...; san: all with sanitizers"
	@echo "make deps       install what is missing; lint, fmt-check, fmt; install, uninstall; clean"

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CFLAGS) $(pkg_cflags) -c -o $@ $<

define archive_rule
$(BUILD)/$(1).a: $(call objs,$(1))
	$$(call say,AR)rm -f $$@ && mkdir -p $$(@D) && ar rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call archive_rule,$(f))))

# the command line has one file per command; the two daemons have one file each
VIRTPOD_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out cmd/virt-%.c,$(wildcard cmd/*.c)))

$(BUILD)/virtpod: $(VIRTPOD_OBJS) $(call archives,handler launcher $(TIER2) $(TIER1))
	$(call say,LD)$(CC) $(LDFLAGS) -o $@ $(VIRTPOD_OBJS) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(call pkg_libs,$(FOLDERS) cmd)

$(BUILD)/virt-handler: $(BUILD)/cmd/virt-handler.o $(call archives,handler $(TIER2) $(TIER1))
	$(call say,LD)$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(call pkg_libs,handler $(TIER2) $(TIER1))

$(BUILD)/virt-launcher: $(BUILD)/cmd/virt-launcher.o $(call archives,launcher sandbox api lib)
	$(call say,LD)$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
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
	$$(call say,LD)$(CC) $(LDFLAGS) -o $$@ $$< -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group \
		$$(call pkg_libs,$(call below,$(1))) -lcmocka
endef
$(foreach f,$(FOLDERS),$(eval $(call unit_rule,$(f))))

# the command line is no archive: its tests link its objects without main()
$(BUILD)/unit/cmd/%: $(BUILD)/tests/unit/cmd/%.o $(filter-out %/virtpod.o,$(VIRTPOD_OBJS)) \
		$(call archives,$(FOLDERS))
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) \
		-Wl,--end-group $(call pkg_libs,$(FOLDERS) cmd) -lcmocka
.SECONDARY:

# tests/fuzz/fuzz_x.c, one for each parser of outside input; clang's libFuzzer brings main()
FUZZ_BINS := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(filter-out %/virtpod.o,$(VIRTPOD_OBJS)) \
		$(call archives,$(FOLDERS))
	$(call say,LD)$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) -Wl,--start-group \
		$(filter %.a,$^) -Wl,--end-group $(call pkg_libs,$(FOLDERS) cmd) -lcmocka

.PHONY: fuzz-bins
fuzz-bins: $(FUZZ_BINS)

.PHONY: unit
unit: $(UNIT_BINS)

$(BUILD)/fake-qemu: tests/pod/fake-qemu.c lib/util.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CFLAGS) -MF $@.d -fno-pie -static -o $@ $(filter %.c,$^)

# --- what a fresh machine lacks -----------------------------------------------------------------
DEPS_APT := gcc clang libc6-dev make pkg-config clang-format clang-tidy cppcheck shellcheck \
	libjansson-dev libyaml-dev libsystemd-dev libseccomp-dev libcap-ng-dev libnl-3-dev \
	libnl-route-3-dev libhwloc-dev libmicrohttpd-dev libwslay-dev libsqlite3-dev \
	libcurl4-openssl-dev libarchive-dev libcmocka-dev qemu-system-x86 qemu-utils cpio kmod zstd xz-utils \
	iproute2 iputils-ping procps util-linux jq sqlite3 busybox-static systemd udev dbus
# RHEL 9 and its kin, with CRB and EPEL enabled; README says that this list was not tried
DEPS_DNF := gcc clang clang-tools-extra cppcheck ShellCheck make pkgconf-pkg-config jansson-devel \
	libyaml-devel systemd-devel libseccomp-devel libcap-ng-devel libnl3-devel hwloc-devel \
	libmicrohttpd-devel wslay-devel sqlite-devel libcurl-devel libarchive-devel libcmocka-devel qemu-kvm \
	qemu-img cpio kmod zstd xz iproute iputils procps-ng util-linux jq sqlite

# virtiofsd came with qemu-system-x86 in Debian 12, later it is a package of its own: where apt knows no
# such name, its pattern selects nothing
.PHONY: deps
deps:
	@if command -v apt-get >/dev/null; then \
		missing=$$(for p in $(DEPS_APT); do \
			dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; \
		done); \
		[ -x /usr/lib/qemu/virtiofsd ] || [ -x /usr/libexec/virtiofsd ] || \
			missing="$$missing ?exact-name(virtiofsd)"; \
		[ -z "$$missing" ] || { echo "installing:" $$missing; apt-get -q update && \
			DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $$missing; }; \
	elif command -v dnf >/dev/null; then \
		rpm -q $(DEPS_DNF) >/dev/null 2>&1 || dnf -y install $(DEPS_DNF); \
	else \
		echo "neither apt-get nor dnf: install by hand what DEPS_APT in the Makefile lists" >&2; exit 1; \
	fi

# --- the small guest ----------------------------------------------------------------------------
-include tests/guest/guest.mk
GUEST := $(BUILD)/guest/vmlinuz $(BUILD)/guest/initrd

# --- the two commands ---------------------------------------------------------------------------
# The library flags above come from packages that `deps` may install first: hence a second make.
.PHONY: run
run: deps
	@$(MAKE) --no-print-directory -j2 all guest
	@examples/demo.sh $(BUILD) $(BUILD)/demo-root

.PHONY: guest
guest: $(GUEST)

# --- the lab host: a bare-metal node, emulated; see tests/lab/lab.sh ------------------------------
$(BUILD)/lab/initrd: tests/lab/build-initrd.sh tests/lab/init.sh tests/guest/kernel.sh $(GUEST)
	@mkdir -p $(@D)
	bash tests/lab/build-initrd.sh $(BUILD)

$(BUILD)/lab/tsc-khz $(BUILD)/lab/hold-kvm: $(BUILD)/lab/%: tests/lab/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu17 -O2 $(WARN) -D_GNU_SOURCE -o $@ $<

.PHONY: lab lab-test lab-shell lab-run
lab: all guest $(BUILD)/lab/initrd $(BUILD)/lab/tsc-khz $(BUILD)/lab/hold-kvm

lab-test: lab
	@$(if $(SHAPE),tests/lab/lab.sh $(BUILD) check '$(SHAPE)' $(TESTS))
	@$(MAKE) --no-print-directory unit stops
	@LAB_SHAPE='$(SHAPE)' LAB_TESTS='$(TESTS)' tests/run.sh $(BUILD) lab/

lab-shell: lab
	@tests/lab/lab.sh $(BUILD) shell $(or $(SHAPE),smt-numa) $(if $(CMD),"$$CMD")

lab-run: lab
	@tests/lab/lab.sh $(BUILD) run $(or $(SHAPE),smt-numa) "$$FILE"

# --- everything again with sanitizers -----------------------------------------------------------
SANITIZE := address,undefined -fno-sanitize-recover=undefined

.PHONY: san fuzz-build fuzz
san:
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD)/san OPT="-O1 -g" SAN="-fsanitize=$(SANITIZE)" all unit
	@ln -sfn ../guest $(BUILD)/san/guest

fuzz-build:
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD)/fuzz CC=clang OPT="-O1 -g" \
		SAN="-fsanitize=fuzzer-no-link,$(SANITIZE)" fuzz-bins

fuzz: fuzz-build
	@tests/fuzz/run.sh $(BUILD) $(TARGETS)

# stands still at lib/stop.h's names, for tests/pod/test_kills.sh; by its version for test_versions.sh
.PHONY: stops
stops:
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD)/stops STOPS=1 VERSION=9.9.9 all

.PHONY: test test-full
test: deps
	@$(MAKE) --no-print-directory -j2 all unit guest lab $(BUILD)/fake-qemu
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD)/clang CC=clang all unit
	@$(MAKE) --no-print-directory san fuzz-build stops
	@tests/run.sh $(BUILD)

# the long ones come with the issues that bring them; today it is the same suite
test-full: test

.PHONY: lint fmt-check fmt
C_FILES := $(shell git ls-files '*.c' '*.h' 2>/dev/null)
fmt-check:
	@[ -n "$(C_FILES)" ] || { echo "git ls-files names no source: not a clone, or not yours" >&2; exit 1; }
	@clang-format --dry-run -Werror $(C_FILES)

fmt:
	@clang-format -i $(C_FILES)

CPPCHECK := cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 -j2 \
	--enable=warning,performance,portability --suppress=missingIncludeSystem \
	--include=tests/cppcheck.h -I. -D_GNU_SOURCE -D__x86_64__ -D__linux__

lint: fmt-check
	@shellcheck $(shell git ls-files '*.sh') .ci/run
	@$(CPPCHECK) $(FOLDERS) cmd

.PHONY: install uninstall
install: all
	install -D -m 0755 -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/virtpod
	install -D -m 0755 -t $(DESTDIR)$(PREFIX)/libexec/virtpod $(BUILD)/virt-handler $(BUILD)/virt-launcher
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man1 docs/virtpod.1
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man8 docs/virt-handler.8 docs/virt-launcher.8
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|/usr/local/|$(PREFIX)/|' cmd/virt-handler.service \
		> $(DESTDIR)$(PREFIX)/lib/systemd/system/virt-handler.service

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/virtpod $(DESTDIR)$(PREFIX)/share/man/man1/virtpod.1 \
		$(DESTDIR)$(PREFIX)/share/man/man8/virt-handler.8 \
		$(DESTDIR)$(PREFIX)/share/man/man8/virt-launcher.8 \
		$(DESTDIR)$(PREFIX)/lib/systemd/system/virt-handler.service
	rm -rf $(DESTDIR)$(PREFIX)/libexec/virtpod

.PHONY: clean
clean:
	@! { grep -qs " $(abspath $(BUILD))/" /proc/self/mounts || \
		readlink /proc/[0-9]*/exe | grep -qs "^$(abspath $(BUILD))/virt-"; } || { \
		echo "VMs or a virt-handler run from or below $(BUILD): stop them first (build/virtpod --root DIR get vmi -A)" >&2; \
		exit 1; }
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

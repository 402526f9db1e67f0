# SPDX-License-Identifier: BSD-3-Clause
# A thin front end to CMake. Every target installs the packages it needs (see packaging/deps.sh) and shares the build
# tree $(BUILD); none of them changes the compiler options of a tree that is already configured.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Options for cmake, for example CMAKE_FLAGS=-DSLUICE_WERROR=ON.
CMAKE_FLAGS ?=
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS)
COMPILE = cmake --build $(BUILD) -j $(JOBS)
# Runs ctest and ends with the numbers of passed, failed and skipped tests. Many tests wait more than they compute, so one
# more runs at a time than there are jobs.
CTEST = python3 tests/check.py $(BUILD) $@ -j $(shell expr $(JOBS) + 1)
INSTALLED = $(BUILD)/installed_files.txt

# The product: sluice, libsluice.so, libsluice-link.a, man pages and completions.
all: deps-build
	$(CONFIGURE)
	$(COMPILE)

demo: deps-demo
	$(CONFIGURE)
	$(COMPILE) --target all mpi_mpich_program_small_io
	BUILD=$(BUILD) sh packaging/demo.sh

# Unit tests, run tests and fast lints.
check: deps-check
	$(CONFIGURE)
	$(COMPILE) --target all checks
	$(CTEST) --label-exclude 'deep|programs|long|packages|cluster'

# Sanitizers, fuzzers, compilers, clang-tidy and cppcheck. Sanitizers and fuzzers build trees of their own; the others
# need the generated headers of this one.
check-deep: deps-check
	$(CONFIGURE)
	$(COMPILE) --target contract facts_sources
	$(CTEST) --label-regex deep

# Real software of the distribution, with and without capture: databases, language runtimes, fio, git, rsync, ...
check-programs: deps-programs
	$(CONFIGURE)
	$(COMPILE)
	$(CTEST) --label-regex programs

# Debian packages, built twice and tried in a minimal system; RPM packages, modules, a container, recipes. Takes half an hour
# and downloads what SLUICE_CACHE (~/.cache/sluice) does not have yet.
check-packages: deps-packages
	$(CONFIGURE)
	$(COMPILE) --target all kernels
	$(CTEST) --label-regex packages

# A cluster on this machine (see docs/guide/testbed.md): what testbed/up needs, and the tests that run on it. They start
# the bed and take it down. Takes some minutes and needs root.
testbed: deps-cluster
	$(CONFIGURE)
	$(COMPILE) --target all testbed
check-cluster: testbed
	$(CTEST) --label-regex cluster

# Unit tests, torture tests, both MPIs, HDF5 and injection on x86-64 under qemu-user, and files exchanged with this
# machine. The root of amd64 packages is kept in SLUICE_CACHE, by default ~/.cache/sluice.
ifeq ($(shell uname -m),x86_64)
check-amd64:
	@bash tests/amd64/run.sh
else
check-amd64: deps-amd64
	$(CONFIGURE)
	$(COMPILE) --target all checks
	BUILD=$(BUILD) JOBS=$(JOBS) bash tests/amd64/run.sh
endif

# Everything but packages and other systems, with long fuzzing, a systemd that boots, and the parts of tests that take minutes.
check-long: deps-check deps-programs
	$(CONFIGURE)
	$(COMPILE) --target all checks benches
	SLUICE_LONG=1 FUZZ_SECONDS=600 $(CTEST) --label-exclude 'packages|cluster'

# The tests of `check` in Debian 13, in a root that is prepared once and cached (see tests/matrix.sh).
check-matrix: deps-matrix
	JOBS=$(JOBS) CMAKE_FLAGS="$(CMAKE_FLAGS)" bash tests/matrix.sh

# The demo and the tests of `check` in a new minimal system of Debian 12, with git, make and a C compiler (see tests/matrix.sh).
check-fresh: deps-matrix
	FRESH=1 SUITE=bookworm JOBS=$(JOBS) CMAKE_FLAGS="$(CMAKE_FLAGS)" bash tests/matrix.sh

# The tests of `check`, N times on a loaded machine.
N ?= 10
check-reliable: deps-check
	$(CONFIGURE)
	$(COMPILE) --target all checks
	BUILD=$(BUILD) JOBS=$(JOBS) bash tests/reliability.sh $(N)

# One benchmark; with AGAINST=OTHER_BUILD it is compared with an older build tree, in ROUNDS alternating rounds.
bench: deps-build
	@test -f "bench/$(NAME).sh" || { echo "usage: make bench NAME=x, where x is one of:" \
		$(filter-out lib% against,$(patsubst bench/%.sh,%,$(wildcard bench/*.sh))) >&2; exit 2; }
	$(CONFIGURE)
	$(COMPILE) --target all benches
	BUILD=$(abspath $(BUILD)) bash bench/$(if $(AGAINST),against.sh $(NAME) $(abspath $(AGAINST)) $(ROUNDS),$(NAME).sh)

# Tests install from this tree as well and overwrite CMake's manifest, so uninstall works from a copy.
install: deps-build
	$(CONFIGURE) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	$(COMPILE) --target all kernels
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)
	cp $(BUILD)/install_manifest.txt $(INSTALLED)

uninstall:
	DESTDIR=$(DESTDIR) sh packaging/uninstall.sh $(INSTALLED)

deps: deps-check
	sh packaging/deps.sh build check dev
deps-build:
	@sh packaging/deps.sh build
deps-demo:
	@sh packaging/deps.sh build demo
deps-check:
	@sh packaging/deps.sh build check
deps-amd64: deps-check
	@sh packaging/deps.sh amd64
deps-cluster: deps-check
	@sh packaging/deps.sh cluster
deps-matrix:
	@sh packaging/deps.sh matrix
deps-programs:
	@sh packaging/deps.sh build programs
deps-packages:
	@sh packaging/deps.sh build packages

format:
	git ls-files --cached --others --exclude-standard '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-amd64

.PHONY: all demo check check-deep check-programs check-packages check-amd64 check-matrix check-fresh check-long check-reliable testbed \
	check-cluster deps-cluster bench \
	install uninstall deps deps-build deps-demo deps-check deps-amd64 deps-matrix deps-programs deps-packages format clean

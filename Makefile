# SPDX-License-Identifier: BSD-3-Clause
# A thin front to CMake. `make` builds into build/; demo and check also install what is missing.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja
CTEST = ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

all: deps-build
	@test -f $(BUILD)/build.ninja || $(CONFIGURE)
	cmake --build $(BUILD)

demo: deps-demo
	$(CONFIGURE)
	cmake --build $(BUILD)
	BUILD=$(BUILD) sh packaging/demo.sh

check: deps-check
	$(CONFIGURE) -DSLUICE_WERROR=ON
	cmake --build $(BUILD)
	$(CTEST)

# Longer fuzzing, and the tests that take minutes each.
check-long: deps-check
	$(CONFIGURE) -DSLUICE_WERROR=ON
	cmake --build $(BUILD)
	SLUICE_LONG=1 FUZZ_SECONDS=600 $(CTEST) --timeout 3600

bench: all
	@test -f "bench/$(NAME).sh" || { echo "usage: make bench NAME=x, where x is one of:" \
		$(filter-out lib%,$(patsubst bench/%.sh,%,$(wildcard bench/*.sh))) >&2; exit 2; }
	BUILD=$(abspath $(BUILD)) bash bench/$(NAME).sh

install: deps-build
	$(CONFIGURE) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build $(BUILD)
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)

deps: deps-check
	sh packaging/deps.sh build check dev
deps-build:
	@sh packaging/deps.sh build
deps-demo:
	@sh packaging/deps.sh build demo
deps-check:
	@sh packaging/deps.sh build check

format:
	git ls-files --cached --others --exclude-standard 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz

.PHONY: all demo check check-long bench install deps deps-build deps-demo deps-check format clean

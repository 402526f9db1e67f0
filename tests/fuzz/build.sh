#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzzers and the unit tests with ASan and UBSan in a separate build tree, with clang and libFuzzer.
set -eu
. "$SOURCE/tests/libskip.sh"
command -v clang >/dev/null || skip clang
tree=$BUILD-fuzz
CC=clang cmake -S "$SOURCE" -B "$tree" -G Ninja -DSLUICE_FUZZ=ON -DSLUICE_TOGETHER=ON -DSLUICE_WERROR=ON \
	-DSLUICE_SANITIZE=fuzzer-no-link,address,undefined >"$tree.log" 2>&1 || { cat "$tree.log"; exit 1; }
cmake --build "$tree" --target fuzzers units

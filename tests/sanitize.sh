#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: sanitize.sh asan|tsan
# Runs the unit tests with sanitizers. Those with ASan and UBSan are in the tree of the fuzzers, which fuzz/build.sh builds:
# it needs the same objects. Those with ThreadSanitizer are built here, and are only those that mention threads; the others
# have one. All use clang, whose sanitizers are faster than those of gcc.
set -eu
. "$SOURCE/tests/libskip.sh"
command -v clang >/dev/null || skip clang
case $1 in
asan) tree=$BUILD-fuzz tests='^unit/' ;;
tsan)
	tree=$BUILD-tsan
	# learn/memory replaces the allocator, as sanitizers do.
	names=$(cd "$SOURCE/tests/unit" && grep -rlE --include='*.c' 'thread|parallel' -- * | sed 's/\.c$//' |
		grep -vx learn/memory)
	tests="^unit/($(echo $names | tr ' ' '|'))\$"
	CC=clang cmake -S "$SOURCE" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSLUICE_WERROR=ON \
		-DSLUICE_SANITIZE=thread >"$tree.log" 2>&1 || { cat "$tree.log"; exit 1; }
	# shellcheck disable=SC2046 # one word per target
	cmake --build "$tree" --target $(printf 'unit_%s ' $names | tr / _)
	;;
*) echo "usage: sanitize.sh asan|tsan" >&2; exit 2 ;;
esac
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS="halt_on_error=1:suppressions=$SOURCE/tests/tsan.txt"
ctest --test-dir "$tree" --output-on-failure --no-tests=error -R "$tests" -j 2

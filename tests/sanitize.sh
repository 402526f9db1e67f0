#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: sanitize.sh asan|tsan
# Builds host code and unit tests with sanitizers in a tree of its own, and runs the unit tests. It uses clang, whose
# sanitizers are faster than those of gcc. ThreadSanitizer only runs tests that mention threads; the others have one.
set -eu
kind=$1
tree=$BUILD-$kind
case $kind in
asan) sanitizers=address,undefined together=ON targets=units tests='^unit/' ;;
tsan)
	sanitizers=thread together=OFF
	# learn/memory replaces the allocator, as sanitizers do.
	names=$(cd "$SOURCE/tests/unit" && grep -rlE --include='*.c' 'thread|parallel' -- * | sed 's/\.c$//' |
		grep -vx learn/memory)
	targets=$(printf 'unit_%s ' $names | tr / _)
	tests="^unit/($(echo $names | tr ' ' '|'))\$"
	;;
*) echo "usage: sanitize.sh asan|tsan" >&2; exit 2 ;;
esac
. "$SOURCE/tests/libskip.sh"
command -v clang >/dev/null || skip clang

CC=clang cmake -S "$SOURCE" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSLUICE_WERROR=ON \
	-DSLUICE_SANITIZE=$sanitizers -DSLUICE_TOGETHER=$together >"$tree.log" 2>&1 || { cat "$tree.log"; exit 1; }
# shellcheck disable=SC2086 # one word per target
cmake --build "$tree" --target $targets
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS="halt_on_error=1:suppressions=$SOURCE/tests/tsan.txt"
ctest --test-dir "$tree" --output-on-failure --no-tests=error -R "$tests" -j 2

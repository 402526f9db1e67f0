#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the host side and the unit tests with a sanitizer in a tree of its own, and runs them.
# With clang, whose sanitizers cost less than those of gcc. Races are looked for where a test speaks of threads: the
# others have one.
set -eu
kind=$1
tree=$BUILD-$kind
case $kind in
asan) sanitizers=address,undefined together=ON targets=units tests='^unit/' ;;
tsan)
	sanitizers=thread together=OFF
	names=$(cd "$SOURCE/tests/unit" && grep -rlE --include='*.c' 'thread|parallel' -- * | sed 's/\.c$//')
	targets=$(printf 'unit_%s ' $names | tr / _)
	tests="^unit/($(echo $names | tr ' ' '|'))\$"
	;;
*) echo "usage: sanitize.sh asan|tsan" >&2; exit 2 ;;
esac

CC=clang cmake -S "$SOURCE" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSLUICE_WERROR=ON \
	-DSLUICE_SANITIZE=$sanitizers -DSLUICE_TOGETHER=$together >"$tree.log" 2>&1 || { cat "$tree.log"; exit 1; }
# shellcheck disable=SC2086 # a word each
cmake --build "$tree" --target $targets
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
ctest --test-dir "$tree" --output-on-failure -R "$tests" -j 2

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A wrapper of a function of libc and all guest code below it need less than 2 KiB of stack: programs handle signals on
# small stacks, and a forked child may join the run there.
set -eu
. "$SOURCE/tests/libskip.sh"
limit=2048
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v objdump >/dev/null || skip binutils

# needs LIBRARY: the functions that need too much
needs() {
	python3 "$SOURCE/tests/lint/stack.py" "$1" $limit 2>"$work/log" || {
		cat "$work/log"
		exit 1
	}
}

# A library with two frames that exceed the limit together.
cat >"$work/deep.c" <<'C'
void use(void *);
__attribute__((noinline)) static void lower(void) { char text[1500]; use(text); }
void upper(void) { char text[900]; use(text); lower(); use(text); }
void small(void) { char text[900]; use(text); }
C
"${CC:-cc}" -O2 -fPIC -shared -fno-stack-protector -w -o "$work/deep.so" "$work/deep.c"
found=$(needs "$work/deep.so")
case $found in
*"upper needs"*lower*) ;;
*) echo "stack: the planted function was not found: $found"; exit 1 ;;
esac
case $found in
*"small needs"*) echo "stack: a small function was found: $found"; exit 1 ;;
esac

bad=$(needs "$BUILD/libsluice.so")
[ -z "$bad" ] || {
	echo "$bad"
	exit 1
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The wrappers of libc functions lock no memory and enter the kernel only by the real call. Prints the number of
# instructions of some of them, which docs/reference/platforms.md quotes, and checks that it quotes them right within
# a tenth if the compiler is that of the page. `make check-amd64` runs this lint on the library for x86-64.
set -eu
. "$SOURCE/tests/libskip.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$SOURCE/docs/reference/platforms.md
shown="pread pwrite read write fread fwrite"

# objdump_for FILE: the command that can disassemble it
objdump_for() {
	local tool
	for tool in objdump x86_64-linux-gnu-objdump aarch64-linux-gnu-objdump; do
		command -v $tool >/dev/null && $tool -d "$1" 2>/dev/null | grep -q '^ *[0-9a-f]*:' && echo $tool && return
	done
	skip binutils
}

# examine LIBRARY [FUNCTION]...
examine() {
	python3 "$SOURCE/tests/lint/hotpath.py" "$objdump" "$@"
}

# Planted: a wrapper that is fine, one with a locked instruction, and one that enters the kernel.
cat >"$work/planted.c" <<'C'
#include <stdatomic.h>
extern long (*real)(long);
_Atomic long shared;
#if defined(__x86_64__)
#define CLOCK() __builtin_ia32_rdtsc()
#define KERNEL() __asm__ volatile("syscall" : : "a"(39) : "rcx", "r11", "memory")
#else
#define CLOCK() ({ unsigned long t; __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t)); t; })
#define KERNEL() __asm__ volatile("svc #0" : : : "memory")
#endif
#define WRAPPER(name, work) \
	long name(long a, unsigned long *t) { t[0] = CLOCK(); a = real(a); work; t[1] = CLOCK(); return a; }
WRAPPER(fine, (void)0)
WRAPPER(locked, atomic_fetch_add(&shared, a))
WRAPPER(entered, KERNEL())
long fclose(long a, unsigned long *t) { t[0] = CLOCK(); a = real(a); t[1] = CLOCK(); return a + atomic_exchange(&shared, a); }
C
"${CC:-cc}" -O2 -fPIC -shared -w -fno-builtin -o "$work/planted.so" "$work/planted.c"
objdump=$(objdump_for "$work/planted.so")
found=$(examine "$work/planted.so" 2>/dev/null | sed -E 's/^hotpath: (\w+): .*/\1/' | sort -u | xargs)
[ "$found" = "entered locked" ] ||
	{ echo "hotpath: the planted wrappers were not found: $found"; exit 1; }
examine "$work/planted.so" fine | grep -q ' fine fast=[0-9]' || { echo "hotpath: no fast path in a simple wrapper"; exit 1; }

objdump=$(objdump_for "$BUILD/libsluice.so")
bad=$(examine "$BUILD/libsluice.so")
[ -z "$bad" ] || { echo "$bad"; exit 1; }
# shellcheck disable=SC2086
examine "$BUILD/libsluice.so" $shown | tee "$work/counts"

[ "$("${CC:-cc}" -dumpversion)" = 12 ] || exit 0

# quoted MACHINE FUNCTION: the numbers in the table of the page: fast path, whole wrapper
quoted() {
	local column=1
	[ "$1" = x86-64 ] || column=2
	sed -n "s/^| \`$2\` *|//p" "$page" | cut -d '|' -f $column | tr -d ,
}
while read -r machine name fast all; do
	read -r quoted_fast quoted_all < <(quoted "$machine" "$name") || true
	for pair in "${fast#*=} ${quoted_fast:-0}" "${all#*=} ${quoted_all:-0}"; do
		read -r is said <<<"$pair"
		((is * 10 <= said * 11 && is * 10 >= said * 9)) ||
			{ echo "hotpath: the page says $said instructions of $name for $machine, but there are $is"; exit 1; }
	done
done <"$work/counts"

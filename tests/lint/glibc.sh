#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libsluice.so loads on systems with glibc 2.28 (RHEL 8), whatever glibc it was built with: it requires no newer version.
# src/capture/record/old_libc.h binds functions to old versions. SLUICE_LIBRARY names another library to check.
set -eu
newest=2.28
library=${SLUICE_LIBRARY:-$BUILD/libsluice.so}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# required LIBRARY: the versions of glibc that the library requires, such as 2.17; and requirements that have other names
required() {
	readelf -V -W "$1" | sed -n 's/.*Name: GLIBC_\([^ ]*\) .*/\1/p' | sort -uV
}

# breaches LIBRARY: each version above the limit, with the symbols that require it
breaches() {
	local version
	for version in $(required "$1"); do
		[[ $version =~ ^2(\.[0-9]+)+$ ]] && [ "$(printf '%s\n' "$version" $newest | sort -V | tail -n 1)" = $newest ] ||
			echo "glibc: ${1##*/} requires GLIBC_$version:" \
				$(objdump -T "$1" | awk -v v="(GLIBC_$version)" '/\*UND\*/ && $(NF - 1) == v { print $NF }')
	done
}

# planted VERSION: builds a library that requires the symbol new_function of this version
planted() {
	echo "$1 { global: new_function; local: *; };" >"$work/map"
	echo 'int new_function(void); int new_function(void) { return 0; }' |
		"${CC:-cc}" -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script="$work/map" -o "$work/libnew.so" -x c -
	echo 'int new_function(void); int caller(void); int caller(void) { return new_function(); }' |
		"${CC:-cc}" -shared -fPIC -nostdlib -o "$work/planted.so" -x c - -x none "$work/libnew.so"
	breaches "$work/planted.so"
}
[ "$(planted GLIBC_2.29)" = "glibc: planted.so requires GLIBC_2.29: new_function" ] &&
	[ "$(planted GLIBC_2.28.1)" = "glibc: planted.so requires GLIBC_2.28.1: new_function" ] &&
	[ "$(planted GLIBC_ABI_NEW)" = "glibc: planted.so requires GLIBC_ABI_NEW: new_function" ] ||
	{ echo "glibc: a version that is too new was not reported"; exit 1; }
[ -z "$(planted GLIBC_2.28)" ] && [ -z "$(planted GLIBC_2.4)" ] ||
	{ echo "glibc: a version that is old enough was reported"; exit 1; }

[ -n "$(required "$library")" ] || { echo "glibc: $library requires no version of glibc; is it the right file?"; exit 1; }
found=$(breaches "$library")
[ -z "$found" ] || { echo "$found"; exit 1; }
echo "glibc: ${library##*/} requires GLIBC_$(required "$library" | tail -n 1); built with glibc" \
	"$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/.* //')"

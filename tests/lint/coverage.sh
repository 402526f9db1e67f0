#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every function that libc exports is either wrapped (it has a row in interfaces/) or listed in not-io.txt with a
# reason. libsluice.so exports exactly the rows and the symbols in exports-extra.txt. Set LIBC to compare with another
# libc.so.6.
# Papers: SIOX-24, SIOX-AC-2.
set -eu
lint=$SOURCE/tests/lint
libc=${LIBC:-$("${CC:-cc}" -print-file-name=libc.so.6)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# names HEADER...: the functions that are wrapped
names()
{
	"$BUILD/wrapgen" --template preload --output "$work/wrappers" "$@"
	sed -n 's/.* __asm__("\([^"]*\)");$/\1/p' "$work/wrappers" | sort
}
names "$SOURCE"/src/capture/interfaces/{posix,stdio}.h >"$work/rows"
names "$BUILD"/generated/interfaces/*.h >"$work/all"

# "name version", functions only. A program cannot call what is private to libc.
nm -D --defined-only "$libc" | awk '$2 ~ /[TWi]/ && $3 !~ /PRIVATE/ { sub(/@+GLIBC_/, " ", $3); print $3 }' |
	sort -u >"$work/libc"

awk -v version=2.41 '
	function complain(text) { print "coverage: " text; bad = 1 }
	function newer(v, than,   a, b) {
		split(v, a, "."); split(than, b, ".")
		return a[1] + 0 > b[1] + 0 || (a[1] + 0 == b[1] + 0 && a[2] + 0 > b[2] + 0)
	}
	function regex(glob) { gsub(/\*/, ".*", glob); return "^" glob "$" }
	FILENAME ~ /rows$/ { row[$1] = 1; next }
	FILENAME ~ /libc$/ {
		if (!($1 in since) || newer(since[$1], $2)) since[$1] = $2
		if (newer($2, libc)) libc = $2
		next
	}
	/^#/ || !NF { next }
	{
		flag = substr($1, 1, 1); name = $1
		if (flag == "?" || flag == "+") name = substr(name, 2); else flag = ""
		where = "not-io.txt:" FNR ": "
		if (NF < 2) complain(where name " has no reason")
		if (name in line) complain(where name " is listed twice, first in line " line[name])
		line[name] = FNR; kind[name] = flag
	}
	END {
		# Stale entries can only be found with the version of libc that the list was made for.
		current = libc == version
		for (name in line) {
			r = regex(name); hits = 0; where = "not-io.txt:" line[name] ": "
			if (kind[name] == "+") {
				for (f in row) if (f ~ r) { ahead[f] = 1; hits++ }
				if (!hits) complain(where name " matches no row of interfaces/")
				continue
			}
			for (f in row) if (f ~ r) complain(where name " hides the row " f)
			for (f in since) if (f ~ r) {
				hits++
				if (f != name && f in line) complain(where name " and line " line[f] " both list " f)
				listed[f] = 1
			}
			if (!hits && kind[name] != "?" && current) complain(where name " is not exported by libc")
		}
		for (f in row) {
			if (!(f in since) && !(f in ahead) && current) complain("interfaces/ wraps " f "(), which libc does not export")
			if (f in since && f in ahead && current) complain(f " is exported by this libc; remove its + entry")
		}
		for (f in since) {
			if (f in row || f in listed) continue
			if (newer(since[f], version)) print "coverage: note: " f " is new in glibc " since[f]
			else complain(f "() is neither wrapped in interfaces/ nor listed in not-io.txt")
		}
		exit bad
	}' "$work/rows" "$work/libc" "$lint/not-io.txt" | sort -u >"$work/complaints" || true
cat "$work/complaints"

grep -v '^#' "$lint/exports-extra.txt" | awk 'NF { print $1 }' | sort -u "$work/all" - >"$work/wanted"
nm -D --defined-only "$BUILD/libsluice.so" | awk '{ print $3 }' | sort >"$work/exported"
diff "$work/wanted" "$work/exported" |
	sed -n 's/^</coverage: libsluice.so does not export/p; s/^>/coverage: libsluice.so should not export/p' |
	tee "$work/differences"

! grep -qv 'coverage: note:' "$work/complaints" && ! [ -s "$work/differences" ] || exit 1
echo "coverage: $(wc -l <"$work/rows") of $(awk '{ print $1 }' "$work/libc" | sort -u | wc -l) functions of $libc are wrapped"
echo "coverage: $(wc -l <"$work/all") functions wrapped in all libraries"

# at_least LIBRARY COUNT HEADER...: the paper wraps COUNT functions of the library (SIOX-AC-2)
at_least()
{
	local found
	found=$(names "${@:3}" | wc -l)
	echo "coverage: $found functions of $1, at least $2 wanted"
	[ "$found" -ge "$2" ]
}
interfaces=$BUILD/generated/interfaces
at_least POSIX 74 "$SOURCE"/src/capture/interfaces/{posix,stdio}.h
at_least MPI 54 "$interfaces/mpi.h"
at_least NetCDF 5 "$interfaces/netcdf.h"
at_least HDF5 18 "$interfaces/hdf5.h"
! at_least HDF5 10000 "$interfaces/hdf5.h" >/dev/null || { echo "coverage: missing functions are not noticed"; exit 1; }

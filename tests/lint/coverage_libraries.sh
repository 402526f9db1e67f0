#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every function that HDF5, NetCDF or PnetCDF exports is either wrapped (it has a row in interfaces/) or listed in
# not-io-NAME.txt with a reason, and every row names a function that exists in some version of the library. The
# installed builds of a library are merged, because serial builds lack the parallel functions.
# Papers: SIOX-24.
set -eu
lint=$SOURCE/tests/lint
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# names HEADER: the functions that are wrapped
names()
{
	"$BUILD/wrapgen" --template preload --output "$work/wrappers" "$BUILD/generated/interfaces/$1.h"
	sed -n 's/.* __asm__("\([^"]*\)");$/\1/p' "$work/wrappers" | sort
}

# exported REGEX LIBRARY...: the functions that match REGEX, of all libraries that are installed
exported()
{
	local functions=$1 library path
	shift
	for library in "$@"; do
		path=$("${CC:-cc}" -print-file-name="lib$library.so")
		[ -e "$path" ] || continue
		nm -D --defined-only "$path" | awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' | grep -E "$functions" || true
	done | sort -u
}

# check NAME REGEX LIBRARY...: NAME names the header and the list of exceptions
check()
{
	local name=$1
	names "$name" >"$work/rows"
	shift
	exported "$@" >"$work/exported"
	[ -s "$work/exported" ] || { echo "skipped: lint/coverage_libraries: $name is not installed"; return; }
	awk -v file="not-io-$name.txt" '
		function complain(text) { print "libraries: " text; bad = 1 }
		function regex(glob) { gsub(/\*/, ".*", glob); return "^(" glob ")$" }
		FILENAME ~ /rows$/ { row[$1] = 1; next }
		FILENAME ~ /exported$/ { has[$1] = 1; next }
		/^#/ || !NF { next }
		{
			ahead = sub(/^\+/, "", $1); maybe = sub(/^\?/, "", $1); r = regex($1); hits = 0; where = file ":" FNR ": "
			if (NF < 2) complain(where $1 " has no reason")
			for (f in row) if (f ~ r) {
				if (!ahead) complain(where $1 " hides the row " f)
				later[f] = 1; hits++
			}
			for (f in has) if (!ahead && f ~ r) { listed[f] = 1; hits++ }
			if (!hits && !maybe) complain(where $1 (ahead ? " matches no row" : " is not exported"))
		}
		END {
			for (f in row) if (!(f in has) && !(f in later)) complain("interfaces/ wraps " f "(), which no installed library exports")
			for (f in has) if (!(f in row) && !(f in listed)) complain(f "() is neither wrapped in interfaces/ nor listed in " file)
			exit bad
		}' "$work/rows" "$work/exported" "$lint/not-io-$name.txt" || failed=1
	echo "libraries: $name: $(wc -l <"$work/rows") of $(wc -l <"$work/exported") functions are wrapped"
}

# HDF5 also exports internal functions; their names have an underscore after the prefix.
check hdf5 '^H5[A-Z]*[a-z][A-Za-z0-9_]*$' hdf5_serial hdf5_mpich hdf5_openmpi hdf5
check netcdf '^nc_' netcdf netcdf_mpi
check pnetcdf '^ncmpi_' pnetcdf
exit $failed

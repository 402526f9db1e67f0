#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nothing that HDF5, NetCDF or PnetCDF exports is forgotten silently: each function has a row in interfaces/ or a
# reason in not-io-NAME.txt, and no row names a function that no version of the library has. All builds of a
# library that are installed count as one: serial ones lack what is parallel.
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

# exported REGEX-OF-FUNCTIONS LIBRARY...: functions of all that are installed
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

check() # name regex-of-functions library...
{
	local name=$1
	names "$name" >"$work/rows"
	shift
	exported "$@" >"$work/exported"
	[ -s "$work/exported" ] || { echo "libraries: note: no $name here"; return; }
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
			for (f in row) if (!(f in has) && !(f in later)) complain("no library has " f "(), but interfaces/ has")
			for (f in has) if (!(f in row) && !(f in listed)) complain(f " is neither in interfaces/ nor in " file)
			exit bad
		}' "$work/rows" "$work/exported" "$lint/not-io-$name.txt" || failed=1
	echo "libraries: $name: $(wc -l <"$work/rows") functions wrapped of $(wc -l <"$work/exported")"
}

# HDF5's own helpers are exported as well, and have an underscore behind the name of their part.
check hdf5 '^H5[A-Z]*[a-z][A-Za-z0-9_]*$' hdf5_serial hdf5_mpich hdf5_openmpi hdf5
check netcdf '^nc_' netcdf netcdf_mpi
check pnetcdf '^ncmpi_' pnetcdf
exit $failed

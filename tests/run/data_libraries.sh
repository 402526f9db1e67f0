#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Records of HDF5, NetCDF and PnetCDF have the right bytes, handles and requests.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

# moves_same NAME LEAST: each read and write of the program has the size that it prints
moves_same() {
	check_rc 0 "$sluice" run -o "$1.sluice" "$BUILD/mpi/serial/$1"
	cp out said
	"$sluice" print "$1.sluice" | sed -nE 's/.* (H5Dread|H5Dwrite)\(.*Bytes(Read|Written)=([0-9]+).*/\1 \3/p' >recorded
	[ "$(wc -l <said)" -ge "$2" ] || fail "$1: only $(wc -l <said) reads and writes"
	diff said recorded >difference || fail "$1: sizes differ: $(head -5 difference)"
}

# Bytes: of two thousand random steps, and between types with different fields.
if mpi_has serial sizes; then
	moves_same sizes 500
	moves_same fields 40

	# Handles: a dataset that was closed once of twice is still known, and its end is recorded once.
	calls=$("$sluice" print sizes.sluice)
	made=$(sed -nE 's/.* (ID[0-9:.]+) +HDF5 +H5Dcreate2\(.*/\1/p' <<<"$calls")
	last=$(grep ' H5Dwrite(' <<<"$calls" | tail -1)
	check_has "$last" " $made" "link of a write behind the first close"
	check_eq "$(grep -c ' H5Idec_ref(' <<<"$calls")" 1 "records of the end by reference"
	check_has "$(grep ' H5Idec_ref(' <<<"$calls")" " $made" "link of the end by reference"
else
	echo "libraries: note: no program for HDF5"
fi

# A failed call is recorded as failed, and prints the same error once, as without Sluice.
cat >fails.c <<'C'
#include <hdf5.h>
int main(void)
{
	return H5Fopen("missing.h5", H5F_ACC_RDONLY, H5P_DEFAULT) < 0 ? 7 : 0;
}
C
if flags=$(pkg-config --cflags --libs hdf5-serial 2>/dev/null); then
	# shellcheck disable=SC2086
	"${CC:-cc}" -o fails fails.c $flags
	# The messages of HDF5 contain a thread and the time of day.
	same="s/thread [0-9]*/thread/; s/time = .* [0-9:]* [0-9]*/time/"
	check_rc 7 ./fails
	sed "$same" err >bare
	check_rc 7 "$sluice" run -o fails.sluice ./fails
	sed "$same" err | grep -v '^sluice:' | diff bare - || fail "HDF5 prints other errors"
	check_has "$("$sluice" print fails.sluice)" 'H5Fopen(HDF5/descriptor/filename="'"$work"'/missing.h5"' "the call that failed"
fi

# Requests of PnetCDF: each one is completed once, below the call that waited for it.
for mpi in $(mpi_list); do
	mpi_has "$mpi" pnetcdf || continue
	check_rc 0 "$sluice" run -o requests.sluice -- mpiexec."$mpi" -n 2 "$BUILD/mpi/$mpi/pnetcdf"
	"$sluice" print requests.sluice | grep PnetCDF >calls
	sed -nE 's/.* (ID[0-9:.]+) +PnetCDF +ncmpi_(iput|iget|bput)_.*/\1/p' calls | sort >started
	sed -nE 's/.* PnetCDF +completed\(.* (ID[0-9:.]+)$/\1/p' calls | sort >completed
	[ "$(wc -l <started)" -ge 2 ] || fail "$mpi: only $(wc -l <started) requests"
	diff started completed || fail "$mpi: requests and completions differ"
	check_eq "$(grep -cE ' ncmpi_(put|get)_vara?[a-z0-9_]*\(.*Bytes(Written|Read)=0[,)]' calls || true)" 0 "accesses without bytes"
done

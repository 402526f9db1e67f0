#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Records of HDF5, NetCDF and PnetCDF have the right bytes, handles and requests.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

# moves_same NAME LEAST COMMAND...: each read and write of the program has the size that it prints. The command records
# into NAME.sluice.
moves_same() {
	local name=$1 least=$2
	shift 2
	check_rc 0 "$@"
	cp out said
	"$sluice" print "$name.sluice" | sed -nE 's/.* (H5Dread|H5Dwrite)\(.*Bytes(Read|Written)=([0-9]+).*/\1 \3/p' >recorded
	[ "$(wc -l <said)" -ge "$least" ] || fail "$name: only $(wc -l <said) reads and writes"
	diff said recorded >difference || fail "$name: sizes differ: $(head -5 difference)"
}

# Bytes: of two thousand random steps, and between types with different fields.
if mpi_has serial sizes; then
	moves_same sizes 500 "$sluice" run -o sizes.sluice "$BUILD/mpi/serial/sizes"
	moves_same fields 40 "$sluice" run -o fields.sluice "$BUILD/mpi/serial/fields"

	# Handles: a dataset that was closed once of twice is still known, and its end is recorded once.
	calls=$("$sluice" print sizes.sluice)
	made=$(sed -nE 's/.* (ID[0-9:.]+) +HDF5 +H5Dcreate2\(.*/\1/p' <<<"$calls")
	last=$(grep ' H5Dwrite(' <<<"$calls" | tail -1)
	check_has "$last" " $made" "link of a write behind the first close"
	check_eq "$(grep -c ' H5Idec_ref(' <<<"$calls")" 1 "records of the end by reference"
	check_has "$(grep ' H5Idec_ref(' <<<"$calls")" " $made" "link of the end by reference"

	# Another tool wraps some functions of HDF5, as Darshan does, behind Sluice and before it: bytes and handles are
	# recorded all the same, and the tool sees the calls of the program only.
	tool=$prog/hdf5_tool.so
	check_rc 0 env LD_PRELOAD="$tool" "$BUILD/mpi/serial/sizes"
	mv counted alone
	moves_same behind 500 "$sluice" run -o behind.sluice sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$1"' "$tool" \
		"$BUILD/mpi/serial/sizes"
	check_eq "$(cat counted)" "$(cat alone)" "calls that a tool behind Sluice sees"
	moves_same before 500 "$sluice" run -o before.sluice sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$1"' "$tool" \
		"$BUILD/mpi/serial/sizes"
	check_eq "$(cat counted)" "$(cat alone)" "calls that a tool before Sluice sees"
	for name in behind before; do
		check_eq "$("$sluice" print $name.sluice | grep -cE ' H5D(write|read)\(.* ID[0-9:.]+$')" \
			"$(grep -cE ' H5D(write|read)\(.* ID[0-9:.]+$' <<<"$calls")" "$name: accesses with a known dataset"
	done
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

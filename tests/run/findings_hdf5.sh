#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# HDF5 programs without MPI: a thrashing chunk cache is named as such, and not as data sieving. See findings.sh.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libfindings.sh"
mpi_has serial datasets || skip libhdf5-dev
datasets=$BUILD/mpi/serial/datasets

expect chunk-cache "$datasets" thrashing data/f.h5
check_has "$(json_get report.json '["findings"][0]["evidence"]')" "32 x 256"
expect chunk-shape "$datasets" columns data/f.h5
SLUICE_FINDINGS_TIME_PERCENT=1 expect compression "$datasets" compressed data/f.h5
expect write-amplification "$datasets" filled data/f.h5
check_eq "$(finding write-amplification possible)" False
# Reads of doubles as floats look like reads of each second element; the trace does not tell which.
expect read-amplification "$datasets" read_floats data/f.h5
check_eq "$(finding read-amplification possible)" True
check_has "$(finding read-amplification evidence)" conversion
for clean in cached matching uncompressed unfilled floats chunks_of_floats; do
	expect "" "$datasets" $clean data/f.h5
done

python=/usr/bin/python3
[ -x $python ] || python=python3
if $python -c 'import h5py' 2>/dev/null; then
	cat >rows.py <<'END'
import h5py
with h5py.File("data/f.h5", "w") as f:
    data = f.create_dataset("data", (32, 64 * 256), chunks=(32, 256), dtype="f8")
    for i in range(32):
        data[i, :] = i
END
	expect chunk-cache $python rows.py
	sed -i 's/(32, 256)/(1, 64 * 256)/' rows.py
	expect "" $python rows.py
else
	skip_case python3-h5py
fi

# netCDF opens variables inside a callback of HDF5, which names their group by an id that no call has returned.
if $python -c 'import netCDF4' 2>/dev/null; then
	cat >columns.py <<'END'
import netCDF4, numpy, sys
netCDF4.set_chunk_cache(int(sys.argv[1]), 1009)
with netCDF4.Dataset("data/f.nc", "w") as f:
    f.createDimension("x", 64)
    f.createDimension("y", 64 * 64)
    f.createVariable("t", "f8", ("x", "y"), zlib=True, chunksizes=(64, 64))[:] = numpy.random.rand(64, 64 * 64)
with netCDF4.Dataset("data/f.nc") as f:
    for row in range(64):
        f["t"][row, :]
END
	expect chunk-cache $python columns.py 4096
	check_has "$(json_get report.json '["findings"][0]["evidence"]')" "64 x 64"
	# NetCDF 4.9.3 reads small files twice.
	SLUICE_FINDINGS_AMPLIFICATION_PERCENT=200 expect "" $python columns.py $((64 << 20))
else
	skip_case python3-netcdf4
fi

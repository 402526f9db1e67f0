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
for clean in cached matching uncompressed unfilled; do
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

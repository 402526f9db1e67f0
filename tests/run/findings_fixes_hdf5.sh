#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same as findings_fixes.sh for HDF5 and netCDF without MPI: in C, in h5py, in netCDF4, and in xarray.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libfindings.sh"
. "$(dirname "$0")/libfixes.sh"
pkg-config --exists hdf5-serial || skip libhdf5-dev

for template in "$fixes"/*.c; do
	has_directive mpi || ! has_directive libraries || fix_cases "$template"
done
for module in h5py xarray netCDF4; do
	if ! "$python" -c "import $module, numpy" 2>/dev/null; then
		skip_case "python3-${module,,}"
		continue
	fi
	for template in "$fixes"/*."${module,,}".py; do
		has_directive mpi || fix_cases "$template"
	done
done

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same as findings_fixes.sh for MPI-IO and parallel HDF5, in C with both MPIs and in h5py.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libfindings.sh"
. "$(dirname "$0")/libfixes.sh"

for template in "$fixes"/*.c; do
	! has_directive mpi || fix_cases "$template"
done
[ -n "$(mpi_of_python)" ] || skip python3-mpi4py
H5PY_ALWAYS_USE_MPI=1 "$python" -c 'import h5py, sys; sys.exit(not h5py.get_config().mpi)' 2>/dev/null || skip python3-h5py-mpi
for template in "$fixes"/*.h5py.py; do
	! has_directive mpi || fix_cases "$template"
done

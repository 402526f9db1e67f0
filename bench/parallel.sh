#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What capture costs a parallel program: MPI-IO, HDF5, start and end, VPIC-IO; under each MPI of this machine.
# docs/benchmarks.md says how each figure is measured. BUILD names the build tree.
set -eu
BUILD=${BUILD:-build}
# The settings under which more ranks than cores get along, the same for all that is measured.
. "$(dirname "$0")/../tests/mpi/libmpi.sh"
# shellcheck disable=SC2046
exec "$BUILD/bench/bench_parallel" "$BUILD" $(mpi_list)

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The overhead of capture for a parallel program: MPI-IO, HDF5, start and end, VPIC-IO; with each installed MPI.
# docs/reference/benchmarks.md describes how each figure is measured. BUILD names the build tree.
set -eu
BUILD=${BUILD:-build}
# Settings that let more ranks than cores run well; they apply to all measurements.
. "$(dirname "$0")/../tests/mpi/libmpi.sh"
# shellcheck disable=SC2046
exec "$BUILD/bench/bench_parallel" "$BUILD" $(mpi_list)

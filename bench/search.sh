#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How often and how soon the searches get near a known optimum. docs/reference/benchmarks.md describes the method. BUILD names the
# build tree, SEEDS is the number of seeds, PROBLEM one of toy, hopper-vpic, ..., stampede-gcrm.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export SLUICE_PLATFORMS=${SLUICE_PLATFORMS:-$here/../share/platforms}
exec "${BUILD:-build}/bench/bench_search" "${BUILD:-build}" "${SEEDS:-100}" ${PROBLEM:+"$PROBLEM"}

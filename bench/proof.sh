#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tunes 100 simulated programs with known truth under noise, drift and background load: how many gains are proved that do
# not exist, and how many are missed. docs/reference/benchmarks.md describes the method. BUILD names the build tree, SEED
# determines the programs and their noise, TUNINGS is their number.
set -eu
exec "${BUILD:-build}/bench/bench_proof" "${BUILD:-build}" "${SEED:-2027}" "${TUNINGS:-100}"

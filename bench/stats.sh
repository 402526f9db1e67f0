#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What looking at the node ten times a second costs of one core. docs/benchmarks.md says how it is measured. BUILD
# names the build tree.
set -eu
exec "${BUILD:-build}/bench/bench_stats" "${BUILD:-build}"

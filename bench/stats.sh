#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The overhead of node statistics, ten times per second, in percent of a core. docs/reference/benchmarks.md describes the method.
# BUILD names the build tree.
set -eu
exec "${BUILD:-build}/bench/bench_stats" "${BUILD:-build}"

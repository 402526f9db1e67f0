#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The overhead of capture, the throughput of the collector, the size of a trace and the speed of reading it.
# docs/reference/benchmarks.md describes how each figure is measured. BUILD names the build tree.
set -eu
exec "${BUILD:-build}/bench/bench_capture" "${BUILD:-build}"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The speedup that the plug-in read_ahead gives a program that reads in strides, on the disk of TMPDIR and on a simulated
# slow disk. docs/reference/benchmarks.md describes the method. BUILD names the build tree.
set -eu
exec "${BUILD:-build}/bench/bench_readahead" "${BUILD:-build}"

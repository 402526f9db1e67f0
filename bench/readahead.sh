#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the plug-in read_ahead gains a program that reads in strides: the experiment SIOX-63, on the disk that
# TMPDIR is on and on a modelled slow one. docs/benchmarks.md says how. BUILD names the build tree.
set -eu
exec "${BUILD:-build}/bench/bench_readahead" "${BUILD:-build}"

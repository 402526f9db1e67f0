#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What capture costs a program, what the collector carries, how large and how quick to read a trace is.
# docs/benchmarks.md says how each figure is measured. BUILD names the build tree.
set -eu
exec "${BUILD:-build}/bench/bench_capture" "${BUILD:-build}"

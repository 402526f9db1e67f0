#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the default plug-ins cost a program per call, over capture alone. docs/benchmarks.md says how. BUILD names the
# build tree.
set -eu
exec "${BUILD:-build}/bench/bench_plugins" "${BUILD:-build}"

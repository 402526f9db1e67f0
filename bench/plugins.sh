#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What plug-ins and statistics cost, and what history is worth: per call over capture alone, per look at the node, and
# in throughput of the four levels of access. docs/benchmarks.md says how. BUILD names the build tree.
set -u
export BUILD=${BUILD:-build}
failed=0
"$BUILD/bench/bench_plugins" "$BUILD" || failed=1
for part in stats history; do
	echo
	bash "$(dirname "$0")/$part.sh" || failed=1
done
exit $failed

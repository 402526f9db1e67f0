#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The overhead of plug-ins per call, compared with capture only; the overhead of node statistics; and the throughput that
# the plug-in history gains at the four levels of access. docs/reference/benchmarks.md describes the method. BUILD names the build
# tree.
set -u
export BUILD=${BUILD:-build}
failed=0
"$BUILD/bench/bench_plugins" "$BUILD" || failed=1
for part in stats history; do
	echo
	bash "$(dirname "$0")/$part.sh" || failed=1
done
exit $failed

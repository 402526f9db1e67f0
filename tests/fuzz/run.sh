#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs one fuzzer for FUZZ_SECONDS on its corpus. What it finds new stays in the build tree; the input that
# broke it is left there as well and named in the output.
set -eu
name=$1
seeds=$SOURCE/tests/fuzz/corpus/$name
found=$BUILD-fuzz/corpus/$name
mkdir -p "$found"
[ -d "$seeds" ] || { echo "there is no corpus $seeds" >&2; exit 1; }
exec "$BUILD-fuzz/tests/fuzz_$name" -max_total_time="${FUZZ_SECONDS:-10}" -timeout=10 -rss_limit_mb=1024 \
	-print_final_stats=1 -verbosity=0 -artifact_prefix="$found/" "$found" "$seeds"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh NAME
# Runs one fuzzer on its corpus. With FUZZ_SECONDS it searches that long, each time from another seed. Without, it
# searches for 6 s from the same seed, so that check-deep fails because of a change and not by chance. New inputs stay
# in the build tree. An input that makes the fuzzer fail is kept there as well, and the output names it. An input may
# take 100 s on a loaded machine.
set -eu
name=$1
seeds=$SOURCE/tests/fuzz/corpus/$name
found=$BUILD-fuzz/corpus/$name
. "$SOURCE/tests/libskip.sh"
command -v clang >/dev/null || skip clang
[ -d "$seeds" ] || { echo "$seeds: the corpus does not exist" >&2; exit 1; }
mkdir -p "$found"
seed=1
[ -z "${FUZZ_SECONDS:-}" ] || seed=0 # 0: libFuzzer chooses one
exec "$BUILD-fuzz/tests/fuzz_$name" -seed=$seed -max_total_time="${FUZZ_SECONDS:-6}" -timeout=100 \
	-rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 -error_exitcode=1 -artifact_prefix="$found/" "$found" "$seeds"

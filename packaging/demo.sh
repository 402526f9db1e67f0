#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The demo takes about two minutes: it records an unmodified parallel program, shows a report of its I/O, tunes it, and
# runs it again with the parameters that were found. BUILD names the build tree.
set -eu
build=$(cd "${BUILD:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Traces and the knowledge base go into a directory that is removed at the end.
export SLUICE_TRACE_DIR="$work/runs" SLUICE_STORE_PATH="$work/store.db"
PATH=$build:$PATH
cd "$work"

# show COMMAND...: prints the command and runs it
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

# show_and_keep COMMAND...: the same, and keeps the output for program_seconds
show_and_keep() {
	printf '\n$ %s\n' "$*"
	"$@" >"$work/printed"
	cat "$work/printed"
}

# program_seconds: the I/O time that the program itself has printed
program_seconds() {
	sed -n 's/.* seconds=\([0-9.]*\).*/\1/p' "$work/printed" | head -n 1
}

show sluice doctor

# An unmodified program that writes 300 small datasets with parallel HDF5.
ranks=4
ln -s "$build/mpi/mpich/small_io" small_io
show_and_keep sluice run --summary -- mpiexec.mpich -n $ranks ./small_io -f fields.h5
before=$(program_seconds)
show sluice report --top 4 | sed '/^By file/,$d'
show sluice print --tree --rank 0 --file '*fields.h5' --limit 12

# Find parameters that make the program faster, and confirm them with fresh runs.
show sluice tune --runs 24 --max-time 1m -- mpiexec.mpich -n $ranks ./small_io -f fields.h5

# The parameters are in the knowledge base now; --tune=apply uses them.
show_and_keep sluice run --summary --tune=apply -- mpiexec.mpich -n $ranks ./small_io -f fields.h5
after=$(program_seconds)

echo "$before $after" | awk '{ printf "\nI/O time measured by the program itself: %.3f s before, %.3f s after (speedup %.1f)\n", $1, $2, $1 / $2 }'

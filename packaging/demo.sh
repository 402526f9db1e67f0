#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The main job on defaults, in some two minutes: run a parallel program that was not written for Sluice, see what
# its I/O does, let it be tuned, and run it again with what was found. BUILD names the build tree.
set -eu
build=$(cd "${BUILD:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Nothing of the demo stays: no traces, no knowledge.
export SLUICE_TRACE_DIR="$work/runs" SLUICE_STORE_PATH="$work/store.db"
PATH=$build:$PATH
cd "$work"

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

# The same with what the program prints kept as well.
keep() {
	printf '\n$ %s\n' "$*"
	"$@" >"$work/printed"
	cat "$work/printed"
}

seconds() {
	sed -n 's/.* seconds=\([0-9.]*\).*/\1/p' "$work/printed" | head -n 1
}

show sluice doctor

# A program that writes 300 small datasets with parallel HDF5, as it is.
ranks=4
ln -s "$build/mpi/mpich/small_io" small_io
keep sluice run --summary -- mpiexec.mpich -n $ranks ./small_io -f fields.h5
before=$(seconds)
show sluice report --top 4 | sed '/^By file/,$d'
show sluice print --tree --rank 0 --file '*fields.h5' --limit 12

# Find parameters that make it faster, and prove it.
show sluice tune --runs 24 --max-time 1m -- mpiexec.mpich -n $ranks ./small_io -f fields.h5

# From now on they are known.
keep sluice run --summary --tune=apply -- mpiexec.mpich -n $ranks ./small_io -f fields.h5
after=$(seconds)

echo "$before $after" | awk '{ printf "\nbefore %.3f s, after %.3f s: %.1f times faster, by the clock of the program itself\n", $1, $2, $1 / $2 }'

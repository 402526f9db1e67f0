#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The main job on defaults: record an unmodified program, then show what it did. BUILD names the build tree.
set -eu
sluice=${BUILD:-build}/sluice
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SLUICE_TRACE_DIR="$work/runs"

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

show "$sluice" doctor
show "$sluice" run -- tar -cf "$work/sources.tar" src
show "$sluice" report --top 5
show "$sluice" print --limit 8

# A parallel program, where there is an MPI: which layer and which rank did what, and what caused what.
for mpi in mpich openmpi; do
	vpic=${BUILD:-build}/mpi/$mpi/vpic_io
	if [ -x "$vpic" ] && command -v "mpiexec.$mpi" >/dev/null; then
		# As root, and with more ranks than cores, Open MPI wants to be asked.
		export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
		show "$sluice" run -- "mpiexec.$mpi" -n 4 "$vpic" -f "$work/particles.h5"
		show "$sluice" report --top 5
		show "$sluice" print --tree --rank 0 --file '*particles.h5' --limit 40
		break
	fi
done
show "$sluice" ls

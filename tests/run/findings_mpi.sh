#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Parallel programs that each do one thing badly have exactly that finding, with both MPIs; programs that do it well have
# none. See findings.sh.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libfindings.sh"

# parallel CODES MPI RANKS PROGRAM CASE
parallel() {
	expect "$1" "mpiexec.$2" -n "$3" "$BUILD/mpi/$2/$4" "$5" data/f
}

for mpi in $(mpi_list); do
	parallel independent-io "$mpi" 2 patterns independent
	parallel independent-io "$mpi" 2 patterns independent_reads
	parallel harmful-collective "$mpi" 2 patterns collective_small
	parallel one-rank-io "$mpi" 2 patterns one_rank
	parallel rank-imbalance "$mpi" 2 patterns imbalance
	SLUICE_FINDINGS_MIN_TIME=5ms SLUICE_FINDINGS_TIME_PERCENT=1 parallel straggler "$mpi" 2 patterns straggler
	inspect
	parallel "" "$mpi" 2 patterns disjoint
	parallel "" "$mpi" 2 patterns collective
	parallel "" "$mpi" 2 patterns balance
	# Hints of ROMIO.
	if [ "$mpi" = mpich ]; then
		parallel data-sieving "$mpi" 2 patterns sieving
		parallel few-aggregators "$mpi" 4 patterns few_aggregators
		parallel many-aggregators "$mpi" 4 patterns many_aggregators
		ignored= parallel oversubscribed "$mpi" $(($(nproc) + 1)) patterns balance
	fi
	mpi_has "$mpi" datasets || { skip_case "libhdf5-$mpi-dev" && continue; }
	parallel degraded-collective "$mpi" 2 datasets converted
	parallel harmful-collective "$mpi" 2 datasets shared_small
	parallel "" "$mpi" 2 datasets shared
	# What the user chose is not to be undone.
	run_options=(--params transfer=independent)
	parallel independent-io "$mpi" 2 datasets shared_small
	run_options=()
	check_has "$(finding independent-io evidence)" "Sluice set transfer=independent"
	check_eq "$(finding independent-io fixes)" "[]" "fixes"
done

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Independent transfers that a program itself makes with MPI-IO become collective; see libcollective.sh.
program=lockstep_io
. "$(dirname "$0")/libcollective.sh"

# made CALL...: how many of these calls the trace has
made() {
	"$sluice" print --json trace >trace.json
	python3 - "$@" <<'END'
import json, sys
print(sum(c["function"] in sys.argv[1:] for c in json.load(open("trace.json"))["activities"]))
END
}

collective_writes() {
	made MPI_File_write_at_all MPI_File_write_all
}

# The file that only one rank opens is left alone, and so are the files of libraries, which make transfers of their own.
permission() {
	# OMPIO has no other parameter for such a program.
	[ "$mpi" != openmpi ] || without_rc=3
	refused_without_permission
	ran --set params.allow=semantics run --params transfer=collective -o trace -- "${job[@]}"
	# Three ranks, 24 rows, of which every second one has an offset.
	for call in MPI_File_write_at_all MPI_File_write_all MPI_File_read_at_all MPI_File_read_all; do
		check_eq "$(made $call)" 36 "$mpi: $call"
	done
	check_eq "$(made MPI_File_write MPI_File_read)" 0 "$mpi: independent transfers"
	check_eq "$(made MPI_File_write_at MPI_File_read_at)" 2 "$mpi: transfers of the file of one rank"
	transfer_is_honored
	SLUICE_CAPTURE_MODE=off ran --set params.allow=semantics run --params transfer=collective -- "${job[@]}"
	rm -f even.dat
	for library in hdf5 pnetcdf; do
		! mpi_has "$mpi" $library || ran --set params.allow=semantics run --params transfer=collective -o trace -- \
			"mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/$library"
	done
}

check_all

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Independent transfers of HDF5 datasets become collective; see libcollective.sh.
program=lockstep
. "$(dirname "$0")/libcollective.sh"

# inside CALL: how many transfers of HDF5 contain this call of MPI
inside() {
	"$sluice" print --json trace >trace.json
	python3 - "$1" <<'END'
import json, sys
calls = json.load(open("trace.json"))["activities"]
transfers = {c["id"] for c in calls if c["function"] in ("H5Dwrite", "H5Dread")}
print(len({c.get("cause") for c in calls if c["function"] == sys.argv[1]} & transfers))
END
}

collective_writes() {
	inside MPI_File_write_at_all
}

# The program's own lists and serial files are left alone.
permission() {
	refused_without_permission
	ran --set params.allow=semantics run --params transfer=collective -o trace -- "${job[@]}"
	# 24 transfers of each of three ranks, and as many that only rank 0 makes without MPI-IO.
	check_eq "$(inside MPI_File_write_at_all)" 72 "$mpi: collective writes"
	check_eq "$(inside MPI_File_read_at_all)" 72 "$mpi: collective reads"
	check_eq "$(inside MPI_File_write_at)$(inside MPI_File_read_at)" 00 "$mpi: independent transfers"
	transfer_is_honored
	SLUICE_CAPTURE_MODE=off ran --set params.allow=semantics run --params transfer=collective -- "${job[@]}"
	# Chunked datasets, also with filters, and compact ones, which have no collective transfers.
	job kinds even.dat
	ran --set params.allow=semantics run --params transfer=collective -o trace -- "${job[@]}"
	[ "$(inside MPI_File_read_at_all)" -ge 75 ] || fail "$mpi: transfers of chunked datasets are not collective"
	rm -f even.dat
}

check_all

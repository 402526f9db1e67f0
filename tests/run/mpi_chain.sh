#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A parallel HDF5 program with every installed MPI, with both kinds of transfer, and with `sluice run` outside and
# inside of mpiexec: its file is identical, and every write to it leads to the H5Dwrite that caused it, on every rank.
# Papers: SIOX-8.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
ranks=4
particles=5000
steps=2

# The indentation of the chain of one H5Dwrite; another kind of transfer is another MPI call.
tree_check() {
	"$sluice" print --tree --file vpic.h5 --rank 1 trace >tree
	awk -v call="$1" '
		{ match($0, /[A-Za-z_0-9]+\(/); name = substr($0, RSTART, RLENGTH - 1); at = RSTART }
		name == "H5Dwrite" { top = at }
		name == call && at == top + 2 { middle = at }
		name ~ /^pwrite(64)?$/ && at == middle + 2 && middle == top + 2 { chains++ }
		END { exit chains == 0 }' tree ||
		wrong "the tree lacks H5Dwrite > $1 > pwrite: $(cut -c1-80 tree | head -20)"
}

chain_check() {
	check_trace $ranks $particles $steps "$1" <<'END'
count, particles, steps = map(int, arguments[:3])
transfer = arguments[3]
VARIABLES = ["x", "y", "z", "id1", "id2", "px", "py", "pz"]
WRITES = ("write", "pwrite", "pwrite64", "writev", "pwritev", "pwritev64")
same(ranks, list(range(count)), "ranks")
on_file = [call for call in calls if base(call) == "vpic.h5" and call.rank is not None]

# Follow the causes, from every write to storage.
stored = [call for call in on_file if call.layer == "POSIX" and call.function in WRITES]
for call in stored:
    mpi, hdf5 = call.cause_in("MPI"), call.cause_in("HDF5")
    must(mpi and hdf5, "a write without its MPI or HDF5 call", call, *call.causes())
    must(mpi.cause_in("HDF5") is hdf5, "the MPI call is not inside the HDF5 call", call, mpi, hdf5)
    must(all(c.rank == call.rank and c.thread == call.thread for c in call.causes()), "caused elsewhere", call)
    must(mpi.start_ns <= call.start_ns and call.start_ns + call.duration_ns <= mpi.start_ns + mpi.duration_ns,
         "not within its cause", call, mpi)
must(sum(call.result for call in stored) >= count * particles * 4 * len(VARIABLES) * steps, "bytes are missing")

for rank in ranks:
    mine = [call for call in on_file if call.rank == rank]
    # Follow the relations: dataset, group, file; the MPI file; the descriptor.
    files = [call for call in mine if call.function == "H5Fcreate"]
    same(len(files), 1, "H5Fcreate on rank %d" % rank)
    groups = [call for call in mine if call.function == "H5Gcreate2"]
    same([call.name for call in groups], ["Step#%d" % s for s in range(steps)], "groups")
    must(all(call.relation is files[0] for call in groups), "groups are not of the file")
    sets = [call for call in mine if call.function == "H5Dcreate2"]
    same([call.name for call in sets], VARIABLES * steps, "datasets")
    for i, call in enumerate(sets):
        must(call.relation is groups[i // len(VARIABLES)], "dataset of another group", call)
    writes = [call for call in mine if call.function == "H5Dwrite"]
    same([call.relation.id for call in writes], [call.id for call in sets], "datasets written")
    same({(call.size, call.result) for call in writes}, {(4 * particles, 4 * particles)}, "bytes of H5Dwrite")
    same({call.function for call in stored if call.rank == rank and call.relation.function not in ("open", "open64",
         "openat", "openat64")}, set(), "writes whose descriptor is of no open")
    opened = [call for call in mine if call.function == "MPI_File_open" and call.error == 0]
    same([call.cause.function for call in opened], ["H5Fcreate", "H5Fopen"], "causes of MPI_File_open")
    wanted = "MPI_File_write_at_all" if transfer == "collective" else "MPI_File_write_at"
    for write in writes:
        data = [call for call in mine if call.cause is write and call.function == wanted]
        same([call.result for call in data], [4 * particles], "bytes of %s in one H5Dwrite" % wanted)
        must(data[0].relation is opened[0], "the MPI file is not that of the open", data[0])
END
}

# chain MPI TRANSFER
chain() {
	local order command
	mpi_order bare "$1" $ranks vpic_io -n $particles -s $steps -t "$2" --verify
	bare "${command[@]}"
	[ -e first.h5 ] || cp bare/vpic.h5 first.h5
	cmp bare/vpic.h5 first.h5 || wrong "the same values gave another file"
	for order in outside inside; do
		case_begin "$1, $2, sluice run $order"
		mpi_order $order "$1" $ranks vpic_io -n $particles -s $steps -t "$2" --verify
		observed "${command[@]}"
		same_code
		check_eq "$(shown captured.out)" "$(shown bare.out)" "$case: output"
		check_eq "$(shown captured.err)" "$(shown bare.err)" "$case: errors"
		same_files
		chain_check "$2"
	done
	case $2 in
	collective) tree_check MPI_File_write_at_all ;;
	independent) tree_check MPI_File_write_at ;;
	esac
}

tested=
for mpi in $(mpi_list); do
	mpi_has "$mpi" vpic_io || continue
	tested=yes
	for transfer in collective independent; do
		case_begin "$mpi, $transfer, bare"
		chain "$mpi" $transfer
	done
done
[ -n "$tested" ] || skip libhdf5-mpich-dev

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Asynchronous operations with every installed MPI: each operation is completed once, by a call that names the call
# that started it and has its bytes, whichever thread completes it. Each use of a descriptor leads back to its open,
# through duplicates and child processes.
# Papers: SIOX-10.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

# Code for checks of asynchronous operations: each one is completed once; ends[id of the start] is the completing call.
ends() {
	cat <<'END'
LISTS = ("lio_listio", "lio_listio64")  # begin several at once, see aio
starts = [call for call in calls if call["class"] == "start" and call.error == 0 and call.function not in LISTS]
ends = {}
for call in calls:
    for start in (call.relation, call.relation2):
        if not start or start["class"] != "start" or start.function in LISTS:
            continue
        must(call["class"] == "wait", "not the end of anything", call)
        must(start.id not in ends, "completed twice", start, call)
        must(call.process == start.process and call.start_ns + call.duration_ns >= start.start_ns,
             "completed elsewhere, or before it began", start, call)
        if call.error == 0 and by(call) != "ncmpi_cancel":
            same(call.result, start.size or 0, "bytes of %s that %s has completed" % (start, call))
        ends[start.id] = call
for call in starts:
    must(call.id in ends, "never completed", call)
for call in calls:
    if call.function in ("MPI_Waitall", "MPI_Waitsome", "MPI_Testall", "MPI_Testsome"):
        same(call.result, sum(c.result for c in calls if c.cause is call and c.function == "completed"),
             "bytes of %s" % call)
END
}

# What has completed an operation: a call that waits for several has a record beneath it for each.
by='
def by(call):
    return call.cause.function if call.function == "completed" else call.function
'

nonblocking_check() {
	check_trace < <(echo "$by"; ends; cat <<'END'
PIECES = 8
for rank in ranks:
    found = Counter((start.function, by(ends[start.id])) for start in starts
                    if start.rank == rank and start.layer == "MPI")
    expected = Counter()
    for way in ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"):
        for direction in ("write", "read"):
            expected["MPI_File_i%s_at" % direction, "MPI_" + way] += PIECES
    for name in ("iwrite", "iread", "iwrite_at_all", "iread_at_all", "iwrite_all", "iread_all"):
        expected["MPI_File_" + name, "MPI_Wait"] += 1
    expected["MPI_File_iwrite_at", "MPI_Waitall"] += 1  # among messages
    same(found, expected, "operations of rank %d and what completes them" % rank)
    pieces = Counter((start.offset, start.size) for start in starts
                     if start.rank == rank and start.function == "MPI_File_iwrite_at")
    same(pieces, Counter({((p * len(ranks) + rank) * 256, 256): 8 + (p == 0) for p in range(PIECES)}), "pieces")
END
	)
}

split_check() {
	check_trace < <(echo "$by"; ends; cat <<'END'
for rank in ranks:
    pairs = Counter((start.function, ends[start.id].function) for start in starts
                    if start.rank == rank and start.layer == "MPI")
    names = ["MPI_File_%s_%s" % (d, k) for d in ("read", "write") for k in ("at_all", "all", "ordered")]
    same(pairs, Counter({(n + "_begin", n + "_end"): 1 for n in names}), "pairs of rank %d" % rank)
for start in starts:
    if start.layer == "MPI":
        must(ends[start.id].relation is start.relation, "another file", start)
END
	)
}

shared_check() {
	check_trace < <(echo "$by"; ends; cat <<'END'
for rank in ranks:
    same(Counter((start.function, by(ends[start.id])) for start in starts
                 if start.rank == rank and start.layer == "MPI"),
         Counter({("MPI_File_iwrite_shared", "MPI_Wait"): 1, ("MPI_File_iread_shared", "MPI_Wait"): 1}), "operations")
END
	)
}

# A separate thread completes each operation.
threads_check() {
	check_trace < <(echo "$by"; ends; cat <<'END'
for rank in ranks:
    mine = [start for start in starts if start.rank == rank and start.layer == "MPI"]
    same([start.function for start in mine], ["MPI_File_iwrite_at", "MPI_File_iread_at"], "operations")
    for start in mine:
        end = ends[start.id]
        same((by(end), end.thread != start.thread), ("MPI_Wait", True), "completed by, in another thread")
END
	)
}

pnetcdf_check() {
	check_trace < <(echo "$by"; ends; cat <<'END'
for rank in ranks:
    found = Counter((start.function, by(ends[start.id])) for start in starts
                    if start.rank == rank and start.layer == "PnetCDF")
    for pair in (("ncmpi_iput_vara_int", "ncmpi_wait_all"), ("ncmpi_iget_vara_int", "ncmpi_wait_all"),
                 ("ncmpi_bput_vara_int", "ncmpi_wait_all"), ("ncmpi_iput_vara_int", "ncmpi_wait"),
                 ("ncmpi_iput_var1_int", "ncmpi_cancel")):
        must(found[pair], "no %s is completed by %s" % pair, found)
END
	)
}

aio_check() {
	check_trace < <(echo "$by"; ends; cat <<'END'
PIECES, BYTES = 4, 2048
names = {"aio_write": PIECES, "aio_read": PIECES, "aio_fsync": 1}
same(Counter(start.function.replace("64", "") for start in starts), Counter(names), "operations")
for start in starts:
    end = ends[start.id]
    same(end.function.replace("64", ""), "aio_return", "what completes %s" % start)
    same(end.thread != start.thread, "fsync" not in start.function, "completed in another thread")
    same((base(start.relation), base(end.relation)), ("aio.dat", "aio.dat"), "files")
lists = [call for call in calls if call.function in LISTS]
same([call.size for call in lists], [PIECES * BYTES] * 2, "bytes of lists")
for call in lists:
    same([end.result for end in calls if end.relation2 is call], [BYTES] * PIECES, "what completes a list")
END
	)
}

inherits_check() {
	check_trace <<'END'
writes = {call.size: call for call in calls if call.function == "write" and base(call).startswith("inherits.dat")}
same(sorted(writes), list(range(1, 9)), "writes")
made = {1: ["open"], 2: ["dup", "open"], 3: ["dup2", "dup", "open"], 4: ["fcntl", "dup2", "dup", "open"],
        5: ["dup3", "open"], 6: ["dup3", "open"], 7: ["dup", "dup3", "open"], 8: ["open"]}
for size, names in made.items():
    chain, call = [], writes[size].relation
    while call:
        chain.append(call.function.replace("64", ""))
        call = call.relation
    same(chain, names, "calls that made the descriptor of write %d" % size)
same(len({writes[size].origin().id for size in range(1, 8)}), 1, "opens of the first file")
same([size for size in writes if writes[size].process != writes[1].process], [6, 7], "writes of the child")
same(base(writes[8]), "inherits.dat.other", "file of a number that was given away again")
END
}

for mpi in $(mpi_list); do
	for name in nonblocking split shared threads; do
		mpi_captured "$mpi" 2 $name
		"${name}_check"
	done
	if mpi_has "$mpi" pnetcdf; then
		mpi_captured "$mpi" 2 pnetcdf
		pnetcdf_check
	fi
done
for name in aio inherits; do
	mpi_has serial $name || continue
	case_begin $name
	both "$BUILD/mpi/serial/$name"
	check_eq "$captured_rc" 0 "$case: exit code"
	"${name}_check"
done

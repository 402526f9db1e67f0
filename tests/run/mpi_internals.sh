#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# With --messages or capture.messages, the messages that MPI sends inside file calls are recorded with size and peer,
# below the file call. Messages of the program itself are not recorded, and reports do not add these bytes to those of
# files. Without the option, no message is recorded.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip libmpich-dev
# OMPIO communicates with internal functions that cannot be recorded; ROMIO uses MPI functions.
export OMPI_MCA_io=$(romio)
ranks=3

cat >cases <<'END'
write contiguous 10000 0 0 0 2 4096 enable
read contiguous 10000 0 0 0 2 4096 enable
write strided 8192 512 1024 100 1 4096 automatic
write contiguous 3000 0 0 0 2 4096 automatic
END

# captured_as NAME MPI PROGRAM ARGUMENT...
captured_as() {
	local name=$1
	shift
	mpi_captured "$1" $ranks "${@:2}"
	"$sluice" report --json --top 1000 "$work/trace" >"$name.json"
}

# moved REPORT: prints the bytes that were read and written, in total and by MPI. The kernel's output that MPI reads
# at its start differs in size each time and is left out.
moved() {
	python3 - "$1" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["file_count"] == len(report["files"]), "files are left out"
asked = sum(f["bytes_read"] for f in report["files"] if f["file"].startswith(("/proc/", "/sys/")))
of = lambda row: (row["bytes_read"], row["bytes_written"])
print(report["io"]["bytes_read"] - asked, report["io"]["bytes_written"], [of(row) for row in report["layers"] if row["layer"] == "MPI"])
END
}

messages_check() {
	check_trace <<'END'
sent = [c for c in calls if c["class"] == "message"]
must(sent, "there are messages")
for c in sent:
    must(c.cause and c.cause.function.startswith("MPI_File_"), "a message outside of a call on a file", c, c.cause)
    must(c.layer == "MPI" and not c.error, "a message", c)
    same(c.rank, c.cause.rank, "rank of a message and its cause")

# Two of the three ranks are aggregators: the messages of each in the first access.
write = {c.rank: c for c in calls if c.function == "MPI_File_write_at_all" and base(c) == "collective.1"}
same(sorted(write), ranks, "ranks that write")
inside = {r: [c for c in sent if c.cause is write[r]] for r in ranks}
for r in ranks:
    names = Counter(c.function for c in inside[r])
    same(names["MPI_Allgather"], 2, "allgathers of rank %d" % r)
    # 30000 bytes, 15000 for each aggregator: four rounds.
    same(names["MPI_Alltoall"], 5, "alltoalls of rank %d" % r)
    same(names["MPI_Allreduce"], 2, "allreduces of rank %d" % r)
    must(all(c.size == 8 for c in inside[r] if c.function == "MPI_Allgather"), "sizes of allgathers")
    must(all(c.size == 4 for c in inside[r] if c.function == "MPI_Alltoall"), "sizes of alltoalls")

# All data is sent once to an aggregator and is received: tuples of (from, to, bytes).
def told(function, turn):
    return Counter(
        (c.flags, r, c.size) if turn else (r, c.flags, c.size)
        for r in ranks for c in inside[r] if c.function == function)
out, into = told("MPI_Isend", False), told("MPI_Irecv", True)
same(out, into, "messages sent and received")
must({to for _, to, _ in out} <= {0, 1}, "aggregators are ranks 0 and 1", out)
data = sum(size * n for (_, _, size), n in out.items())
# A pair of offset and length for each of the four parts.
same(data, 30000 + 4 * 16, "bytes in messages")

# The barriers of the program are not recorded.
must(not any(c.function == "MPI_Barrier" and not c.cause for c in calls), "a message of the program")
END
}

for mpi in $mpis; do
	if [ "$mpi" = openmpi ] && ! romio_heeds; then
		skip_case romio-hints openmpi
		continue
	fi
	unset SLUICE_CAPTURE_MESSAGES
	captured_as without "$mpi" collective "$work/cases"
	check_trace <<'END'
must(not any(c["class"] == "message" for c in calls), "nobody has asked for messages")
END
	export SLUICE_CAPTURE_MESSAGES=on
	captured_as with "$mpi" collective "$work/cases"
	messages_check
	"$sluice" print --tree --rank 0 "$work/trace" |
		grep -q '   ID.* MPI    .*MPI_Isend(MPI/quantity/BytesInMessage=.*, MPI/message/peer=0)' ||
		wrong "print does not show the messages"
	moved with.json >with && moved without.json >without || fail "$mpi: bytes of a report"
	check_eq "$(cat with)" "$(cat without)" "bytes in the report"

	# Calls that wait for pending file operations have their own messages, also with threads and in Fortran.
	for program in nonblocking shared threads fortran; do
		# Open MPI's ROMIO crashes in two of the programs, also without Sluice: sometimes if threads open files.
		[[ "$mpi $program" != "openmpi "@(nonblocking|threads) ]] && mpi_has "$mpi" "$program" || continue
		captured_as "$program" "$mpi" "$program"
		check_trace <<'END'
for c in calls:
    if c["class"] == "message":
        must(c.cause and (c.cause.function.startswith("MPI_File_") or c.cause["class"] == "wait"), "where", c, c.cause)
END
	done
done

# The option equals the setting, and only calls on files are counted.
mpi=${mpis%%[[:space:]]*}
unset SLUICE_CAPTURE_MESSAGES
check_rc 0 "$sluice" run --messages -o "$work/trace" -- "mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/collective" "$work/cases"
"$sluice" print --layer MPI "$work/trace" | grep -q MPI_Alltoall || wrong "run --messages has recorded none"
check_rc 0 "$sluice" run --messages --mode counters -o "$work/trace" -- \
	"mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/collective" "$work/cases"
! "$sluice" print "$work/trace" 2>/dev/null | grep -q MPI_Alltoall || wrong "messages in counters mode"
check_rc 2 "$sluice" --set capture.messages=some run -- true
check_has "$(cat err)" "capture.messages" "error of a wrong word"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Functions that only current versions of the libraries have: the large counts of MPI 4, and the datasets that HDF5 1.14
# transfers together or asynchronously. Programs that call them behave as without capture, and the trace has each call with
# the right number of bytes.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
mpis=$(mpi_list)
: >functions

# program MPI N NAME: the program succeeds without and with capture, prints the same and leaves nothing behind. The names of
# the functions in its trace are added to the file functions.
program() {
	local command
	case_begin "$*"
	mpi_order bare "$@"
	bare "${command[@]}"
	check_eq "$bare_rc" 0 "$case: exit code without capture, after $(tail -5 bare.err): exit code"
	mpi_order outside "$@"
	observed "${command[@]}"
	same_code
	check_eq "$(shown captured.out)" "$(shown bare.out)" "$case: output"
	check_eq "$(ls -A captured)" "" "$case: files left behind"
	check_trace "$2" <<'END'
same(ranks, list(range(int(arguments[0]))), "ranks")
with open("functions", "a") as f:
    print(*{call.function for call in calls}, sep="\n", file=f)
END
}

# The same numbers of calls and bytes as the program without _c has.
same_as_small() {
	local command
	check_trace <<'END'
moved = [c for c in calls if c.function.startswith("MPI_File_") and c.function.endswith("_c")]
same([str(c) for c in calls if c.function + "_c" in {m.function for m in moved}], [], "calls without _c")
with open("moved", "w") as f:
    for c in sorted((c.rank, c.function[:-2], c.size or 0, c.result or 0) for c in moved):
        print(*c, file=f)
END
	mv moved moved_c
	mpi_order outside "$1" "$2" "$3"
	observed "${command[@]}"
	check_eq "$captured_rc" 0 "$case: exit code without large counts"
	check_trace <<'END'
with open("moved_c") as f:
    names = {line.split()[1] for line in f}
with open("moved", "w") as f:
    for c in sorted((c.rank, c.function, c.size or 0, c.result or 0) for c in calls if c.function in names):
        print(*c, file=f)
END
	[ -s moved ] || wrong "nothing was compared"
	diff moved moved_c >difference || wrong "calls and bytes differ from those without large counts: $(head -5 difference)"
}

# What the program says of its transfers is what was recorded. Counts are above 2^31, and the result is exact.
large_check() {
	check_trace captured.out <<'END'
with open(arguments[0]) as f:
    said = [tuple(line.split()) for line in f]
same(len(said), 2, "lines of the program")
for function, size in said:
    found = [c for c in calls if c.function == function]
    same([(c.size, c.result) for c in found], [(int(size), int(size))], function)
    must(int(size) > 2**31, "the count is not large")
    inner = [c for c in calls if c.layer == "POSIX" and found[0] in c.causes() and c["class"] == found[0]["class"]]
    same(sum(c.result for c in inner), int(size), "bytes below " + function)
    must(len(inner) > 1, "one system call cannot move that much")
END
}

# Every function of mpi.h with a large count is called by one of the programs and recorded.
large_functions_recorded() {
	local names name
	case_begin "functions of $1"
	echo '#include <mpi.h>' >all.c
	names=$("mpicc.$1" -E all.c | grep -oE '\<MPI_File_[a-z0-9_]+_c *\(' | tr -d ' (' | sort -u)
	[ "$(echo "$names" | wc -l)" -ge 29 ] || wrong "mpi.h has only these: $names"
	for name in $names; do
		grep -qx "$name" functions || wrong "$name is not recorded"
	done
}

# Every wrapped function of HDF5 1.14 that transfers several datasets or is asynchronous is called by the program and
# recorded, except those that the arguments name.
async_functions_recorded() {
	local name
	case_begin "functions of HDF5"
	sed -nE 's/.*\<(H5[A-Z]+[a-z][A-Za-z_]*_(async|multi))\(.*/\1/p' "$SOURCE/src/capture/interfaces/hdf5.h" | sort -u >wrapped
	sed -nE 's/.*\<(H5[A-Z]+[a-z][A-Za-z_]*_(async|multi))\(.*/\1/p' "$mpi_source/multi.c" | sort -u >called
	[ "$(wc -l <wrapped)" -ge 40 ] || wrong "only these are wrapped: $(cat wrapped)"
	while read -r name; do
		[ "$name" != H5Pset_fapl_multi ] || continue
		grep -qx "$name" called || wrong "no program calls $name"
		[ "$name" != H5Tclose_async ] || continue # is followed, but not recorded
		[[ " $* " != *" $name "* ]] || continue
		grep -qx "$name" functions || wrong "$name is not recorded"
	done <wrapped
}

# multi_check: each transfer has the bytes that the program prints; several datasets are one call with the sum of their
# bytes, and the data reaches the file.
multi_check() {
	check_trace captured.out "$1" <<'END'
wanted = defaultdict(list)
with open(arguments[0]) as f:
    for line in f:
        rank, function, size = line.split()
        wanted[int(rank)].append((function, int(size)))
parallel = arguments[1] != "serial"
same(sorted(wanted), ranks if parallel else [0], "ranks that print")
for rank, said in wanted.items():
    mine = [c for c in calls if c.layer == "HDF5" and (not parallel or c.rank == rank)]
    moves = [c for c in mine if c["class"] in ("read", "write")]
    same([(c.function, c.size) for c in moves], said, "transfers of rank %d" % rank)
    same([c.result for c in moves], [size for _, size in said], "results of rank %d" % rank)
    # The first dataset names the file and the handle of a call with several. A reference does not name its file.
    for c in moves:
        must(c.relation and (base(c) == "multi.h5" or c.relation.function == "H5Ropen_object_async"),
             "the transfer has no file or dataset", c)
    sets = [c for c in mine if c.function in ("H5Dcreate2", "H5Dcreate_async")]
    same(Counter(c.name for c in sets), Counter(("whole", "real", "tiny")), "datasets that were created")
    both = [c for c in moves if "multi" in c.function]
    same(len(both), 6, "calls with several datasets")
    for c in both:
        must(c.relation.function in ("H5Dcreate2", "H5Dcreate_async"), "not linked to a dataset", c, c.relation)
    waits = [c for c in mine if c.function == "H5ESwait"]
    must(waits and all(c["class"] == "wait" for c in waits), "waits")
written = sum(c.result for c in calls if c.layer == "POSIX" and c["class"] == "write" and base(c) == "multi.h5")
data = len(wanted) * max(size for said in wanted.values() for _, size in said)
must(written >= data, "only %d bytes of %d reached the file" % (written, data))
END
}

for mpi in $mpis; do
	if mpi_has "$mpi" large; then
		for name in blocking nonblocking shared split; do
			program "$mpi" 3 ${name}_c
			same_as_small "$mpi" 3 $name
		done
		# MPICH before 4.1 has the functions, but aborts if a count is large.
		if mpi_run "$mpi" 1 large 2>&1 | grep -q "Assertion .count <= INT_MAX. failed"; then
			skip_case large-counts "$mpi: counts above 2^31"
		else
			program "$mpi" 1 large
			large_check
			large_functions_recorded "$mpi"
		fi
	else
		skip_case large-counts "$mpi"
	fi
	: >functions
	if mpi_has "$mpi" multi; then
		program "$mpi" 3 multi
		multi_check "$mpi"
		async_functions_recorded H5Oflush_async H5Orefresh_async
	else
		skip_case hdf5-1.14 "HDF5 for $mpi"
	fi
	: >functions
done

if mpi_has serial multi; then
	case_begin "multi without MPI"
	both "$BUILD/mpi/serial/multi"
	check_eq "$captured_rc" 0 "$case: exit code"
	check_trace <<<'
with open("functions", "a") as f:
    print(*{call.function for call in calls}, sep="\n", file=f)'
	multi_check serial
	async_functions_recorded
else
	skip_case hdf5-1.14 "HDF5 without MPI"
fi

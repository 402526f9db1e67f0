#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The parallel programs and kernels with every installed MPI, without and with capture: they succeed; exit code,
# output and files do not differ; nothing is left behind; and the trace holds all ranks with their nested calls.
# SLUICE_LONG=1 uses 64 ranks.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip libmpich-dev
many=${long:+64}

# differ_in_nothing RC MPI N PROGRAM ARGUMENT...: runs without and with capture do not differ and have this exit code
differ_in_nothing() {
	local rc=$1 command
	shift
	case_begin "$*"
	mpi_order bare "$@"
	bare "${command[@]}"
	check_eq "$bare_rc" "$rc" "$case: exit code without capture, after $(tail -5 bare.err): exit code"
	mpi_order outside "$@"
	observed "${command[@]}"
	same_code
	check_eq "$(shown captured.out)" "$(shown bare.out)" "$case: output"
	check_eq "$(shown captured.err)" "$(shown bare.err)" "$case: errors"
	same_files
}

# These checks hold for every program that succeeds. The names of its MPI functions are written to the file functions.
ranks_check() {
	check_trace "$1" "$work/here/" <<'END'
same(ranks, list(range(int(arguments[0]))), "ranks")
for rank in ranks:
    mine = [call for call in calls if call.rank == rank]
    for name in (("MPI_Init", "MPI_Init_thread"), ("MPI_Finalize",)):
        same(sum(call.function in name for call in mine), 1, "%s on rank %d" % (name[0], rank))
    for call in mine:
        outer = call.cause
        if not outer:
            continue
        must(outer.rank == rank and outer.thread == call.thread, "caused by another thread", call, outer)
        # The calls of a plug-in after a call have that call as their cause.
        if call.function == "posix_fadvise" and call.start_ns >= outer.start_ns + outer.duration_ns:
            continue
        must(outer.start_ns <= call.start_ns and
             call.start_ns + call.duration_ns <= outer.start_ns + outer.duration_ns, "not within its cause", call, outer)
    # None of the programs reads or writes files by itself.
    for call in mine:
        if call.layer in ("POSIX", "STDIO") and call["class"] in ("read", "write") and call.file and \
           call.file.startswith(arguments[1]):
            must(call.cause, "no library has done this", call)
with open("functions", "a") as f:
    print(*{call.function for call in calls if call.layer == "MPI"}, sep="\n", file=f)
END
}

# program MPI N NAME ARGUMENT...: the program succeeds and leaves nothing behind
program() {
	mpi_has "$1" "$3" || return 0
	differ_in_nothing 0 "$@"
	check_eq "$(ls -A captured)" "" "$case: files left behind"
	ranks_check "$2"
}

# The layouts of datasets are those that the program creates them with. Questions about datasets could make HDF5 read metadata
# collectively, while only some ranks ask.
layouts_check() {
	check_trace <<'END'
for rank in ranks:
    layouts = [call for call in calls if call.rank == rank and call.function == "H5D_layout"]
    same([call.relation.function for call in layouts], ["H5Dcreate2"], "layouts on rank %d" % rank)
END
}

# MPI_THREAD_MULTIPLE: each thread has its own file, and its records are nested in its own calls.
threads_check() {
	check_trace <<'END'
for rank in ranks:
    files = defaultdict(list)
    for call in calls:
        if call.rank == rank and base(call).startswith("threads."):
            files[base(call)].append(call)
    owners = set()
    for t in range(4):
        own = files["threads.%d.%d" % (rank, t)]
        threads = {call.thread for call in own}
        same(len(threads), 1, "threads of file %d" % t)
        owners |= threads
        for name in ("MPI_File_write_at", "MPI_File_read_at"):
            same(Counter((call.offset, call.result) for call in own if call.function == name),
                 Counter((i * 256, 256) for i in range(20)), name)
        data = [call for call in own if call.layer == "POSIX" and call["class"] in ("read", "write")]
        for call in data:
            outer = call.cause_in("MPI")
            must(outer and base(outer) == base(call) and outer.thread == call.thread and
                 outer.offset == call.offset and outer["class"] == call["class"], "in another thread's call", call, outer)
        must(len(data) >= 40, "only %d reads and writes" % len(data))
    same(len(owners), 4, "threads on rank %d" % rank)
END
}

# Every function of MPI 3.1 for files is called by one of the programs and recorded. Names with _c are new in MPI 4.
all_functions_recorded() {
	local names name
	case_begin "functions of $1"
	echo '#include <mpi.h>' >all.c
	names=$("mpicc.$1" -E all.c | grep -oE '\<MPI_File_[a-z0-9_]+ *\(' | tr -d ' (' |
		grep -vE '_c$|_fn$|_function$' | sort -u)
	[ "$(echo "$names" | wc -l)" -ge 61 ] || wrong "mpi.h has only these: $names"
	for name in $names; do
		grep -q "\<$name(" "$mpi_source"/*.c || wrong "no program calls $name"
		case $name in
		MPI_File_c2f | MPI_File_f2c) ;; # only change the type of a handle
		*) grep -qx "$name" functions || wrong "$name is not recorded" ;;
		esac
	done
	rm functions
}

# One rank ends abnormally: the launcher ends the others, and the data that was written is complete and in the trace.
# If a rank exits without MPI_Finalize, MPICH's launcher reports success or failure at random.
endings() {
	local how command
	local -x OMPI_MCA_orte_allowed_exit_without_sync=0
	for how in abort killed nofinalize; do
		case_begin "$1: ends $how"
		mpi_order outside "$1" 4 ends $how
		observed "${command[@]}"
		case $how,$captured_rc in
		abort,7 | killed,9 | killed,137 | nofinalize,[0-9]) ;;
		*) wrong "exit code $captured_rc: $(cat captured.err)" ;;
		esac
		check_rows 4 'function == "MPI_File_write_at_all" and size == 4096 and result == 4096'
		(cd captured && mpi_run "$1" 4 ends check) || wrong "what was written is not there"
	done
}

levels() {
	differ_in_nothing 0 "$1" 3 levels -b 1000 -n 7 -H cb_buffer_size=65536
	check_eq "$(grep -c '^levels level=.* bytes=21000 open_s=.* seconds=.* mib_per_s=[0-9]' captured.out)" 8 "lines of levels"
	ranks_check 3
	differ_in_nothing 0 "$1" 2 levels -F -n 4 -l collective-noncontiguous -l independent-contiguous
	check_eq "$(grep -c ' direction=read ' captured.out)" 2 "levels that were chosen"
	# Data of another size is reported as wrong.
	differ_in_nothing 0 "$1" 2 levels -b 1000 -n 8 -d write -k -f kept
	check_eq "$(stat -c %s captured/kept)" 16000 "size of what is kept"
	cp captured/kept kept
	check_rc 0 mpi_run "$1" 2 levels -b 1000 -n 8 -d read -f kept
	printf x | dd of=kept bs=1 seek=7777 conv=notrunc status=none
	differ_in_nothing 1 "$1" 2 levels -b 1000 -n 8 -d read -f "$work/kept"
	check_words "$(cat captured.err)" "rank 1" independent-contiguous read "$work/kept" "byte 7777"
	# One rank that fails ends the others at once, with an error message.
	mkdir levels.dat.1
	differ_in_nothing 1 "$1" 3 levels -F -f "$work/levels.dat"
	check_words "$(cat captured.err)" "rank 1" independent-contiguous write "$work/levels.dat.1" open
	rm -rf levels.dat.*
	check_rc 2 mpi_run "$1" 2 levels -l fast
	check_words "$(cat err)" levels --level '"fast"'
	check_rc 2 mpi_run "$1" 2 levels -H cb_nodes
	check_words "$(cat err)" '"cb_nodes"' KEY=VALUE
	check_rc 0 mpi_run "$1" 1 levels --help
	check_has "$(cat out)" "--file-per-process"
}

# mpi_chain.sh compares the data.
vpic_io() {
	mpi_has "$1" vpic_io || return 0
	differ_in_nothing 1 "$1" 2 vpic_io -f no/such/folder.h5
	check_has "$(cat captured.err)" "vpic_io: rank 0: no/such/folder.h5: "
	differ_in_nothing 2 "$1" 2 vpic_io -n 0
}

for mpi in $mpis; do
	for name in alone blocking communicators fortran hdf5 netcdf nonblocking pnetcdf shared split; do
		program "$mpi" 4 $name
		[ $name != alone ] || ! mpi_has "$mpi" alone || layouts_check
	done
	program "$mpi" 2 threads
	threads_check
	program "$mpi" "${many:-16}" many
	all_functions_recorded "$mpi"
	endings "$mpi"
	levels "$mpi"
	vpic_io "$mpi"
done
# The second MPI-IO implementation of Open MPI shares its code with MPICH.
export OMPI_MCA_io=$(romio)
program openmpi 3 blocking
unset OMPI_MCA_io

if mpi_has serial uring; then
	case_begin uring
	both "$BUILD/mpi/serial/uring"
	case $captured_rc in
	0 | 77) ;;
	*) wrong "exit code $captured_rc: $(cat captured.err)" ;;
	esac
fi

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The parallel programs do what they say under every MPI of this machine, and leave nothing behind. SLUICE_LONG=1
# takes 64 ranks where there are many.
long=${SLUICE_LONG:-}
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip "there is no MPI"
many=${long:+64}

# in_folder COMMAND...: runs in a folder of its own, which must be empty afterwards
in_folder() {
	mkdir folder
	cd folder
	"$@"
	cd "$work"
	rmdir folder 2>/dev/null || fail "\"$*\" leaves $(ls folder)"
}

# program MPI N NAME ARGUMENT...: must succeed
program() {
	mpi_has "$1" "$3" || return 0
	in_folder check_rc 0 mpi_run "$@"
}

# Every function of MPI 3.1 for files is called by one of the programs. What ends in _c came with MPI 4.
all_functions_called() {
	local names name
	echo '#include <mpi.h>' >all.c
	names=$("mpicc.$1" -E all.c | grep -oE '\<MPI_File_[a-z0-9_]+ *\(' | tr -d ' (' |
		grep -vE '_c$|_fn$|_function$' | sort -u)
	[ "$(echo "$names" | wc -l)" -ge 61 ] || fail "mpi.h of $1 has only these: $names"
	for name in $names; do
		grep -q "\<$name(" "$mpi_source"/*.c || fail "no program calls $name"
	done
}

# One rank ends in a way that it should not: the launcher ends the others, and what was written stays. Of a rank
# that leaves without MPI_Finalize, MPICH's launcher makes now a success and now a failure.
endings() {
	local rc how
	for how in abort killed nofinalize; do
		rc=0
		mpi_run "$1" 4 ends $how >out 2>err || rc=$?
		case $how,$rc in
		abort,7 | killed,9 | killed,137 | nofinalize,[0-9]) ;;
		*) fail "ends $how under $1: exit code $rc: $(cat err)" ;;
		esac
		check_rc 0 mpi_run "$1" 4 ends check
	done
}

levels() {
	check_rc 0 mpi_run "$1" 3 levels -b 1000 -n 7 -H cb_buffer_size=65536
	check_eq "$(grep -c '^levels level=.* bytes=21000 seconds=.* mb_per_s=[0-9]' out)" 8 "lines of levels"
	check_rc 0 mpi_run "$1" 2 levels -F -n 4 -l collective-noncontiguous -l independent-contiguous
	check_eq "$(grep -c ' direction=read ' out)" 2 "levels that were chosen"
	# Data of another size is not what is expected there.
	check_rc 0 mpi_run "$1" 2 levels -b 1000 -n 8 -d write -k -f kept
	check_rc 0 mpi_run "$1" 2 levels -b 1000 -n 8 -d read -f kept
	printf x | dd of=kept bs=1 seek=7777 conv=notrunc status=none
	check_rc 1 mpi_run "$1" 2 levels -b 1000 -n 8 -d read -f kept
	check_has "$(cat err)" "levels: rank 1: independent-contiguous read of kept: byte 7777 is not what was written"
	rm kept
	# One rank that fails takes the others along, at once and with a sentence.
	mkdir levels.dat.1
	check_rc 1 mpi_run "$1" 3 levels -F
	check_has "$(cat err)" "levels: rank 1: independent-contiguous write of levels.dat.1: open: "
	rmdir levels.dat.1
	check_rc 2 mpi_run "$1" 2 levels -l fast
	check_has "$(cat err)" "levels: --level: there is no \"fast\""
	check_rc 2 mpi_run "$1" 2 levels -H cb_nodes
	check_has "$(cat err)" "\"cb_nodes\" is not KEY=VALUE"
	check_rc 0 mpi_run "$1" 1 levels --help
	check_has "$(cat out)" "--file-per-process"
}

# The same values give the same file, however they got there and whichever MPI wrote it.
vpic_io() {
	local transfer
	mpi_has "$1" vpic_io || return 0
	for transfer in collective independent; do
		check_rc 0 mpi_run "$1" 4 vpic_io -n 5000 -s 2 -t $transfer --verify
		check_eq "$(grep -c "^vpic_io transfer=$transfer ranks=4 .* bytes=1280000 .* seconds=" out)" 1 "result lines"
		[ -e first.h5 ] || cp vpic.h5 first.h5
		cmp vpic.h5 first.h5 || fail "vpic_io $transfer under $1 wrote another file"
	done
	rm vpic.h5
	check_rc 1 mpi_run "$1" 2 vpic_io -f no/such/folder.h5
	check_has "$(cat err)" "vpic_io: rank 0: no/such/folder.h5: "
	check_rc 2 mpi_run "$1" 2 vpic_io -n 0
}

for mpi in $mpis; do
	all_functions_called "$mpi"
	for name in blocking communicators fortran hdf5 netcdf nonblocking pnetcdf shared split; do
		program "$mpi" 4 $name
	done
	program "$mpi" 2 threads
	program "$mpi" "${many:-16}" many
	endings "$mpi"
	levels "$mpi"
	vpic_io "$mpi"
done
# Open MPI's second way to do MPI-IO is the one that shares its code with MPICH.
export OMPI_MCA_io=romio321
program openmpi 3 blocking
unset OMPI_MCA_io

for name in aio hdf5 netcdf; do
	mpi_has serial $name && in_folder check_rc 0 "$BUILD/mpi/serial/$name"
done
if mpi_has serial uring; then
	rc=0
	"$BUILD/mpi/serial/uring" 2>err || rc=$?
	case $rc in
	0 | 77) ;;
	*) fail "uring: exit code $rc: $(cat err)" ;;
	esac
fi

python=$(mpi_of_python || true)
if [ -n "$python" ]; then
	in_folder check_rc 0 mpi_run "$python" 2 /usr/bin/python3 "$mpi_source/mpi4py_io.py"
	/usr/bin/python3 -c 'import h5py' 2>/dev/null || skip "there is no h5py"
	in_folder check_rc 0 /usr/bin/python3 "$mpi_source/h5py_io.py"
	in_folder check_rc 0 mpi_run "$python" 2 /usr/bin/python3 "$mpi_source/h5py_io.py" mpio
fi

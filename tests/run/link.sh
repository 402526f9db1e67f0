#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One annotated header gives two kinds of wrappers: preloaded, and linked with ld --wrap. Both record the same calls
# of a program.
# Papers: SIOX-21, SIOX-22, SIOX-25, SIOX-AC-1.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
flags=$BUILD/sluice-link.flags
archive=$BUILD/libsluice-link.a
sources=$(cd "$(dirname "$0")/.." && pwd)
cc=${CC:-cc}

# calls TRACE FUNCTION-REGEX: prints the outermost calls and their values, without values that differ from run to run
calls() {
	"$sluice" print --csv "$1" | python3 -c 'import csv, sys
print("\n".join(row["id"] for row in csv.DictReader(sys.stdin) if row["cause"]))' >nested
	"$sluice" print "$1" | awk 'NR == FNR { nested[$1]; next } !($2 in nested)' nested - | sed -E 's/^[0-9.]+ +ID[0-9:.]+ +//' |
		sed -E 's/filehandle=[0-9]+/filehandle=H/; s/(mmap.*)result=[0-9]+/\1result=R/; s/ ID[0-9:. ID]+$/ LINKED/; s/collective=[0-9a-f]+/collective=C/' | grep -E "$2"
}

same() { # what preloaded-trace linked-trace function-regex least
	calls "$2" "$4" >preloaded.txt
	calls "$3" "$4" >linked.txt
	[ "$(wc -l <preloaded.txt)" -ge "$5" ] || fail "$1: only $(wc -l <preloaded.txt) calls: $(cat preloaded.txt)"
	diff preloaded.txt linked.txt >difference || fail "$1: the traces differ: $(cat difference)"
}

# Dynamic and static programs record their own calls. A static program also shows the calls that libc makes below a
# stream.
own='^(POSIX|STDIO) +(open|write|pwrite|lseek|read|dup|fsync|mmap|munmap|close|fopen|fread|fseek|fprintf|fclose|unlink)\('
$cc -O2 -o linked "$sources/prog/linked.c" "@$flags" "$archive" 2>messages || fail "cannot link: $(cat messages)"
check_eq "$(cat messages)" "" "messages of the linker"
$cc -O2 -static -o static "$sources/prog/linked.c" "@$flags" "$archive" 2>messages || fail "cannot link: $(cat messages)"
check_rc 0 "$sluice" run -o preload.sluice "$prog/linked" file
check_rc 0 "$sluice" run --linked -o linked.sluice ./linked file
same "dynamic" preload.sluice linked.sluice "$own" 18
check_rc 0 "$sluice" run -o static.sluice ./static file
check_eq "$(cat err)" "" "warnings about a static program that has the wrappers"
same "static" preload.sluice static.sluice "$own" 18
check_has "$("$sluice" print --tree static.sluice)" "    read(" "calls of libc below a stream"

# Files of a static program can be placed in other directories and are removed from there.
mkdir d0
echo "{\"schema\": \"sluice.params/1\", \"parameters\": [{\"name\": \"spread_directories\", \"value\": \"$work/d0\"}]}" >spread.json
SLUICE_PARAMS_ALLOW=semantics check_rc 0 "$sluice" run -p spread.json -o static.sluice ./static file
check_has "$("$sluice" report static.sluice | grep '^  spread_directories ')" " $work/d0  $work/d0 " "files of a static program"
check_eq "$(ls d0)" "" "files that a static program leaves behind"

# If both are present, only the preloaded library records. It sees the calls of linked wrappers under the names of the
# functions with a va_list.
check_rc 0 "$sluice" run -o both.sluice ./linked file
same "both" preload.sluice both.sluice "${own/fprintf|/}" 17
check_eq "$("$sluice" print both.sluice | grep -c ' pwrite(')" 1 "records of one call"

# Without `sluice run` nothing is recorded, and the program behaves the same.
check_rc 0 ./static file
check_rc 0 ./linked file

# MPI-IO under each MPI: both kinds of wrappers record position, bytes, the link to the open and the error value. The
# program does not refer to the libraries that have wrappers but are missing (HDF5, NetCDF).
for mpi in $(mpi_list); do
	"mpicc.$mpi" -O2 -I"$sources/mpi" -o blocking "$sources/mpi/blocking.c" "@$flags" "$archive" 2>messages ||
		fail "$mpi: cannot link: $(cat messages)"
	check_eq "$(cat messages)" "" "messages of the linker under $mpi"
	check_rc 0 "$sluice" run -o preload.sluice -- mpiexec."$mpi" -n 1 "$BUILD/mpi/$mpi/blocking"
	check_rc 0 "$sluice" run --linked -o linked.sluice -- mpiexec."$mpi" -n 1 ./blocking
	# Only preloading records what the library does inside such a call.
	same "$mpi" preload.sluice linked.sluice '^MPI +MPI_File_(read|write|open|close|seek|set_view|delete)' 10
	check_has "$(cat linked.txt)" "MPI_File_write_at(MPI/quantity/BytesToWrite=" "position and bytes under $mpi"
	check_has "$(grep "MPI_File_write_at(" linked.txt)" "LINKED" "link to the open under $mpi"
	# Messages of the program are not recorded, even if messages are requested.
	check_rc 0 "$sluice" run --linked --messages -o asked.sluice -- mpiexec."$mpi" -n 1 ./blocking
	same "$mpi with messages" linked.sluice asked.sluice '^MPI ' 10
done

# If MPI itself is a static archive, its internal calls are recorded, too: exactly the messages that the model counts.
archive_mpi=$($cc -print-file-name=libmpich.a)
if [ -e "$archive_mpi" ] && needs=$(pkg-config --static --libs-only-l mpich 2>/dev/null); then
	# shellcheck disable=SC2046,SC2086
	$cc -O2 -I"$sources/mpi" $(pkg-config --cflags mpich) -o collective "$sources/mpi/collective.c" "@$flags" \
		-Wl,--start-group "$archive" "$archive_mpi" -Wl,--end-group ${needs//-lmpich/} 2>messages ||
		fail "MPICH as an archive: cannot link: $(cat messages)"
	printf '%s contiguous 10000 0 0 0 2 4096 enable\n' write read >cases
	check_rc 0 "$sluice" run --linked --messages -o linked.sluice -- mpiexec.mpich -n 2 ./collective "$work/cases"
	check_eq "$("$prog/internals" linked.sluice cases 2)" "equal 2 of 2" "messages of MPICH as an archive"
fi

# Linked wrappers apply parameters, too; here in a program with a serial HDF5.
if flags_hdf5=$(pkg-config --cflags --libs hdf5-serial 2>/dev/null); then
	# shellcheck disable=SC2086
	$cc -O2 -I"$sources/mpi" -o inject "$sources/mpi/inject.c" "@$flags" "$archive" $flags_hdf5 2>messages ||
		fail "HDF5: cannot link: $(cat messages)"
	echo '{"schema": "sluice.params/1", "parameters": [{"name": "alignment", "value": "0,65536"}, {"name": "chunk_size", "value": 2048}]}' >params.json
	check_rc 0 "$sluice" run --linked -p params.json -o linked.sluice ./inject a.h5
	check_has "$(cat out)" "a.h5 access alignment=0,65536 " "parameters of a linked program"
	check_has "$(cat out)" "a.h5 grid chunk=1,512 " "parameters of a linked program"
fi

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Libraries can be linked, called from Fortran, loaded privately by Python, loaded late, or loaded twice. Their calls
# are recorded in all cases, Sluice loads no library itself, and SLUICE_DISABLE=1 disables recording.
# Papers: SIOX-AC-18.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
serial=$BUILD/mpi/serial

case_begin "libsluice needs no library but libc"
needed=$(readelf -d "$BUILD/libsluice.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ] || wrong "readelf shows nothing"
for name in $needed; do
	case $name in
	libc.so.* | ld-linux* | libdl.so.* | libpthread.so.*) ;;
	*) wrong "libsluice needs $name" ;;
	esac
done

# has_called RANKS NAME...: every rank (with 0: the program) has called each function without an error
has_called() {
	check_trace "$@" <<'END'
same(ranks, list(range(int(arguments[0]))), "ranks")
for rank in ranks or [None]:
    called = {call.function for call in calls if call.rank == rank and call.error == 0}
    for name in arguments[1:]:
        must(name in called, "rank %s has not called %s" % (rank, name), sorted(called))
END
}

for mpi in $(mpi_list); do
	mpi_has "$mpi" fortran || continue
	case_begin "Fortran, $mpi"
	mpi_order outside "$mpi" 2 fortran
	observed "${command[@]}"
	check_eq "$captured_rc" 0 "$case: exit code"
	has_called 2 MPI_Init MPI_File_{open,write_at_all,iwrite_at,set_view,write,read_at,get_size,close} MPI_Wait MPI_Finalize
	# One name may call the other; each call is recorded once.
	check_rows 2 'function == "MPI_File_write_at_all" and result == 1024'
	check_rows 2 'function == "MPI_File_write" and result == 1024 and of(relation)["function"] == "MPI_File_open"'

	case_begin "$mpi: recording is disabled"
	mpi_order bare "$mpi" 2 fortran
	rm -rf trace captured
	mkdir captured
	check_rc 0 env -C captured SLUICE_DISABLE=1 "$sluice" run -o "$work/trace" -- "${command[@]}"
	[ ! -e trace ] || wrong "there is a trace"
done

# Without MPI: the loader reports every library that is loaded.
for name in hdf5 netcdf; do
	mpi_has serial $name || continue
	case_begin "serial $name"
	bare "$serial/$name"
	LD_DEBUG=files LD_DEBUG_OUTPUT=$work/loaded captured "$serial/$name"
	same_code
	check_eq "$captured_rc" 0 "$case: exit code"
	grep -q "libhdf5.*\.so" loaded.* || wrong "the loader does not report the libraries"
	if ldd "$serial/$name" | grep -q libmpi; then
		skip_case libhdf5-dev "$case: the library on this machine needs MPI"
	elif grep -l "libmpi" loaded.*; then
		wrong "MPI is loaded"
	fi
	rm loaded.*
	check_rows 0 'layer == "MPI"'
	case $name in
	hdf5) has_called 0 H5Fcreate H5Dcreate2 H5Dwrite H5Dread H5Gcreate2 H5Acreate2 H5Awrite H5Fclose ;;
	netcdf) has_called 0 nc_create nc_enddef nc_put_vara_int nc_get_var_int nc_close ;;
	esac
done

# handles_check: two copies of HDF5 use the same ids at the same time
handles_check() {
	check_trace <<'END'
made = [call for call in calls if call.function in ("H5Fcreate", "H5Dcreate2")]
same([call.function for call in made], ["H5Fcreate", "H5Dcreate2"] * 2, "calls that make handles")
same(made[0].result % (1 << 40), made[2].result % (1 << 40), "the copies do not even have the same ids")
for i, (name, numbers) in enumerate((("a.h5", 100), ("b.h5", 200))):
    file, dataset = made[2 * i : 2 * i + 2]
    must(dataset.relation is file and base(file) == name and dataset.name == name, "another file", dataset, file)
    used = [call for call in calls if call.relation is dataset]
    same([(call.function, call.size or 0) for call in used],
         [("H5Dwrite", 4 * numbers)] * 2 + [("H5Dclose", 0)], "calls on the dataset of %s" % name)
    same({base(call) for call in used}, {name}, "files")
    same([call.function for call in calls if call.relation is file and call.function == "H5Fclose"], ["H5Fclose"], "ends")
written = [call for call in calls if call.layer == "POSIX" and call["class"] == "write" and base(call) in ("a.h5", "b.h5")]
must(written, "nothing is written")
for call in written:
    outer = call.cause_in("HDF5")
    must(outer and base(outer) == base(call), "written by the call of another copy", call, outer)
END
}

for mpi in $(mpi_list); do
	[ -e "$BUILD/mpi/$mpi/module.so" ] && [ -e "$serial/module.so" ] || continue
	case_begin "two copies of HDF5, serial and $mpi"
	both "$serial/loader" two "$serial/module.so" "$BUILD/mpi/$mpi/module.so"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	handles_check
done

# library_of PROGRAM NAME: prints the path of a library that a program needs
library_of() {
	ldd "$1" | awk -v name="$2" 'index($1, name) == 1 { print $3; exit }'
}

if mpi_has serial hdf5; then
	hdf5=$(library_of "$serial/hdf5" libhdf5)
	case_begin "HDF5 loaded late"
	both "$serial/loader" late "$hdf5"
	check_eq "$captured_rc" 0 "$case: exit code"
	check_rows 1 'function == "H5Fcreate" and file == "late.h5"'
	check_rows 1 'function == "H5Fclose" and of(relation)["function"] == "H5Fcreate"'
	# Functions that a program gets from the library itself are not wrapped; the calls below are recorded.
	case_begin "HDF5 called directly"
	both "$serial/loader" direct "$hdf5"
	check_eq "$captured_rc" 0 "$case: exit code"
	check_least 1 'file == "late.h5" and function in ("write", "pwrite", "pwrite64")'
fi
for mpi in $(mpi_list); do
	case_begin "$mpi loaded late"
	both "$serial/loader" late "$(library_of "$BUILD/mpi/$mpi/blocking" libmpi)"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	check_rows 1 'function == "MPI_Init" and rank == "0" and error == 0'
	check_rows 1 'function == "MPI_Finalize" and rank == "0" and error == 0'
	# The calls of a child that was forked inside MPI_Init have a cause in the parent.
	check_trace <<'END'
END
done

# Python modules that were built for one MPI load it themselves.
mpi=$(mpi_of_python || true)
[ -n "$mpi" ] && command -v "mpiexec.$mpi" >/dev/null || skip python3-mpi4py

# from_python N SCRIPT ARGUMENT...
from_python() {
	local n=$1
	shift
	case_begin "$*, $n ranks"
	command=(/usr/bin/python3 -B "$mpi_source/$1" "${@:2}")
	[ "$n" = 0 ] || command=("mpiexec.$mpi" -n "$n" "${command[@]}")
	both "${command[@]}"
	check_eq "$captured_rc" 0 "$case: exit code"
	check_eq "$(ls -A captured)" "" "$case: files left behind"
}

from_python 2 mpi4py_io.py
has_called 2 MPI_Init_thread MPI_File_{open,write_at,write_at_all,iwrite_at,set_view,write,read_at,sync,get_size,close} \
	MPI_Wait MPI_Finalize
check_rows 2 'function == "MPI_File_write_at" and result == 1024 and of(relation)["function"] == "MPI_File_open"'
/usr/bin/python3 -c 'import h5py' 2>/dev/null || skip python3-h5py
from_python 0 h5py_io.py
check_least 1 'function == "H5Dwrite" and result == 2048 and file == "h5py.h5"'
check_least 1 'function == "H5Dread" and result == 2048 and file == "h5py.h5"'
from_python 2 h5py_io.py mpio
check_trace <<'END'
same(ranks, [0, 1], "ranks")
for rank in ranks:
    mine = [call for call in calls if call.rank == rank and base(call) == "h5py-mpio.h5"]
    written = [call for call in mine if call.layer == "MPI" and call.function.startswith("MPI_File_write")]
    must(any(call.cause_in("HDF5") and call.cause_in("HDF5").function == "H5Dwrite" for call in written),
         "no H5Dwrite of rank %d writes by MPI" % rank, *mine[:9])
    for call in mine:
        if call.function in ("write", "pwrite", "pwrite64"):
            must(call.cause_in("MPI") and call.cause_in("HDF5"), "a write without its causes", call)
END

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The annotated headers are C. Each compiles together with the headers of libc, plain and fortified, and with those of
# every MPI, HDF5, NetCDF and PnetCDF that is installed, so that a wrong prototype is a compile error. wrapgen names
# the line that it cannot read, and writes no output.
# Papers: SIOX-20.
set -eu
interfaces=$SOURCE/src/capture/interfaces
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

complain()
{
	echo "interfaces: $*"
	failed=1
}

# compiles COMPILER HEADER OPTION...
compiles()
{
	local cc=$1 header=$2
	shift 2
	"$cc" -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only "$@" -I"$SOURCE/src" -I"$SOURCE/include" -x c "$header"
}

compilers=
for cc in gcc clang; do
	command -v $cc >/dev/null && compilers+=" $cc" || echo "skipped: lint/interfaces: $cc is not installed"
done
[ -n "$compilers" ] || complain "neither gcc nor clang is installed"

for header in "$interfaces"/*.h; do
	for cc in $compilers; do
		compiles "$cc" "$header" || complain "$cc: ${header##*/} does not compile"
		compiles "$cc" "$header" -O2 -D_FORTIFY_SOURCE=2 || complain "$cc: ${header##*/} does not compile fortified"
	done
done

# mistaken HEADER SED-EXPRESSION OPTION...: the compilers reject HEADER after a mistake was made in a prototype
mistaken()
{
	local header=$1 mistake=$2
	shift 2
	sed "$mistake" "$interfaces/$header" >"$work/$header"
	cmp -s "$interfaces/$header" "$work/$header" && complain "$header: \"$mistake\" changes nothing"
	for cc in $compilers; do
		! compiles "$cc" "$work/$header" "$@" 2>/dev/null || complain "$cc: $header: the mistake \"$mistake\" was not reported"
	done
}
mistaken posix.h 's/ssize_t pread(FD int fd/int pread(FD int fd/'
mistaken posix.h 's/ssize_t __pread_chk(FD int fd/ssize_t __pread_chk(FD long fd/' -O2 -D_FORTIFY_SOURCE=2
mistaken stdio.h 's/int fputc(int c/int fputc(long c/'

# against HEADER MISTAKE PACKAGE...: HEADER compiles with the headers of the packages, and a mistake is reported. Every
# installed build of a library is checked, because their functions differ.
against()
{
	local header=$1 mistake=$2 flags
	shift 2
	if ! flags=$(pkg-config --cflags "$@" 2>/dev/null); then
		echo "skipped: lint/interfaces: $* is not installed"
		return
	fi
	# pkg-config of Debian's parallel NetCDF names the folder of the serial one.
	for package in "$@"; do
		flags="-I$(pkg-config --variable=prefix "$package")/include $flags"
	done
	for cc in $compilers; do
		# shellcheck disable=SC2086
		compiles "$cc" "$interfaces/$header" -DSLUICE_CHECK $flags || complain "$cc: $header differs from $*"
	done
	# shellcheck disable=SC2086
	mistaken "$header" "$mistake" -DSLUICE_CHECK $flags
}
mpi='s/int MPI_File_close(HANDLE_AT MPI_File \*fh/int MPI_File_close(HANDLE_AT MPI_File fh/'
against mpi.h "$mpi" mpich
against mpi.h "$mpi" ompi-c
messages='s/int MPI_Win_unlock(FLAGS int target/int MPI_Win_unlock(FLAGS long target/'
against messages.h "$messages" mpich
against messages.h "$messages" ompi-c
hdf5='s/herr_t H5Dclose(HANDLE hid_t dset_id/herr_t H5Dclose(HANDLE int dset_id/'
against hdf5.h "$hdf5" hdf5-serial
against hdf5.h "$hdf5" hdf5-mpich
against hdf5.h "$hdf5" hdf5-openmpi
netcdf='s/const size_t \*indexp, put \*op/const int *indexp, put *op/'
against netcdf.h "$netcdf" netcdf
against netcdf.h "$netcdf" netcdf-mpi ompi-c
against pnetcdf.h 's/(const MPI_Offset \*start, const MPI_Offset \*count,)/(const MPI_Offset *start, const int *count,)/' pnetcdf ompi-c
# libaio has no file for pkg-config.
if echo '#include <libaio.h>' | cc -fsyntax-only -x c - 2>/dev/null; then
	for cc in $compilers; do
		compiles "$cc" "$interfaces/libaio.h" -DSLUICE_CHECK || complain "$cc: libaio.h differs from libaio"
	done
	mistaken libaio.h 's/long nr, struct iocb/int nr, struct iocb/' -DSLUICE_CHECK
else
	echo "skipped: lint/interfaces: libaio is not installed"
fi

# wrapgen rejects a header with an unknown mark, names the line, and does not touch an older output.
sed 's/FD int fd, void \*buf/FDD int fd, void *buf/' "$interfaces/posix.h" >"$work/posix.h"
line=$(grep -n FDD "$work/posix.h" | head -1 | cut -d: -f1)
echo older >"$work/out.c"
status=0
said=$("$BUILD/wrapgen" --template preload --output "$work/out.c" "$work/posix.h" 2>&1) || status=$?
[ $status = 1 ] || complain "exit code of wrapgen is $status, expected 1"
[[ $said == *"posix.h:$line: unknown mark 'FDD'"* ]] || complain "wrapgen does not name the line: $said"
[ "$(cat "$work/out.c")" = older ] || complain "wrapgen overwrites an older output"
[ -z "$(find "$work" -name '*.tmp')" ] || complain "wrapgen leaves a temporary file"

[ $failed = 0 ] && echo "interfaces: all rows compile with$compilers"
exit $failed

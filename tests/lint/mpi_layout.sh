#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The assumptions of capture/libraries/mpi.[ch] about each kind of MPI hold for the mpi.h that is installed: the sizes of
# handles, the place of the byte count in a status, the values of MPI_COMM_WORLD and MPI_STATUS_IGNORE, and how the
# handle of a predefined type encodes its size.
set -eu
. "$SOURCE/tests/libskip.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/layout.c" <<'END'
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(MPI_File) == 8, "a file is a pointer everywhere");
_Static_assert(sizeof(MPI_Offset) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8, "64 bits");
_Static_assert(MPI_SUCCESS == 0, "success");
#ifdef OPEN_MPI
_Static_assert(sizeof(MPI_Request) == 8 && sizeof(MPI_Comm) == 8 && sizeof(MPI_Datatype) == 8, "pointers");
_Static_assert(sizeof(MPI_Status) == 24 && offsetof(MPI_Status, _ucount) == 16, "status");
extern char ompi_mpi_comm_world_address[] __asm__("ompi_mpi_comm_world");
int main(void)
{
	return (void *)MPI_COMM_WORLD != (void *)ompi_mpi_comm_world_address || MPI_STATUS_IGNORE != 0 ||
	       MPI_STATUSES_IGNORE != 0;
}
#else
_Static_assert(sizeof(MPI_Request) == 4 && sizeof(MPI_Comm) == 4 && sizeof(MPI_Datatype) == 4, "ints");
_Static_assert(sizeof(MPI_Status) == 20 && offsetof(MPI_Status, count_lo) == 0 &&
		       offsetof(MPI_Status, count_hi_and_cancelled) == 4,
	       "status");
_Static_assert(MPI_COMM_WORLD == 0x44000000, "the world");
static int encoded_size(MPI_Datatype type)
{
	return ((unsigned)type & 0xfc000000) == 0x4c000000 ? (int)((unsigned)type >> 8 & 0xff) : -1;
}
int main(void)
{
	return (intptr_t)MPI_STATUS_IGNORE != 1 || (intptr_t)MPI_STATUSES_IGNORE != 1 || encoded_size(MPI_BYTE) != 1 ||
	       encoded_size(MPI_INT) != sizeof(int) || encoded_size(MPI_DOUBLE) != sizeof(double) ||
	       encoded_size(MPI_LONG_DOUBLE) != sizeof(long double) || encoded_size(MPI_C_DOUBLE_COMPLEX) != 16;
}
#endif
END
for mpi in mpich openmpi; do
	command -v "mpicc.$mpi" >/dev/null || skip "lib$mpi-dev"
	"mpicc.$mpi" -std=gnu17 -Wall -Werror -o "$work/layout" "$work/layout.c"
	"$work/layout" || { echo "mpi_layout: $mpi differs from what capture/libraries/mpi.c assumes"; exit 1; }
	echo "mpi_layout: checked $mpi"
done

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The implementation of MPI-IO that opens the files: MPICH and its derivatives use ROMIO; Open MPI
 * selects one of its components for each file. Neither the environment nor a version says which
 * one: the selection depends on priorities, and on command lines and files that only the library
 * reads. Therefore the library is asked. Guest.
 *
 * The handle of a file of Open MPI (3.1 to 5.0) contains the description of the selected
 * component, with its name. A handle without it, and any component that is not ROMIO, counts as
 * OMPIO, which is the careful choice: OMPIO loses data with hints that ROMIO needs.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_MPI_IO_H
#define SLUICE_CAPTURE_LIBRARIES_MPI_IO_H

#include "capture/libraries/info.h"
#include "capture/libraries/mpi_job.h"

enum mpi_io { MPI_IO_MPICH, MPI_IO_OPENMPI_ROMIO, MPI_IO_OMPIO };

#pragma GCC visibility push(hidden)

/* Which implementation has opened this file? It was opened successfully and is not closed yet. */
enum mpi_io mpi_io_of(MPI_File file);

/*
 * Is OMPIO going to open the files? near is a function of the library. For Open MPI, the first call
 * opens /dev/null for reading, in this process alone, and looks at the handle; that is not
 * recorded. Call it only on behalf of parameters or hints that the user has asked for. True if the
 * answer cannot be found out. Keeps errno.
 */
bool mpi_io_is_ompio(const void *near);

/*
 * May the hint be passed to the files that are going to be opened? See hints_is_safe(). The library
 * is asked only about hints that are dangerous for one implementation.
 */
bool mpi_io_hint_is_safe(const void *near, const char *key, const char *value);

/*
 * Does a hints file that ROMIO reads set the hint: that of ROMIO_HINTS, or else /etc/romio-hints?
 * ROMIO prefers hints in an info, so Sluice must leave these out. Rank 0 reads the file for all
 * ranks; a process of a job on several nodes, which may not see that file, assumes that ROMIO_HINTS
 * sets every hint. OMPIO reads no such file.
 */
bool mpi_io_hints_file_sets(const void *near, const char *key);

/*
 * Notes in the control page if the info of the program, which the call has accepted, contains a
 * hint that is dangerous with the implementation that has opened the file. Nothing is changed.
 */
void mpi_io_check_own_slow(const void *near, MPI_File file, MPI_Info info);

#pragma GCC visibility pop

/* After a call with this result that has passed an info for the file. */
static inline void mpi_io_check_own(const void *near, MPI_File file, MPI_Info info, int ret)
{
	if (ret == MPI_SUCCESS && info_is_valid(near, info) && mpi_job_has_joined())
		mpi_io_check_own_slow(near, file, info);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Answers before MPI_File_open: the hints that a program leaves open, and a plug-in knows. Guest.
 *
 * The file is opened with a copy of the program's info, to which the answered hints are added that
 * the program has not set; its own info never changes. All ranks that open a file together pass the
 * same (capture/inline/agree.h). Hints known to harm (contract/hints.h) are left out, whoever
 * answers. On any trouble it is the plain open.
 */
#ifndef SLUICE_CAPTURE_INLINE_HINTS_H
#define SLUICE_CAPTURE_INLINE_HINTS_H

#include "capture/libraries/mpi.h"

struct hints_opening {
	const void *near;
	MPI_Info copy;
	bool is_copied;
};

#pragma GCC visibility push(hidden)

/*
 * What to open the file with. inner: the call is part of one that we have dealt with. Keeps errno.
 */
MPI_Info hints_begin(struct hints_opening *opening, bool inner, const void *called, MPI_Comm comm,
		     const char *path, int amode, MPI_Info info);
void hints_end(struct hints_opening *opening);

#pragma GCC visibility pop

#endif

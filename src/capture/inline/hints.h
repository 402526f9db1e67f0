/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hints of in-line plug-ins for MPI_File_open. Guest.
 *
 * The file is opened with a copy of the program's info, to which those hints are added that a
 * plug-in answers and the program has not set; the program's info is never changed. All ranks that
 * open a file together pass the same hints (capture/inline/agree.h). Unsafe hints
 * (contract/hints.h) are left out, whichever plug-in answers. On any failure the file is opened as
 * the program asked.
 */
#ifndef SLUICE_CAPTURE_INLINE_HINTS_H
#define SLUICE_CAPTURE_INLINE_HINTS_H

#include "capture/inline/access_hints.h"

/* A call of MPI_File_open. */
struct hints_opening {
	const void *near;
	MPI_Info copy; /* valid if is_copied */
	bool is_copied;
	struct access_opening accesses; /* if hints change later, before accesses */
};

#pragma GCC visibility push(hidden)

/*
 * Returns the info to open the file with. inner: the call is nested in one that was handled already
 * (MPI_X and PMPI_X). hints_end() has to follow the real call, with its result. Both keep errno.
 */
MPI_Info hints_begin(struct hints_opening *opening, bool inner, const void *called, MPI_Comm comm,
		     const char *path, int amode, MPI_Info info);
void hints_end(struct hints_opening *opening, const MPI_File *file, int ret);

#pragma GCC visibility pop

#endif

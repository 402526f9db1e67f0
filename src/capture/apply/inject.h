/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Injection: the parameters of the run (capture/apply/rules.h) applied inside an unmodified
 * program, at MPI_File_open, in HDF5, and where files are made (capture/apply/layout.h). Guest.
 *
 * What the program passes is never changed: its info and its lists are copied, the copies are
 * passed on and released after the call. On any trouble it is the plain call. Where all ranks have
 * to pass the same, nothing is done unless all ranks of the job are in the run
 * (mpi_job_shares_parameters()). After an opening that succeeds, what was requested and what is in
 * effect is recorded: one record per opening.
 *
 *   inject.c          records, and MPI_File_open
 *   inject_hdf5.c     files of HDF5: access properties
 *   inject_dataset.c  datasets: creation properties, transfers
 *
 * Where the page is empty every function here is one test of a word.
 */
#ifndef SLUICE_CAPTURE_APPLY_INJECT_H
#define SLUICE_CAPTURE_APPLY_INJECT_H

#include "capture/apply/rules.h"
#include "capture/libraries/info.h"
#include "capture/libraries/mpi.h"

/* An MPI file being opened. */
struct inject_opening {
	const void *near;
	const char *name; /* what to open: the program's name, or `prefixed` */
	MPI_Info copy;
	bool is_copied;
	bool is_ours;		    /* the call is to be reported */
	struct info_text requested; /* the rest is valid if is_ours */
	char prefixed[RULES_PATH_BYTES];
};

#pragma GCC visibility push(hidden)

MPI_Info inject_open_slow(struct inject_opening *opening, MPI_Comm comm, const char *path,
			  MPI_Info info);
void inject_opened_slow(struct inject_opening *opening, const MPI_File *file);

/* One record of parameters; LINK 0, of a call that was not recorded, makes none. Keeps errno. */
void inject_record(unsigned call, uint64_t link, const struct info_text *requested,
		   struct info_text *effective);

/* KEY=!REASON: why a parameter is not applied. */
void inject_refuse(struct info_text *requested, const char *key, const char *reason);

#pragma GCC visibility pop

/*
 * What to open the file with: info, and opening->name for the name. inner: the call is part of one
 * that we have dealt with. Keeps errno.
 */
static inline MPI_Info inject_open(struct inject_opening *opening, bool inner, const void *called,
				   MPI_Comm comm, const char *path, MPI_Info info)
{
	opening->near = called;
	opening->name = path;
	opening->is_copied = opening->is_ours = false;
	return likely(!rules_places) || inner ? info : inject_open_slow(opening, comm, path, info);
}

static inline void inject_opened(struct inject_opening *opening, const MPI_File *file, int ret)
{
	if (unlikely(opening->is_ours))
		inject_opened_slow(opening, ret == MPI_SUCCESS ? file : NULL);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Injection: applies the parameters of the run (capture/apply/rules.h) inside an unmodified
 * program, at MPI_File_open, in HDF5, and when files are created (capture/apply/layout.h). Guest.
 *
 * The program's objects are never changed: its info and its property lists are copied, the copies
 * are passed to the real call and released after it. On any failure the call is made as the program
 * asked. Parameters that all ranks have to pass alike are applied only if all ranks of the job have
 * the same (mpi_job_shares_parameters()). After each successful opening one record states what was
 * requested and what is in effect.
 *
 *   inject.c          the records, and MPI_File_open
 *   inject_collective.c files of MPI-IO whose transfers become collective
 *   inject_hdf5.c     HDF5 files: access properties
 *   inject_dataset.c  HDF5 datasets: creation properties
 *   inject_transfer.c HDF5 datasets: transfers
 *
 * Without parameters, every function here costs one test of a word.
 * Papers: H5T-1, ATE-1.
 */
#ifndef SLUICE_CAPTURE_APPLY_INJECT_H
#define SLUICE_CAPTURE_APPLY_INJECT_H

#include "capture/apply/rules.h"
#include "capture/libraries/info.h"
#include "capture/libraries/mpi.h"

/* A call of MPI_File_open. */
struct inject_opening {
	const void *near, *caller;
	const char *name; /* the name to open: the program's, or `prefixed` */
	MPI_Info copy;
	bool is_copied;
	bool is_collective;	    /* its transfers become collective */
	bool is_ours;		    /* the outcome is to be recorded */
	struct info_text requested; /* this and the rest are valid if is_ours */
	char prefixed[RULES_PATH_BYTES];
};

#pragma GCC visibility push(hidden)

MPI_Info inject_open_slow(struct inject_opening *opening, MPI_Comm comm, const char *path,
			  MPI_Info info);
void inject_opened_slow(struct inject_opening *opening, const MPI_File *file);

/* Writes one record of parameters, unless link is 0 (the call has no record). Keeps errno. */
void inject_record(unsigned call, uint64_t link, const struct info_text *requested,
		   struct info_text *effective);

/* The files whose independent transfers become collective. add: false if there are too many. */
bool inject_collective_has(uint64_t handle);
bool inject_collective_add(uint64_t handle);
void inject_collective_remove(uint64_t handle);

/* Does the program itself make the call that returns there, not a library that uses MPI-IO? */
bool inject_is_program(const void *caller);

/* Adds KEY=VALUE: the parameter is applied. */
void inject_accept(struct info_text *requested, const char *key, const char *value);

/* Adds KEY=!REASON: the parameter is not applied. */
void inject_refuse(struct info_text *requested, const char *key, const char *reason);

#pragma GCC visibility pop

/*
 * Returns the info to open the file with; the name is opening->name. inner: the call is nested in
 * one that was handled already (MPI_X and PMPI_X). caller: where it returns to. inject_opened() has
 * to follow. Both keep errno.
 */
static inline MPI_Info inject_open(struct inject_opening *opening, bool inner, const void *called,
				   const void *caller, MPI_Comm comm, const char *path,
				   MPI_Info info)
{
	opening->near = called;
	opening->caller = caller;
	opening->name = path;
	opening->is_copied = opening->is_ours = opening->is_collective = false;
	return likely(!rules_places) || inner ? info : inject_open_slow(opening, comm, path, info);
}

static inline void inject_opened(struct inject_opening *opening, const MPI_File *file, int ret)
{
	if (unlikely(opening->is_ours))
		inject_opened_slow(opening, ret == MPI_SUCCESS ? file : NULL);
}

/* Is an independent transfer to be made as the collective one with the same arguments? */
static inline bool inject_is_collective(const void *called, MPI_File file)
{
	return rules_has(PLACE_TRANSFER) && inject_collective_has(mpi_handle(called, file));
}

/* Before MPI_File_close. */
static inline void inject_close(const void *called, const MPI_File *file)
{
	if (rules_has(PLACE_TRANSFER))
		inject_collective_remove(mpi_handle_at(called, file));
}

#endif

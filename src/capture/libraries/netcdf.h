/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the wrappers of NetCDF and PnetCDF need: types, handles, the bytes that a call moves, and
 * PnetCDF's requests. Guest.
 *
 * The two libraries ask alike (nc_inq_var, ncmpi_inq_var), so they share their helpers. Sizes are
 * in bytes of memory: elements times the type that the function is named after, or the variable's
 * own. A variable's rank and type never change while its file is open, so they are asked once.
 *
 * The library is asked only after a call that succeeded, and only what it answers from memory:
 * nothing that could read a file or talk to other ranks.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_NETCDF_H
#define SLUICE_CAPTURE_LIBRARIES_NETCDF_H

#include <stddef.h>

#include "capture/libraries/mpi.h"
#include "capture/record/answer_cache.h"

typedef int nc_type;
typedef struct netcdf_opaque NC_memio;

struct netcdf {
	struct library_uses uses;
	struct answer_cache variables;
};

#pragma GCC visibility push(hidden)

extern struct netcdf netcdf_library, pnetcdf_library;

/* After a file was opened or closed: numbers of files are given again. */
void netcdf_renumbered(struct netcdf *library);

/*
 * Bytes that a call has moved; 0 where it failed or that cannot be known. element is the size of
 * one element in memory, 0 for that of the variable's own type. counts has as many 64-bit words as
 * the variable has dimensions.
 */
uint64_t netcdf_one(struct netcdf *library, const void *called, int ncid, int varid,
		    uint64_t element, int err);
uint64_t netcdf_some(struct netcdf *library, const void *called, int ncid, int varid,
		     const void *counts, uint64_t element, int err);
uint64_t netcdf_whole(struct netcdf *library, const void *called, int ncid, int varid,
		      uint64_t element, const struct handle_entry *entry, int err);
uint64_t netcdf_attribute(struct netcdf *library, const void *called, int ncid, int varid,
			  const char *name, uint64_t element, int err);

/* After a call that succeeded: is it a file of HDF5, which NetCDF knows little of by heart? */
bool netcdf_is_hdf5(const void *called, int ncid, int err);

/* Bytes of so many elements of a type in memory. */
uint64_t netcdf_typed(struct netcdf *library, const void *called, int ncid, nc_type type,
		      uint64_t elements, int err);

/* The parts of ncmpi_put_varn and ncmpi_mput_var: sums over num pieces. */
uint64_t pnetcdf_pieces(const void *called, int ncid, int varid, int num, MPI_Offset *const *counts,
			uint64_t element, int err);
uint64_t pnetcdf_each_whole(const void *called, int ncid, int num, const int *varids,
			    uint64_t element, int err);
uint64_t pnetcdf_each(const void *called, int ncid, int num, const int *varids,
		      MPI_Offset *const *counts, uint64_t element, int err);

/*
 * Bytes of a buffer described by MPI; where it is not (no type, or no count), from the elements
 * that the call names: bytes of them in the variable's own type, and their number.
 */
uint64_t pnetcdf_buffer(const void *called, MPI_Datatype type, int64_t count, uint64_t own_bytes,
			uint64_t elements);
uint64_t pnetcdf_described(const void *called, MPI_Datatype part, MPI_Datatype type, int64_t count);
uint64_t pnetcdf_buffers(const void *called, int num, const int64_t *counts,
			 const MPI_Datatype *types, int err);

#pragma GCC visibility pop

INLINE void netcdf_bind(const void *called)
{
	(void)called;
}

INLINE void pnetcdf_bind(const void *called)
{
	mpi_bind(called);
}

/* Handles, for each copy of the library. */

#define NETCDF_COPY_SHIFT 32
#define NETCDF_FILE_MASK 0xffff0000u /* the rest of an ncid is a group of that file */

__attribute__((visibility("hidden"))) uint64_t netcdf_number(struct netcdf *library,
							     const void *called, uint32_t number);

/* A group is known as its file. Numbers of NetCDF 3 have no upper half. */
INLINE uint64_t netcdf_handle(const void *called, int ncid)
{
	uint32_t file = (uint32_t)ncid & NETCDF_FILE_MASK;

	return netcdf_number(&netcdf_library, called, file ? file : (uint32_t)ncid);
}

INLINE uint64_t netcdf_handle_at(const void *called, const int *ncid)
{
	return netcdf_handle(called, *ncid);
}

INLINE uint64_t netcdf_link(const void *called, int ncid)
{
	return handle_entry_link(
		handle_table_find(handle_key(SPACE_NETCDF, netcdf_handle(called, ncid))));
}

INLINE uint64_t pnetcdf_handle(const void *called, int ncid)
{
	return netcdf_number(&pnetcdf_library, called, (uint32_t)ncid);
}

INLINE uint64_t pnetcdf_handle_at(const void *called, const int *ncid)
{
	return pnetcdf_handle(called, *ncid);
}

INLINE uint64_t pnetcdf_link(const void *called, int ncid)
{
	return handle_entry_link(
		handle_table_find(handle_key(SPACE_PNETCDF, pnetcdf_handle(called, ncid))));
}

/* In the note of a file: it was opened by several ranks, and a question may be more than that. */
#define NETCDF_PARALLEL 1

INLINE void netcdf_opened(struct handle_entry *opened, uint64_t note)
{
	netcdf_renumbered(&netcdf_library);
	if (opened)
		atomic_store_explicit(&opened->note, note, memory_order_relaxed);
}

/*
 * Requests of PnetCDF, by file and number. Numbers count up while requests are pending and are
 * given again afterwards; the entry of the file counts how many there may be.
 */
enum pnetcdf_direction { PNETCDF_PUT = 1, PNETCDF_GET = 2 };

/* A wait under way: the numbers that may be complete afterwards, and what the program passed. */
struct pnetcdf_wait {
	int ncid, first, behind;
	int count;
	const int *requests;
};

#pragma GCC visibility push(hidden)

/* After the record of f. request may be NULL: then nobody can wait for this one alone. */
void pnetcdf_started(const struct frame *f, const void *called, struct handle_entry *entry,
		     int ncid, const int *request, enum pnetcdf_direction direction, uint64_t bytes,
		     int err);

/* Before and after the record of a call that completes them, or undoes them: moved is false. */
struct pnetcdf_wait pnetcdf_wait_begin(const void *called, const struct handle_entry *entry,
				       int ncid, int count, const int *requests);
void pnetcdf_wait_end(const struct pnetcdf_wait *wait, const struct frame *f, const void *called,
		      struct handle_entry *entry, const int *statuses, bool moved, int err);

/* Bytes of the requests that a wait is about to complete. */
uint64_t pnetcdf_wait_bytes(const struct pnetcdf_wait *wait, const void *called);

/* Before a file is closed: what was never waited for is void. */
void pnetcdf_forget(const void *called, const struct handle_entry *entry, int ncid);

#pragma GCC visibility pop

#endif

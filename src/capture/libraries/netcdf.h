/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the wrappers of NetCDF and PnetCDF need: types, handles, the bytes that a call moves, and
 * the requests of PnetCDF. Guest.
 *
 * The two libraries have equivalent functions (nc_inq_var, ncmpi_inq_var), so they share helpers.
 * Sizes are bytes in memory: the number of elements times the size of the type in the function's
 * name, or of the variable's own type. The rank and type of a variable never change while its file
 * is open, so they are cached.
 *
 * The guest asks only after a call that succeeded, and only questions that the library answers from
 * memory: none that could read a file or communicate with other ranks.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_NETCDF_H
#define SLUICE_CAPTURE_LIBRARIES_NETCDF_H

#include <stddef.h>

#include "capture/libraries/mpi.h"
#include "capture/record/answer_cache.h"

typedef int nc_type;
typedef struct netcdf_opaque NC_memio;

/* One of the two libraries. */
struct netcdf {
	struct library_uses uses;
	struct answer_cache variables;
};

#pragma GCC visibility push(hidden)

extern struct netcdf netcdf_library, pnetcdf_library;

/* After a file was opened or closed: the library reuses the numbers of files. */
void netcdf_renumbered(struct netcdf *library);

/*
 * Bytes that a call has moved; 0 if it failed or if they are unknown. element is the size of one
 * element in memory, 0 for the size of the variable's own type. counts has one 64-bit word per
 * dimension of the variable.
 */
uint64_t netcdf_element_bytes(struct netcdf *library, const void *called, int ncid, int varid,
			      uint64_t element, int err);
uint64_t netcdf_slab_bytes(struct netcdf *library, const void *called, int ncid, int varid,
			   const void *counts, uint64_t element, int err);
uint64_t netcdf_variable_bytes(struct netcdf *library, const void *called, int ncid, int varid,
			       uint64_t element, const struct handle_entry *entry, int err);
uint64_t netcdf_attribute_bytes(struct netcdf *library, const void *called, int ncid, int varid,
				const char *name, uint64_t element, int err);

/* After a call that succeeded: is it an HDF5 file? NetCDF asks HDF5 about many of its properties.
 */
bool netcdf_is_hdf5(const void *called, int ncid, int err);

/* Bytes of `elements` elements of a type in memory. */
uint64_t netcdf_typed_bytes(struct netcdf *library, const void *called, int ncid, nc_type type,
			    uint64_t elements, int err);

/* Bytes of ncmpi_put_varn and ncmpi_mput_var: the sums over num pieces. */
uint64_t pnetcdf_pieces_bytes(const void *called, int ncid, int varid, int num,
			      MPI_Offset *const *counts, uint64_t element, int err);
uint64_t pnetcdf_variables_bytes(const void *called, int ncid, int num, const int *varids,
				 uint64_t element, int err);
uint64_t pnetcdf_slabs_bytes(const void *called, int ncid, int num, const int *varids,
			     MPI_Offset *const *counts, uint64_t element, int err);

/*
 * Bytes of a buffer with an MPI type. Without a type (null) it is own_bytes, the bytes in the
 * variable's own type; without a count (negative) the buffer holds `elements` items.
 */
uint64_t pnetcdf_buffer_bytes(const void *called, MPI_Datatype type, int64_t count,
			      uint64_t own_bytes, uint64_t elements);
uint64_t pnetcdf_described_bytes(const void *called, MPI_Datatype part, MPI_Datatype type,
				 int64_t count);
uint64_t pnetcdf_buffers_bytes(const void *called, int num, const int64_t *counts,
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

#define NETCDF_COPY_SHIFT 32
#define NETCDF_FILE_MASK 0xffff0000u /* the lower bits of an ncid are a group of that file */

/* The handle of a file number, which contains the copy of the library. */
__attribute__((visibility("hidden"))) uint64_t netcdf_number(struct netcdf *library,
							     const void *called, uint32_t number);

/* A group has the handle of its file. Numbers of NetCDF 3 files have no upper half. */
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

/* In the note of a file: several ranks have opened it, so some questions are collective. */
#define NETCDF_PARALLEL 1

INLINE void netcdf_opened(struct handle_entry *opened, uint64_t note)
{
	netcdf_renumbered(&netcdf_library);
	if (opened)
		atomic_store_explicit(&opened->note, note, memory_order_relaxed);
}

/*
 * Requests of PnetCDF, by file and number. PnetCDF counts up while requests are pending and reuses
 * the numbers afterwards. The handle entry of the file holds the number of the next request.
 */
enum pnetcdf_direction { PNETCDF_PUT = 1, PNETCDF_GET = 2 };

/* A waiting call: the range of requests that it may complete, and the program's arguments. */
struct pnetcdf_wait {
	int ncid, first, behind; /* the range is first .. behind - 1 */
	int count;
	const int *requests;
};

#pragma GCC visibility push(hidden)

/* After the record of f, which has started a request. request may be NULL. */
void pnetcdf_started(const struct frame *f, const void *called, struct handle_entry *entry,
		     int ncid, const int *request, enum pnetcdf_direction direction, uint64_t bytes,
		     int err);

/* Before and after the record of a call that completes requests, or cancels them (!moved). */
struct pnetcdf_wait pnetcdf_wait_begin(const void *called, const struct handle_entry *entry,
				       int ncid, int count, const int *requests);
void pnetcdf_wait_end(const struct pnetcdf_wait *wait, const struct frame *f, const void *called,
		      struct handle_entry *entry, const int *statuses, bool moved, int err);

/* Bytes of the requests that a waiting call is about to complete. */
uint64_t pnetcdf_wait_bytes(const struct pnetcdf_wait *wait, const void *called);

/* Before a file is closed: drops its pending requests. */
void pnetcdf_forget(const void *called, const struct handle_entry *entry, int ncid);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Things that calls know by a value other than a descriptor: handles of libraries, asynchronous
 * requests, mappings. A table from (space, value) to the LINK word of the call that made the thing.
 * Guest.
 *
 * Lock-free, of fixed size, shared by all threads and copied by fork. What finds no place is
 * recorded without a link.
 */
#ifndef SLUICE_CAPTURE_RECORD_HANDLE_TABLE_H
#define SLUICE_CAPTURE_RECORD_HANDLE_TABLE_H

#include "capture/record/frame.h"

/* What a value means; values of one space are unique while they live. */
enum space {
	SPACE_NONE,
	SPACE_MAPPING,	       /* address of a mapping */
	SPACE_AIO,	       /* address of a struct aiocb */
	SPACE_MPI,	       /* MPI_File */
	SPACE_MPI_REQUEST,     /* MPI_Request of an I/O operation */
	SPACE_MPI_SPLIT,       /* MPI_File with a split collective call under way */
	SPACE_MPI_GROUP,       /* hash of a file and of the ranks that opened it together */
	SPACE_HDF5,	       /* hid_t of a file, group, dataset, attribute or object */
	SPACE_NETCDF,	       /* ncid */
	SPACE_PNETCDF,	       /* ncid of PnetCDF */
	SPACE_PNETCDF_REQUEST, /* ncid and request of PnetCDF */
	SPACE_URING,	       /* ring of io_uring */
	SPACE_URING_REQUEST,   /* ring and user data of an operation */
	SPACE_URING_FILE,      /* ring and index of a registered file */
};

struct handle_entry {
	_Atomic uint64_t key;
	_Atomic uint64_t link; /* LINK word */
	_Atomic uint64_t note; /* these are for the owner of the space */
	_Atomic uint64_t count;
	_Atomic uint64_t more[4];
};

/* Values have 60 bits: addresses, ints, and HDF5's ids, whose type is in bits 56 to 59. */
static inline uint64_t handle_key(enum space space, uint64_t value)
{
	return (uint64_t)space << 60 | (value & ((UINT64_C(1) << 60) - 1));
}

#pragma GCC visibility push(hidden)

/* NULL where it is not known. The entry may become another's once the thing is closed. */
struct handle_entry *handle_table_find(uint64_t key);

/* Forgets it and returns its LINK word; 0 where it is not known. Of several, any one. */
uint64_t handle_table_take(uint64_t key);

/* A new thing, or what replaces an old one of the same name; all but key and link is 0. NULL: no
 * room. */
struct handle_entry *handle_table_put(uint64_t key, uint64_t link);

/* One more thing of a name that others may have, too. False: no room. */
bool handle_table_add(uint64_t key, uint64_t link);

/* How many things of the space are known: 0 makes a lookup unnecessary. */
uint32_t handle_table_count(enum space space);

/* Takes every thing whose key has these bits under the mask; at most `max`. Returns how many. */
unsigned handle_table_take_all(uint64_t mask, uint64_t bits, uint64_t *links, unsigned max);

#pragma GCC visibility pop

/* After the record of f, which made the thing. NULL where it failed or was not recorded. */
static inline struct handle_entry *handle_table_made(enum space space, uint64_t value,
						     const struct frame *f, int err)
{
	uint64_t id = frame_id(f);

	return !err && id ? handle_table_put(handle_key(space, value), link_make(LINK_FILE, id))
			  : NULL;
}

INLINE uint64_t handle_entry_link(const struct handle_entry *named)
{
	return named ? atomic_load_explicit(&named->link, memory_order_relaxed) : 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles that are not descriptors: handles of libraries, asynchronous requests, mappings. The
 * table maps (space, value) to the LINK word of the call that made the handle. Guest.
 *
 * It is lock-free, has a fixed size, is shared by all threads and copied by fork. Calls on a handle
 * that did not fit into the table are recorded without a link.
 */
#ifndef SLUICE_CAPTURE_RECORD_HANDLE_TABLE_H
#define SLUICE_CAPTURE_RECORD_HANDLE_TABLE_H

#include "capture/record/frame.h"

/* What a value is. Values of one space are unique while the handle is open. */
enum space {
	SPACE_NONE,
	SPACE_MAPPING,	       /* address of a mapping */
	SPACE_AIO,	       /* address of a struct aiocb, or of a struct iocb of libaio */
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
	_Atomic uint64_t note; /* this and the rest: for the library that uses the space */
	_Atomic uint64_t count;
	_Atomic uint64_t more[4];
};

/* Values have 60 bits, enough for addresses, ints and HDF5 ids (type in bits 56 to 59). */
static inline uint64_t handle_key(enum space space, uint64_t value)
{
	return (uint64_t)space << 60 | (value & ((UINT64_C(1) << 60) - 1));
}

#pragma GCC visibility push(hidden)

/* NULL if the handle is unknown. The entry may be reused as soon as the handle is closed. */
struct handle_entry *handle_table_find(uint64_t key);

/* Removes an entry with this key and returns its LINK word; 0 if there is none. */
uint64_t handle_table_take(uint64_t key);

/* Adds an entry, or replaces one with the same key; all other members are 0. NULL: there is no
 * room. */
struct handle_entry *handle_table_put(uint64_t key, uint64_t link);

/* Adds an entry even if there is one with the same key. False: there is no room. */
bool handle_table_add(uint64_t key, uint64_t link);

/* The number of entries of a space; 0 makes a lookup unnecessary. */
uint32_t handle_table_count(enum space space);

/* Removes up to `max` entries with (key & mask) == bits and stores their LINK words. Returns their
 * number. */
unsigned handle_table_take_all(uint64_t mask, uint64_t bits, uint64_t *links, unsigned max);

#pragma GCC visibility pop

/* After the record of the call in f, which made the handle. NULL if it failed or has no record. */
static inline struct handle_entry *handle_table_made(enum space space, uint64_t value,
						     const struct frame *f, int err)
{
	uint64_t id = frame_id(f);

	return !err && id ? handle_table_put(handle_key(space, value), link_make(LINK_FILE, id))
			  : NULL;
}

INLINE uint64_t handle_entry_link(const struct handle_entry *entry)
{
	return entry ? atomic_load_explicit(&entry->link, memory_order_relaxed) : 0;
}

#endif

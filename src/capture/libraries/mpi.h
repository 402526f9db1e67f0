/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI as the guest sees it: one library for every implementation. Handles are opaque words, of
 * which only the low half counts where the implementation has ints; what else differs is found out
 * on the first call. Guest.
 *
 * Nothing here sends a message or takes part in a collective call. The helpers ask the real library
 * only about things that a call has just proved to be valid: a wrong handle would end the program.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_MPI_H
#define SLUICE_CAPTURE_LIBRARIES_MPI_H

#include "capture/libraries/library.h"
#include "capture/record/handle_table.h"

typedef intptr_t MPI_Comm, MPI_Info, MPI_Datatype, MPI_File, MPI_Request, MPI_Group, MPI_Errhandler;
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset, MPI_Count;
typedef void MPI_File_errhandler_function(MPI_File *, int *, ...);

/* Room for any implementation's. An array of them is only handed on. */
typedef struct mpi_status {
	uint64_t words[8];
} MPI_Status;

#define MPI_SUCCESS 0

/* What is known of the implementation, and nothing before the first call. */
struct mpi_kind {
	_Atomic uint64_t request_mask; /* bits of an MPI_Request that count; 0: not yet known */
	bool is_open;		       /* Open MPI: pointers; else MPICH and its kin */
	intptr_t world, status_ignore;
};

#pragma GCC visibility push(hidden)

extern struct mpi_kind mpi_kind;

__attribute__((cold)) void mpi_bind_slow(const void *called);

/*
 * Does Open MPI's OMPIO open the files? As far as the environment shows; false for any other
 * implementation. After mpi_bind().
 */
bool mpi_is_ompio(void);

/* Bytes of so many items; 0 where the library cannot tell. `near` is any function of the library.
 */
uint64_t mpi_bytes(const void *near, MPI_Datatype datatype, int64_t count);

/* The class of an error code: the code itself means nothing elsewhere. */
__attribute__((cold)) int mpi_class(const void *near, int code);

/* Tells the collector who we are. After MPI_Init. */
__attribute__((cold)) void mpi_joined(const void *called);

/*
 * How many ranks a communicator has, as far as its value shows that it is one; 0 where it does not.
 * For a handle that no call has proved.
 */
int mpi_size(const void *called, MPI_Comm comm);

/*
 * A hash of the ranks of a valid communicator of so many, in their order; *known: all of them are
 * of our world.
 */
uint64_t mpi_members(const void *called, MPI_Comm comm, int size, bool *known);
uint64_t mpi_text_hash(const char *text);

/*
 * A number that all ranks which open this file together give to this opening, and no other opening
 * has: from the file's name, the ranks of the communicator, and how often they have done so before.
 * 0 for a communicator of one.
 */
uint64_t mpi_group(const void *called, MPI_Comm comm, const char *path);

/* After a view was set: from now on offsets are to be translated. */
void mpi_viewed(const void *called, struct handle_entry *entry, MPI_Datatype etype);

/* Where an explicit offset, or the file pointer, is in the file; -1 where that is not known. */
int64_t mpi_offset_slow(const void *called, const struct handle_entry *entry, MPI_File fh,
			int64_t offset);
int64_t mpi_position(const void *called, const struct handle_entry *entry, MPI_File fh);

/* Bytes from the first to behind the last that an access through a view touches. */
uint64_t mpi_span_slow(const void *called, const struct handle_entry *entry, MPI_File fh,
		       int64_t offset, uint64_t bytes);

#pragma GCC visibility pop

/* In struct handle_entry of a file: note is its group, count its collective calls so far. */
#define MPI_ETYPE_BYTES more[0] /* of the view; 0: none was set, offsets are bytes */

INLINE void mpi_bind(const void *called)
{
	if (unlikely(!atomic_load_explicit(&mpi_kind.request_mask, memory_order_acquire)))
		mpi_bind_slow(called);
}

/* A file is a pointer everywhere, and no two copies of a library have the same. */
static inline uint64_t mpi_handle(const void *called, MPI_File fh)
{
	(void)called;
	return (uint64_t)fh;
}

static inline uint64_t mpi_handle_at(const void *called, const MPI_File *fh)
{
	return mpi_handle(called, *fh);
}

/* Half a word where handles are ints: the other half is not ours to read. */
static inline uint64_t mpi_request_at(const MPI_Request *requests, int i)
{
	return mpi_kind.is_open ? (uint64_t)requests[i] : ((const uint32_t *)requests)[i];
}

/* Our own status where the program wants none: it tells how much was moved. */
static inline MPI_Status *mpi_status(MPI_Status *status, MPI_Status *own)
{
	if ((intptr_t)status != mpi_kind.status_ignore)
		return status;
	*own = (MPI_Status){ 0 };
	return own;
}

/* Bytes moved, as the implementation keeps them in a status. */
static inline uint64_t mpi_moved(const MPI_Status *status, int err)
{
	const uint32_t *words = (const uint32_t *)status;

	if (err)
		return 0;
	return mpi_kind.is_open ? status->words[2] : words[0] | (uint64_t)(words[1] >> 1) << 32;
}

static inline uint64_t mpi_etype_bytes(const struct handle_entry *entry)
{
	return entry ? atomic_load_explicit(&entry->MPI_ETYPE_BYTES, memory_order_relaxed) : 0;
}

static inline int64_t mpi_offset(const void *called, const struct handle_entry *entry, MPI_File fh,
				 int64_t offset, int err)
{
	return err || !mpi_etype_bytes(entry) ? offset : mpi_offset_slow(called, entry, fh, offset);
}

static inline uint64_t mpi_span(const void *called, const struct handle_entry *entry, MPI_File fh,
				int64_t offset, uint64_t bytes, int err)
{
	return err || !mpi_etype_bytes(entry) ? bytes
					      : mpi_span_slow(called, entry, fh, offset, bytes);
}

static inline uint64_t mpi_mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return x ^ x >> 31;
}

/* The number of the next collective call on the file: every rank counts alike. */
static inline uint64_t mpi_together(struct handle_entry *entry)
{
	uint64_t group = entry ? atomic_load_explicit(&entry->note, memory_order_relaxed) : 0;

	if (!group)
		return 0;
	return mpi_mix(group,
		       atomic_fetch_add_explicit(&entry->count, 1, memory_order_relaxed) + 1);
}

/* Asynchronous operations. */

static inline void mpi_began(const struct frame *f, const MPI_Request *request, int err)
{
	uint64_t id = frame_id(f);

	if (!err && id)
		handle_table_put(handle_key(SPACE_MPI_REQUEST, mpi_request_at(request, 0)),
				 link_make(LINK_UNKNOWN, id));
}

/*
 * The I/O operations among requests that a call is about to complete: taken out of the table
 * before, because another thread may get the same request afterwards. What the call leaves
 * incomplete is put back.
 */
#define MPI_PENDING_INLINE 32

#define MPI_PENDING_WORDS 5 /* of each: value, link, and room for a status */

struct mpi_pending {
	uint64_t *values, *links; /* of the requests; a link is 0 where it is no I/O operation */
	MPI_Status *statuses;	  /* the program's or our own */
	int count;
	size_t mapped; /* bytes, where it did not fit here */
	uint64_t inlined[MPI_PENDING_WORDS * MPI_PENDING_INLINE];
};

#pragma GCC visibility push(hidden)

/* statuses is what the program passes; returns what to pass instead. */
MPI_Status *mpi_pending_take(struct mpi_pending *p, const MPI_Request *requests, int count,
			     MPI_Status *statuses);

/* The link of one that is complete; it is not put back. 0 for an index that means none. */
uint64_t mpi_pending_done(struct mpi_pending *p, int i);

/* Of several that are complete, a record each beneath the call in f; without indices the first
 * count. Then the rest is put back. */
void mpi_pending_close(struct mpi_pending *p, const struct frame *f, const int *indices, int count,
		       int err);

/* Bytes that the operations on files among those complete have moved; to be asked before
 * mpi_pending_close(). */
uint64_t mpi_pending_moved(const struct mpi_pending *p, const int *indices, int count, int err);

/* Puts back what is not done, and knows of none afterwards. Returns false, for a test that found
 * nothing. */
bool mpi_pending_keep(struct mpi_pending *p);

#pragma GCC visibility pop

/* Before a call on requests: is any of them an operation on a file? Cheap where there are none. */
static inline bool mpi_any(const MPI_Request *requests, int count)
{
	if (likely(!handle_table_count(SPACE_MPI_REQUEST)) || !mpi_kind.request_mask)
		return false;
	for (int i = 0; i < count; i++)
		if (handle_table_find(handle_key(SPACE_MPI_REQUEST, mpi_request_at(requests, i))))
			return true;
	return false;
}

/* A split collective call: the file is its own request. */
static inline void mpi_split_began(const struct frame *f, MPI_File fh, int err)
{
	uint64_t id = frame_id(f);

	if (!err && id)
		handle_table_put(handle_key(SPACE_MPI_SPLIT, (uint64_t)fh),
				 link_make(LINK_UNKNOWN, id));
}

static inline uint64_t mpi_split_take(MPI_File fh)
{
	return handle_table_take(handle_key(SPACE_MPI_SPLIT, (uint64_t)fh));
}

#endif

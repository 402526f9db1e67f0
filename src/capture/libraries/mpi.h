/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI as the guest sees it: one build for all implementations. Handles are opaque words; if the
 * implementation uses ints, only the low half is valid. Other differences are detected on the first
 * call. Guest.
 *
 * Nothing here sends a message or takes part in a collective call. The helpers ask the real library
 * only about handles that a call has just accepted: an invalid handle would abort the program.
 * Papers: SIOX-10.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_MPI_H
#define SLUICE_CAPTURE_LIBRARIES_MPI_H

#include "capture/libraries/library.h"
#include "capture/record/handle_table.h"

typedef intptr_t MPI_Comm, MPI_Info, MPI_Datatype, MPI_File, MPI_Request, MPI_Group, MPI_Errhandler;
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset, MPI_Count;
typedef void MPI_File_errhandler_function(MPI_File *, int *, ...);

/* Large enough for all implementations. Arrays of it are only passed through. */
typedef struct mpi_status {
	uint64_t words[8];
} MPI_Status;

#define MPI_SUCCESS 0

/* The implementation in use, as detected by mpi_bind(). */
struct mpi_kind {
	_Atomic uint64_t request_mask; /* valid bits of an MPI_Request; 0: not detected yet */
	bool is_open; /* Open MPI, with pointers as handles; else MPICH or a derivative */
	intptr_t world, status_ignore;
};

#pragma GCC visibility push(hidden)

extern struct mpi_kind mpi_kind;

__attribute__((cold)) void mpi_bind_slow(const void *called);

/* Bytes of `count` items; 0 if the library does not know. `near` is any function of the library. */
uint64_t mpi_bytes(const void *near, MPI_Datatype datatype, int64_t count);

/* The class of an error code; codes themselves have no meaning outside the process. */
__attribute__((cold)) int mpi_error_class(const void *near, int code);

/* Stores rank and size in the spool's header. After MPI_Init. */
__attribute__((cold)) void mpi_store_rank(const void *called);

/*
 * The number of ranks of a communicator; 0 if the handle does not have the form of a valid one. For
 * handles that no call has accepted yet.
 */
int mpi_size(const void *called, MPI_Comm comm);

/*
 * A hash of the ranks of a valid communicator of this size, in their order. *known: all of them
 * belong to MPI_COMM_WORLD.
 */
uint64_t mpi_members_hash(const void *called, MPI_Comm comm, int size, bool *known);
uint64_t mpi_text_hash(const char *text);

/*
 * The number of this opening: the same on all ranks that open the file together, and different from
 * that of other openings. It is a hash of the file's name, the ranks of the communicator, and the
 * number of earlier openings. 0 for a communicator of one rank.
 */
uint64_t mpi_group(const void *called, MPI_Comm comm, const char *path);

/* After a view was set: from now on offsets have to be translated. */
void mpi_view_set(const void *called, struct handle_entry *entry, MPI_Datatype etype);

/* The position in the file, in bytes, of an offset or of the file pointer; -1 if unknown. */
int64_t mpi_offset_slow(const void *called, const struct handle_entry *entry, MPI_File fh,
			int64_t offset);
int64_t mpi_position(const void *called, const struct handle_entry *entry, MPI_File fh);

/* Bytes in the file from the first byte of an access through a view to the end of the last. */
uint64_t mpi_span_slow(const void *called, const struct handle_entry *entry, MPI_File fh,
		       int64_t offset, uint64_t bytes);

#pragma GCC visibility pop

/* In the handle entry of a file, note is from mpi_group(), count is its collective calls so far. */
#define MPI_ETYPE_BYTES more[0] /* of the view; 0: no view was set, offsets are bytes */

INLINE void mpi_bind(const void *called)
{
	if (unlikely(!atomic_load_explicit(&mpi_kind.request_mask, memory_order_acquire)))
		mpi_bind_slow(called);
}

/* Has the process called a function of MPI, such as MPI_Init()? */
static inline bool mpi_is_used(void)
{
	return atomic_load_explicit(&mpi_kind.request_mask, memory_order_relaxed);
}

/* An MPI_File is a pointer in all implementations, and differs between copies of a library. */
static inline uint64_t mpi_handle(const void *called, MPI_File fh)
{
	(void)called;
	return (uint64_t)fh;
}

static inline uint64_t mpi_handle_at(const void *called, const MPI_File *fh)
{
	return mpi_handle(called, *fh);
}

/* Reads half a word if handles are ints: there is no other half. */
static inline uint64_t mpi_request_at(const MPI_Request *requests, int i)
{
	return mpi_kind.is_open ? (uint64_t)requests[i] : ((const uint32_t *)requests)[i];
}

/* Replaces MPI_STATUS_IGNORE by *own, because the status holds the bytes moved. */
static inline MPI_Status *mpi_status(MPI_Status *status, MPI_Status *own)
{
	if ((intptr_t)status != mpi_kind.status_ignore)
		return status;
	*own = (MPI_Status){ 0 };
	return own;
}

/* The bytes moved, as stored in a status. */
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

/* Reads half a word if handles are ints. */
static inline MPI_Datatype mpi_datatype_at(const MPI_Datatype *types, int i)
{
	return mpi_kind.is_open ? types[i] : (MPI_Datatype)((const uint32_t *)types)[i];
}

/*
 * Is it a valid handle of MPICH, of this kind? Bits 26 to 29 are the kind of object, the two bits
 * above say how it was allocated: 0 is a null handle. The upper half of the word may hold anything.
 */
#define MPICH_COMM UINT32_C(0x04000000)
#define MPICH_DATATYPE UINT32_C(0x0c000000)
#define MPICH_INFO UINT32_C(0x1c000000)

static inline bool mpich_handle_is_valid(intptr_t handle, uint32_t kind)
{
	uint32_t word = (uint32_t)handle;

	return (word & UINT32_C(0x3c000000)) == kind && word & UINT32_C(0xc0000000);
}

static inline uint64_t mpi_mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return x ^ x >> 31;
}

/* The number of the next collective call on the file, the same on all ranks. */
static inline uint64_t mpi_next_collective(struct handle_entry *entry)
{
	uint64_t group = entry ? atomic_load_explicit(&entry->note, memory_order_relaxed) : 0;

	if (!group)
		return 0;
	return mpi_mix(group,
		       atomic_fetch_add_explicit(&entry->count, 1, memory_order_relaxed) + 1);
}

static inline void mpi_request_started(const struct frame *f, const MPI_Request *request, int err)
{
	uint64_t id = frame_id(f);

	if (!err && id)
		handle_table_put(handle_key(SPACE_MPI_REQUEST, mpi_request_at(request, 0)),
				 link_make(LINK_UNKNOWN, id));
}

/*
 * The I/O operations among the requests that a call is about to complete. They are removed from the
 * table before the call, because another thread may get the same request right after it. Those that
 * are not complete after the call are put back.
 */
#define MPI_PENDING_INLINE 32
#define MPI_PENDING_WORDS 5 /* per request: value, link, and room for a status */

struct mpi_pending {
	uint64_t *values, *links; /* of the requests; a link is 0 if it is not an I/O operation */
	MPI_Status *statuses;	  /* the program's, or in `inlined` or mapped memory */
	int count;
	size_t mapped; /* bytes of mapped memory; 0: everything is in `inlined` */
	uint64_t inlined[MPI_PENDING_WORDS * MPI_PENDING_INLINE];
};

#pragma GCC visibility push(hidden)

/* statuses is the program's argument; returns the argument for the real call. */
MPI_Status *mpi_pending_take(struct mpi_pending *p, const MPI_Request *requests, int count,
			     MPI_Status *statuses);

/* The link of a complete request, which is not put back. 0 if the index is out of range. */
uint64_t mpi_pending_done(struct mpi_pending *p, int i);

/* Writes a completion record for each complete request, as a child of the call in f; without
 * indices, these are the first `count`. Then puts the others back. */
void mpi_pending_close(struct mpi_pending *p, const struct frame *f, const int *indices, int count,
		       int err);

/* Bytes that the complete I/O operations have moved. To be called before mpi_pending_close(). */
uint64_t mpi_pending_moved(const struct mpi_pending *p, const int *indices, int count, int err);

/* Puts back the requests that are not complete and releases p. Always returns false. */
bool mpi_pending_keep(struct mpi_pending *p);

#pragma GCC visibility pop

/* Before a call on requests: is any of them an I/O operation? Cheap if none are pending. */
static inline bool mpi_any_is_io(const MPI_Request *requests, int count)
{
	if (likely(!handle_table_count(SPACE_MPI_REQUEST)) || !mpi_kind.request_mask)
		return false;
	for (int i = 0; i < count; i++)
		if (handle_table_find(handle_key(SPACE_MPI_REQUEST, mpi_request_at(requests, i))))
			return true;
	return false;
}

/* A split collective call, in which the file serves as the request. */
static inline void mpi_split_started(const struct frame *f, MPI_File fh, int err)
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

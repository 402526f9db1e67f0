/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-11.
 */
#include "capture/libraries/mpi.h"

#include <dlfcn.h>
#include <string.h>

#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "contract/calls.h"

/* The functions of the library that are called: name, type. */
#define USES(X)                                                                               \
	X(PMPI_Type_size_x, int (*)(MPI_Datatype, MPI_Count *))                               \
	X(PMPI_Error_class, int (*)(int, int *))                                              \
	X(PMPI_Comm_rank, int (*)(MPI_Comm, int *))                                           \
	X(PMPI_Comm_size, int (*)(MPI_Comm, int *))                                           \
	X(PMPI_Comm_group, int (*)(MPI_Comm, MPI_Group *))                                    \
	X(PMPI_Group_translate_ranks, int (*)(MPI_Group, int, const int *, MPI_Group, int *)) \
	X(PMPI_Group_free, int (*)(MPI_Group *))                                              \
	X(PMPI_File_get_position, int (*)(MPI_File, MPI_Offset *))                            \
	X(PMPI_File_get_byte_offset, int (*)(MPI_File, MPI_Offset, MPI_Offset *))             \
	X(ompi_mpi_comm_null, void *)                                                         \
	X(ompi_mpi_comm_world, void *)

LIBRARY_USES(USES)

struct mpi_kind mpi_kind;

/* MPI_COMM_WORLD and MPI_STATUS_IGNORE of MPICH: part of its ABI. */
#define MPICH_WORLD 0x44000000
#define MPICH_STATUS_IGNORE 1

void mpi_bind_slow(const void *called)
{
	void *world = use_of(called, USE_ompi_mpi_comm_world);

	/* Another thread is looking up the functions. */
	if (!USE(called, PMPI_Comm_rank))
		return;
	mpi_kind.is_open = world;
	mpi_kind.world = world ? (intptr_t)world : MPICH_WORLD;
	mpi_kind.status_ignore = world ? 0 : MPICH_STATUS_IGNORE;
	/* Pairs with the acquire in mpi_bind(). */
	atomic_store_explicit(&mpi_kind.request_mask, world ? UINT64_MAX : UINT32_MAX,
			      memory_order_release);
}

/* In MPICH the handle of a predefined type contains its size. */
static bool type_is_predefined(MPI_Datatype datatype)
{
	return !mpi_kind.is_open && ((uint32_t)datatype & 0xfc000000) == 0x4c000000;
}

uint64_t mpi_bytes(const void *near, MPI_Datatype datatype, int64_t count)
{
	type_PMPI_Type_size_x size;
	MPI_Count bytes = 0;

	if (type_is_predefined(datatype))
		return (uint64_t)count * ((uint32_t)datatype >> 8 & 0xff);
	size = USE(near, PMPI_Type_size_x);
	if (!size || size(datatype, &bytes) != MPI_SUCCESS || bytes < 0)
		return 0;
	return (uint64_t)(bytes * count);
}

int mpi_error_class(const void *near, int code)
{
	type_PMPI_Error_class class = USE(near, PMPI_Error_class);
	int found = code;

	if (class && class(code, &found) == MPI_SUCCESS)
		return found;
	return code;
}

int mpi_size(const void *called, MPI_Comm comm)
{
	type_PMPI_Comm_size size = USE(called, PMPI_Comm_size);
	int n = 0;

	if (!mpi_kind.is_open && !mpich_handle_is_valid(comm, MPICH_COMM))
		return 0;
	if (mpi_kind.is_open && (!comm || comm == (intptr_t)use_of(called, USE_ompi_mpi_comm_null)))
		return 0;
	return size && size(comm, &n) == MPI_SUCCESS ? n : 0;
}

void mpi_store_rank(const void *called)
{
	struct spool_header *h = capture_membership.header;
	type_PMPI_Comm_rank rank = USE(called, PMPI_Comm_rank);
	type_PMPI_Comm_size size = USE(called, PMPI_Comm_size);
	int r = -1, n = 0;

	if (!h || !rank || !size || rank(mpi_kind.world, &r) != MPI_SUCCESS ||
	    size(mpi_kind.world, &n) != MPI_SUCCESS)
		return;
	atomic_store(&h->ranks, n);
	/* Last: the collector reads the size once the rank is set. */
	atomic_store(&h->rank, r);
}

#define MEMBERS_AT_ONCE 64

/*
 * A hash of all ranks of a group in their order. *known becomes false if one of them is not in
 * MPI_COMM_WORLD.
 */
static uint64_t group_hash(type_PMPI_Group_translate_ranks translate, MPI_Group own, int size,
			   MPI_Group world, bool *known)
{
	uint64_t hash = (uint64_t)size;

	for (int from = 0; from < size; from += MEMBERS_AT_ONCE) {
		int n = size - from < MEMBERS_AT_ONCE ? size - from : MEMBERS_AT_ONCE;
		int some[MEMBERS_AT_ONCE], ranks[MEMBERS_AT_ONCE];

		for (int i = 0; i < n; i++)
			some[i] = from + i;
		if (translate(own, n, some, world, ranks) != MPI_SUCCESS) {
			*known = false;
			return hash;
		}
		for (int i = 0; i < n; i++) {
			hash = mpi_mix(hash, (uint64_t)(unsigned)ranks[i] + 1);
			*known = *known && ranks[i] >= 0;
		}
	}
	return hash;
}

uint64_t mpi_members_hash(const void *called, MPI_Comm comm, int size, bool *known)
{
	type_PMPI_Comm_group group = USE(called, PMPI_Comm_group);
	type_PMPI_Group_translate_ranks translate = USE(called, PMPI_Group_translate_ranks);
	type_PMPI_Group_free release = USE(called, PMPI_Group_free);
	MPI_Group own = 0, world = 0;
	uint64_t hash = (uint64_t)size;

	*known = false;
	if (!group || !translate || !release || group(comm, &own) != MPI_SUCCESS)
		return 0;
	if (group(mpi_kind.world, &world) == MPI_SUCCESS) {
		*known = true;
		hash = group_hash(translate, own, size, world, known);
		release(&world);
	}
	release(&own);
	return hash;
}

uint64_t mpi_text_hash(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t mpi_group(const void *called, MPI_Comm comm, const char *path)
{
	type_PMPI_Comm_size size = USE(called, PMPI_Comm_size);
	struct handle_entry *known;
	uint64_t hash, key, times = 0;
	bool all_known;
	int n = 0;

	if (!size || size(comm, &n) != MPI_SUCCESS || n < 2)
		return 0;
	hash = mpi_mix(mpi_members_hash(called, comm, n, &all_known), mpi_text_hash(path));
	key = handle_key(SPACE_MPI_GROUP, hash);
	known = handle_table_find(key);
	if (!known)
		known = handle_table_put(key, 1);
	if (known)
		times = atomic_fetch_add_explicit(&known->count, 1, memory_order_relaxed);
	return mpi_mix(hash, times + 1) | 1;
}

void mpi_view_set(const void *called, struct handle_entry *entry, MPI_Datatype etype)
{
	uint64_t bytes = mpi_bytes(called, etype, 1);

	if (entry)
		atomic_store_explicit(&entry->MPI_ETYPE_BYTES, bytes ? bytes : 1,
				      memory_order_relaxed);
}

int64_t mpi_offset_slow(const void *called, const struct handle_entry *entry, MPI_File fh,
			int64_t offset)
{
	type_PMPI_File_get_byte_offset translate = USE(called, PMPI_File_get_byte_offset);
	MPI_Offset byte = -1;

	(void)entry;
	return translate && translate(fh, offset, &byte) == MPI_SUCCESS ? byte : -1;
}

int64_t mpi_position(const void *called, const struct handle_entry *entry, MPI_File fh)
{
	type_PMPI_File_get_position position;
	MPI_Offset at = -1;

	/* A handle that was not seen being opened may be invalid. */
	if (!entry)
		return -1;
	position = USE(called, PMPI_File_get_position);
	return position && position(fh, &at) == MPI_SUCCESS ? at : -1;
}

uint64_t mpi_span_slow(const void *called, const struct handle_entry *entry, MPI_File fh,
		       int64_t offset, uint64_t bytes)
{
	uint64_t etype = mpi_etype_bytes(entry);
	int64_t first, last;

	if (!etype || bytes < etype || offset < 0)
		return bytes;
	first = mpi_offset_slow(called, entry, fh, offset);
	last = mpi_offset_slow(called, entry, fh, offset + (int64_t)(bytes / etype) - 1);
	return first < 0 || last < first ? bytes : (uint64_t)(last - first) + etype;
}

#define OPENMPI_STATUS_BYTES 24
#define MPICH_STATUS_BYTES 20

/* The size of an MPI_Status; that of Open MPI ends with a size_t. */
static size_t status_bytes(void)
{
	return mpi_kind.is_open ? OPENMPI_STATUS_BYTES : MPICH_STATUS_BYTES;
}

_Static_assert(OPENMPI_STATUS_BYTES <= (MPI_PENDING_WORDS - 2) * sizeof(uint64_t), "a status fits");

/* Makes room for `count` requests; without room their completions are not recorded. */
static bool pending_make_room(struct mpi_pending *p, int count)
{
	size_t bytes = MPI_PENDING_WORDS * (size_t)count * sizeof(uint64_t);
	void *room;

	p->values = p->inlined;
	p->mapped = 0;
	if (count > MPI_PENDING_INLINE) {
		room = kernel_map_private(bytes);
		if (!room)
			return false;
		p->values = room;
		p->mapped = bytes;
	}
	p->links = p->values + count;
	return true;
}

MPI_Status *mpi_pending_take(struct mpi_pending *p, const MPI_Request *requests, int count,
			     MPI_Status *statuses)
{
	p->count = count > 0 && pending_make_room(p, count) ? count : 0;
	p->statuses = statuses;
	for (int i = 0; i < p->count; i++) {
		p->values[i] = mpi_request_at(requests, i);
		p->links[i] = handle_table_take(handle_key(SPACE_MPI_REQUEST, p->values[i]));
	}
	if (p->count && (intptr_t)statuses == mpi_kind.status_ignore) {
		p->statuses = (MPI_Status *)(p->links + count);
		memset(p->statuses, 0, (size_t)count * status_bytes());
	}
	return p->statuses;
}

uint64_t mpi_pending_done(struct mpi_pending *p, int i)
{
	uint64_t link;

	if (i < 0 || i >= p->count)
		return 0;
	link = p->links[i];
	p->links[i] = 0;
	return link;
}

static uint64_t request_bytes_moved(const struct mpi_pending *p, int i, int err)
{
	MPI_Status status = { 0 };

	if (err || (intptr_t)p->statuses == mpi_kind.status_ignore)
		return 0;
	memcpy(&status, (const char *)p->statuses + (size_t)i * status_bytes(), status_bytes());
	return mpi_moved(&status, 0);
}

uint64_t mpi_pending_moved(const struct mpi_pending *p, const int *indices, int count, int err)
{
	uint64_t sum = 0;

	for (int i = 0; i < count && i < p->count; i++)
		if (p->links[indices ? indices[i] : i])
			sum += request_bytes_moved(p, i, err);
	return sum;
}

void mpi_pending_close(struct mpi_pending *p, const struct frame *f, const int *indices, int count,
		       int err)
{
	for (int i = 0; i < count; i++) {
		uint64_t link = mpi_pending_done(p, indices ? indices[i] : i);

		if (link)
			frame_completed(f, CALL_completed_MPI, link,
					(int64_t)request_bytes_moved(p, i, err), err);
	}
	mpi_pending_keep(p);
}

bool mpi_pending_keep(struct mpi_pending *p)
{
	for (int i = 0; i < p->count; i++)
		if (p->links[i])
			handle_table_put(handle_key(SPACE_MPI_REQUEST, p->values[i]), p->links[i]);
	if (p->mapped)
		kernel_call(SYS_munmap, p->values, p->mapped);
	p->count = 0;
	p->mapped = 0;
	return false;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes and requests of NetCDF and PnetCDF. Guest.
 */
#include "capture/libraries/netcdf.h"

#include "contract/calls.h"

/* The functions that are called, in the order of both lists. PnetCDF lacks ncmpi_inq_type and
 * ncmpi_inq_unlimdims. */
enum ask {
	ASK_VAR,
	ASK_VARDIMID,
	ASK_DIMLEN,
	ASK_ATT,
	ASK_TYPE,
	ASK_UNLIMDIMS,
	ASK_FORMAT,
	ASK_OPENMPI_NULL,
	ASK_COUNT
};

#define NETCDF_USES(X)                        \
	X(nc_inq_var, nc_inq_var)             \
	X(nc_inq_vardimid, nc_inq_vardimid)   \
	X(nc_inq_dimlen, nc_inq_dimlen)       \
	X(nc_inq_att, nc_inq_att)             \
	X(nc_inq_type, nc_inq_type)           \
	X(nc_inq_unlimdims, nc_inq_unlimdims) \
	X(nc_inq_format, nc_inq_format)       \
	X(ompi_mpi_datatype_null, ompi_mpi_datatype_null)
#define PNETCDF_USES(X)                             \
	X(ncmpi_inq_var, ncmpi_inq_var)             \
	X(ncmpi_inq_vardimid, ncmpi_inq_vardimid)   \
	X(ncmpi_inq_dimlen, ncmpi_inq_dimlen)       \
	X(ncmpi_inq_att, ncmpi_inq_att)             \
	X(ncmpi_inq_type, ncmpi_inq_type)           \
	X(ncmpi_inq_unlimdims, ncmpi_inq_unlimdims) \
	X(ncmpi_inq_format, ncmpi_inq_format)       \
	X(ompi_mpi_datatype_null, ompi_mpi_datatype_null)

_Static_assert(ASK_COUNT <= LIBRARY_USES_MAX, "the table of uses is too small");

LIBRARY_TABLE(netcdf_table, NETCDF_USES)
LIBRARY_TABLE(pnetcdf_table, PNETCDF_USES)
struct netcdf netcdf_library = { .uses = LIBRARY_LISTED(netcdf_table) };
struct netcdf pnetcdf_library = { .uses = LIBRARY_LISTED(pnetcdf_table) };

/* Lengths are size_t in one library and MPI_Offset in the other: 64 bits in both. */
typedef uint64_t __attribute__((may_alias)) length;

typedef int inq_var(int ncid, int varid, char *name, nc_type *type, int *ndims, int *dimids,
		    int *natts);
typedef int inq_vardimid(int ncid, int varid, int *dimids);
typedef int inq_dimlen(int ncid, int dimid, length *len);
typedef int inq_att(int ncid, int varid, const char *name, nc_type *type, length *len);
typedef int inq_type(int ncid, nc_type type, char *name, size_t *bytes);
typedef int inq_unlimdims(int ncid, int *count, int *dimids);
typedef int inq_format(int ncid, int *format);

#define ASK(functions, what, type) ((type *)(uintptr_t)(functions)[ASK_##what])

#define DIMENSIONS_MAX                                                             \
	32 /* of a variable that is read or written as a whole; more are very rare \
	    */

uint64_t netcdf_number(struct netcdf *library, const void *called, uint32_t number)
{
	unsigned copy = library_copy_of(&library->uses, library_use(&library->uses, called));

	return (uint64_t)copy << NETCDF_COPY_SHIFT | number;
}

void netcdf_renumbered(struct netcdf *library)
{
	answer_cache_clear(&library->variables);
}

/* The size of a type in memory. Those of the basic types are known, the library knows the rest. */
static uint64_t type_bytes(void *const *functions, int ncid, nc_type type)
{
	static const uint8_t bytes[] = { 0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, sizeof(char *) };
	inq_type *ask = ASK(functions, TYPE, inq_type);
	size_t asked = 0;

	if (type >= 0 && (size_t)type < sizeof(bytes))
		return bytes[type];
	return ask && ask(ncid, type, NULL, &asked) == 0 ? asked : 0;
}

/* The cached value of a variable: bytes of an element, rank, and a bit that is always set. */
struct variable {
	uint64_t element;
	unsigned rank;
};

#define RANK_SHIFT 1
#define RANK_MASK 0xffffu
#define ELEMENT_SHIFT 17

static struct variable variable_unpack(uint64_t value)
{
	return (struct variable){ value >> ELEMENT_SHIFT, value >> RANK_SHIFT & RANK_MASK };
}

static uint64_t variable_key(const struct netcdf *library, void *const *functions, int ncid,
			     int varid)
{
	uint64_t copy = library_copy_of(&library->uses, functions);

	return (uint64_t)(uint32_t)ncid << 32 ^ copy << 29 ^ (uint32_t)varid;
}

/* False if the library does not know the variable. */
static bool variable_find(struct netcdf *library, void *const *functions, int ncid, int varid,
			  struct variable *found)
{
	uint64_t key, value;
	inq_var *ask;
	nc_type type;
	int rank;

	if (!functions)
		return false;
	key = variable_key(library, functions, ncid, varid);
	value = answer_cache_get(&library->variables, key);
	if (!value) {
		ask = ASK(functions, VAR, inq_var);
		if (!ask || ask(ncid, varid, NULL, &type, &rank, NULL, NULL) != 0)
			return false;
		value = type_bytes(functions, ncid, type) << ELEMENT_SHIFT |
			(uint64_t)(unsigned)rank << RANK_SHIFT | 1;
		answer_cache_put(&library->variables, key, value);
	}
	*found = variable_unpack(value);
	return true;
}

static uint64_t product(const length *counts, unsigned rank)
{
	uint64_t elements = 1;

	for (unsigned i = 0; i < rank; i++)
		elements *= counts[i];
	return elements;
}

uint64_t netcdf_element_bytes(struct netcdf *library, const void *called, int ncid, int varid,
			      uint64_t element, int err)
{
	struct variable variable;

	if (err || element)
		return err ? 0 : element;
	if (!variable_find(library, library_use(&library->uses, called), ncid, varid, &variable))
		return 0;
	return variable.element;
}

uint64_t netcdf_slab_bytes(struct netcdf *library, const void *called, int ncid, int varid,
			   const void *counts, uint64_t element, int err)
{
	struct variable variable;

	if (err ||
	    !variable_find(library, library_use(&library->uses, called), ncid, varid, &variable))
		return 0;
	if (!counts && variable.rank) /* NetCDF then reads to the end of each dimension */
		return 0;
	return product(counts, variable.rank) * (element ? element : variable.element);
}

/*
 * May the lengths of the dimensions be asked for? In a parallel HDF5 file the length of an
 * unlimited dimension is a collective question. So in such a file only variables with fixed
 * dimensions qualify, and only in the root group: other groups also see the dimensions of their
 * parents.
 */
static bool may_ask_lengths(void *const *functions, int ncid, const int *dimids, unsigned rank,
			    const struct handle_entry *entry)
{
	inq_unlimdims *ask = ASK(functions, UNLIMDIMS, inq_unlimdims);
	int count = 0, unlimited[DIMENSIONS_MAX];

	if (!entry || atomic_load_explicit(&entry->note, memory_order_relaxed) != NETCDF_PARALLEL)
		return true;
	if ((uint32_t)ncid & ~NETCDF_FILE_MASK || !ask || ask(ncid, &count, NULL) != 0 ||
	    count > DIMENSIONS_MAX || ask(ncid, &count, unlimited) != 0)
		return false;
	for (int i = 0; i < count; i++) {
		for (unsigned d = 0; d < rank; d++) {
			if (dimids[d] == unlimited[i])
				return false;
		}
	}
	return true;
}

uint64_t netcdf_variable_bytes(struct netcdf *library, const void *called, int ncid, int varid,
			       uint64_t element, const struct handle_entry *entry, int err)
{
	void *const *functions = err ? NULL : library_use(&library->uses, called);
	length lengths[DIMENSIONS_MAX];
	int dimids[DIMENSIONS_MAX];
	struct variable variable;
	inq_vardimid *ask_dimids;
	inq_dimlen *ask;

	if (!variable_find(library, functions, ncid, varid, &variable) ||
	    variable.rank > DIMENSIONS_MAX)
		return 0;
	ask_dimids = ASK(functions, VARDIMID, inq_vardimid);
	ask = ASK(functions, DIMLEN, inq_dimlen);
	if (!ask_dimids || !ask || ask_dimids(ncid, varid, dimids) != 0 ||
	    !may_ask_lengths(functions, ncid, dimids, variable.rank, entry))
		return 0;
	for (unsigned i = 0; i < variable.rank; i++) {
		if (ask(ncid, dimids[i], &lengths[i]) != 0)
			return 0;
	}
	return product(lengths, variable.rank) * (element ? element : variable.element);
}

/* NC_FORMAT_NETCDF4 and NC_FORMAT_NETCDF4_CLASSIC */
#define FORMAT_HDF5 3
#define FORMAT_HDF5_CLASSIC 4

bool netcdf_is_hdf5(const void *called, int ncid, int err)
{
	void *const *functions = err ? NULL : library_use(&netcdf_library.uses, called);
	inq_format *ask = functions ? ASK(functions, FORMAT, inq_format) : NULL;
	int format = 0;

	return ask && ask(ncid, &format) == 0 &&
	       (format == FORMAT_HDF5 || format == FORMAT_HDF5_CLASSIC);
}

uint64_t netcdf_attribute_bytes(struct netcdf *library, const void *called, int ncid, int varid,
				const char *name, uint64_t element, int err)
{
	void *const *functions = err ? NULL : library_use(&library->uses, called);
	inq_att *ask = functions ? ASK(functions, ATT, inq_att) : NULL;
	length elements = 0;
	nc_type type = 0;

	if (!ask || ask(ncid, varid, name, &type, &elements) != 0)
		return 0;
	return elements * (element ? element : type_bytes(functions, ncid, type));
}

uint64_t netcdf_typed_bytes(struct netcdf *library, const void *called, int ncid, nc_type type,
			    uint64_t elements, int err)
{
	void *const *functions = err ? NULL : library_use(&library->uses, called);

	return functions ? elements * type_bytes(functions, ncid, type) : 0;
}

uint64_t pnetcdf_pieces_bytes(const void *called, int ncid, int varid, int num,
			      MPI_Offset *const *counts, uint64_t element, int err)
{
	struct variable variable;
	uint64_t elements = 0;

	if (err || !variable_find(&pnetcdf_library, library_use(&pnetcdf_library.uses, called),
				  ncid, varid, &variable))
		return 0;
	for (int i = 0; i < num; i++) /* without counts each piece is one element */
		elements +=
			counts && counts[i] ? product((const length *)counts[i], variable.rank) : 1;
	return elements * (element ? element : variable.element);
}

uint64_t pnetcdf_variables_bytes(const void *called, int ncid, int num, const int *varids,
				 uint64_t element, int err)
{
	uint64_t sum = 0;

	for (int i = 0; !err && i < num; i++)
		sum += netcdf_variable_bytes(&pnetcdf_library, called, ncid, varids[i], element,
					     NULL, 0);
	return sum;
}

uint64_t pnetcdf_slabs_bytes(const void *called, int ncid, int num, const int *varids,
			     MPI_Offset *const *counts, uint64_t element, int err)
{
	uint64_t sum = 0;

	for (int i = 0; !err && i < num; i++)
		sum += counts ? netcdf_slab_bytes(&pnetcdf_library, called, ncid, varids[i],
						  counts[i], element, 0)
			      : netcdf_element_bytes(&pnetcdf_library, called, ncid, varids[i],
						     element, 0);
	return sum;
}

#define MPICH_DATATYPE_NULL 0x0c000000u

/* Asking MPI for the size of MPI_DATATYPE_NULL would abort the program. */
static bool type_is_null(void *const *functions, MPI_Datatype type)
{
	if (mpi_kind.is_open)
		return !type || !functions[ASK_OPENMPI_NULL] ||
		       type == (MPI_Datatype)functions[ASK_OPENMPI_NULL];
	return (uint32_t)type == MPICH_DATATYPE_NULL;
}

uint64_t pnetcdf_buffer_bytes(const void *called, MPI_Datatype type, int64_t count,
			      uint64_t own_bytes, uint64_t elements)
{
	void *const *functions = library_use(&pnetcdf_library.uses, called);

	if (!functions || type_is_null(functions, type))
		return own_bytes;
	return count ? mpi_bytes(called, type, count < 0 ? (int64_t)elements : count) : 0;
}

uint64_t pnetcdf_described_bytes(const void *called, MPI_Datatype part, MPI_Datatype type,
				 int64_t count)
{
	void *const *functions = library_use(&pnetcdf_library.uses, called);

	if (!functions || type_is_null(functions, part)) /* then nothing is moved */
		return 0;
	if (count < 0 || type_is_null(functions, type))
		return mpi_bytes(called, part, 1);
	return pnetcdf_buffer_bytes(called, type, count, 0, 0);
}

uint64_t pnetcdf_buffers_bytes(const void *called, int num, const int64_t *counts,
			       const MPI_Datatype *types, int err)
{
	uint64_t sum = 0;

	for (int i = 0; !err && i < num; i++)
		sum += pnetcdf_buffer_bytes(called, mpi_datatype_at(types, i), counts[i], 0, 0);
	return sum;
}

/*
 * In the handle entry of a file, count is the highest pending request plus 1. In that of a request,
 * note is its direction, NOTE_WAITED and its index in the program's list; count is its bytes.
 */

#define NOTE_WAITED 4u
#define NOTE_PLACE_SHIFT 8
#define REQUESTS_MAX (1 << 20) /* completions of higher numbers are not recorded */

/* NC_REQ_ALL, NC_GET_REQ_ALL and NC_PUT_REQ_ALL, which replace a count of requests. */
#define ALL_REQUESTS (-1)
#define ALL_GETS (-2)
#define ALL_PUTS (-3)

static uint64_t request_key(const void *called, int ncid, int request)
{
	uint64_t file = pnetcdf_handle(called, ncid);

	return handle_key(SPACE_PNETCDF_REQUEST, file << 24 | (uint32_t)request);
}

static struct handle_entry *request_find(const void *called, int ncid, int request)
{
	if (request < 0 || request >= REQUESTS_MAX)
		return NULL;
	return handle_table_find(request_key(called, ncid, request));
}

void pnetcdf_started(const struct frame *f, const void *called, struct handle_entry *entry,
		     int ncid, const int *request, enum pnetcdf_direction direction, uint64_t bytes,
		     int err)
{
	uint64_t id = frame_id(f);
	struct handle_entry *made;

	if (err || !id || !entry || !request || *request < 0 || *request >= REQUESTS_MAX)
		return;
	made = handle_table_put(request_key(called, ncid, *request), link_make(LINK_UNKNOWN, id));
	if (!made)
		return;
	atomic_store_explicit(&made->note, direction, memory_order_relaxed);
	atomic_store_explicit(&made->count, bytes, memory_order_relaxed);
	if ((uint64_t)*request >= atomic_load_explicit(&entry->count, memory_order_relaxed))
		atomic_store_explicit(&entry->count, (uint64_t)*request + 1, memory_order_relaxed);
}

/* Marks a request that the call is about to complete; place is the index of its status. */
static void request_mark(struct pnetcdf_wait *wait, const void *called, int request,
			 unsigned directions, int place)
{
	struct handle_entry *entry = request_find(called, wait->ncid, request);
	uint64_t note = entry ? atomic_load_explicit(&entry->note, memory_order_relaxed) : 0;

	if (!(note & directions))
		return;
	note = (note & (PNETCDF_PUT | PNETCDF_GET)) | NOTE_WAITED |
	       (uint64_t)(unsigned)place << NOTE_PLACE_SHIFT;
	atomic_store_explicit(&entry->note, note, memory_order_relaxed);
	if (wait->first == wait->behind)
		wait->first = wait->behind = request;
	wait->first = request < wait->first ? request : wait->first;
	wait->behind = request >= wait->behind ? request + 1 : wait->behind;
}

struct pnetcdf_wait pnetcdf_wait_begin(const void *called, const struct handle_entry *entry,
				       int ncid, int count, const int *requests)
{
	struct pnetcdf_wait wait = { .ncid = ncid, .count = count, .requests = requests };
	unsigned directions = count == ALL_GETS	  ? PNETCDF_GET
			      : count == ALL_PUTS ? PNETCDF_PUT
						  : PNETCDF_GET | PNETCDF_PUT;
	int known = entry ? (int)atomic_load_explicit(&entry->count, memory_order_relaxed) : 0;

	if (!known)
		return wait;
	for (int i = 0; requests && i < count; i++)
		request_mark(&wait, called, requests[i], directions, i);
	for (int i = 0; count < 0 && count >= ALL_PUTS && i < known; i++)
		request_mark(&wait, called, i, directions, 0);
	return wait;
}

/* Finds the next marked request from *request on and moves *request to it. */
static struct handle_entry *request_next(const struct pnetcdf_wait *wait, const void *called,
					 int *request)
{
	for (; *request < wait->behind; ++*request) {
		struct handle_entry *entry = request_find(called, wait->ncid, *request);

		if (entry && atomic_load_explicit(&entry->note, memory_order_relaxed) & NOTE_WAITED)
			return entry;
	}
	return NULL;
}

uint64_t pnetcdf_wait_bytes(const struct pnetcdf_wait *wait, const void *called)
{
	int request = wait->first;
	struct handle_entry *entry;
	uint64_t sum = 0;

	for (; (entry = request_next(wait, called, &request)); request++)
		sum += atomic_load_explicit(&entry->count, memory_order_relaxed);
	return sum;
}

/* A call that fails may have completed some requests: their entries in the list are negative. */
static bool is_complete(const struct pnetcdf_wait *wait, uint64_t place, int err)
{
	return !err || (wait->count > 0 && wait->requests[place] < 0);
}

static void request_complete(const struct pnetcdf_wait *wait, const struct frame *f, uint64_t key,
			     struct handle_entry *entry, const int *statuses, bool moved, int err)
{
	uint64_t note = atomic_load_explicit(&entry->note, memory_order_relaxed);
	uint64_t place = note >> NOTE_PLACE_SHIFT, bytes;
	int status = 0;

	if (!is_complete(wait, place, err)) {
		atomic_store_explicit(&entry->note, note & (PNETCDF_PUT | PNETCDF_GET),
				      memory_order_relaxed);
		return;
	}
	if (statuses && wait->count > 0 && !err)
		status = statuses[place];
	bytes = atomic_load_explicit(&entry->count, memory_order_relaxed);
	frame_completed(f, CALL_completed_PNETCDF, handle_table_take(key),
			moved && !status ? (int64_t)bytes : 0, status);
}

void pnetcdf_wait_end(const struct pnetcdf_wait *wait, const struct frame *f, const void *called,
		      struct handle_entry *entry, const int *statuses, bool moved, int err)
{
	int request = wait->first;
	struct handle_entry *found;

	for (; (found = request_next(wait, called, &request)); request++)
		request_complete(wait, f, request_key(called, wait->ncid, request), found, statuses,
				 moved, err);
	if (entry && wait->count == ALL_REQUESTS && !err)
		atomic_store_explicit(&entry->count, 0, memory_order_relaxed);
}

void pnetcdf_forget(const void *called, const struct handle_entry *entry, int ncid)
{
	int known = entry ? (int)atomic_load_explicit(&entry->count, memory_order_relaxed) : 0;

	for (int i = 0; i < known; i++)
		handle_table_take(request_key(called, ncid, i));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes and handles of HDF5: the parts that not every read and write needs. Guest.
 */
#include "capture/libraries/hdf5.h"

/* The functions of the library that are called: name, and the symbol if linked. */
#define USES(X)                                                             \
	X(H5Aget_space, H5Aget_space)                                       \
	X(H5Aget_type, H5Aget_type)                                         \
	X(H5Dget_create_plist, __real_H5Dget_create_plist)                  \
	X(H5Dget_space, H5Dget_space)                                       \
	X(H5Dget_type, H5Dget_type)                                         \
	X(H5Pclose, __real_H5Pclose)                                        \
	X(H5Pget_layout, H5Pget_layout)                                     \
	X(H5Pget_mpio_no_collective_cause, H5Pget_mpio_no_collective_cause) \
	X(H5Sclose, __real_H5Sclose)                                        \
	X(H5Sget_select_npoints, H5Sget_select_npoints)                     \
	X(H5Sget_simple_extent_npoints, H5Sget_simple_extent_npoints)       \
	X(H5Tclose, __real_H5Tclose)                                        \
	X(H5Tdetect_class, H5Tdetect_class)                                 \
	X(H5Tget_class, H5Tget_class)                                       \
	X(H5Tget_member_index, H5Tget_member_index)                         \
	X(H5Tget_member_name, H5Tget_member_name)                           \
	X(H5Tget_member_type, H5Tget_member_type)                           \
	X(H5Tget_nmembers, H5Tget_nmembers)                                 \
	X(H5Tget_size, H5Tget_size)                                         \
	X(H5Tget_super, H5Tget_super)                                       \
	X(H5free_memory, H5free_memory)

#define USE_ENUM(name, symbol) USE_##name,
enum use { USES(USE_ENUM) USE_COUNT };

_Static_assert(USE_COUNT <= LIBRARY_USES_MAX, "the table of uses is too small");

LIBRARY_TABLE(table, USES)
struct library_uses hdf5_uses = LIBRARY_LISTED(table);
struct answer_cache hdf5_types, hdf5_spaces, hdf5_datasets;

/* Bytes plus 1 that a type has in common with that of a dataset or attribute. */
static struct answer_cache common_types;

#define LAYOUT_VIRTUAL 3 /* H5D_VIRTUAL */

enum type_class { CLASS_OF_COMPOUND = 6, CLASS_OF_ARRAY = 10 }; /* H5T_COMPOUND, H5T_ARRAY */

/* The kinds of ids that have a cache: bits 56 and up of an id, the same in all versions. */
enum id_kind { ID_TYPE = 3, ID_SPACE = 4, ID_DATASET = 5 };

/* Can the extent of a dataset be cached? Stored in the note of its handle entry. */
enum layout {
	LAYOUT_UNKNOWN,
	LAYOUT_USED_ONCE, /* its extent was needed once; the next time its layout is asked for */
	LAYOUT_FIXED,
	LAYOUT_CHANGING, /* virtual: changes with its sources */
};

/* Calls a function with one id as argument; -1 if this copy lacks the function. */
static int64_t call_with_id(void *const *functions, enum use use, hid_t id)
{
	int64_t (*function)(hid_t) = (int64_t(*)(hid_t))(uintptr_t)functions[use];

	return function ? function(id) : -1;
}

static int call_with_id_int(void *const *functions, enum use use, hid_t id)
{
	int (*function)(hid_t) = (int (*)(hid_t))(uintptr_t)functions[use];

	return function ? function(id) : -1;
}

void hdf5_referenced(const void *called, hid_t id)
{
	struct handle_entry *entry = hdf5_find(called, id);

	if (entry)
		atomic_fetch_add_explicit(&entry->count, 1, memory_order_relaxed);
}

/* Releases one reference; false if it was the last one, or if the handle is unknown. */
static bool reference_release(const void *called, hid_t id)
{
	struct handle_entry *entry = hdf5_find(called, id);

	if (!entry || !atomic_load_explicit(&entry->count, memory_order_relaxed))
		return false;
	atomic_fetch_sub_explicit(&entry->count, 1, memory_order_relaxed);
	return true;
}

static void handle_drop(const void *called, hid_t id)
{
	void *const *functions = library_use(&hdf5_uses, called);

	handle_table_take(handle_key(SPACE_HDF5, hdf5_handle(called, id)));
	if (!functions)
		return;
	switch ((enum id_kind)(id >> 56)) {
	case ID_TYPE:
		answer_cache_drop(&hdf5_types, hdf5_key(functions, id));
		break;
	case ID_SPACE:
		answer_cache_drop(&hdf5_spaces, hdf5_key(functions, id));
		break;
	case ID_DATASET:
		answer_cache_drop(&hdf5_datasets, hdf5_key(functions, id));
		break;
	}
}

void hdf5_released(const void *called, hid_t id, herr_t ret)
{
	if (ret >= 0 && !reference_release(called, id))
		handle_drop(called, id);
}

bool hdf5_dereferenced(const void *called, hid_t id, int ret)
{
	if (ret > 0)
		reference_release(called, id);
	else if (ret == 0)
		handle_drop(called, id);
	return ret == 0;
}

void hdf5_ended(const void *called)
{
	uint64_t links[64], mask = handle_key((enum space)0xf, UINT64_C(0xf) << HDF5_COPY_SHIFT);

	answer_cache_clear(&hdf5_types);
	answer_cache_clear(&common_types);
	answer_cache_clear(&hdf5_spaces);
	answer_cache_clear(&hdf5_datasets);
	while (handle_table_take_all(mask, handle_key(SPACE_HDF5, hdf5_handle(called, 0)), links,
				     64) == 64)
		;
}

/* Does the type consist of fields, of which another type may lack some? */
static bool type_has_fields(void *const *functions, hid_t type)
{
	int (*detect)(hid_t, int) = (int (*)(hid_t, int))(uintptr_t)functions[USE_H5Tdetect_class];

	return detect && detect(type, CLASS_OF_COMPOUND) > 0;
}

uint64_t hdf5_type_ask(void *const *functions, hid_t type)
{
	int64_t bytes = call_with_id(functions, USE_H5Tget_size, type);
	uint64_t value = (uint64_t)bytes;

	if (bytes <= 0)
		return 0;
	if (type_has_fields(functions, type))
		value |= HDF5_TYPE_FIELDS;
	answer_cache_put(&hdf5_types, hdf5_key(functions, type), value);
	return value;
}

void hdf5_type_changed(const void *called, hid_t type)
{
	void *const *functions = library_use(&hdf5_uses, called);

	if (!functions)
		return;
	answer_cache_drop(&hdf5_types, hdf5_key(functions, type));
	answer_cache_clear(&common_types);
}

/* The type of a field, which the caller closes; -1 if there is none. */
static hid_t field_type(void *const *functions, hid_t type, int field)
{
	hid_t (*get)(hid_t, unsigned) =
		(hid_t(*)(hid_t, unsigned))(uintptr_t)functions[USE_H5Tget_member_type];

	return get && field >= 0 ? get(type, (unsigned)field) : -1;
}

/* The number in `other` of the field that has the same name; -1 if there is none. */
static int field_find(void *const *functions, hid_t type, unsigned field, hid_t other)
{
	char *(*get_name)(hid_t, unsigned) =
		(char *(*)(hid_t, unsigned))(uintptr_t)functions[USE_H5Tget_member_name];
	int (*get_index)(hid_t, const char *) =
		(int (*)(hid_t, const char *))(uintptr_t)functions[USE_H5Tget_member_index];
	herr_t (*release)(void *) = (herr_t(*)(void *))(uintptr_t)functions[USE_H5free_memory];
	char *name = get_name && get_index && release ? get_name(type, field) : NULL;
	int found = name ? get_index(other, name) : -1;

	if (name)
		release(name);
	return found;
}

static uint64_t common_bytes(void *const *functions, hid_t memory, hid_t file, unsigned depth);

/* The same, of two types that are closed; 0 if one of them is not valid. */
static uint64_t common_bytes_taken(void *const *functions, hid_t memory, hid_t file, unsigned depth)
{
	uint64_t bytes =
		memory >= 0 && file >= 0 ? common_bytes(functions, memory, file, depth) : 0;

	if (memory >= 0)
		call_with_id_int(functions, USE_H5Tclose, memory);
	if (file >= 0)
		call_with_id_int(functions, USE_H5Tclose, file);
	return bytes;
}

static uint64_t common_fields(void *const *functions, hid_t memory, hid_t file, unsigned depth)
{
	int count = call_with_id_int(functions, USE_H5Tget_nmembers, memory);
	bool same = count == call_with_id_int(functions, USE_H5Tget_nmembers, file);
	int64_t whole = call_with_id(functions, USE_H5Tget_size, memory);
	uint64_t bytes = 0;

	for (int i = 0; i < count; i++) {
		int other = field_find(functions, memory, (unsigned)i, file);

		same &= other >= 0;
		bytes += common_bytes_taken(functions, field_type(functions, memory, i),
					    field_type(functions, file, other), depth);
	}
	/* The gaps between the fields of equal types are moved too. */
	same &= whole == call_with_id(functions, USE_H5Tget_size, file);
	return same ? (uint64_t)whole : bytes;
}

static uint64_t common_elements(void *const *functions, hid_t memory, hid_t file, unsigned depth)
{
	hid_t base = call_with_id(functions, USE_H5Tget_super, memory);
	int64_t whole = call_with_id(functions, USE_H5Tget_size, memory);
	int64_t element = base >= 0 ? call_with_id(functions, USE_H5Tget_size, base) : 0;
	uint64_t bytes = common_bytes_taken(functions, base,
					    call_with_id(functions, USE_H5Tget_super, file), depth);

	return element > 0 ? (uint64_t)(whole / element) * bytes : 0;
}

/* Bytes of the memory type that a conversion to or from the file type moves. */
static uint64_t common_bytes(void *const *functions, hid_t memory, hid_t file, unsigned depth)
{
	int class = call_with_id_int(functions, USE_H5Tget_class, memory);
	bool same = class == call_with_id_int(functions, USE_H5Tget_class, file);
	int64_t bytes;

	if (same && depth && class == CLASS_OF_COMPOUND)
		return common_fields(functions, memory, file, depth - 1);
	if (same && depth && class == CLASS_OF_ARRAY)
		return common_elements(functions, memory, file, depth - 1);
	bytes = call_with_id(functions, USE_H5Tget_size, memory);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

#define TYPE_DEPTH 8 /* deeper fields count in full */

/* `get_type` returns the type of the object. */
static uint64_t common_ask(void *const *functions, hid_t object, enum use get_type, hid_t type)
{
	uint64_t key = hdf5_key(functions, type) * 3 + hdf5_key(functions, object);
	uint64_t known = answer_cache_get(&common_types, key), bytes;
	hid_t stored;

	if (known)
		return known - 1;
	stored = call_with_id(functions, get_type, object);
	if (stored < 0)
		return hdf5_type_bytes(hdf5_type_ask(functions, type));
	bytes = common_bytes(functions, type, stored, TYPE_DEPTH);
	call_with_id_int(functions, USE_H5Tclose, stored);
	answer_cache_put(&common_types, key, bytes + 1);
	return bytes;
}

uint64_t hdf5_common_ask(void *const *functions, hid_t dataset, hid_t type)
{
	return common_ask(functions, dataset, USE_H5Dget_type, type);
}

/* Below the points of a cached value: the rank, and a bit that is always set. */
#define SPACE_RANK_UNKNOWN 0x7f
#define SPACE_KNOWN 0x80
#define SPACE_POINTS_MAX (UINT64_MAX >> HDF5_SPACE_SHIFT)

_Static_assert(HDF5_RANK_MAX < SPACE_RANK_UNKNOWN, "an unknown rank must differ from any rank");

static uint64_t space_value(uint64_t points, unsigned rank)
{
	return points << HDF5_SPACE_SHIFT | SPACE_KNOWN | rank;
}

static unsigned space_rank(uint64_t value)
{
	return value ? value & ~SPACE_KNOWN & 0xff : SPACE_RANK_UNKNOWN;
}

uint64_t hdf5_space_ask(void *const *functions, hid_t space)
{
	int64_t points = call_with_id(functions, USE_H5Sget_select_npoints, space);
	uint64_t value;

	if (points < 0 || (uint64_t)points > SPACE_POINTS_MAX)
		return 0;
	value = space_value((uint64_t)points, SPACE_RANK_UNKNOWN);
	answer_cache_put(&hdf5_spaces, hdf5_key(functions, space), value);
	return value;
}

uint64_t hdf5_product(const hsize_t *dims, int rank)
{
	uint64_t product = 1;

	for (int i = 0; i < rank; i++) {
		if (__builtin_mul_overflow(product, dims[i], &product))
			return UINT64_MAX;
	}
	return product;
}

void hdf5_space_made(const void *called, hid_t space, int rank, const hsize_t *dims)
{
	void *const *functions = library_use(&hdf5_uses, called);
	uint64_t points;

	if (!functions || rank < 0 || rank > HDF5_RANK_MAX)
		return;
	points = hdf5_product(dims, rank);
	if (points <= SPACE_POINTS_MAX)
		answer_cache_put(&hdf5_spaces, hdf5_key(functions, space),
				 space_value(points, (unsigned)rank));
}

/* Points of a hyperslab; UINT64_MAX if it is unlimited (H5S_UNLIMITED). */
static uint64_t slab_points(unsigned rank, const hsize_t *count, const hsize_t *block)
{
	uint64_t counted = hdf5_product(count, (int)rank);
	uint64_t each = block ? hdf5_product(block, (int)rank) : 1, points;

	for (unsigned i = 0; i < rank; i++) {
		if (count[i] == UINT64_MAX || (block && block[i] == UINT64_MAX))
			return UINT64_MAX;
	}
	return __builtin_mul_overflow(counted, each, &points) ? UINT64_MAX : points;
}

void hdf5_space_selected(const void *called, hid_t space, H5S_seloper_t op, const hsize_t *count,
			 const hsize_t *block)
{
	void *const *functions = library_use(&hdf5_uses, called);
	uint64_t key, points;
	unsigned rank;

	if (!functions)
		return;
	key = hdf5_key(functions, space);
	rank = space_rank(answer_cache_get(&hdf5_spaces, key));
	answer_cache_drop(&hdf5_spaces, key);
	if (op != HDF5_SELECT_SET || !count || rank == SPACE_RANK_UNKNOWN)
		return;
	points = slab_points(rank, count, block);
	if (points <= SPACE_POINTS_MAX)
		answer_cache_put(&hdf5_spaces, key, space_value(points, rank));
}

void hdf5_space_changed(const void *called, hid_t space)
{
	void *const *functions = library_use(&hdf5_uses, called);

	if (functions)
		answer_cache_drop(&hdf5_spaces, hdf5_key(functions, space));
}

/* The points of a dataspace, which is closed; -1 if `space` is not valid. */
static int64_t space_take_points(void *const *functions, hid_t space)
{
	int64_t points;

	if (space < 0)
		return -1;
	points = call_with_id(functions, USE_H5Sget_simple_extent_npoints, space);
	call_with_id_int(functions, USE_H5Sclose, space);
	return points;
}

static bool may_be_parallel(void *const *functions)
{
	return functions[USE_H5Pget_mpio_no_collective_cause] && mpi_is_used();
}

bool hdf5_is_parallel(const void *called)
{
	void *const *functions = library_use(&hdf5_uses, called);

	return functions && may_be_parallel(functions);
}

static enum layout layout_read(void *const *functions, hid_t dataset)
{
	hid_t properties;
	int layout;

	if (may_be_parallel(functions))
		return LAYOUT_CHANGING;
	properties = call_with_id(functions, USE_H5Dget_create_plist, dataset);
	if (properties < 0)
		return LAYOUT_CHANGING;
	layout = call_with_id_int(functions, USE_H5Pget_layout, properties);
	call_with_id_int(functions, USE_H5Pclose, properties);
	return layout < 0 || layout == LAYOUT_VIRTUAL ? LAYOUT_CHANGING : LAYOUT_FIXED;
}

/*
 * The extent of a virtual dataset may change at any time. Asking for the layout takes longer than
 * asking for the extent a few times, so it is not done on the first use of a dataset.
 */
static bool extent_is_fixed(void *const *functions, hid_t dataset, struct handle_entry *entry)
{
	enum layout layout;

	if (!entry)
		return false;
	layout = (enum layout)atomic_load_explicit(&entry->note, memory_order_relaxed);
	if (layout == LAYOUT_UNKNOWN)
		layout = LAYOUT_USED_ONCE;
	else if (layout == LAYOUT_USED_ONCE)
		layout = layout_read(functions, dataset);
	atomic_store_explicit(&entry->note, layout, memory_order_relaxed);
	return layout == LAYOUT_FIXED;
}

uint64_t hdf5_dataset_ask(void *const *functions, hid_t dataset, struct handle_entry *entry)
{
	int64_t points =
		space_take_points(functions, call_with_id(functions, USE_H5Dget_space, dataset));

	if (points < 0)
		return 0;
	if (extent_is_fixed(functions, dataset, entry))
		answer_cache_put(&hdf5_datasets, hdf5_key(functions, dataset),
				 (uint64_t)points + 1);
	return (uint64_t)points;
}

void hdf5_created(struct handle_entry *opened, hid_t properties)
{
	if (opened && properties == HDF5_DEFAULT)
		atomic_store_explicit(&opened->note, LAYOUT_FIXED, memory_order_relaxed);
}

void hdf5_extents_changed(void)
{
	answer_cache_clear(&hdf5_datasets);
}

uint64_t hdf5_attribute_bytes(const void *called, hid_t attribute, hid_t type,
			      struct handle_entry *entry, int err)
{
	void *const *functions = err ? NULL : library_use(&hdf5_uses, called);
	uint64_t known, element;
	int64_t points;

	if (!functions)
		return 0;
	/* The note of an attribute is the number of its points plus 1. */
	known = entry ? atomic_load_explicit(&entry->note, memory_order_relaxed) : 0;
	points = known ? (int64_t)known - 1
		       : space_take_points(functions,
					   call_with_id(functions, USE_H5Aget_space, attribute));
	if (points < 0)
		return 0;
	if (entry && !known)
		atomic_store_explicit(&entry->note, (uint64_t)points + 1, memory_order_relaxed);
	element = answer_cache_get(&hdf5_types, hdf5_key(functions, type));
	if (!element)
		element = hdf5_type_ask(functions, type);
	if (element & HDF5_TYPE_FIELDS)
		element = common_ask(functions, attribute, USE_H5Aget_type, type);
	return element * (uint64_t)points;
}

uint64_t hdf5_bytes_many(const void *called, size_t count, const hid_t *datasets,
			 const hid_t *types, const hid_t *memory, const hid_t *file, int err)
{
	uint64_t sum = 0;

	for (size_t i = 0; !err && i < count; i++)
		sum += hdf5_bytes(called, datasets[i], types[i], memory[i], file[i],
				  hdf5_find(called, datasets[i]), 0);
	return sum;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the wrappers of HDF5 need: the types of its functions, handles, and the bytes that a call
 * moves. Guest.
 *
 * HDF5 has no function that returns the bytes that H5Dwrite moves. They are the product of the size
 * of a type and the points of a selection, and asking for both takes a third of the time of a small
 * write. So the answers are cached. Functions that change them have wrappers that record nothing
 * (QUIET) and drop the cached answer. HDF5 does not reuse an id before H5close(). Each copy of HDF5
 * in a process counts its own ids, so the cache key contains the copy.
 *
 * The guest asks only after a call that succeeded, in the copy that executed it, and only questions
 * that HDF5 answers from memory: none that could read a file or communicate with other ranks.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_HDF5_H
#define SLUICE_CAPTURE_LIBRARIES_HDF5_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/libraries/library.h"
#include "capture/libraries/mpi.h"
#include "capture/record/answer_cache.h"
#include "capture/record/handle_table.h"

/* These are only passed through, so only their size matters. Callbacks are pointers, enums ints. */
typedef int64_t hid_t;
typedef int herr_t;
typedef int htri_t;
typedef bool hbool_t;
typedef unsigned long long hsize_t;
typedef long long hssize_t;
typedef uint64_t haddr_t;
typedef struct {
	uint8_t bytes[16];
} H5O_token_t;

typedef int H5D_alloc_time_t, H5D_fill_time_t, H5D_layout_t, H5D_selection_io_mode_t,
	H5D_vds_view_t, H5FD_class_value_t, H5FD_mem_t, H5FD_mpio_chunk_opt_t,
	H5FD_mpio_collective_opt_t, H5FD_mpio_xfer_t, H5F_close_degree_t, H5F_file_space_type_t,
	H5F_fspace_strategy_t, H5F_libver_t, H5F_mem_t, H5F_scope_t, H5G_obj_t, H5L_type_t,
	H5R_type_t, H5S_seloper_t, H5Z_EDC_t, H5Z_SO_scale_type_t, H5Z_filter_t, H5_index_t,
	H5_iter_order_t;
typedef void (*hdf5_callback)(void);
typedef hdf5_callback H5A_operator1_t, H5A_operator2_t, H5D_append_cb_t, H5D_chunk_iter_op_t,
	H5G_iterate_t, H5L_iterate1_t, H5L_iterate2_t, H5L_iterate_t, H5O_iterate1_t,
	H5O_iterate2_t, H5O_iterate_t;
typedef struct hdf5_opaque H5AC_cache_config_t, H5AC_cache_image_config_t, H5A_info_t,
	H5D_chunk_index_t, H5D_space_status_t, H5FD_onion_fapl_info_t, H5FD_splitter_vfd_config_t,
	H5F_info1_t, H5F_info2_t, H5F_sect_info_t, H5G_info_t, H5G_stat_t, H5L_info1_t, H5L_info2_t,
	H5L_info_t, H5O_info1_t, H5O_info2_t, H5O_info_t, H5O_native_info_t, H5O_type_t, H5R_ref_t;

/* Constants of HDF5. */
#define HDF5_DEFAULT 0	  /* H5P_DEFAULT */
#define HDF5_SELECT_SET 0 /* H5S_SELECT_SET: replaces the selection */

extern struct library_uses hdf5_uses __attribute__((visibility("hidden")));

INLINE void hdf5_bind(const void *called)
{
	(void)called;
}

/* Ids count from 0 below the bits of their type, so there is room for the number of the copy. */
#define HDF5_COPY_SHIFT 48

/* The key of an id in the copy of the library that has these functions. */
INLINE uint64_t hdf5_key(void *const *functions, hid_t id)
{
	return (uint64_t)id ^ (uint64_t)library_copy_of(&hdf5_uses, functions) << HDF5_COPY_SHIFT;
}

INLINE uint64_t hdf5_handle(const void *called, hid_t id)
{
	return hdf5_key(library_use(&hdf5_uses, called), id);
}

INLINE uint64_t hdf5_handle_at(const void *called, const hid_t *ids)
{
	return ids ? hdf5_handle(called, *ids) : 0;
}

/* The entry of an id other than the handle of the row: a second location, or a property list. */
INLINE struct handle_entry *hdf5_find(const void *called, hid_t id)
{
	if (id <= HDF5_DEFAULT)
		return NULL;
	return handle_table_find(handle_key(SPACE_HDF5, hdf5_handle(called, id)));
}

INLINE uint64_t hdf5_link(const void *called, hid_t id)
{
	return handle_entry_link(hdf5_find(called, id));
}

/*
 * The link of the location in which an object is opened. The callback of an iteration gets the
 * location under an id that no recorded call has made; it is then the one that is walked through.
 */
INLINE uint64_t hdf5_location(const struct handle_entry *entry)
{
	return entry ? handle_entry_link(entry) : capture_self.walked;
}

/* Enters an iteration through a location; returns the one around it, to be passed at the end. */
INLINE uint64_t hdf5_walk(uint64_t link)
{
	uint64_t around = capture_self.walked;

	capture_self.walked = link;
	return around;
}

#pragma GCC visibility push(hidden)

/*
 * After a call that has taken or released a reference: the handle is valid until the last one is
 * released. hdf5_dereferenced() is for H5Idec_ref(), which returns the number of references left;
 * true if the handle is closed.
 */
void hdf5_referenced(const void *called, hid_t id);
void hdf5_released(const void *called, hid_t id, herr_t ret);
bool hdf5_dereferenced(const void *called, hid_t id, int ret);

/* After H5close(): all ids are invalid, and HDF5 counts from 0 again. */
void hdf5_ended(const void *called);

extern struct answer_cache hdf5_types, hdf5_spaces, hdf5_datasets;

/* Ask the library and cache the answer. 0 if there is none. */
__attribute__((cold)) uint64_t hdf5_type_ask(void *const *functions, hid_t type);
__attribute__((cold)) uint64_t hdf5_space_ask(void *const *functions, hid_t space);
__attribute__((cold)) uint64_t hdf5_dataset_ask(void *const *functions, hid_t dataset,
						struct handle_entry *entry);

/* Bytes per element that a type with fields has in common with that of the dataset. */
__attribute__((cold)) uint64_t hdf5_common_ask(void *const *functions, hid_t dataset, hid_t type);

/*
 * May the file be shared by several ranks? Then HDF5 may read metadata collectively, and a rank
 * must not make it read any on its own: not even with a question such as H5Dget_create_plist(),
 * which reads the object header if the cache has lost it.
 */
bool hdf5_is_parallel(const void *called);

/* After a dataset was created: with default properties it cannot be virtual. */
void hdf5_created(struct handle_entry *opened, hid_t properties);

/* After a call that may have changed the extent of any dataset, as one may be open twice. */
void hdf5_extents_changed(void);

/* After calls on dataspaces. `count` is NULL if the call failed. */
void hdf5_space_made(const void *called, hid_t space, int rank, const hsize_t *dims);
void hdf5_space_selected(const void *called, hid_t space, H5S_seloper_t op, const hsize_t *count,
			 const hsize_t *block);
void hdf5_space_changed(const void *called, hid_t space);

void hdf5_type_changed(const void *called, hid_t type);

/* Bytes moved by H5Aread or H5Awrite. The extent of an attribute never changes. */
uint64_t hdf5_attribute_bytes(const void *called, hid_t attribute, hid_t type,
			      struct handle_entry *entry, int err);

/* Bytes moved by a call on several datasets. */
uint64_t hdf5_bytes_many(const void *called, size_t count, const hid_t *datasets,
			 const hid_t *types, const hid_t *memory, const hid_t *file, int err);

/* Elements of a block; UINT64_MAX on overflow. */
uint64_t hdf5_product(const hsize_t *dims, int rank);

#pragma GCC visibility pop

/* The cached value of a type: its bytes, and whether it has fields. */
#define HDF5_TYPE_FIELDS (UINT64_C(1) << 63)

INLINE uint64_t hdf5_type_bytes(uint64_t value)
{
	return value & ~HDF5_TYPE_FIELDS;
}

/* The cached value of a dataspace: its points, and below them its rank, if known. */
#define HDF5_SPACE_SHIFT 8
#define HDF5_RANK_MAX 32 /* H5S_MAX_RANK */

INLINE uint64_t hdf5_space_points(uint64_t value)
{
	return value >> HDF5_SPACE_SHIFT;
}

/* Is it an id of a dataspace, and not a constant (H5S_ALL, H5S_BLOCK, H5S_PLIST)? */
INLINE bool hdf5_is_space(hid_t id)
{
	return id >> 56 > 0;
}

/* The points that a call has moved. The selections in memory and in the file have the same size. */
INLINE uint64_t hdf5_points(void *const *functions, hid_t dataset, hid_t memory, hid_t file,
			    struct handle_entry *entry)
{
	uint64_t value = 0;

	if (hdf5_is_space(memory))
		value = answer_cache_get(&hdf5_spaces, hdf5_key(functions, memory));
	if (!value && hdf5_is_space(file))
		value = answer_cache_get(&hdf5_spaces, hdf5_key(functions, file));
	if (likely(value))
		return hdf5_space_points(value);
	if (hdf5_is_space(memory) || hdf5_is_space(file))
		return hdf5_space_points(
			hdf5_space_ask(functions, hdf5_is_space(memory) ? memory : file));
	if (file) /* H5S_PLIST: the selection is in the transfer properties */
		return 0;
	value = answer_cache_get(&hdf5_datasets, hdf5_key(functions, dataset));
	return likely(value) ? value - 1 : hdf5_dataset_ask(functions, dataset, entry);
}

/* Bytes that H5Dread or H5Dwrite has moved, in the memory type; 0 if unknown. Of a type with fields
 * they are the fields that the type in the file has too. */
INLINE uint64_t hdf5_bytes(const void *called, hid_t dataset, hid_t type, hid_t memory, hid_t file,
			   struct handle_entry *entry, int err)
{
	void *const *functions;
	uint64_t element;

	if (unlikely(err))
		return 0;
	functions = library_use(&hdf5_uses, called);
	if (unlikely(!functions))
		return 0; /* more than LIBRARY_COPIES copies, or another thread looks up the
			     functions */
	element = answer_cache_get(&hdf5_types, hdf5_key(functions, type));
	if (unlikely(!element))
		element = hdf5_type_ask(functions, type);
	if (unlikely(element & HDF5_TYPE_FIELDS))
		element = hdf5_common_ask(functions, dataset, type);
	return element * hdf5_points(functions, dataset, memory, file, entry);
}

#endif

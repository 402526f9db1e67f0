/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of HDF5 that digest_hdf5.c calls, loaded at run time. The types and constants of
 * HDF5's interface since 1.10 are repeated here: no header of HDF5 is needed to build Sluice.
 */
#ifndef SLUICE_TUNE_CONTENT_HDF5_LIBRARY_H
#define SLUICE_TUNE_CONTENT_HDF5_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

struct err;

typedef int64_t hdf5_id;
typedef unsigned long long hdf5_size;

enum {
	HDF5_CLASS_STRING = 3,
	HDF5_CLASS_COMPOUND = 6,
	HDF5_CLASS_REFERENCE = 7,
	HDF5_CLASS_VLEN = 9,
	HDF5_CLASS_ARRAY
};
enum { HDF5_IS_GROUP = 2, HDF5_IS_TYPE = 3, HDF5_IS_DATASET = 5 };
enum { HDF5_LINK_HARD = 0, HDF5_LINK_SOFT = 1 };
enum { HDF5_SPACE_NULL = 2 };

/* Called for each link. Only the first field of the info, the link's type, is the same in all
 * versions of HDF5. */
typedef int (*hdf5_link_seen)(hdf5_id group, const char *name, const int *info, void *arg);

/* One row per function: result, name here, name in HDF5, alternative name, arguments. */
#define HDF5_FUNCTIONS(X)                                                                        \
	X(int, open, "H5open", NULL, (void))                                                     \
	X(int, version, "H5get_libversion", NULL, (unsigned *, unsigned *, unsigned *))          \
	X(int, quiet, "H5Eset_auto2", NULL, (hdf5_id, void *, void *))                           \
	X(hdf5_id, file_open, "H5Fopen", NULL, (const char *, unsigned, hdf5_id))                \
	X(int, file_close, "H5Fclose", NULL, (hdf5_id))                                          \
	X(hdf5_id, object_open, "H5Oopen", NULL, (hdf5_id, const char *, hdf5_id))               \
	X(int, object_close, "H5Oclose", NULL, (hdf5_id))                                        \
	X(int, object_info, "H5Oget_info1", "H5Oget_info", (hdf5_id, void *))                    \
	X(int, object_kind, "H5Iget_type", NULL, (hdf5_id))                                      \
	X(int, links, "H5Literate1", "H5Literate",                                               \
	  (hdf5_id, int, int, hdf5_size *, hdf5_link_seen, void *))                              \
	X(int, link_value, "H5Lget_val", NULL, (hdf5_id, const char *, void *, size_t, hdf5_id)) \
	X(int, attribute_count, "H5Aget_num_attrs", NULL, (hdf5_id))                             \
	X(hdf5_id, attribute_open, "H5Aopen_by_idx", NULL,                                       \
	  (hdf5_id, const char *, int, int, hdf5_size, hdf5_id, hdf5_id))                        \
	X(ptrdiff_t, attribute_name, "H5Aget_name", NULL, (hdf5_id, size_t, char *))             \
	X(hdf5_id, attribute_type, "H5Aget_type", NULL, (hdf5_id))                               \
	X(hdf5_id, attribute_space, "H5Aget_space", NULL, (hdf5_id))                             \
	X(int, attribute_read, "H5Aread", NULL, (hdf5_id, hdf5_id, void *))                      \
	X(int, attribute_close, "H5Aclose", NULL, (hdf5_id))                                     \
	X(hdf5_id, dataset_open, "H5Dopen2", NULL, (hdf5_id, const char *, hdf5_id))             \
	X(hdf5_id, dataset_type, "H5Dget_type", NULL, (hdf5_id))                                 \
	X(hdf5_id, dataset_space, "H5Dget_space", NULL, (hdf5_id))                               \
	X(hdf5_id, dataset_list, "H5Dget_create_plist", NULL, (hdf5_id))                         \
	X(int, dataset_read, "H5Dread", NULL,                                                    \
	  (hdf5_id, hdf5_id, hdf5_id, hdf5_id, hdf5_id, void *))                                 \
	X(int, dataset_close, "H5Dclose", NULL, (hdf5_id))                                       \
	X(int, reclaim, "H5Dvlen_reclaim", "H5Treclaim", (hdf5_id, hdf5_id, hdf5_id, void *))    \
	X(hdf5_id, list_new, "H5Pcreate", NULL, (hdf5_id))                                       \
	X(int, list_cache, "H5Pset_chunk_cache", NULL, (hdf5_id, size_t, size_t, double))        \
	X(int, list_filters, "H5Pget_nfilters", NULL, (hdf5_id))                                 \
	X(int, list_filter, "H5Pget_filter2", NULL,                                              \
	  (hdf5_id, unsigned, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *))     \
	X(int, list_close, "H5Pclose", NULL, (hdf5_id))                                          \
	X(int, filter_is_there, "H5Zfilter_avail", NULL, (int))                                  \
	X(hdf5_id, space_new, "H5Screate_simple", NULL,                                          \
	  (int, const hdf5_size *, const hdf5_size *))                                           \
	X(int, space_kind, "H5Sget_simple_extent_type", NULL, (hdf5_id))                         \
	X(int, space_rank, "H5Sget_simple_extent_ndims", NULL, (hdf5_id))                        \
	X(int, space_extents, "H5Sget_simple_extent_dims", NULL,                                 \
	  (hdf5_id, hdf5_size *, hdf5_size *))                                                   \
	X(int, space_select, "H5Sselect_hyperslab", NULL,                                        \
	  (hdf5_id, int, const hdf5_size *, const hdf5_size *, const hdf5_size *,                \
	   const hdf5_size *))                                                                   \
	X(int, space_close, "H5Sclose", NULL, (hdf5_id))                                         \
	X(hdf5_id, type_native, "H5Tget_native_type", NULL, (hdf5_id, int))                      \
	X(hdf5_id, type_copy, "H5Tcopy", NULL, (hdf5_id))                                        \
	X(int, type_pack, "H5Tpack", NULL, (hdf5_id))                                            \
	X(int, type_class, "H5Tget_class", NULL, (hdf5_id))                                      \
	X(size_t, type_bytes, "H5Tget_size", NULL, (hdf5_id))                                    \
	X(int, type_is_text, "H5Tis_variable_str", NULL, (hdf5_id))                              \
	X(int, type_members, "H5Tget_nmembers", NULL, (hdf5_id))                                 \
	X(hdf5_id, type_member, "H5Tget_member_type", NULL, (hdf5_id, unsigned))                 \
	X(hdf5_id, type_base, "H5Tget_super", NULL, (hdf5_id))                                   \
	X(int, type_close, "H5Tclose", NULL, (hdf5_id))

#define FIELD(result, name, there, other, arguments) result(*name) arguments;
struct hdf5 {
	HDF5_FUNCTIONS(FIELD)
	const hdf5_id *access_class; /* H5P_DATASET_ACCESS */
};
#undef FIELD

/* Loads HDF5 into this process; it is never unloaded. -ENOENT: it is not installed, or older than
 * 1.10. */
int hdf5_load(struct hdf5 *hdf5, struct err *err);

#endif

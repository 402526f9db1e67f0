/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layer HDF5: files, datasets, groups, attributes, objects, links, and the properties that affect how
 * data is moved. docs/reference/interfaces.md explains the marks, capture/libraries/hdf5.h the helpers.
 *
 * Functions that only access memory are left out; tests/lint/not-io-hdf5.txt gives the reasons. Names are
 * as the library exports them: H5Dcreate is a macro for H5Dcreate1 or H5Dcreate2, H5Fopen_async is a macro
 * for a function that takes the caller's source location before its arguments.
 * Papers: SIOX-24.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_HDF5_H
#define SLUICE_CAPTURE_INTERFACES_HDF5_H

/* The newest version whose functions are recorded; `sluice version --json` shows it. */
#define HDF5_INTERFACE "1.14"

#include <stdint.h>
#include <sys/types.h>

/* tests/lint compiles this header against that of each installed HDF5; the guest needs none. */
#ifdef SLUICE_CHECK
/* Without the macros for functions with _async. */
#define H5A_MODULE
#define H5D_MODULE
#define H5F_MODULE
#define H5G_MODULE
#define H5L_MODULE
#define H5O_MODULE
#define H5R_MODULE
#define H5T_MODULE
#include <hdf5.h>
#define SINCE(major, minor, release) H5_VERSION_GE(major, minor, release)
#ifdef H5_HAVE_PARALLEL
#define PARALLEL 1
#endif
#if !SINCE(1, 12, 0)
typedef H5O_info_t H5O_info1_t;
typedef H5O_iterate_t H5O_iterate1_t;
#endif
#else
#include "capture/apply/inject_hdf5.h"
#include "capture/libraries/hdf5_facts.h"
#define SINCE(major, minor, release) 1
#define PARALLEL 1
#endif

#include "capture/interfaces/marks.h"

LAYER(HDF5)
LIBRARY(HDF5)

/* Marks that several rows share. */
#define OPENS CALL(OPEN) FAILS(NEGATIVE) MAKES(HANDLE)
#define OPENS_INSIDE OPENS BEFORE(link = hdf5_location(entry);)
#define CLOSES(id) CALL(CLOSE) FAILS(NEGATIVE) AFTER(hdf5_released(called, id, ret);)
#define ASKS CALL(STAT) FAILS(NEGATIVE)
#define WALKS                                                                                               \
	CALL(DIR) FAILS(NEGATIVE) BEFORE(uint64_t around = hdf5_walk(hdf5_location(entry));)               \
	AFTER((void)hdf5_walk(around);)
#define CHANGES CALL(META) FAILS(NEGATIVE)
#define SYNCS CALL(SYNC) FAILS(NEGATIVE)
#define SETS CALL(CONTROL) FAILS(NEGATIVE)
#define LISTS CALL(CONTROL) FAILS(NEGATIVE) MAKES(HANDLE)
#define MOVES(class)                                                                                        \
	CALL(class) FAILS(NEGATIVE) FIELD(LINK2, hdf5_link(called, dxpl_id))                                        \
	FIELD(SIZE, hdf5_bytes(called, dset_id, mem_type_id, mem_space_id, file_space_id, entry, err))      \
	RESULT(err ? ret : (int64_t)size) AFTER(capture_self.moved += size;)                                \
	AFTER(hdf5_transferred(called, dset_id, dxpl_id, entry, f.lane->seq - f.seq, size, err);)
#define MOVES_MANY(class)                                                                                   \
	CALL(class) FAILS(NEGATIVE) FIELD(LINK2, hdf5_link(called, dxpl_id))                                        \
	FIELD(SIZE, hdf5_bytes_many(called, count, dset_id, mem_type_id, mem_space_id, file_space_id, err)) \
	RESULT(err ? ret : (int64_t)size) AFTER(capture_self.moved += size;)

/* Injects parameters into copies of the program's lists; to be used before OPENS and MOVES. */
#define WITH_ACCESS(list, creation, complete)                                                          \
	FIRST(struct inject_file injected; inject_file(&injected, called, filename, list, creation);) \
	PASS(list, injected.access) LAST(inject_file_end(&injected, ret, complete);)
#define WITH_CREATION(name, access, complete)                                                                \
	FIRST(struct inject_dataset injected;                                                       \
	      inject_dataset(&injected, called, loc_id, name, type_id, space_id, dcpl_id, access);) \
	PASS(dcpl_id, injected.creation) LAST(inject_dataset_end(&injected, ret, complete);)
#define CREATED \
	AFTER(hdf5_created(opened, dcpl_id);) AFTER(hdf5_facts_created(called, ret, injected.creation, opened);)
#define WITH_DATASET_ACCESS PASS(dapl_id, injected.access)
#define WITH_CACHE(access, complete)                                                                          \
	FIRST(struct inject_dataset injected;                                                       \
	      inject_dataset_open(&injected, called, loc_id, name, access);)                        \
	LAST(inject_dataset_end(&injected, ret, complete);)
#define WITH_TRANSFER(datasets, count)                                                                 \
	FIRST(hid_t transfer = inject_transfer(called, dxpl_id, datasets, count);)                  \
	PASS(dxpl_id, transfer) LAST(inject_transferred(called, transfer, dxpl_id, ret);)

/* Files. An open is linked to its access list, a property to the list that it is set in. */
WITH_ACCESS(fapl_id, fcpl_id, true) OPENS
hid_t H5Fcreate(PATH const char *filename, FLAGS unsigned flags, hid_t fcpl_id,
		HANDLE hid_t fapl_id);
WITH_ACCESS(fapl_id, INJECT_OPENS, true) OPENS
hid_t H5Fopen(PATH const char *filename, FLAGS unsigned flags, HANDLE hid_t fapl_id);
OPENS hid_t H5Freopen(HANDLE hid_t file_id);
CLOSES(file_id) herr_t H5Fclose(HANDLE hid_t file_id);
SYNCS herr_t H5Fflush(HANDLE hid_t object_id, FLAGS H5F_scope_t scope);
CHANGES FIELD(LINK2, hdf5_link(called, child))
herr_t H5Fmount(HANDLE hid_t loc, NAME const char *name, hid_t child, hid_t plist);
CHANGES herr_t H5Funmount(HANDLE hid_t loc, NAME const char *name);
ASKS htri_t H5Fis_hdf5(PATH const char *filename);
ASKS FIELD(SIZE, err ? 0 : *bytes) herr_t H5Fget_filesize(HANDLE hid_t file_id, hsize_t *bytes);
ASKS FIELD(OFFSET, err ? 0 : *eoa) herr_t H5Fget_eoa(HANDLE hid_t file_id, haddr_t *eoa);
ASKS hssize_t H5Fget_freespace(HANDLE hid_t file_id);
ASKS herr_t H5Fget_info1(HANDLE hid_t obj_id, H5F_info1_t *file_info);
ASKS herr_t H5Fget_info2(HANDLE hid_t obj_id, H5F_info2_t *file_info);
ASKS
ssize_t H5Fget_free_sections(HANDLE hid_t file_id, FLAGS H5F_mem_t type, size_t nsects,
			     H5F_sect_info_t *sect_info);
CALL(READ) FAILS(NEGATIVE)
ssize_t H5Fget_file_image(HANDLE hid_t file_id, void *buf_ptr, SIZE size_t buf_len);
CALL(RESIZE) FAILS(NEGATIVE)
herr_t H5Fincrement_filesize(HANDLE hid_t file_id, SIZE hsize_t increment);
#if !defined(SLUICE_CHECK) || !SINCE(1, 12, 0) /* the argument is const since this version */
SETS herr_t H5Fset_mdc_config(HANDLE hid_t file_id, H5AC_cache_config_t *config_ptr);
#endif
SETS
herr_t H5Fset_libver_bounds(HANDLE hid_t file_id, FLAGS H5F_libver_t low, MODE H5F_libver_t high);
SETS herr_t H5Fset_latest_format(HANDLE hid_t file_id, FLAGS hbool_t latest_format);
SETS herr_t H5Fset_dset_no_attrs_hint(HANDLE hid_t file_id, FLAGS hbool_t minimize);
CHANGES herr_t H5Fstart_swmr_write(HANDLE hid_t file_id);
CHANGES herr_t H5Fformat_convert(HANDLE hid_t fid);
CHANGES herr_t H5Fclear_elink_file_cache(HANDLE hid_t file_id);
SETS herr_t H5Fstart_mdc_logging(HANDLE hid_t file_id);
SETS herr_t H5Fstop_mdc_logging(HANDLE hid_t file_id);
#ifdef PARALLEL
SETS herr_t H5Fset_mpi_atomicity(HANDLE hid_t file_id, FLAGS hbool_t flag);
#endif

/* Datasets. Sizes are bytes in memory, as passed to or got by the program. */
WITH_CREATION(name, INJECT_NO_ACCESS, true) OPENS FIELD(LINK2, hdf5_link(called, dcpl_id))
CREATED
hid_t H5Dcreate1(HANDLE hid_t loc_id, NAME const char *name, hid_t type_id, hid_t space_id,
		 hid_t dcpl_id);
WITH_CREATION(name, dapl_id, true) WITH_DATASET_ACCESS OPENS
FIELD(LINK2, hdf5_link(called, dcpl_id)) CREATED
hid_t H5Dcreate2(HANDLE hid_t loc_id, NAME const char *name, hid_t type_id, hid_t space_id,
		 hid_t lcpl_id, hid_t dcpl_id, hid_t dapl_id);
WITH_CREATION(NULL, dapl_id, true) WITH_DATASET_ACCESS OPENS
FIELD(LINK2, hdf5_link(called, dcpl_id)) CREATED
hid_t H5Dcreate_anon(HANDLE hid_t loc_id, hid_t type_id, hid_t space_id, hid_t dcpl_id,
		     hid_t dapl_id);
WITH_CACHE(INJECT_NO_ACCESS, true) OPENS_INSIDE
hid_t H5Dopen1(HANDLE hid_t loc_id, NAME const char *name);
WITH_CACHE(dapl_id, true) WITH_DATASET_ACCESS OPENS_INSIDE
hid_t H5Dopen2(HANDLE hid_t loc_id, NAME const char *name, hid_t dapl_id);
CLOSES(dset_id) herr_t H5Dclose(HANDLE hid_t dset_id);
WITH_TRANSFER(&dset_id, 1) MOVES(READ)
herr_t H5Dread(HANDLE hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id, hid_t file_space_id,
	       hid_t dxpl_id, void *buf);
WITH_TRANSFER(&dset_id, 1) MOVES(WRITE)
herr_t H5Dwrite(HANDLE hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id, hid_t file_space_id,
		hid_t dxpl_id, const void *buf);
CALL(WRITE) FAILS(NEGATIVE) RESULT(err ? ret : (int64_t)size) FIELD(LINK2, hdf5_link(called,
dxpl_id))
herr_t H5Dwrite_chunk(HANDLE hid_t dset_id, hid_t dxpl_id, FLAGS uint32_t filters,
		      const hsize_t *offset, SIZE size_t data_size, const void *buf);
CALL(READ) FAILS(NEGATIVE) RESULT(err ? ret : 0) FIELD(FLAGS, err ? 0 : *filters) FIELD(LINK2,
hdf5_link(called, dxpl_id))
herr_t H5Dread_chunk(HANDLE hid_t dset_id, hid_t dxpl_id, const hsize_t *offset, uint32_t *filters,
		     void *buf);
CALL(RESIZE) FAILS(NEGATIVE) AFTER(hdf5_extents_changed();)
herr_t H5Dset_extent(HANDLE hid_t dset_id, const hsize_t *extent);
CALL(RESIZE) FAILS(NEGATIVE) AFTER(hdf5_extents_changed();)
herr_t H5Dextend(HANDLE hid_t dset_id, const hsize_t *extent);
SYNCS herr_t H5Dflush(HANDLE hid_t dset_id);
SYNCS AFTER(hdf5_extents_changed();) herr_t H5Drefresh(HANDLE hid_t dset_id);
CHANGES herr_t H5Dformat_convert(HANDLE hid_t dset_id);
CALL(STAT) FAILS(NEVER) hsize_t H5Dget_storage_size(HANDLE hid_t dset_id);
ASKS herr_t H5Dget_space_status(HANDLE hid_t dset_id, H5D_space_status_t *allocation);
ASKS FIELD(SIZE, err ? 0 : *chunk_bytes)
herr_t H5Dget_chunk_storage_size(HANDLE hid_t dset_id, const hsize_t *offset, hsize_t *chunk_bytes);
ASKS herr_t H5Dget_num_chunks(HANDLE hid_t dset_id, hid_t fspace_id, hsize_t *nchunks);
ASKS
herr_t H5Dget_chunk_info(HANDLE hid_t dset_id, hid_t fspace_id, hsize_t chk_idx, hsize_t *offset,
			 unsigned *filter_mask, haddr_t *addr, hsize_t *bytes);
ASKS
herr_t H5Dget_chunk_info_by_coord(HANDLE hid_t dset_id, const hsize_t *offset,
				  unsigned *filter_mask, haddr_t *addr, hsize_t *bytes);
ASKS herr_t H5Dget_chunk_index_type(HANDLE hid_t did, H5D_chunk_index_t *idx_type);
CALL(READ) FAILS(NEGATIVE) FIELD(SIZE, err ? 0 : *bytes) RESULT(err ? ret : (int64_t)size)
herr_t H5Dvlen_get_buf_size(HANDLE hid_t dset_id, hid_t type_id, hid_t space_id, hsize_t *bytes);

/* Groups. */
OPENS hid_t H5Gcreate1(HANDLE hid_t loc_id, NAME const char *name, SIZE size_t size_hint);
OPENS
hid_t H5Gcreate2(HANDLE hid_t loc_id, NAME const char *name, hid_t lcpl_id, hid_t gcpl_id,
		 hid_t gapl_id);
OPENS hid_t H5Gcreate_anon(HANDLE hid_t loc_id, hid_t gcpl_id, hid_t gapl_id);
OPENS_INSIDE hid_t H5Gopen1(HANDLE hid_t loc_id, NAME const char *name);
OPENS_INSIDE hid_t H5Gopen2(HANDLE hid_t loc_id, NAME const char *name, hid_t gapl_id);
CLOSES(group_id) herr_t H5Gclose(HANDLE hid_t group_id);
SYNCS herr_t H5Gflush(HANDLE hid_t group_id);
SYNCS herr_t H5Grefresh(HANDLE hid_t group_id);
ASKS herr_t H5Gget_info(HANDLE hid_t loc_id, H5G_info_t *ginfo);
ASKS
herr_t H5Gget_info_by_name(HANDLE hid_t loc_id, NAME const char *name, H5G_info_t *ginfo,
			   hid_t lapl_id);
ASKS
herr_t H5Gget_info_by_idx(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			  H5_iter_order_t order, hsize_t n, H5G_info_t *ginfo, hid_t lapl_id);
CHANGES
herr_t H5Glink(HANDLE hid_t cur_loc_id, FLAGS H5L_type_t type, const char *cur_name,
	       NAME const char *new_name);
CHANGES FIELD(LINK2, hdf5_link(called, new_loc_id))
herr_t H5Glink2(HANDLE hid_t cur_loc_id, const char *cur_name, FLAGS H5L_type_t type,
		hid_t new_loc_id, NAME const char *new_name);
CHANGES herr_t H5Gmove(HANDLE hid_t src_loc_id, NAME const char *src_name, const char *dst_name);
CHANGES FIELD(LINK2, hdf5_link(called, dst_loc_id))
herr_t H5Gmove2(HANDLE hid_t src_loc_id, NAME const char *src_name, hid_t dst_loc_id,
		const char *dst_name);
CHANGES herr_t H5Gunlink(HANDLE hid_t loc_id, NAME const char *name);
CHANGES herr_t H5Gset_comment(HANDLE hid_t loc_id, NAME const char *name, const char *comment);
ASKS int H5Gget_comment(HANDLE hid_t loc_id, NAME const char *name, size_t bufsize, char *buf);
ASKS herr_t H5Gget_linkval(HANDLE hid_t loc_id, NAME const char *name, size_t room, char *buf);
ASKS herr_t H5Gget_num_objs(HANDLE hid_t loc_id, hsize_t *num_objs);
ASKS
herr_t H5Gget_objinfo(HANDLE hid_t loc_id, NAME const char *name, hbool_t follow_link,
		      H5G_stat_t *statbuf);
ASKS ssize_t H5Gget_objname_by_idx(HANDLE hid_t loc_id, hsize_t idx, char *name, size_t room);
ASKS H5G_obj_t H5Gget_objtype_by_idx(HANDLE hid_t loc_id, hsize_t idx);
WALKS
herr_t H5Giterate(HANDLE hid_t loc_id, NAME const char *name, int *idx, H5G_iterate_t op,
		  void *op_data);

/* Attributes. */
OPENS
hid_t H5Acreate1(HANDLE hid_t loc_id, NAME const char *name, hid_t type_id, hid_t space_id,
		 hid_t acpl_id);
OPENS
hid_t H5Acreate2(HANDLE hid_t loc_id, NAME const char *attr_name, hid_t type_id, hid_t space_id,
		 hid_t acpl_id, hid_t aapl_id);
OPENS
hid_t H5Acreate_by_name(HANDLE hid_t loc_id, const char *obj_name, NAME const char *attr_name,
			hid_t type_id, hid_t space_id, hid_t acpl_id, hid_t aapl_id, hid_t lapl_id);
OPENS_INSIDE hid_t H5Aopen(HANDLE hid_t obj_id, NAME const char *attr_name, hid_t aapl_id);
OPENS_INSIDE
hid_t H5Aopen_by_name(HANDLE hid_t loc_id, const char *obj_name, NAME const char *attr_name,
		      hid_t aapl_id, hid_t lapl_id);
OPENS_INSIDE
hid_t H5Aopen_by_idx(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
		     H5_iter_order_t order, hsize_t n, hid_t aapl_id, hid_t lapl_id);
OPENS_INSIDE hid_t H5Aopen_idx(HANDLE hid_t loc_id, unsigned idx);
OPENS_INSIDE hid_t H5Aopen_name(HANDLE hid_t loc_id, NAME const char *name);
CLOSES(attr_id) herr_t H5Aclose(HANDLE hid_t attr_id);
CALL(READ) FAILS(NEGATIVE) FIELD(SIZE, hdf5_attribute_bytes(called, attr_id, type_id, entry, err))
RESULT(err ? ret : (int64_t)size)
herr_t H5Aread(HANDLE hid_t attr_id, hid_t type_id, void *buf);
CALL(WRITE) FAILS(NEGATIVE) FIELD(SIZE, hdf5_attribute_bytes(called, attr_id, type_id, entry, err))
RESULT(err ? ret : (int64_t)size)
herr_t H5Awrite(HANDLE hid_t attr_id, hid_t type_id, const void *buf);
CHANGES herr_t H5Adelete(HANDLE hid_t loc_id, NAME const char *attr_name);
CHANGES
herr_t H5Adelete_by_name(HANDLE hid_t loc_id, const char *obj_name, NAME const char *attr_name,
			 hid_t lapl_id);
CHANGES
herr_t H5Adelete_by_idx(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			H5_iter_order_t order, hsize_t n, hid_t lapl_id);
CHANGES herr_t H5Arename(HANDLE hid_t loc_id, NAME const char *old_name, const char *new_name);
CHANGES
herr_t H5Arename_by_name(HANDLE hid_t loc_id, const char *obj_name, NAME const char *old_attr_name,
			 const char *new_attr_name, hid_t lapl_id);
ASKS htri_t H5Aexists(HANDLE hid_t obj_id, NAME const char *attr_name);
ASKS
htri_t H5Aexists_by_name(HANDLE hid_t obj_id, const char *obj_name, NAME const char *attr_name,
			 hid_t lapl_id);
ASKS herr_t H5Aget_info(HANDLE hid_t attr_id, H5A_info_t *ainfo);
ASKS
herr_t H5Aget_info_by_name(HANDLE hid_t loc_id, const char *obj_name, NAME const char *attr_name,
			   H5A_info_t *ainfo, hid_t lapl_id);
ASKS
herr_t H5Aget_info_by_idx(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			  H5_iter_order_t order, hsize_t n, H5A_info_t *ainfo, hid_t lapl_id);
ASKS
ssize_t H5Aget_name_by_idx(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, char *name, size_t room,
			   hid_t lapl_id);
ASKS int H5Aget_num_attrs(HANDLE hid_t loc_id);
WALKS herr_t H5Aiterate1(HANDLE hid_t loc_id, unsigned *idx, H5A_operator1_t op, void *op_data);
WALKS
herr_t H5Aiterate2(HANDLE hid_t loc_id, H5_index_t idx_type, H5_iter_order_t order, hsize_t *idx,
		   H5A_operator2_t op, void *op_data);
WALKS
herr_t H5Aiterate_by_name(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			  H5_iter_order_t order, hsize_t *idx, H5A_operator2_t op, void *op_data,
			  hid_t lapl_id);

/* Objects of any kind, and committed types. */
WITH_CACHE(INJECT_NO_ACCESS, true) OPENS_INSIDE
hid_t H5Oopen(HANDLE hid_t loc_id, NAME const char *name, hid_t lapl_id);
OPENS_INSIDE hid_t H5Oopen_by_addr(HANDLE hid_t loc_id, OFFSET haddr_t addr);
OPENS_INSIDE
hid_t H5Oopen_by_idx(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
		     H5_iter_order_t order, hsize_t n, hid_t lapl_id);
OPENS hid_t H5Rdereference1(HANDLE hid_t obj_id, H5R_type_t ref_type, const void *ref);
OPENS
hid_t H5Rdereference2(HANDLE hid_t obj_id, hid_t oapl_id, H5R_type_t ref_type, const void *ref);
CHANGES
herr_t H5Rcreate(void *ref, HANDLE hid_t loc_id, NAME const char *name, H5R_type_t ref_type,
		 hid_t space_id);
ASKS
ssize_t H5Rget_name(HANDLE hid_t loc_id, H5R_type_t ref_type, const void *ref, char *name,
		    size_t room);
ASKS H5G_obj_t H5Rget_obj_type1(HANDLE hid_t id, H5R_type_t ref_type, const void *ref);
ASKS
herr_t H5Rget_obj_type2(HANDLE hid_t id, H5R_type_t ref_type, const void *ref,
			H5O_type_t *obj_type);
ASKS hid_t H5Rget_region(HANDLE hid_t dataset, H5R_type_t ref_type, const void *ref);
CLOSES(object_id) herr_t H5Oclose(HANDLE hid_t object_id);
SYNCS herr_t H5Oflush(HANDLE hid_t obj_id);
SYNCS AFTER(hdf5_extents_changed();) herr_t H5Orefresh(HANDLE hid_t oid);
CHANGES FIELD(LINK2, hdf5_link(called, new_loc_id))
herr_t H5Olink(HANDLE hid_t obj_id, hid_t new_loc_id, NAME const char *new_name, hid_t lcpl_id,
	       hid_t lapl_id);
CALL(COPY) FAILS(NEGATIVE) FIELD(LINK2, hdf5_link(called, dst_loc_id))
herr_t H5Ocopy(HANDLE hid_t src_loc_id, NAME const char *src_name, hid_t dst_loc_id,
	       const char *dst_name, hid_t ocpypl_id, hid_t lcpl_id);
CHANGES herr_t H5Oincr_refcount(HANDLE hid_t object_id);
CHANGES herr_t H5Odecr_refcount(HANDLE hid_t object_id);
CHANGES herr_t H5Oset_comment(HANDLE hid_t obj_id, const char *comment);
CHANGES
herr_t H5Oset_comment_by_name(HANDLE hid_t loc_id, NAME const char *name, const char *comment,
			      hid_t lapl_id);
ASKS ssize_t H5Oget_comment(HANDLE hid_t obj_id, char *comment, size_t bufsize);
ASKS
ssize_t H5Oget_comment_by_name(HANDLE hid_t loc_id, NAME const char *name, char *comment,
			       size_t bufsize, hid_t lapl_id);
ASKS htri_t H5Oexists_by_name(HANDLE hid_t loc_id, NAME const char *name, hid_t lapl_id);
#if !defined(SLUICE_CHECK) || !SINCE(1, 12, 0)
ASKS herr_t H5Oget_info(HANDLE hid_t loc_id, H5O_info_t *oinfo);
ASKS
herr_t H5Oget_info_by_name(HANDLE hid_t loc_id, NAME const char *name, H5O_info_t *oinfo,
			   hid_t lapl_id);
ASKS
herr_t H5Oget_info_by_idx(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			  H5_iter_order_t order, hsize_t n, H5O_info_t *oinfo, hid_t lapl_id);
WALKS
herr_t H5Ovisit(HANDLE hid_t obj_id, H5_index_t idx_type, H5_iter_order_t order, H5O_iterate_t op,
		void *op_data);
WALKS
herr_t H5Ovisit_by_name(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			H5_iter_order_t order, H5O_iterate_t op, void *op_data, hid_t lapl_id);
#endif
ASKS herr_t H5Oget_info1(HANDLE hid_t loc_id, H5O_info1_t *oinfo);
ASKS
herr_t H5Oget_info_by_name1(HANDLE hid_t loc_id, NAME const char *name, H5O_info1_t *oinfo,
			    hid_t lapl_id);
ASKS
herr_t H5Oget_info_by_idx1(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, H5O_info1_t *oinfo, hid_t lapl_id);
WALKS
herr_t H5Ovisit1(HANDLE hid_t obj_id, H5_index_t idx_type, H5_iter_order_t order, H5O_iterate1_t op,
		 void *op_data);
WALKS
herr_t H5Ovisit_by_name1(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			 H5_iter_order_t order, H5O_iterate1_t op, void *op_data, hid_t lapl_id);
ASKS herr_t H5Oget_info2(HANDLE hid_t loc_id, H5O_info1_t *oinfo, unsigned fields);
ASKS
herr_t H5Oget_info_by_name2(HANDLE hid_t loc_id, NAME const char *name, H5O_info1_t *oinfo,
			    unsigned fields, hid_t lapl_id);
ASKS
herr_t H5Oget_info_by_idx2(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, H5O_info1_t *oinfo, unsigned fields,
			   hid_t lapl_id);
WALKS
herr_t H5Ovisit2(HANDLE hid_t obj_id, H5_index_t idx_type, H5_iter_order_t order, H5O_iterate1_t op,
		 void *op_data, unsigned fields);
WALKS
herr_t H5Ovisit_by_name2(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			 H5_iter_order_t order, H5O_iterate1_t op, void *op_data, unsigned fields,
			 hid_t lapl_id);
SETS herr_t H5Odisable_mdc_flushes(HANDLE hid_t object_id);
SETS herr_t H5Oenable_mdc_flushes(HANDLE hid_t object_id);
CHANGES AFTER(hdf5_type_changed(called, type_id);)
herr_t H5Tcommit1(HANDLE hid_t loc_id, NAME const char *name, hid_t type_id);
CHANGES AFTER(hdf5_type_changed(called, type_id);)
herr_t H5Tcommit2(HANDLE hid_t loc_id, NAME const char *name, hid_t type_id, hid_t lcpl_id,
		  hid_t tcpl_id, hid_t tapl_id);
CHANGES AFTER(hdf5_type_changed(called, type_id);)
herr_t H5Tcommit_anon(HANDLE hid_t loc_id, hid_t type_id, hid_t tcpl_id, hid_t tapl_id);
OPENS_INSIDE hid_t H5Topen1(HANDLE hid_t loc_id, NAME const char *name);
OPENS_INSIDE hid_t H5Topen2(HANDLE hid_t loc_id, NAME const char *name, hid_t tapl_id);
SYNCS herr_t H5Tflush(HANDLE hid_t type_id);
SYNCS AFTER(hdf5_type_changed(called, type_id);) herr_t H5Trefresh(HANDLE hid_t type_id);

/* Links. */
CHANGES FIELD(LINK2, hdf5_link(called, dst_loc))
herr_t H5Lmove(HANDLE hid_t src_loc, NAME const char *src_name, hid_t dst_loc, const char *dst_name,
	       hid_t lcpl_id, hid_t lapl_id);
CHANGES FIELD(LINK2, hdf5_link(called, dst_loc))
herr_t H5Lcopy(HANDLE hid_t src_loc, NAME const char *src_name, hid_t dst_loc, const char *dst_name,
	       hid_t lcpl_id, hid_t lapl_id);
CHANGES FIELD(LINK2, hdf5_link(called, dst_loc))
herr_t H5Lcreate_hard(HANDLE hid_t cur_loc, const char *cur_name, hid_t dst_loc,
		      NAME const char *dst_name, hid_t lcpl_id, hid_t lapl_id);
CHANGES
herr_t H5Lcreate_soft(const char *link_target, HANDLE hid_t link_loc_id, NAME const char *link_name,
		      hid_t lcpl_id, hid_t lapl_id);
CHANGES
herr_t H5Lcreate_external(const char *file_name, const char *obj_name, HANDLE hid_t link_loc_id,
			  NAME const char *link_name, hid_t lcpl_id, hid_t lapl_id);
CHANGES
herr_t H5Lcreate_ud(HANDLE hid_t link_loc_id, NAME const char *link_name,
		    FLAGS H5L_type_t link_type, const void *udata, size_t udata_size, hid_t lcpl_id,
		    hid_t lapl_id);
CHANGES herr_t H5Ldelete(HANDLE hid_t loc_id, NAME const char *name, hid_t lapl_id);
CHANGES
herr_t H5Ldelete_by_idx(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			H5_iter_order_t order, hsize_t n, hid_t lapl_id);
ASKS htri_t H5Lexists(HANDLE hid_t loc_id, NAME const char *name, hid_t lapl_id);
ASKS
herr_t H5Lget_val(HANDLE hid_t loc_id, NAME const char *name, void *buf, size_t room,
		  hid_t lapl_id);
ASKS
herr_t H5Lget_val_by_idx(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			 H5_iter_order_t order, hsize_t n, void *buf, size_t room, hid_t lapl_id);
ASKS
ssize_t H5Lget_name_by_idx(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, char *name, size_t room,
			   hid_t lapl_id);
#if !defined(SLUICE_CHECK) || !SINCE(1, 12, 0)
ASKS
herr_t H5Lget_info(HANDLE hid_t loc_id, NAME const char *name, H5L_info_t *linfo, hid_t lapl_id);
ASKS
herr_t H5Lget_info_by_idx(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			  H5_iter_order_t order, hsize_t n, H5L_info_t *linfo, hid_t lapl_id);
WALKS
herr_t H5Literate(HANDLE hid_t grp_id, H5_index_t idx_type, H5_iter_order_t order, hsize_t *idx,
		  H5L_iterate_t op, void *op_data);
WALKS
herr_t H5Literate_by_name(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			  H5_iter_order_t order, hsize_t *idx, H5L_iterate_t op, void *op_data,
			  hid_t lapl_id);
WALKS
herr_t H5Lvisit(HANDLE hid_t grp_id, H5_index_t idx_type, H5_iter_order_t order, H5L_iterate_t op,
		void *op_data);
WALKS
herr_t H5Lvisit_by_name(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			H5_iter_order_t order, H5L_iterate_t op, void *op_data, hid_t lapl_id);
#endif

/* Property lists, and the properties that affect how data is moved. A list is a handle, and calls
 * that use it are linked to it. The main value of a property is SIZE if it is a number of bytes (for a
 * chunk: of elements), otherwise FLAGS; a second value is MODE. */
LISTS hid_t H5Pcreate(hid_t cls_id);
CALL(DUP) FAILS(NEGATIVE) MAKES(HANDLE) hid_t H5Pcopy(HANDLE hid_t plist_id);
CLOSES(plist_id) herr_t H5Pclose(HANDLE hid_t plist_id);
LISTS hid_t H5Fget_access_plist(HANDLE hid_t file_id);
LISTS hid_t H5Fget_create_plist(HANDLE hid_t file_id);
LISTS hid_t H5Dget_access_plist(HANDLE hid_t dset_id);
LISTS hid_t H5Dget_create_plist(HANDLE hid_t dset_id);
SETS herr_t H5Pset(HANDLE hid_t plist_id, NAME const char *name, const void *value);
SETS herr_t H5Pset_userblock(HANDLE hid_t plist_id, SIZE hsize_t bytes);
SETS herr_t H5Pset_sizes(HANDLE hid_t plist_id, FLAGS size_t sizeof_addr, MODE size_t sizeof_size);
SETS herr_t H5Pset_sym_k(HANDLE hid_t plist_id, FLAGS unsigned ik, MODE unsigned lk);
SETS herr_t H5Pset_istore_k(HANDLE hid_t plist_id, FLAGS unsigned ik);
SETS herr_t H5Pset_shared_mesg_nindexes(HANDLE hid_t plist_id, FLAGS unsigned nindexes);
SETS
herr_t H5Pset_shared_mesg_index(HANDLE hid_t plist_id, unsigned index_num,
				FLAGS unsigned mesg_type_flags, SIZE unsigned min_mesg_size);
SETS
herr_t H5Pset_shared_mesg_phase_change(HANDLE hid_t plist_id, FLAGS unsigned max_list,
				       MODE unsigned min_btree);
SETS
herr_t H5Pset_file_space_strategy(HANDLE hid_t plist_id, FLAGS H5F_fspace_strategy_t strategy,
				  MODE hbool_t persist, SIZE hsize_t threshold);
SETS herr_t H5Pset_file_space_page_size(HANDLE hid_t plist_id, SIZE hsize_t fsp_size);
SETS
herr_t H5Pset_file_space(HANDLE hid_t plist_id, FLAGS H5F_file_space_type_t strategy,
			 SIZE hsize_t threshold);
SETS herr_t H5Pset_alignment(HANDLE hid_t fapl_id, MODE hsize_t threshold, SIZE hsize_t alignment);
SETS herr_t H5Pset_driver(HANDLE hid_t plist_id, hid_t driver_id, const void *driver_info);
SETS
herr_t H5Pset_cache(HANDLE hid_t plist_id, int mdc_nelmts, MODE size_t rdcc_nslots,
		    SIZE size_t rdcc_nbytes, double rdcc_w0);
SETS herr_t H5Pset_mdc_config(HANDLE hid_t plist_id, H5AC_cache_config_t *config_ptr);
SETS herr_t H5Pset_mdc_image_config(HANDLE hid_t plist_id, H5AC_cache_image_config_t *config_ptr);
SETS
herr_t H5Pset_mdc_log_options(HANDLE hid_t plist_id, FLAGS hbool_t is_enabled,
			      PATH const char *location, hbool_t start_on_access);
SETS herr_t H5Pset_gc_references(HANDLE hid_t fapl_id, FLAGS unsigned gc_ref);
SETS herr_t H5Pset_fclose_degree(HANDLE hid_t fapl_id, FLAGS H5F_close_degree_t degree);
SETS herr_t H5Pset_meta_block_size(HANDLE hid_t fapl_id, SIZE hsize_t bytes);
SETS herr_t H5Pset_sieve_buf_size(HANDLE hid_t fapl_id, SIZE size_t bytes);
SETS herr_t H5Pset_small_data_block_size(HANDLE hid_t fapl_id, SIZE hsize_t bytes);
SETS
herr_t H5Pset_libver_bounds(HANDLE hid_t plist_id, FLAGS H5F_libver_t low, MODE H5F_libver_t high);
SETS herr_t H5Pset_elink_file_cache_size(HANDLE hid_t plist_id, FLAGS unsigned efc_size);
SETS herr_t H5Pset_file_image(HANDLE hid_t fapl_id, void *buf_ptr, SIZE size_t buf_len);
SETS
herr_t H5Pset_file_locking(HANDLE hid_t fapl_id, FLAGS hbool_t use_file_locking,
			   MODE hbool_t ignore_when_disabled);
SETS herr_t H5Pset_metadata_read_attempts(HANDLE hid_t plist_id, FLAGS unsigned attempts);
SETS herr_t H5Pset_evict_on_close(HANDLE hid_t fapl_id, FLAGS hbool_t evict_on_close);
SETS
herr_t H5Pset_page_buffer_size(HANDLE hid_t plist_id, SIZE size_t buf_size,
			       FLAGS unsigned min_meta_per, MODE unsigned min_raw_per);
SETS
herr_t H5Pset_core_write_tracking(HANDLE hid_t fapl_id, FLAGS hbool_t is_enabled,
				  SIZE size_t page_size);
SETS herr_t H5Pset_family_offset(HANDLE hid_t fapl_id, OFFSET hsize_t offset);
SETS herr_t H5Pset_multi_type(HANDLE hid_t fapl_id, FLAGS H5FD_mem_t type);
SETS
herr_t H5Pset_fapl_core(HANDLE hid_t fapl_id, SIZE size_t increment, FLAGS hbool_t backing_store);
SETS FIELD(LINK2, hdf5_link(called, memb_fapl_id))
herr_t H5Pset_fapl_family(HANDLE hid_t fapl_id, SIZE hsize_t memb_size, hid_t memb_fapl_id);
SETS
herr_t H5Pset_fapl_log(HANDLE hid_t fapl_id, PATH const char *logfile,
		       FLAGS unsigned long long flags, SIZE size_t buf_size);
SETS
herr_t H5Pset_fapl_multi(HANDLE hid_t fapl_id, const H5FD_mem_t *memb_map, const hid_t *memb_fapl,
			 const char *const *memb_name, const haddr_t *memb_addr,
			 FLAGS hbool_t relax);
SETS
herr_t H5Pset_fapl_split(HANDLE hid_t fapl, const char *meta_ext, hid_t meta_plist_id,
			 const char *raw_ext, hid_t raw_plist_id);
SETS herr_t H5Pset_fapl_sec2(HANDLE hid_t fapl_id);
SETS herr_t H5Pset_fapl_stdio(HANDLE hid_t fapl_id);
#if SINCE(1, 10, 7)
SETS herr_t H5Pset_fapl_splitter(HANDLE hid_t fapl_id, H5FD_splitter_vfd_config_t *config_ptr);
#endif
SETS herr_t H5Pset_layout(HANDLE hid_t plist_id, FLAGS H5D_layout_t layout);
SETS FIELD(SIZE, err ? 0 : hdf5_product(dim, ndims))
herr_t H5Pset_chunk(HANDLE hid_t plist_id, FLAGS int ndims, const hsize_t *dim);
SETS herr_t H5Pset_chunk_opts(HANDLE hid_t plist_id, FLAGS unsigned opts);
SETS
herr_t H5Pset_external(HANDLE hid_t plist_id, PATH const char *name, OFFSET off_t offset,
		       SIZE hsize_t bytes);
SETS
herr_t H5Pset_virtual(HANDLE hid_t dcpl_id, hid_t vspace_id, PATH const char *src_file_name,
		      NAME const char *src_dset_name, hid_t src_space_id);
SETS herr_t H5Pset_fill_value(HANDLE hid_t plist_id, hid_t type_id, const void *value);
SETS herr_t H5Pset_fill_time(HANDLE hid_t plist_id, FLAGS H5D_fill_time_t fill_time);
SETS herr_t H5Pset_alloc_time(HANDLE hid_t plist_id, FLAGS H5D_alloc_time_t alloc_time);
SETS herr_t H5Pset_dset_no_attrs_hint(HANDLE hid_t dcpl_id, FLAGS hbool_t minimize);
SETS herr_t H5Pset_obj_track_times(HANDLE hid_t plist_id, FLAGS hbool_t track_times);
SETS
herr_t H5Pset_attr_phase_change(HANDLE hid_t plist_id, FLAGS unsigned max_compact,
				MODE unsigned min_dense);
SETS herr_t H5Pset_deflate(HANDLE hid_t plist_id, FLAGS unsigned level);
SETS herr_t H5Pset_shuffle(HANDLE hid_t plist_id);
SETS herr_t H5Pset_fletcher32(HANDLE hid_t plist_id);
SETS herr_t H5Pset_nbit(HANDLE hid_t plist_id);
SETS
herr_t H5Pset_scaleoffset(HANDLE hid_t plist_id, FLAGS H5Z_SO_scale_type_t scale_type,
			  MODE int scale_factor);
SETS
herr_t H5Pset_szip(HANDLE hid_t plist_id, FLAGS unsigned options_mask,
		   MODE unsigned pixels_per_block);
SETS
herr_t H5Pset_filter(HANDLE hid_t plist_id, FLAGS H5Z_filter_t filter, MODE unsigned int flags,
		     size_t cd_nelmts, const unsigned int *c_values);
SETS
herr_t H5Pmodify_filter(HANDLE hid_t plist_id, FLAGS H5Z_filter_t filter, MODE unsigned int flags,
			size_t cd_nelmts, const unsigned int *cd_values);
SETS herr_t H5Premove_filter(HANDLE hid_t plist_id, FLAGS H5Z_filter_t filter);
SETS
herr_t H5Pset_chunk_cache(HANDLE hid_t dapl_id, MODE size_t rdcc_nslots, SIZE size_t rdcc_nbytes,
			  double rdcc_w0);
SETS
herr_t H5Pset_append_flush(HANDLE hid_t dapl_id, FLAGS unsigned ndims, const hsize_t *boundary,
			   H5D_append_cb_t func, void *udata);
SETS herr_t H5Pset_efile_prefix(HANDLE hid_t dapl_id, NAME const char *prefix);
SETS herr_t H5Pset_virtual_prefix(HANDLE hid_t dapl_id, NAME const char *prefix);
SETS herr_t H5Pset_virtual_view(HANDLE hid_t dapl_id, FLAGS H5D_vds_view_t view);
SETS herr_t H5Pset_virtual_printf_gap(HANDLE hid_t dapl_id, FLAGS hsize_t gap_size);
SETS herr_t H5Pset_buffer(HANDLE hid_t plist_id, SIZE size_t bytes, void *tconv, void *bkg);
SETS herr_t H5Pset_preserve(HANDLE hid_t plist_id, FLAGS hbool_t status);
SETS herr_t H5Pset_data_transform(HANDLE hid_t plist_id, NAME const char *expression);
SETS herr_t H5Pset_edc_check(HANDLE hid_t plist_id, FLAGS H5Z_EDC_t check);
SETS herr_t H5Pset_hyper_vector_size(HANDLE hid_t plist_id, FLAGS size_t length);
SETS herr_t H5Pset_btree_ratios(HANDLE hid_t plist_id, double left, double middle, double right);
SETS
herr_t H5Pset_est_link_info(HANDLE hid_t plist_id, FLAGS unsigned est_num_entries,
			    MODE unsigned est_name_len);
SETS
herr_t H5Pset_link_phase_change(HANDLE hid_t plist_id, FLAGS unsigned max_compact,
				MODE unsigned min_dense);
SETS herr_t H5Pset_local_heap_size_hint(HANDLE hid_t plist_id, SIZE size_t size_hint);
SETS herr_t H5Pset_elink_acc_flags(HANDLE hid_t lapl_id, FLAGS unsigned flags);
SETS FIELD(LINK2, hdf5_link(called, fapl_id))
herr_t H5Pset_elink_fapl(HANDLE hid_t lapl_id, hid_t fapl_id);
SETS herr_t H5Pset_elink_prefix(HANDLE hid_t plist_id, NAME const char *prefix);
SETS herr_t H5Pset_copy_object(HANDLE hid_t plist_id, FLAGS unsigned copy_options);
#ifdef PARALLEL
SETS herr_t H5Pset_fapl_mpio(HANDLE hid_t fapl_id, MPI_Comm comm, MPI_Info info);
SETS herr_t H5Pset_all_coll_metadata_ops(HANDLE hid_t plist_id, FLAGS hbool_t is_collective);
SETS herr_t H5Pset_coll_metadata_write(HANDLE hid_t plist_id, FLAGS hbool_t is_collective);
SETS herr_t H5Pset_dxpl_mpio(HANDLE hid_t dxpl_id, FLAGS H5FD_mpio_xfer_t xfer_mode);
SETS
herr_t H5Pset_dxpl_mpio_collective_opt(HANDLE hid_t dxpl_id,
				       FLAGS H5FD_mpio_collective_opt_t opt_mode);
SETS herr_t H5Pset_dxpl_mpio_chunk_opt(HANDLE hid_t dxpl_id, FLAGS H5FD_mpio_chunk_opt_t opt_mode);
SETS herr_t H5Pset_dxpl_mpio_chunk_opt_num(HANDLE hid_t dxpl_id, FLAGS unsigned num_chunk_per_proc);
SETS
herr_t H5Pset_dxpl_mpio_chunk_opt_ratio(HANDLE hid_t dxpl_id,
					FLAGS unsigned percent_num_proc_per_chunk);
#endif

/* The library. H5close closes all open objects, and ids count from 0 again. */
CALL(SYNC) FAILS(NEGATIVE) AFTER(hdf5_ended(called);) LAST(inject_hdf5_ended();)
herr_t H5close(void);

/* References to handles. Python programs close all objects by H5Idec_ref; it is recorded if it closes
 * a known handle. */
CALL(CLOSE) FAILS(NEGATIVE) KEEP_IF(hdf5_dereferenced(called, id, ret) && entry)
int H5Idec_ref(HANDLE hid_t id);
QUIET AFTER(if (ret > 0) hdf5_referenced(called, id);) int H5Iinc_ref(hid_t id);

/* Dataspaces: the number of selected points. Never recorded. */
QUIET AFTER(if (ret >= 0) hdf5_space_made(called, ret, rank, dims);)
hid_t H5Screate_simple(int rank, const hsize_t *dims, const hsize_t *maxdims);
QUIET AFTER(hdf5_space_selected(called, space_id, op, ret < 0 ? NULL : count, block);)
herr_t H5Sselect_hyperslab(hid_t space_id, H5S_seloper_t op, const hsize_t *start,
			   const hsize_t *stride, const hsize_t *count, const hsize_t *block);
QUIET AFTER(hdf5_space_changed(called, spaceid);) herr_t H5Sselect_all(hid_t spaceid);
QUIET AFTER(hdf5_space_changed(called, spaceid);) herr_t H5Sselect_none(hid_t spaceid);
QUIET AFTER(hdf5_space_changed(called, space_id);)
herr_t H5Sselect_elements(hid_t space_id, H5S_seloper_t op, size_t num_elem, const hsize_t *coord);
QUIET AFTER(hdf5_space_changed(called, spaceid);)
herr_t H5Sselect_adjust(hid_t spaceid, const hssize_t *offset);
QUIET AFTER(hdf5_space_changed(called, dst_id);) herr_t H5Sselect_copy(hid_t dst_id, hid_t src_id);
QUIET AFTER(hdf5_space_changed(called, space1_id);)
herr_t H5Smodify_select(hid_t space1_id, H5S_seloper_t op, hid_t space2_id);
QUIET AFTER(hdf5_space_changed(called, dst_id);) herr_t H5Sextent_copy(hid_t dst_id, hid_t src_id);
QUIET AFTER(hdf5_space_changed(called, space_id);) herr_t H5Sset_extent_none(hid_t space_id);
QUIET AFTER(hdf5_space_changed(called, space_id);)
herr_t H5Sset_extent_simple(hid_t space_id, int rank, const hsize_t *dims, const hsize_t *max);
QUIET AFTER(hdf5_space_changed(called, space_id);) herr_t H5Sclose(hid_t space_id);

/* Types: the size of one element. */
QUIET AFTER(hdf5_type_changed(called, type_id);) herr_t H5Tset_size(hid_t type_id, size_t bytes);
QUIET AFTER(hdf5_type_changed(called, type_id);)
herr_t H5Tset_precision(hid_t type_id, size_t prec);
QUIET AFTER(hdf5_type_changed(called, type_id);) herr_t H5Tset_offset(hid_t type_id, size_t offset);
QUIET AFTER(hdf5_type_changed(called, type_id);) herr_t H5Tpack(hid_t type_id);
QUIET AFTER(hdf5_released(called, type_id, ret);) herr_t H5Tclose(hid_t type_id);
QUIET AFTER(hdf5_type_changed(called, parent_id);)
herr_t H5Tinsert(hid_t parent_id, const char *name, size_t offset, hid_t member_id);

/* Functions of later versions. Those with _async have macros that pass the caller's source location;
 * with the native connector they are complete when they return. */
#if SINCE(1, 12, 0)
CHANGES herr_t H5Fdelete(PATH const char *filename, HANDLE hid_t fapl_id);
ASKS htri_t H5Fis_accessible(PATH const char *container_name, HANDLE hid_t fapl_id);
OPENS_INSIDE hid_t H5Oopen_by_token(HANDLE hid_t loc_id, H5O_token_t token);
ASKS herr_t H5Oget_info3(HANDLE hid_t loc_id, H5O_info2_t *oinfo, unsigned fields);
ASKS
herr_t H5Oget_info_by_name3(HANDLE hid_t loc_id, NAME const char *name, H5O_info2_t *oinfo,
			    unsigned fields, hid_t lapl_id);
ASKS
herr_t H5Oget_info_by_idx3(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, H5O_info2_t *oinfo, unsigned fields,
			   hid_t lapl_id);
ASKS herr_t H5Oget_native_info(HANDLE hid_t loc_id, H5O_native_info_t *oinfo, unsigned fields);
ASKS
herr_t H5Oget_native_info_by_name(HANDLE hid_t loc_id, NAME const char *name,
				  H5O_native_info_t *oinfo, unsigned fields, hid_t lapl_id);
ASKS
herr_t H5Oget_native_info_by_idx(HANDLE hid_t loc_id, NAME const char *group_name,
				 H5_index_t idx_type, H5_iter_order_t order, hsize_t n,
				 H5O_native_info_t *oinfo, unsigned fields, hid_t lapl_id);
WALKS
herr_t H5Ovisit3(HANDLE hid_t obj_id, H5_index_t idx_type, H5_iter_order_t order, H5O_iterate2_t op,
		 void *op_data, unsigned fields);
WALKS
herr_t H5Ovisit_by_name3(HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			 H5_iter_order_t order, H5O_iterate2_t op, void *op_data, unsigned fields,
			 hid_t lapl_id);
ASKS
herr_t H5Lget_info1(HANDLE hid_t loc_id, NAME const char *name, H5L_info1_t *linfo, hid_t lapl_id);
ASKS
herr_t H5Lget_info_by_idx1(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, H5L_info1_t *linfo, hid_t lapl_id);
WALKS
herr_t H5Literate1(HANDLE hid_t grp_id, H5_index_t idx_type, H5_iter_order_t order, hsize_t *idx,
		   H5L_iterate1_t op, void *op_data);
WALKS
herr_t H5Literate_by_name1(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t *idx, H5L_iterate1_t op, void *op_data,
			   hid_t lapl_id);
WALKS
herr_t H5Lvisit1(HANDLE hid_t grp_id, H5_index_t idx_type, H5_iter_order_t order, H5L_iterate1_t op,
		 void *op_data);
WALKS
herr_t H5Lvisit_by_name1(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			 H5_iter_order_t order, H5L_iterate1_t op, void *op_data, hid_t lapl_id);
ASKS
herr_t H5Lget_info2(HANDLE hid_t loc_id, NAME const char *name, H5L_info2_t *linfo, hid_t lapl_id);
ASKS
herr_t H5Lget_info_by_idx2(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, H5L_info2_t *linfo, hid_t lapl_id);
WALKS
herr_t H5Literate2(HANDLE hid_t grp_id, H5_index_t idx_type, H5_iter_order_t order, hsize_t *idx,
		   H5L_iterate2_t op, void *op_data);
WALKS
herr_t H5Literate_by_name2(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t *idx, H5L_iterate2_t op, void *op_data,
			   hid_t lapl_id);
WALKS
herr_t H5Lvisit2(HANDLE hid_t grp_id, H5_index_t idx_type, H5_iter_order_t order, H5L_iterate2_t op,
		 void *op_data);
WALKS
herr_t H5Lvisit_by_name2(HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			 H5_iter_order_t order, H5L_iterate2_t op, void *op_data, hid_t lapl_id);
SETS herr_t H5Pset_vol(HANDLE hid_t plist_id, hid_t new_vol_id, const void *new_vol_info);
CHANGES
herr_t H5Rcreate_object(HANDLE hid_t loc_id, NAME const char *name, hid_t oapl_id,
			H5R_ref_t *ref_ptr);
CHANGES
herr_t H5Rcreate_region(HANDLE hid_t loc_id, NAME const char *name, hid_t space_id, hid_t oapl_id,
			H5R_ref_t *ref_ptr);
CHANGES
herr_t H5Rcreate_attr(HANDLE hid_t loc_id, const char *name, NAME const char *attr_name,
		      hid_t oapl_id, H5R_ref_t *ref_ptr);
OPENS hid_t H5Ropen_object(H5R_ref_t *ref_ptr, hid_t rapl_id, hid_t oapl_id);
OPENS hid_t H5Ropen_attr(H5R_ref_t *ref_ptr, hid_t rapl_id, hid_t aapl_id);
ASKS hid_t H5Ropen_region(H5R_ref_t *ref_ptr, hid_t rapl_id, hid_t oapl_id);
ASKS herr_t H5Rget_obj_type3(H5R_ref_t *ref_ptr, hid_t rapl_id, H5O_type_t *obj_type);
#endif
#if SINCE(1, 14, 0)
WALKS
herr_t H5Dchunk_iter(HANDLE hid_t dset_id, hid_t dxpl_id, H5D_chunk_iter_op_t cb, void *op_data);
WITH_ACCESS(fapl_id, fcpl_id, false) OPENS
hid_t H5Fcreate_async(const char *app_file, const char *app_func, unsigned app_line,
		      PATH const char *filename, FLAGS unsigned flags, hid_t fcpl_id,
		      HANDLE hid_t fapl_id, hid_t es_id);
WITH_ACCESS(access_plist, HDF5_DEFAULT, false) OPENS
hid_t H5Fopen_async(const char *app_file, const char *app_func, unsigned app_line,
		    PATH const char *filename, FLAGS unsigned flags, HANDLE hid_t access_plist,
		    hid_t es_id);
OPENS
hid_t H5Freopen_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t file_id, hid_t es_id);
SYNCS
herr_t H5Fflush_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t object_id, FLAGS H5F_scope_t scope, hid_t es_id);
CLOSES(file_id)
herr_t H5Fclose_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t file_id, hid_t es_id);
WITH_CREATION(name, dapl_id, false) WITH_DATASET_ACCESS OPENS
FIELD(LINK2, hdf5_link(called, dcpl_id)) AFTER(hdf5_created(opened, dcpl_id);)
hid_t H5Dcreate_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t loc_id, NAME const char *name, hid_t type_id, hid_t space_id,
		      hid_t lcpl_id, hid_t dcpl_id, hid_t dapl_id, hid_t es_id);
WITH_CACHE(dapl_id, false) WITH_DATASET_ACCESS OPENS
hid_t H5Dopen_async(const char *app_file, const char *app_func, unsigned app_line,
		    HANDLE hid_t loc_id, NAME const char *name, hid_t dapl_id, hid_t es_id);
WITH_TRANSFER(&dset_id, 1) MOVES(READ)
herr_t H5Dread_async(const char *app_file, const char *app_func, unsigned app_line,
		     HANDLE hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id,
		     hid_t file_space_id, hid_t dxpl_id, void *buf, hid_t es_id);
WITH_TRANSFER(&dset_id, 1) MOVES(WRITE)
herr_t H5Dwrite_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id,
		      hid_t file_space_id, hid_t dxpl_id, const void *buf, hid_t es_id);
WITH_TRANSFER(dset_id, count) MOVES_MANY(READ)
herr_t H5Dread_multi(size_t count, HANDLE_AT hid_t *dset_id, hid_t *mem_type_id,
		     hid_t *mem_space_id, hid_t *file_space_id, hid_t dxpl_id, void **buf);
WITH_TRANSFER(dset_id, count) MOVES_MANY(READ)
herr_t H5Dread_multi_async(const char *app_file, const char *app_func, unsigned app_line,
			   size_t count, HANDLE_AT hid_t *dset_id, hid_t *mem_type_id,
			   hid_t *mem_space_id, hid_t *file_space_id, hid_t dxpl_id, void **buf,
			   hid_t es_id);
WITH_TRANSFER(dset_id, count) MOVES_MANY(WRITE)
herr_t H5Dwrite_multi(size_t count, HANDLE_AT hid_t *dset_id, hid_t *mem_type_id,
		      hid_t *mem_space_id, hid_t *file_space_id, hid_t dxpl_id, const void **buf);
WITH_TRANSFER(dset_id, count) MOVES_MANY(WRITE)
herr_t H5Dwrite_multi_async(const char *app_file, const char *app_func, unsigned app_line,
			    size_t count, HANDLE_AT hid_t *dset_id, hid_t *mem_type_id,
			    hid_t *mem_space_id, hid_t *file_space_id, hid_t dxpl_id,
			    const void **buf, hid_t es_id);
CALL(RESIZE) FAILS(NEGATIVE) AFTER(hdf5_extents_changed();)
herr_t H5Dset_extent_async(const char *app_file, const char *app_func, unsigned app_line,
			   HANDLE hid_t dset_id, const hsize_t *extent, hid_t es_id);
CLOSES(dset_id)
herr_t H5Dclose_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t dset_id, hid_t es_id);
OPENS
hid_t H5Gcreate_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t loc_id, NAME const char *name, hid_t lcpl_id, hid_t gcpl_id,
		      hid_t gapl_id, hid_t es_id);
OPENS
hid_t H5Gopen_async(const char *app_file, const char *app_func, unsigned app_line,
		    HANDLE hid_t loc_id, NAME const char *name, hid_t gapl_id, hid_t es_id);
CLOSES(group_id)
herr_t H5Gclose_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t group_id, hid_t es_id);
OPENS
hid_t H5Acreate_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t loc_id, NAME const char *attr_name, hid_t type_id,
		      hid_t space_id, hid_t acpl_id, hid_t aapl_id, hid_t es_id);
OPENS
hid_t H5Acreate_by_name_async(const char *app_file, const char *app_func, unsigned app_line,
			      HANDLE hid_t loc_id, const char *obj_name, NAME const char *attr_name,
			      hid_t type_id, hid_t space_id, hid_t acpl_id, hid_t aapl_id,
			      hid_t lapl_id, hid_t es_id);
OPENS
hid_t H5Aopen_async(const char *app_file, const char *app_func, unsigned app_line,
		    HANDLE hid_t obj_id, NAME const char *attr_name, hid_t aapl_id, hid_t es_id);
OPENS
hid_t H5Aopen_by_name_async(const char *app_file, const char *app_func, unsigned app_line,
			    HANDLE hid_t loc_id, const char *obj_name, NAME const char *attr_name,
			    hid_t aapl_id, hid_t lapl_id, hid_t es_id);
OPENS
hid_t H5Aopen_by_idx_async(const char *app_file, const char *app_func, unsigned app_line,
			   HANDLE hid_t loc_id, NAME const char *obj_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, hid_t aapl_id, hid_t lapl_id,
			   hid_t es_id);
CALL(READ) FAILS(NEGATIVE) FIELD(SIZE, hdf5_attribute_bytes(called, attr_id, dtype_id, entry, err))
RESULT(err ? ret : (int64_t)size)
herr_t H5Aread_async(const char *app_file, const char *app_func, unsigned app_line,
		     HANDLE hid_t attr_id, hid_t dtype_id, void *buf, hid_t es_id);
CALL(WRITE) FAILS(NEGATIVE) FIELD(SIZE, hdf5_attribute_bytes(called, attr_id, type_id, entry, err))
RESULT(err ? ret : (int64_t)size)
herr_t H5Awrite_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t attr_id, hid_t type_id, const void *buf, hid_t es_id);
CLOSES(attr_id)
herr_t H5Aclose_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t attr_id, hid_t es_id);
OPENS
hid_t H5Oopen_async(const char *app_file, const char *app_func, unsigned app_line,
		    HANDLE hid_t loc_id, NAME const char *name, hid_t lapl_id, hid_t es_id);
OPENS
hid_t H5Oopen_by_idx_async(const char *app_file, const char *app_func, unsigned app_line,
			   HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			   H5_iter_order_t order, hsize_t n, hid_t lapl_id, hid_t es_id);
SYNCS
herr_t H5Oflush_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t obj_id, hid_t es_id);
SYNCS AFTER(hdf5_extents_changed();)
herr_t H5Orefresh_async(const char *app_file, const char *app_func, unsigned app_line,
			HANDLE hid_t oid, hid_t es_id);
CALL(COPY) FAILS(NEGATIVE) FIELD(LINK2, hdf5_link(called, dst_loc_id))
herr_t H5Ocopy_async(const char *app_file, const char *app_func, unsigned app_line,
		     HANDLE hid_t src_loc_id, NAME const char *src_name, hid_t dst_loc_id,
		     const char *dst_name, hid_t ocpypl_id, hid_t lcpl_id, hid_t es_id);
CLOSES(object_id)
herr_t H5Oclose_async(const char *app_file, const char *app_func, unsigned app_line,
		      HANDLE hid_t object_id, hid_t es_id);
CHANGES
herr_t H5Ldelete_async(const char *app_file, const char *app_func, unsigned app_line,
		       HANDLE hid_t loc_id, NAME const char *name, hid_t lapl_id, hid_t es_id);
ASKS
herr_t H5Lexists_async(const char *app_file, const char *app_func, unsigned app_line,
		       HANDLE hid_t loc_id, NAME const char *name, hbool_t *exists, hid_t lapl_id,
		       hid_t es_id);
CHANGES
herr_t H5Lcreate_hard_async(const char *app_file, const char *app_func, unsigned app_line,
			    HANDLE hid_t cur_loc_id, const char *cur_name, hid_t new_loc_id,
			    NAME const char *new_name, hid_t lcpl_id, hid_t lapl_id, hid_t es_id);
CHANGES
herr_t H5Lcreate_soft_async(const char *app_file, const char *app_func, unsigned app_line,
			    const char *link_target, HANDLE hid_t link_loc_id,
			    NAME const char *link_name, hid_t lcpl_id, hid_t lapl_id, hid_t es_id);
OPENS
hid_t H5Topen_async(const char *app_file, const char *app_func, unsigned app_line,
		    HANDLE hid_t loc_id, NAME const char *name, hid_t tapl_id, hid_t es_id);
CHANGES AFTER(hdf5_type_changed(called, type_id);)
herr_t H5Tcommit_async(const char *app_file, const char *app_func, unsigned app_line,
		       HANDLE hid_t loc_id, NAME const char *name, hid_t type_id, hid_t lcpl_id,
		       hid_t tcpl_id, hid_t tapl_id, hid_t es_id);
ASKS
herr_t H5Aexists_async(const char *app_file, const char *app_func, unsigned app_line,
		       HANDLE hid_t obj_id, NAME const char *attr_name, hbool_t *exists,
		       hid_t es_id);
ASKS
herr_t H5Aexists_by_name_async(const char *app_file, const char *app_func, unsigned app_line,
			       HANDLE hid_t loc_id, const char *obj_name, NAME const char *attr_name,
			       hbool_t *exists, hid_t lapl_id, hid_t es_id);
CHANGES
herr_t H5Arename_async(const char *app_file, const char *app_func, unsigned app_line,
		       HANDLE hid_t loc_id, NAME const char *old_name, const char *new_name,
		       hid_t es_id);
CHANGES
herr_t H5Arename_by_name_async(const char *app_file, const char *app_func, unsigned app_line,
			       HANDLE hid_t loc_id, const char *obj_name,
			       NAME const char *old_attr_name, const char *new_attr_name,
			       hid_t lapl_id, hid_t es_id);
ASKS
herr_t H5Gget_info_async(const char *app_file, const char *app_func, unsigned app_line,
			 HANDLE hid_t loc_id, H5G_info_t *ginfo, hid_t es_id);
ASKS
herr_t H5Gget_info_by_name_async(const char *app_file, const char *app_func, unsigned app_line,
				 HANDLE hid_t loc_id, NAME const char *name, H5G_info_t *ginfo,
				 hid_t lapl_id, hid_t es_id);
ASKS
herr_t H5Gget_info_by_idx_async(const char *app_file, const char *app_func, unsigned app_line,
				HANDLE hid_t loc_id, NAME const char *group_name,
				H5_index_t idx_type, H5_iter_order_t order, hsize_t n,
				H5G_info_t *ginfo, hid_t lapl_id, hid_t es_id);
ASKS
herr_t H5Oget_info_by_name_async(const char *app_file, const char *app_func, unsigned app_line,
				 HANDLE hid_t loc_id, NAME const char *name, H5O_info2_t *oinfo,
				 unsigned fields, hid_t lapl_id, hid_t es_id);
CHANGES
herr_t H5Ldelete_by_idx_async(const char *app_file, const char *app_func, unsigned app_line,
			      HANDLE hid_t loc_id, NAME const char *group_name, H5_index_t idx_type,
			      H5_iter_order_t order, hsize_t n, hid_t lapl_id, hid_t es_id);
WALKS
herr_t H5Literate_async(const char *app_file, const char *app_func, unsigned app_line,
			HANDLE hid_t group_id, H5_index_t idx_type, H5_iter_order_t order,
			hsize_t *idx, H5L_iterate2_t op, void *op_data, hid_t es_id);
OPENS
hid_t H5Ropen_object_async(const char *app_file, const char *app_func, unsigned app_line,
			   H5R_ref_t *ref_ptr, hid_t rapl_id, hid_t oapl_id, hid_t es_id);
OPENS
hid_t H5Ropen_attr_async(const char *app_file, const char *app_func, unsigned app_line,
			 H5R_ref_t *ref_ptr, hid_t rapl_id, hid_t aapl_id, hid_t es_id);
ASKS
hid_t H5Ropen_region_async(const char *app_file, const char *app_func, unsigned app_line,
			   H5R_ref_t *ref_ptr, hid_t rapl_id, hid_t oapl_id, hid_t es_id);
QUIET AFTER(hdf5_released(called, type_id, ret);)
herr_t H5Tclose_async(const char *app_file, const char *app_func, unsigned app_line, hid_t type_id,
		      hid_t es_id);
CALL(WAIT) FAILS(NEGATIVE) RESULT(err ? ret : (int64_t)0)
herr_t H5ESwait(hid_t es_id, uint64_t timeout, size_t *num_in_progress, hbool_t *err_occurred);
SETS
herr_t H5Pset_selection_io(HANDLE hid_t plist_id, FLAGS H5D_selection_io_mode_t selection_io_mode);
SETS herr_t H5Pset_modify_write_buf(HANDLE hid_t plist_id, FLAGS hbool_t modify_write_buf);
SETS
herr_t H5Pset_driver_by_name(HANDLE hid_t plist_id, NAME const char *driver_name,
			     const char *driver_config);
SETS
herr_t H5Pset_driver_by_value(HANDLE hid_t plist_id, FLAGS H5FD_class_value_t driver_value,
			      const char *driver_config);
SETS
herr_t H5Pset_dataset_io_hyperslab_selection(HANDLE hid_t plist_id, FLAGS unsigned rank,
					     H5S_seloper_t op, const hsize_t *start,
					     const hsize_t *stride, const hsize_t *count,
					     const hsize_t *block);
SETS herr_t H5Pset_fapl_onion(HANDLE hid_t fapl_id, const H5FD_onion_fapl_info_t *fa);
#ifdef PARALLEL
SETS herr_t H5Pset_mpi_params(HANDLE hid_t fapl_id, MPI_Comm comm, MPI_Info info);
#endif
#endif

#undef OPENS
#undef CLOSES
#undef ASKS
#undef WALKS
#undef CHANGES
#undef SYNCS
#undef SETS
#undef LISTS
#undef MOVES
#undef MOVES_MANY
#undef WITH_ACCESS
#undef WITH_CREATION
#undef WITH_TRANSFER
#undef SINCE
#undef PARALLEL

#endif

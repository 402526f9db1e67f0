/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Injects parameters into HDF5: properties of files, of datasets and of transfers. Guest.
 *
 * Property lists are copied (the default list, too). The copy is closed after the call, and HDF5's
 * error stack stays as the call has left it. No function is called that could fail, because HDF5
 * prints its errors. The list of a parallel file holds a communicator, and copying the list
 * duplicates it, which is collective. So whether a list is copied depends only on the parameters,
 * and requires that all ranks have the same.
 */
#ifndef SLUICE_CAPTURE_APPLY_INJECT_HDF5_H
#define SLUICE_CAPTURE_APPLY_INJECT_HDF5_H

#include "capture/apply/inject.h"
#include "capture/libraries/hdf5.h"

#define INJECT_OPENS ((hid_t)-1) /* the call opens something that exists: no creation list */

/* A call of H5Fcreate or H5Fopen. */
struct inject_file {
	const void *near;
	hid_t access;	/* the access list for the real call */
	hid_t creation; /* the creation list, or INJECT_OPENS */
	bool is_copied;
	bool is_ours;	  /* the outcome is to be recorded */
	bool is_shared;	  /* the driver is MPI-IO; this and the rest are valid if is_ours */
	const char *path; /* as the program wrote it */
	struct info_text requested;
};

#define INJECT_CACHE_VALUES 3
#define INJECT_NO_ACCESS ((hid_t)-1) /* the function has no argument for an access list */

/* A call of H5Dcreate, H5Dopen or H5Oopen. */
struct inject_dataset {
	const void *near;
	hid_t creation; /* the creation list for the real call; INJECT_OPENS for H5Dopen */
	hid_t access;	/* the access list, or INJECT_NO_ACCESS */
	bool is_copied, is_access_copied;
	bool is_ours;
	bool is_aligned; /* its file has a rule for alignment; this and the rest: if is_ours */
	const char *cache[INJECT_CACHE_VALUES]; /* applied: chunk_cache.c; NULL: not */
	struct info_text requested;
};

#pragma GCC visibility push(hidden)

void inject_file_slow(struct inject_file *file, const char *path);
void inject_file_opened(struct inject_file *file, hid_t id, bool is_complete);

void inject_dataset_slow(struct inject_dataset *dataset, hid_t place, const char *name, hid_t type,
			 hid_t space);
void inject_dataset_open_slow(struct inject_dataset *dataset, hid_t place, const char *name);
void inject_dataset_created(struct inject_dataset *dataset, hid_t id, bool is_complete);

hid_t inject_transfer_slow(const void *near, hid_t list, const hid_t *datasets, size_t count);
void inject_transferred_slow(const void *near, hid_t list, herr_t ret);

/* After a file was opened whose transfers are to be collective: with MPI-IO or not. */
void inject_transfer_opened(const char *path, bool is_shared);

/* The mode that the rules ask for; NULL: none. path: as rules_path() made it. */
const char *inject_transfer_mode(const char *path);
bool inject_transfer_is_collective(const char *mode);

/* After H5close(): HDF5 counts ids from 0 again. */
void inject_hdf5_ended(void);

/* Will all ranks do the same? Not if a parallel file was opened although no MPI_Init was seen. */
bool inject_ranks_agree(void);

/* Closes a copied list after the call; the error stack stays unchanged. */
void inject_list_close(const void *near, hid_t list, bool has_failed);

#pragma GCC visibility pop

/* Before and after H5Fcreate and H5Fopen. is_complete: the file is open now. Both keep errno. */
static inline void inject_file(struct inject_file *file, const void *called, const char *path,
			       hid_t access, hid_t creation)
{
	file->near = called;
	file->access = access;
	file->creation = creation;
	file->is_copied = file->is_ours = false;
	if (unlikely(rules_places))
		inject_file_slow(file, path);
}

static inline void inject_file_end(struct inject_file *file, hid_t id, bool is_complete)
{
	if (unlikely(file->is_ours))
		inject_file_opened(file, id, is_complete);
}

static inline void inject_dataset_init(struct inject_dataset *dataset, const void *called,
				       hid_t creation, hid_t access)
{
	dataset->near = called;
	dataset->creation = creation;
	dataset->access = access;
	dataset->is_copied = dataset->is_access_copied = dataset->is_ours = false;
}

/* Before and after H5Dcreate; name is NULL for an anonymous dataset. */
static inline void inject_dataset(struct inject_dataset *dataset, const void *called, hid_t place,
				  const char *name, hid_t type, hid_t space, hid_t creation,
				  hid_t access)
{
	inject_dataset_init(dataset, called, creation, access);
	if (unlikely(rules_has(PLACE_DATASET) || rules_places & (RULES_ALIGN | RULES_CACHE) ||
		     rules_places == RULES_ON))
		inject_dataset_slow(dataset, place, name, type, space);
}

/* Before and after H5Dopen and H5Oopen, which may open something else. */
static inline void inject_dataset_open(struct inject_dataset *dataset, const void *called,
				       hid_t place, const char *name, hid_t access)
{
	inject_dataset_init(dataset, called, INJECT_OPENS, access);
	if (unlikely(rules_places & RULES_CACHE || rules_places == RULES_ON))
		inject_dataset_open_slow(dataset, place, name);
}

static inline void inject_dataset_end(struct inject_dataset *dataset, hid_t id, bool is_complete)
{
	if (unlikely(dataset->is_ours))
		inject_dataset_created(dataset, id, is_complete);
}

/* Before and after H5Dread and H5Dwrite: returns the transfer list for the real call. */
static inline hid_t inject_transfer(const void *called, hid_t list, const hid_t *datasets,
				    size_t count)
{
	if (likely(!rules_has(PLACE_TRANSFER)))
		return list;
	return inject_transfer_slow(called, list, datasets, count);
}

static inline void inject_transferred(const void *called, hid_t used, hid_t list, herr_t ret)
{
	if (unlikely(used != list))
		inject_transferred_slow(called, used, ret);
}

#endif

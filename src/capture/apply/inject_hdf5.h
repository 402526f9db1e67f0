/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The run's parameters in HDF5: properties of files, of datasets and of transfers. Guest.
 *
 * Lists are copied, or made where the program passes the default; the copy is closed after the
 * call, and the library's stack of errors stays as the call has left it. Nothing is asked that
 * could fail: HDF5 prints what fails. A list for parallel files holds a communicator, which is
 * duplicated with it, by all ranks together: so whether one is copied depends on the page alone,
 * and on all ranks being in the run.
 */
#ifndef SLUICE_CAPTURE_APPLY_INJECT_HDF5_H
#define SLUICE_CAPTURE_APPLY_INJECT_HDF5_H

#include "capture/libraries/hdf5.h"
#include "capture/apply/inject.h"

/* A file being opened. */
struct inject_file {
	const void *near;
	hid_t access;	/* list to open it with */
	hid_t creation; /* list to make it with, the default if it is opened */
	bool is_copied;
	bool is_ours;	/* the call is to be reported */
	bool is_shared; /* by ranks: the driver is MPI-IO. Valid, as the rest, if is_ours */
	struct info_text requested;
};

/* A dataset being created. */
struct inject_dataset {
	const void *near;
	hid_t creation; /* list to create it with */
	bool is_copied;
	bool is_ours;
	bool is_aligned; /* its file is to be; valid, as the rest, if is_ours */
	struct info_text requested;
};

#pragma GCC visibility push(hidden)

void inject_file_slow(struct inject_file *file, const char *path);
void inject_file_opened(struct inject_file *file, hid_t id, bool is_complete);

void inject_dataset_slow(struct inject_dataset *dataset, hid_t place, const char *name, hid_t type,
			 hid_t space);
void inject_dataset_created(struct inject_dataset *dataset, hid_t id, bool is_complete);

hid_t inject_transfer_slow(const void *near, hid_t list, const hid_t *datasets, size_t count);
void inject_transferred_slow(const void *near, hid_t list, herr_t ret);

/* After H5close(): ids begin anew. */
void inject_hdf5_ended(void);

/* Has a file been opened by ranks of which we do not know where they are? Then hands off. */
bool inject_ranks_are_unknown(void);

/* Closes a list of ours after a call with this result; the stack of errors stays as it is. */
void inject_list_close(const void *near, hid_t list, bool has_failed);

#pragma GCC visibility pop

/* Around H5Fcreate and H5Fopen. is_complete: the file may be asked at once. Keep errno. */
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

/* Around H5Dcreate; name is NULL where it has none yet. */
static inline void inject_dataset(struct inject_dataset *dataset, const void *called, hid_t place,
				  const char *name, hid_t type, hid_t space, hid_t creation)
{
	dataset->near = called;
	dataset->creation = creation;
	dataset->is_copied = dataset->is_ours = false;
	if (unlikely(rules_has(PLACE_DATASET) || rules_places & RULES_ALIGN ||
		     rules_places == RULES_ON))
		inject_dataset_slow(dataset, place, name, type, space);
}

static inline void inject_dataset_end(struct inject_dataset *dataset, hid_t id, bool is_complete)
{
	if (unlikely(dataset->is_ours))
		inject_dataset_created(dataset, id, is_complete);
}

/* Around H5Dread and H5Dwrite: the list to use. */
static inline hid_t inject_transfer(const void *called, hid_t list, const hid_t *datasets,
				    size_t count)
{
	if (likely(!rules_has(PLACE_TRANSFER)) || list == HDF5_DEFAULT)
		return list;
	return inject_transfer_slow(called, list, datasets, count);
}

static inline void inject_transferred(const void *called, hid_t used, hid_t list, herr_t ret)
{
	if (unlikely(used != list))
		inject_transferred_slow(called, used, ret);
}

#endif

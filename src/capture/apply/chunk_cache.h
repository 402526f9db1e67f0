/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The chunk cache of HDF5 datasets: parameters rdcc_nbytes, rdcc_nslots and rdcc_w0. Guest.
 *
 * A dataset has the cache that its access list describes, or, if the list leaves it open, as most
 * do, the cache of the file's access list (access_properties.c). A rule for all datasets is applied
 * to the file. Here it is applied only if the program sets the cache of the dataset itself. A rule
 * for certain datasets is always applied here. Caches are local to a process: no other rank has to
 * do the same.
 */
#ifndef SLUICE_CAPTURE_APPLY_CHUNK_CACHE_H
#define SLUICE_CAPTURE_APPLY_CHUNK_CACHE_H

#include "capture/apply/inject_hdf5.h"

#pragma GCC visibility push(hidden)

/* Applies the rules for the dataset to a copy of its access list: fills dataset->cache. */
void chunk_cache_apply(struct inject_dataset *dataset, const char *path, const char *name);

/* Notes what was requested, and reads the cache of the open dataset. Only a chunked dataset has
 * one. */
void chunk_cache_read(struct inject_dataset *dataset, hid_t id, bool is_chunked,
		      struct info_text *effective);

/* Was a value of the cache applied? */
bool chunk_cache_is_applied(const struct inject_dataset *dataset);

#pragma GCC visibility pop

#endif

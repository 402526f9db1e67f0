/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts about HDF5 datasets that explain the calls below a transfer. Guest.
 *
 * Two records, which are not calls of the program, hold them as KEY=VALUE;KEY=VALUE in HINTS:
 *
 *   H5D_layout         of a chunked dataset, once per handle: cache (bytes of the chunk cache),
 *                      chunk (shape), element (bytes), filters (numbers), slots (of the cache)
 *   H5D_no_collective  a transfer was to be collective, but HDF5 made it independent: cause (bits
 *                      of H5D_mpio_no_collective_cause_t); once per handle and cause
 *
 * A dataset is asked about only after a transfer that is much more expensive than the question, a
 * transfer list only after few of its transfers. In parallel programs, where the question could
 * make HDF5 read metadata (see hdf5_is_parallel()), the layout is that of the list with which the
 * dataset is created, and unknown if the dataset already exists.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_HDF5_FACTS_H
#define SLUICE_CAPTURE_LIBRARIES_HDF5_FACTS_H

#include "capture/libraries/hdf5.h"

/* A transfer is expensive if it made so many calls inside, or moved so many bytes. */
#define HDF5_FACTS_CALLS 4
#define HDF5_FACTS_BYTES (64 << 10)

/* Members of the handle entry of a dataset. */
#define HDF5_IS_DESCRIBED more[0]
#define HDF5_LAST_CAUSE more[1]
#define HDF5_TRANSFERS more[2] /* with a transfer list */

#pragma GCC visibility push(hidden)

__attribute__((cold)) void hdf5_facts_record(const void *called, hid_t dataset,
					     struct handle_entry *entry);
/* After a call that has created a dataset with these properties. */
__attribute__((cold)) void hdf5_facts_created(const void *called, hid_t dataset, hid_t properties,
					      struct handle_entry *opened);
__attribute__((cold)) void hdf5_cause_record(const void *called, hid_t transfer,
					     struct handle_entry *entry);

#pragma GCC visibility pop

/* The cause rarely changes: it is asked for after the first transfer, the second, the fourth, etc.
 */
INLINE bool hdf5_cause_is_due(struct handle_entry *entry)
{
	uint64_t n = atomic_load_explicit(&entry->HDF5_TRANSFERS, memory_order_relaxed) + 1;

	atomic_store_explicit(&entry->HDF5_TRANSFERS, n, memory_order_relaxed);
	return !(n & (n - 1));
}

/* After H5Dread or H5Dwrite; calls: how many calls it made inside. */
INLINE void hdf5_transferred(const void *called, hid_t dataset, hid_t transfer,
			     struct handle_entry *entry, uint64_t calls, uint64_t bytes, int err)
{
	if (unlikely(err || !entry))
		return;
	if (unlikely(calls >= HDF5_FACTS_CALLS || bytes >= HDF5_FACTS_BYTES) &&
	    !atomic_load_explicit(&entry->HDF5_IS_DESCRIBED, memory_order_relaxed))
		hdf5_facts_record(called, dataset, entry);
	if (transfer > HDF5_DEFAULT && hdf5_cause_is_due(entry))
		hdf5_cause_record(called, transfer, entry);
}

#endif

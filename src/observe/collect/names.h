/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The distinct names of a run, mostly of files, with ids from 1 in the order of appearance. Memory
 * is bounded: once there are NAMES_MAX names or NAMES_BYTES_MAX bytes of them, further names share
 * one entry, NAMES_OTHER, and are counted.
 */
#ifndef SLUICE_OBSERVE_COLLECT_NAMES_H
#define SLUICE_OBSERVE_COLLECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/activity.h"

#define NAMES_MAX 131072u
#define NAMES_BYTES_MAX (16u * 1024 * 1024)
#define NAMES_OTHER "(other files)"

struct names {
	char *texts; /* one after the other, each ended by NUL */
	size_t texts_bytes, texts_cap;
	uint32_t *offsets; /* by id - 1 */
	size_t count, offsets_cap;
	uint32_t *slots; /* hash table of ids; 0: free */
	size_t slot_count;
	uint64_t over; /* how often a name was replaced by NAMES_OTHER */
};

void names_release(struct names *names); /* a zeroed structure is empty */

/* Returns the id of a name and adds it if necessary. *is_new: the id was not used before. */
file_id names_id(struct names *names, const char *text, bool *is_new);

/* Valid until the next name is added; "" for id 0. */
const char *names_text(const struct names *names, file_id id);

#endif

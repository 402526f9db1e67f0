/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of calls per file system, storage target, operation and speed, since they were last read.
 * Each thread that receives sums has a table of its own, so that they do not wait for each other.
 * Its size is fixed: beyond SUMS_PLACES file systems and targets, the rest is one place, "other".
 */
#ifndef SLUICE_DAEMON_SUMS_TABLE_H
#define SLUICE_DAEMON_SUMS_TABLE_H

#include <stdint.h>

#include "wire/sums.h"
#include <sluice/call.h>

#define SUMS_PLACES 64

struct sums_table;

struct sums {
	uint64_t calls, bytes, ns;
};

/* What a table has received since it was made. */
struct sums_counts {
	uint64_t messages, rows, calls;
};

struct sums_table *sums_table_new(void);
void sums_table_free(struct sums_table *table);

/* Adds the rows of a frame SUMS. Returns the number of their calls, or -EBADMSG. */
int64_t sums_table_add_frame(struct sums_table *table, const struct frame *frame);

/* Adds what was received in frames to *counts. */
void sums_table_count(struct sums_table *table, struct sums_counts *counts);

/* Adds calls of one kind. */
void sums_table_add(struct sums_table *table, const char *filesystem, const char *target,
		    enum call_class operation, enum speed speed, const struct sums *sums);

/* Calls take() for all sums that are not 0, and sets them to 0. */
typedef void sums_table_take(void *arg, const char *filesystem, const char *target,
			     enum call_class operation, enum speed speed, const struct sums *sums);
void sums_table_drain(struct sums_table *table, sums_table_take *take, void *arg);

#endif

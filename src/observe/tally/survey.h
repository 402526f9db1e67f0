/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The survey of one file: how one process or rank used it through one layer, and the numbers that
 * are reported about it. observe/tally/surveyor.h defines the rules.
 */
#ifndef SLUICE_OBSERVE_TALLY_SURVEY_H
#define SLUICE_OBSERVE_TALLY_SURVEY_H

#include <stddef.h>
#include <stdint.h>

#include "observe/tally/measure.h"
#include "observe/tally/regions.h"

/*
 * Within this distance, file systems usually have the data in memory from reading ahead, and disks
 * need no head movement.
 */
#define SURVEY_SHORT_SEEK_BYTES (64 << 10)

/* Classes of strides: up to 4 KiB, 64 KiB, 1 MiB, 16 MiB, and beyond. */
enum { SURVEY_STRIDES = 5 };
/* Sector, page, and the usual stripe size of parallel file systems. */
enum { SURVEY_512, SURVEY_4K, SURVEY_1M, SURVEY_ALIGNMENTS };

/* Arrays of two are indexed by READING and WRITING of observe/tally/traffic.h. */
struct survey {
	uint64_t accesses[2], sequential[2], short_seeks[2], long_seeks[2];
	uint64_t strided[2][SURVEY_STRIDES];
	uint64_t aligned[2][SURVEY_ALIGNMENTS];
	uint64_t bytes[2];
	uint64_t seek_bytes[2], seek_largest[2];
	uint64_t seeks; /* calls that set the file position */
	int64_t open_ns, transfer_ns[2], close_ns;
	uint64_t calls;		   /* of any kind; 0: the following times are not set */
	int64_t first_ns, last_ns; /* start of the first call, end of the last */
	struct regions regions[2];
};

void survey_release(struct survey *survey);

/* Adds the survey of another process. */
void survey_merge(struct survey *survey, const struct survey *other);

/*
 * Lower bound of the bytes that were transferred more than once in one direction: the bytes beyond
 * those of the regions. 0 if positions are unknown.
 */
uint64_t survey_repeated_bytes(const struct survey *survey, int way);

/* Time of opening, reading, writing and closing. */
double survey_time_ns(const struct survey *survey);

/* Adds accesses at a constant stride of `stride` bytes, forward or backward. */
void survey_add_strides(struct survey *survey, int way, uint64_t stride, uint64_t count);
void survey_add_alignment(struct survey *survey, int way, uint64_t offset, uint64_t bytes);
/* Adds accesses that are aligned to a multiple of `alignment` bytes. */
void survey_add_aligned(struct survey *survey, int way, uint64_t alignment, uint64_t count);

enum { SURVEY_MEASURES = 42 };
extern const struct measure survey_measures[SURVEY_MEASURES];

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where in a file was read and written when: a raster of offset and time for each of the files
 * with the most bytes, per layer. While a file has few accesses, they are also kept one by one.
 *
 * The number of rasters is limited. If a new file needs one, the file with the fewest bytes loses
 * its raster if the new one has more; what the new file did before is missing in its raster, and
 * counted in `missed`.
 */
#ifndef SLUICE_OBSERVE_PROFILE_RASTER_H
#define SLUICE_OBSERVE_PROFILE_RASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/activity.h"

enum { RASTER_COLUMNS = 128, RASTER_LINES = 128, RASTER_POINTS = 4096, RASTERS_MAX = 24 };

#define RASTER_NOBODY INT32_MIN
#define RASTER_MANY (-1)

struct raster_cell {
	uint64_t bytes[2]; /* by READING and WRITING */
	int32_t member;	   /* that accessed it; RASTER_MANY: several; RASTER_NOBODY: none */
};

/* One access. */
struct raster_point {
	int64_t start_ns, duration_ns;
	int64_t offset;
	uint64_t bytes;
	int32_t member;
	uint8_t way;
};

struct raster {
	file_id file;
	uint8_t layer;
	uint64_t bytes, missed; /* transferred; of these, not in the raster */
	int64_t column_ns;	/* width of a column; the first one starts with the run */
	int64_t line_bytes;	/* height of a line, a power of two; the first starts at offset 0 */
	struct raster_cell *cells; /* column * RASTER_LINES + line */
	struct raster_point
		*points; /* in order of start; NULL: there were more than RASTER_POINTS */
	size_t point_count;
};

struct rasters {
	struct raster *list[RASTERS_MAX];
	size_t count;
	int64_t duration_ns; /* expected length of the run */
	uint64_t dropped;    /* rasters that another file took */
	uint64_t smallest;   /* lower bound of the bytes of all rasters, if there is no room */
	uint32_t changes;    /* counts changes of the list */
};

void rasters_release(struct rasters *rasters);

/* An access at a known position. */
struct raster_access {
	file_id file;
	uint8_t layer;
	int way; /* READING or WRITING */
	int32_t member;
	int64_t start_ns, duration_ns, offset;
	uint64_t bytes;
};

/* Where the raster of a file was found before. */
struct raster_hint {
	uint32_t place;	  /* in the list */
	uint32_t changes; /* changes of the list when there was none for the file; 0: there was */
};

/* before: bytes that the member transferred to or from the file until now */
void rasters_add(struct rasters *rasters, const struct raster_access *access, uint64_t before,
		 struct raster_hint *hint);

/*
 * Adds an empty raster that was saved; NULL if there is no room, the file has one already, or the
 * scale is invalid.
 */
struct raster *rasters_put(struct rasters *rasters, const struct raster_access *key,
			   int64_t column_ns, int64_t line_bytes);

/* Sorts the rasters by layer and file and their points by start, when all accesses were added. */
void rasters_sort(struct rasters *rasters);

/* Makes room for count - 1 points, which are zeroed; 0: they are not known. */
void raster_set_points(struct raster *raster, size_t count);

/* See timeline_merge(). */
struct merged_map;
void rasters_merge(struct rasters *rasters, const struct rasters *other,
		   const struct merged_map *map, int32_t member_base);

#endif

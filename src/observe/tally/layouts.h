/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stripes of files, as their file systems told at the end of the run (NOTE_LAYOUT).
 */
#ifndef SLUICE_OBSERVE_TALLY_LAYOUTS_H
#define SLUICE_OBSERVE_TALLY_LAYOUTS_H

#include <stddef.h>
#include <stdint.h>

struct trace_head;

/*
 * Units of the file go to the stripes in turn. On CephFS, they may go to the first `set_stripes` of
 * them until these hold `set_bytes`, then to the next ones; elsewhere, both are 0.
 */
struct layout {
	uint64_t stripes; /* 0: unknown */
	uint64_t unit;	  /* bytes; 0: unknown */
	uint64_t set_stripes, set_bytes;
};

/* The stripe that holds the byte at this offset. The unit must be known. */
uint64_t layout_stripe(const struct layout *layout, uint64_t offset);

/* The texts are those of the head. */
struct layout_row {
	const char *file, *filesystem;
	struct layout layout;
};

/* Returns one row per file, in the order of the notes. The caller frees them. */
struct layout_row *layout_rows(const struct trace_head *head, size_t *count);

/* A key for struct map. */
uint64_t layout_path_key(const char *path);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stripes of files, as their file systems told at the end of the run (NOTE_LAYOUT).
 */
#ifndef SLUICE_OBSERVE_TALLY_LAYOUTS_H
#define SLUICE_OBSERVE_TALLY_LAYOUTS_H

#include <stddef.h>
#include <stdint.h>

struct trace_head;

/* The texts are those of the head. */
struct layout_row {
	const char *file, *filesystem;
	uint64_t stripes, unit; /* unit in bytes; 0: unknown */
};

/* Returns one row per file, in the order of the notes. The caller frees them. */
struct layout_row *layout_rows(const struct trace_head *head, size_t *count);

/* A key for struct map. */
uint64_t layout_path_key(const char *path);

#endif

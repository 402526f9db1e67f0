/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The manifest of a run: the digests of what it wrote. An item is an output, or an object of an
 * HDF5 or NetCDF file: a dataset, an attribute, a variable, the links of a group.
 *
 * An item has a digest of its whole content, and digests of its blocks, so that ranges that vary
 * from run to run can be left out of a comparison. Blocks have MANIFEST_BLOCK_BYTES or, in large
 * items, a multiple, so that there are at most MANIFEST_BLOCKS_MAX. The blocks of a text are its
 * lines. Memory is bounded: after MANIFEST_ITEMS_MAX items, further content goes into one item;
 * after MANIFEST_BLOCKS_TOTAL blocks, further items have one block.
 */
#ifndef SLUICE_TUNE_CONTENT_MANIFEST_H
#define SLUICE_TUNE_CONTENT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANIFEST_BLOCK_BYTES 4096
#define MANIFEST_BLOCKS_MAX 4096
#define MANIFEST_BLOCKS_TOTAL (1u << 22)
#define MANIFEST_ITEMS_MAX 65536
#define MANIFEST_DIGEST 33

enum manifest_origin {
	MANIFEST_OUTPUT, /* a file */
	MANIFEST_STDOUT, /* the standard output */
};

struct manifest_item {
	char *file;   /* name of the output */
	char *object; /* path inside the file; "": the file itself */
	char *unread; /* why its content could not be read; NULL: it could */
	enum manifest_origin origin;
	bool is_text;	/* blocks are lines */
	uint64_t shape; /* digest of type and extents; 0: bytes */
	uint64_t bytes;
	uint64_t high, low;   /* digest of the content */
	uint64_t block_bytes; /* 0: lines */
	uint64_t *blocks;
	size_t block_count;
};

/* Zero-initialized is empty. */
struct manifest {
	struct manifest_item *items; /* sorted by file and object after manifest_sort() */
	size_t count, cap;
	char **gaps; /* reasons why there may be outputs that are not in the manifest */
	size_t gap_count, gap_cap;
};

void manifest_release(struct manifest *manifest);
void manifest_item_release(struct manifest_item *item);

/* Takes over the texts and blocks of the item. */
void manifest_add(struct manifest *manifest, const struct manifest_item *item);

/* Adds a reason, which is copied, unless it is known already. */
void manifest_add_gap(struct manifest *manifest, const char *reason);

void manifest_sort(struct manifest *manifest);
/* By file and object. For qsort() and bsearch(). */
int manifest_item_compare(const void *a, const void *b);

/* A digest of all items except the standard output, whatever their order. */
void manifest_digest(const struct manifest *manifest, char text[MANIFEST_DIGEST]);

#endif

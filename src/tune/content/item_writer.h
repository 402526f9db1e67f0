/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the items of a manifest to a stream while their content is read, and reads them back. The
 * writer runs in the child process of digest.c, which may crash at any time: each item is flushed
 * when it is complete, and a reader ignores an item that is not.
 *
 *	item_writer_file(w, "out.h5", MANIFEST_OUTPUT);
 *	item_writer_begin(w, "/temperature", bytes);
 *	item_writer_shape(w, extents, sizeof(extents));
 *	item_writer_data(w, piece, n);
 *	item_writer_end(w);
 */
#ifndef SLUICE_TUNE_CONTENT_ITEM_WRITER_H
#define SLUICE_TUNE_CONTENT_ITEM_WRITER_H

#include <stdio.h>
#include <xxhash.h>

#include "tune/content/manifest.h"

struct item_writer {
	FILE *to;
	const char *file; /* of the items that follow */
	enum manifest_origin origin;
	struct manifest_item item; /* the current one; file belongs to the caller */
	size_t items;
	size_t blocks_left;
	bool is_open;	/* an item is open */
	bool is_folded; /* there are too many items: the current one takes all further content */
	uint64_t in_block;
	size_t block_cap;
	XXH3_state_t *whole, *shape, *block;
};

void item_writer_init(struct item_writer *writer, FILE *to);
/* Ends the item of further content, if there is one. */
void item_writer_release(struct item_writer *writer);

/* The output that the following items belong to; the name must live as long as it is current. */
void item_writer_file(struct item_writer *writer, const char *file, enum manifest_origin origin);

/* Starts an item of about this many bytes, or a text of this many lines. */
void item_writer_begin(struct item_writer *writer, const char *object, uint64_t bytes);
void item_writer_begin_text(struct item_writer *writer, const char *object, size_t lines);
/* Adds to the part that cannot vary in ranges: types, extents, names. */
void item_writer_shape(struct item_writer *writer, const void *bytes, size_t n);
void item_writer_data(struct item_writer *writer, const void *bytes, size_t n);
/* Ends the item, if one is open. */
void item_writer_end(struct item_writer *writer);

/* Adds an item whose content cannot be read. Ends an open item first. */
void item_writer_unread(struct item_writer *writer, const char *object, const char *why);

/* Adds the complete items of the stream, up to its end, to the manifest. */
void item_writer_read(struct manifest *manifest, FILE *from);

#endif

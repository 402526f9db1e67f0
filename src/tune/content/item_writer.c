/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/content/item_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TEXT_MAX (1u << 20) /* of a text in the stream */
#define FURTHER "(further content)"

/* What precedes the texts and blocks of an item in the stream. */
struct frame {
	struct manifest_item item;     /* its pointers have no meaning */
	uint32_t file, object, unread; /* bytes of the texts; UINT32_MAX: NULL */
};

void item_writer_init(struct item_writer *w, FILE *to)
{
	*w = (struct item_writer){ .to = to,
				   .file = "",
				   .blocks_left = MANIFEST_BLOCKS_TOTAL,
				   .whole = XXH3_createState(),
				   .shape = XXH3_createState(),
				   .block = XXH3_createState() };
	if (!w->whole || !w->shape || !w->block)
		abort();
}

void item_writer_file(struct item_writer *w, const char *file, enum manifest_origin origin)
{
	w->file = file;
	w->origin = origin;
}

static void start_item(struct item_writer *w, const char *object)
{
	w->item = (struct manifest_item){ .object = xstrdup(object), .origin = w->origin };
	w->is_open = true;
	w->in_block = 0;
	w->block_cap = 0;
	XXH3_128bits_reset(w->whole);
	XXH3_64bits_reset(w->shape);
	XXH3_64bits_reset(w->block);
}

/* All content after the last item that has room goes into one item. False: it has begun already. */
static bool fold_item(struct item_writer *w, const char *object)
{
	if (!w->is_folded) {
		w->is_folded = true;
		w->file = FURTHER;
		start_item(w, "");
		w->item.block_bytes = UINT64_MAX;
	}
	/* Names and borders are content, too. */
	item_writer_data(w, w->file, strlen(w->file) + 1);
	item_writer_data(w, object, strlen(object) + 1);
	return false;
}

static bool begin_item(struct item_writer *w, const char *object)
{
	item_writer_end(w);
	if (w->items >= MANIFEST_ITEMS_MAX)
		return fold_item(w, object);
	w->items++;
	start_item(w, object);
	return true;
}

void item_writer_begin(struct item_writer *w, const char *object, uint64_t bytes)
{
	uint64_t size = MANIFEST_BLOCK_BYTES;

	if (!begin_item(w, object))
		return;
	while (bytes / size >= MANIFEST_BLOCKS_MAX)
		size *= 2;
	w->item.block_bytes = bytes / size < w->blocks_left ? size : UINT64_MAX;
}

void item_writer_begin_text(struct item_writer *w, const char *object, size_t lines)
{
	if (lines > MANIFEST_BLOCKS_MAX || lines > w->blocks_left) {
		item_writer_begin(w, object, 0);
		return;
	}
	if (begin_item(w, object))
		w->item.is_text = true;
}

void item_writer_shape(struct item_writer *w, const void *bytes, size_t n)
{
	if (w->is_folded)
		item_writer_data(w, bytes, n);
	else
		XXH3_64bits_update(w->shape, bytes, n);
	w->item.shape = 1;
}

static void end_block(struct item_writer *w)
{
	struct manifest_item *item = &w->item;

	if (!w->in_block)
		return;
	item->blocks =
		xgrow(item->blocks, &w->block_cap, item->block_count + 1, sizeof(*item->blocks));
	item->blocks[item->block_count++] = XXH3_64bits_digest(w->block);
	w->blocks_left -= w->blocks_left > 0;
	XXH3_64bits_reset(w->block);
	w->in_block = 0;
}

/* How many of the n bytes belong to the current block. */
static size_t block_share(const struct item_writer *w, const char *bytes, size_t n)
{
	uint64_t room = w->item.block_bytes - w->in_block;
	const char *end;

	if (!w->item.is_text)
		return n < room ? n : (size_t)room;
	end = memchr(bytes, '\n', n);
	return end ? (size_t)(end - bytes) + 1 : n;
}

void item_writer_data(struct item_writer *w, const void *bytes, size_t n)
{
	const char *at = bytes;

	XXH3_128bits_update(w->whole, bytes, n);
	w->item.bytes += n;
	while (n) {
		size_t part = block_share(w, at, n);

		XXH3_64bits_update(w->block, at, part);
		w->in_block += part;
		if (w->item.is_text ? at[part - 1] == '\n' : w->in_block == w->item.block_bytes)
			end_block(w);
		at += part;
		n -= part;
	}
}

static uint32_t text_bytes(const char *text)
{
	return text ? (uint32_t)strnlen(text, TEXT_MAX) : UINT32_MAX;
}

static void write_text(FILE *to, const char *text)
{
	if (text)
		fwrite(text, 1, text_bytes(text), to);
}

static void write_item(struct item_writer *w)
{
	const struct manifest_item *item = &w->item;
	struct frame frame = { .item = *item,
			       .file = text_bytes(w->file),
			       .object = text_bytes(item->object),
			       .unread = text_bytes(item->unread) };

	fwrite(&frame, sizeof(frame), 1, w->to);
	write_text(w->to, w->file);
	write_text(w->to, item->object);
	write_text(w->to, item->unread);
	fwrite(item->blocks, sizeof(*item->blocks), item->block_count, w->to);
	fflush(w->to);
}

static void finish_item(struct item_writer *w)
{
	XXH128_hash_t whole = XXH3_128bits_digest(w->whole);

	end_block(w);
	w->item.high = whole.high64;
	w->item.low = whole.low64;
	if (w->item.shape)
		w->item.shape = XXH3_64bits_digest(w->shape);
	write_item(w);
	manifest_item_release(&w->item);
	w->is_open = false;
}

void item_writer_end(struct item_writer *w)
{
	if (w->is_open && !w->is_folded)
		finish_item(w);
}

void item_writer_unread(struct item_writer *w, const char *object, const char *why)
{
	if (!begin_item(w, object)) {
		item_writer_data(w, why, strlen(why) + 1);
		return;
	}
	w->item.unread = xstrdup(why);
	item_writer_end(w);
}

void item_writer_release(struct item_writer *w)
{
	if (w->is_open)
		finish_item(w);
	XXH3_freeState(w->whole);
	XXH3_freeState(w->shape);
	XXH3_freeState(w->block);
	*w = (struct item_writer){ 0 };
}

/* NULL if the text was NULL; *ok becomes false at the end of the stream. */
static char *read_text(FILE *from, uint32_t bytes, bool *ok)
{
	char *text;

	if (bytes == UINT32_MAX)
		return NULL;
	*ok = *ok && bytes <= TEXT_MAX;
	if (!*ok)
		return NULL;
	text = xcalloc(bytes + (size_t)1, 1);
	*ok = fread(text, 1, bytes, from) == bytes;
	return text;
}

static bool read_item(struct manifest_item *item, FILE *from)
{
	struct frame frame;
	bool ok = fread(&frame, sizeof(frame), 1, from) == 1 &&
		  frame.item.block_count <= MANIFEST_BLOCKS_TOTAL;

	if (!ok)
		return false;
	*item = frame.item;
	item->file = read_text(from, frame.file, &ok);
	item->object = read_text(from, frame.object, &ok);
	item->unread = read_text(from, frame.unread, &ok);
	item->blocks = xcalloc(item->block_count + 1, sizeof(*item->blocks));
	ok = ok && item->file && item->object &&
	     fread(item->blocks, sizeof(*item->blocks), item->block_count, from) ==
		     item->block_count;
	if (!ok)
		manifest_item_release(item);
	return ok;
}

void item_writer_read(struct manifest *manifest, FILE *from)
{
	struct manifest_item item;

	while (read_item(&item, from))
		manifest_add(manifest, &item);
}

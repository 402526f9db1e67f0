/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the blocks of a file by the index that the trailer points to. If the writer was killed or
 * the index is damaged, it walks from header to header and searches for the next one where a header
 * is invalid.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/container/container.h"
#include "trace/container/wire.h"

#define ENTRY_BYTES (8 + BLOCK_HEADER_BYTES) /* an index entry: offset, header */
#define SEARCH_BYTES (64u << 10)	     /* the search reads this much at a time */

void block_list_append(struct block_list *list, const struct block *block)
{
	list->blocks = xgrow(list->blocks, &list->cap, list->count + 1, sizeof(*block));
	list->blocks[list->count++] = *block;
}

void block_list_release(struct block_list *list)
{
	free(list->blocks);
	*list = (struct block_list){ 0 };
}

/* Reads the header at offset. Returns 1, 0 if it is invalid, or -errno. */
static int read_header(int fd, uint64_t offset, struct block *block)
{
	uint8_t bytes[BLOCK_HEADER_BYTES];
	ssize_t got = read_at(fd, bytes, sizeof(bytes), offset);

	if (got < 0)
		return (int)got;
	block->offset = offset;
	return got == sizeof(bytes) && block_decode_header(block, bytes);
}

/* Sets *index to the offset of the index, or to 0 if the file has no valid trailer. */
static int read_trailer(int fd, uint64_t file_bytes, uint64_t *index)
{
	uint8_t bytes[CONTAINER_TRAILER_BYTES];
	ssize_t got;

	*index = 0;
	if (file_bytes < CONTAINER_HEADER_BYTES + sizeof(bytes))
		return 0;
	got = read_at(fd, bytes, sizeof(bytes), file_bytes - sizeof(bytes));
	if (got < 0)
		return (int)got;
	if (got == sizeof(bytes) && !memcmp(bytes + 24, CONTAINER_END_MAGIC, 8) &&
	    load_u64(bytes + 16) == XXH64(bytes, 16, 0))
		*index = load_u64(bytes);
	return 0;
}

/* Accepts the index only if its blocks fill the file up to the index without gap or overlap. */
static bool parse_index(struct block_list *list, const struct buf *raw, const struct block *index)
{
	uint64_t expected = CONTAINER_HEADER_BYTES;
	const uint8_t *at = (const uint8_t *)raw->data;

	if (raw->len != (uint64_t)index->count * ENTRY_BYTES)
		return false;
	for (uint32_t i = 0; i < index->count; i++, at += ENTRY_BYTES) {
		struct block block = { .offset = load_u64(at) };

		if (block.offset != expected || !block_decode_header(&block, at + 8) ||
		    block_end(&block) > index->offset)
			return false;
		expected = block_end(&block);
		block_list_append(list, &block);
	}
	return expected == index->offset;
}

/* Returns 1 if the index filled the list, 0 if the index is invalid, or -errno. */
static int load_index(struct block_list *list, int fd, uint64_t file_bytes, uint64_t offset)
{
	AUTO_BUF struct buf packed = { 0 }, raw = { 0 };
	struct block index;
	int r = read_header(fd, offset, &index);

	if (r <= 0)
		return r;
	if (index.type != BLOCK_INDEX || index.raw_bytes > file_bytes ||
	    block_end(&index) > file_bytes)
		return 0;
	r = block_unpack(&index, fd, &packed, &raw);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	if (parse_index(list, &raw, &index))
		return 1;
	list->count = 0;
	return 0;
}

/* Finds the first valid header at or after offset. Returns 1, 0 if there is none, or -errno. */
static int search_header(int fd, uint64_t offset, struct block *block)
{
	AUTO_FREE uint8_t *window = xmalloc(SEARCH_BYTES);
	const size_t step = SEARCH_BYTES - BLOCK_HEADER_BYTES + 1;

	for (;; offset += step) {
		ssize_t got = read_at(fd, window, SEARCH_BYTES, offset);

		if (got < 0)
			return (int)got;
		for (ssize_t i = 0; i + BLOCK_HEADER_BYTES <= got; i++) {
			if (load_u32(window + i) != BLOCK_MAGIC ||
			    !block_decode_header(block, window + i))
				continue;
			block->offset = offset + (uint64_t)i;
			return 1;
		}
		if (got < (ssize_t)SEARCH_BYTES)
			return 0;
	}
}

static int scan_blocks(struct block_list *list, int fd, uint64_t file_bytes)
{
	uint64_t offset = CONTAINER_HEADER_BYTES;
	struct block block;
	int r;

	while (offset + BLOCK_HEADER_BYTES <= file_bytes) {
		r = read_header(fd, offset, &block);
		if (!r) {
			list->damaged++;
			r = search_header(fd, offset + 1, &block);
		}
		if (r <= 0)
			return r;
		if (block_end(&block) > file_bytes)
			return 0; /* the file ends within this block */
		if (block.type != BLOCK_INDEX)
			block_list_append(list, &block);
		offset = block_end(&block);
	}
	return 0;
}

int block_list_load(struct block_list *list, int fd, uint64_t file_bytes, struct err *err)
{
	uint64_t index;
	int r = read_trailer(fd, file_bytes, &index);

	*list = (struct block_list){ 0 };
	if (r >= 0 && index) {
		list->sealed = true;
		r = load_index(list, fd, file_bytes, index);
		if (r > 0)
			return 0;
	}
	if (r >= 0)
		r = scan_blocks(list, fd, file_bytes);
	if (list->sealed && !list->damaged)
		list->damaged = 1; /* the index itself is damaged */
	if (r < 0)
		return err_set(err, -r, "cannot read: %s", strerror(-r));
	return 0;
}

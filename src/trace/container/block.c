/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes and decodes a block: its header, its compressed payload, and the rows of a block of
 * facts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "trace/container/container.h"
#include "trace/container/wire.h"

#define CHECKSUM_AT (BLOCK_HEADER_BYTES - 8)
#define ACTIVITIES_VERSION 3
#define COMPRESSION_LEVEL 1 /* the fastest level of zstd's standard range */

const struct fact *block_fact(unsigned type)
{
	static const struct fact *const facts[] = {
		[BLOCK_NAMES] = &fact_name,
		[BLOCK_CALLS] = &fact_call,
		[BLOCK_RUN] = &fact_run,
		[BLOCK_CLOCK] = &fact_clock,
		[BLOCK_PROCESSES] = &fact_process,
		[BLOCK_FILES] = &fact_file,
		[BLOCK_AGGREGATES] = &fact_aggregate,
		[BLOCK_LOSSES] = &fact_loss,
		[BLOCK_END] = &fact_end,
		[BLOCK_HOSTS] = &fact_host,
		[BLOCK_STATISTICS] = &fact_statistic,
		[BLOCK_SAMPLES] = &fact_sample,
		[BLOCK_NOTES] = &fact_note,
		[BLOCK_USAGES] = &fact_usage,
		[BLOCK_FLOWS] = &fact_flow,
	};

	return type < sizeof(facts) / sizeof(facts[0]) ? facts[type] : NULL;
}

unsigned block_version(unsigned type)
{
	if (type == BLOCK_ACTIVITIES)
		return ACTIVITIES_VERSION;
	return type == BLOCK_INDEX || type == BLOCK_PROFILE || block_fact(type) ? 1 : 0;
}

void block_encode_header(uint8_t bytes[BLOCK_HEADER_BYTES], const struct block *block)
{
	memset(bytes, 0, BLOCK_HEADER_BYTES);
	store_u32(bytes, BLOCK_MAGIC);
	store_u16(bytes + 4, block->type);
	store_u16(bytes + 6, block->version);
	store_u32(bytes + 8, block->raw_bytes);
	store_u32(bytes + 12, block->packed_bytes);
	store_u32(bytes + 16, block->count);
	store_u64(bytes + 24, block->checksum);
	store_u64(bytes + 32, (uint64_t)block->tmin);
	store_u64(bytes + 40, (uint64_t)block->tmax);
	store_u64(bytes + 48, block->layers);
	for (unsigned i = 0; i < BLOCK_PROCESS_WORDS; i++)
		store_u64(bytes + 56 + 8 * i, block->processes[i]);
	for (unsigned i = 0; i < BLOCK_FILE_WORDS; i++)
		store_u64(bytes + 88 + 8 * i, block->files[i]);
	store_u64(bytes + CHECKSUM_AT, XXH64(bytes, CHECKSUM_AT, 0));
}

static bool sizes_are_valid(const struct block *block)
{
	if (block->type == BLOCK_INDEX)
		return true; /* block_list_load() compares it with the size of the file */
	if (block->raw_bytes > BLOCK_RAW_MAX || block->packed_bytes > BLOCK_RAW_MAX)
		return false;
	if (block->type == BLOCK_ACTIVITIES)
		return block->count && block->count <= BLOCK_ROWS_MAX && block->tmin <= block->tmax;
	if (!block_fact(block->type) && block->type != BLOCK_PROFILE)
		return true;
	return block->count <= block->raw_bytes &&
	       block->raw_bytes <= (uint64_t)block->packed_bytes * BLOCK_FACTS_RATIO;
}

bool block_decode_header(struct block *block, const uint8_t bytes[BLOCK_HEADER_BYTES])
{
	if (load_u32(bytes) != BLOCK_MAGIC ||
	    load_u64(bytes + CHECKSUM_AT) != XXH64(bytes, CHECKSUM_AT, 0))
		return false;
	block->type = load_u16(bytes + 4);
	block->version = load_u16(bytes + 6);
	block->raw_bytes = load_u32(bytes + 8);
	block->packed_bytes = load_u32(bytes + 12);
	block->count = load_u32(bytes + 16);
	block->checksum = load_u64(bytes + 24);
	block->tmin = (int64_t)load_u64(bytes + 32);
	block->tmax = (int64_t)load_u64(bytes + 40);
	block->layers = load_u64(bytes + 48);
	for (unsigned i = 0; i < BLOCK_PROCESS_WORDS; i++)
		block->processes[i] = load_u64(bytes + 56 + 8 * i);
	for (unsigned i = 0; i < BLOCK_FILE_WORDS; i++)
		block->files[i] = load_u64(bytes + 88 + 8 * i);
	return sizes_are_valid(block);
}

int block_pack(struct block *block, void *context, const struct buf *raw, unsigned ratio,
	       struct buf *packed)
{
	size_t n;

	buf_clear(packed);
	buf_reserve(packed, ZSTD_compressBound(raw->len));
	n = ZSTD_compressCCtx(context, packed->data, packed->cap, buf_text(raw), raw->len,
			      COMPRESSION_LEVEL);
	if (ZSTD_isError(n))
		return -EIO;
	packed->len = n;
	/* Equal sizes mean that the payload is stored uncompressed. */
	if (n >= raw->len || (ratio && raw->len > n * ratio)) {
		buf_clear(packed);
		buf_add(packed, buf_text(raw), raw->len);
	}
	block->raw_bytes = (uint32_t)raw->len;
	block->packed_bytes = (uint32_t)packed->len;
	block->checksum = XXH64(buf_text(packed), packed->len, 0);
	return 0;
}

ssize_t read_at(int fd, void *to, size_t n, uint64_t offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

int block_unpack(const struct block *block, int fd, struct buf *packed, struct buf *raw)
{
	ssize_t got;
	size_t n;

	buf_clear(packed);
	buf_reserve(packed, block->packed_bytes);
	got = read_at(fd, packed->data, block->packed_bytes, block->offset + BLOCK_HEADER_BYTES);
	if (got < 0)
		return (int)got;
	packed->len = (size_t)got;
	if (packed->len != block->packed_bytes ||
	    XXH64(packed->data, packed->len, 0) != block->checksum)
		return -EBADMSG;
	buf_clear(raw);
	buf_reserve(raw, block->raw_bytes);
	if (block->packed_bytes == block->raw_bytes) {
		buf_add(raw, packed->data, packed->len);
		return 0;
	}
	n = ZSTD_decompress(raw->data, block->raw_bytes, packed->data, packed->len);
	if (ZSTD_isError(n) || n != block->raw_bytes)
		return -EBADMSG;
	raw->len = n;
	return 0;
}

void fact_row_encode(struct buf *out, const struct fact *fact, const void *row)
{
	AUTO_BUF struct buf fields = { 0 };

	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];
		const char *text;

		if (field->type != FACT_TEXT) {
			wire_add_varint(&fields, zigzag((uint64_t)fact_number(field, row)));
			continue;
		}
		text = fact_text(field, row);
		wire_add_varint(&fields, strlen(text));
		buf_puts(&fields, text);
	}
	wire_add_varint(out, fields.len);
	buf_add(out, buf_text(&fields), fields.len);
}

/* Fields beyond the end of the row were added in later versions; they stay zero. */
int fact_row_decode(struct wire *in, const struct fact *fact, union fact_row *row)
{
	size_t bytes = wire_varint(in), n;
	const uint8_t *at = wire_bytes(in, bytes), *text;
	struct wire fields = { 0 };

	memset(row, 0, sizeof(*row));
	if (!at)
		return -EBADMSG;
	fields = (struct wire){ at, at + bytes, false };
	for (size_t i = 0; i < fact->count && wire_left(&fields); i++) {
		const struct fact_field *field = &fact->fields[i];

		n = wire_varint(&fields);
		if (field->type != FACT_TEXT) {
			fields.bad |= !fact_set_number(field, row, (int64_t)unzigzag(n));
			continue;
		}
		text = wire_bytes(&fields, n);
		if (text)
			fact_set_text(field, row, (const char *)text, n);
	}
	if (!fields.bad)
		return 0;
	fact_release(fact, row);
	return -EBADMSG;
}

/* Differences wrap around, so that any two values can be restored. */
static int64_t encode_difference(int64_t value, int64_t *before)
{
	uint64_t d = (uint64_t)value - (uint64_t)*before;

	*before = value;
	return (int64_t)d;
}

static int64_t decode_difference(int64_t difference, int64_t *before)
{
	*before = (int64_t)((uint64_t)*before + (uint64_t)difference);
	return *before;
}

struct stat_sample sample_to_difference(struct sample_chain *chain, const struct stat_sample *row)
{
	int64_t *value = &chain->values[row->statistic % SAMPLE_CHAIN];

	return (struct stat_sample){ row->statistic,
				     encode_difference(row->time_ns, &chain->time_ns),
				     encode_difference(row->period_ns, &chain->period_ns),
				     encode_difference(row->value, value) };
}

struct stat_sample sample_from_difference(struct sample_chain *chain, const struct stat_sample *row)
{
	int64_t *value = &chain->values[row->statistic % SAMPLE_CHAIN];

	return (struct stat_sample){ row->statistic,
				     decode_difference(row->time_ns, &chain->time_ns),
				     decode_difference(row->period_ns, &chain->period_ns),
				     decode_difference(row->value, value) };
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes containers from arbitrary bytes. Checksums would keep nearly all inputs from the decoders.
 * Therefore an input whose first byte is odd is a list of blocks {type, version, size, ...}, from
 * which a file with correct headers is made. Other inputs are used unchanged.
 */
#ifndef SLUICE_TESTS_FUZZ_CONTAINER_FILE_H
#define SLUICE_TESTS_FUZZ_CONTAINER_FILE_H

#include <stdint.h>
#include <xxhash.h>

#include "base/buf.h"
#include "memory_file.h"
#include "trace/container/container.h"
#include "trace/container/wire.h"

static inline void block_add(struct buf *out, struct wire *in)
{
	const uint8_t *head = wire_bytes(in, 8), *payload;
	uint8_t bytes[BLOCK_HEADER_BYTES];
	struct block block = { .layers = UINT64_MAX };

	if (!head)
		return;
	block.type = head[0] % BLOCK_TYPES;
	block.version = block.type == BLOCK_ACTIVITIES ? 1 + head[1] % 2 : 1;
	block.raw_bytes = block.packed_bytes = load_u16(head + 2) % (wire_left(in) + 1);
	block.count = (uint32_t)load_u16(head + 4) + 1;
	block.tmin = head[6];
	block.tmax = block.tmin + head[7];
	payload = wire_bytes(in, block.packed_bytes);
	block.checksum = XXH64(payload, block.packed_bytes, 0);
	block_encode_header(bytes, &block);
	buf_add(out, bytes, sizeof(bytes));
	buf_add(out, payload, block.packed_bytes);
}

static inline void blocks_make(struct buf *out, const uint8_t *data, size_t size)
{
	struct wire in = { data, data + size, false };
	uint8_t head[CONTAINER_HEADER_BYTES] = CONTAINER_MAGIC;

	store_u32(head + 8, CONTAINER_VERSION);
	buf_add(out, head, sizeof(head));
	while (wire_left(&in) && !in.bad)
		block_add(out, &in);
}

static inline void container_make(struct buf *file, const uint8_t *data, size_t size)
{
	if (size && data[0] & 1)
		blocks_make(file, data + 1, size - 1);
	else if (size)
		buf_add(file, data + 1, size - 1);
}

#endif

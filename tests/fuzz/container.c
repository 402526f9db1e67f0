/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a container. Checksums would keep nearly all inputs from the decoders.
 * Therefore an input whose first byte is odd is a list of blocks {type, version, size, ...}, from
 * which the fuzzer makes a file with correct headers. Other inputs are read unchanged.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/err.h"
#include "trace/container/container.h"
#include "trace/container/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BATCHES_MAX 256 /* of 64 activities each: a small input can contain very many */

static void block_add(struct buf *out, struct wire *in)
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

static void blocks_make(struct buf *out, const uint8_t *data, size_t size)
{
	struct wire in = { data, data + size, false };
	uint8_t head[CONTAINER_HEADER_BYTES] = CONTAINER_MAGIC;

	store_u32(head + 8, CONTAINER_VERSION);
	buf_add(out, head, sizeof(head));
	while (wire_left(&in) && !in.bad)
		block_add(out, &in);
}

static void findings_check(const struct trace_head *head)
{
	for (size_t i = 0; i < head->statistic_count; i++)
		if (!head->statistics[i].scale)
			abort();
	for (size_t i = 0; i < head->sample_count; i++)
		if (head->samples[i].statistic >= head->statistic_count)
			abort();
	for (size_t i = 0; i < head->note_count; i++)
		if (head->notes[i].process >= (int64_t)head->process_count)
			abort();
}

static void trace_drain(const char *path, const struct trace_filter *filter)
{
	struct activity batch[64];
	struct trace trace;
	struct err err;
	ssize_t n;

	if (trace_open(&trace, path, filter, &err) < 0)
		return;
	findings_check(&trace.head);
	for (int i = 0; i < BATCHES_MAX; i++) {
		n = trace_next(&trace, batch, 64, &err);
		if (n <= 0)
			break;
		/* Indices are within their tables for every input. */
		for (ssize_t j = 0; j < n; j++)
			if (batch[j].process >= trace.head.process_count ||
			    batch[j].call >= trace.head.call_count ||
			    batch[j].file >= trace.head.file_count ||
			    batch[j].file2 >= trace.head.file_count ||
			    batch[j].name >= trace.head.file_count || batch[j].layer >= LAYER_COUNT)
				abort();
	}
	trace_close(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf file = { 0 };
	int fd = memfd_create("container", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || !size)
		return 0;
	if (data[0] & 1)
		blocks_make(&file, data + 1, size - 1);
	else
		buf_add(&file, data + 1, size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, buf_text(&file), file.len) == (ssize_t)file.len) {
		trace_drain(path, NULL);
		trace_drain(path, &(struct trace_filter){ .file = "a*", .rank = 1, .layers = 1 });
		trace_drain(path, &(struct trace_filter){ .collective = 1 });
	}
	close(fd);
	return 0;
}

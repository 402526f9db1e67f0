/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzzes everything that reads frames: a connection whose bytes arrive in pieces, with the checks
 * of the payloads that the daemon accepts, and a segment of a queue on disk.
 *
 * The first byte of the input is a set of flags, the second one the size of the pieces. With
 * FLAG_SEAL, the header checksums of the input are made correct wherever a frame seems to begin,
 * because few inputs would pass them otherwise; payload checksums follow with FLAG_SEAL_PAYLOAD.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/integer.h"
#include "daemon/sums_table.h"
#include "wire/disk_queue.h"
#include "wire/frame.h"

enum { FLAG_SEAL = 1, FLAG_SEAL_PAYLOAD = 2, FLAG_QUEUE = 4 };

static char directory[64], segment[128];

static uint32_t checksum(const void *bytes, size_t n)
{
	struct frame_header header;

	frame_seal(&header, FRAME_STATUS, 0, bytes, (uint32_t)n);
	return header.check;
}

static void seal(uint8_t *bytes, size_t n, int flags)
{
	const uint32_t magic = FRAME_MAGIC;
	struct frame_header header;

	for (size_t at = 0; n - at >= sizeof(header); at++) {
		memcpy(&header, bytes + at, sizeof(header));
		if (header.magic != magic)
			continue;
		if (flags & FLAG_SEAL_PAYLOAD && header.length <= n - at - sizeof(header))
			header.check = checksum(bytes + at + sizeof(header), header.length);
		header.head_check = checksum(&header, offsetof(struct frame_header, head_check));
		memcpy(bytes + at, &header, sizeof(header));
	}
}

/* A connection: the decoder sees only the bytes that have arrived so far. */
static void read_connection(const uint8_t *bytes, size_t n, size_t piece, struct sums_table *table)
{
	size_t at = 0, arrived = 0;

	while (arrived < n || at < arrived) {
		AUTO_BUF struct buf seen = { 0 };
		struct frame frame;
		size_t need = 0;
		int r;

		buf_add(&seen, bytes + at, arrived - at);
		r = frame_decode(&frame, buf_text(&seen), seen.len, FRAME_CLIENT_MAX, &need);
		if (r < 0)
			return;
		if (r == 0) {
			if (need <= seen.len || need > FRAME_HEADER_BYTES + FRAME_CLIENT_MAX)
				abort();
			if (arrived == n)
				return;
			arrived = size_min(n, arrived + piece);
			continue;
		}
		if ((size_t)r > seen.len || frame.length > FRAME_CLIENT_MAX ||
		    !frame_type_name(frame.type))
			abort();
		if (frame.type == FRAME_SUMS)
			sums_table_add_frame(table, &frame);
		at += (size_t)r;
	}
}

/* A file of a queue: frames come in order, whatever it holds, and the queue remains usable. */
static void read_queue(const uint8_t *bytes, size_t n)
{
	struct disk_queue_options options = { .directory = directory, .bytes_max = 16u << 20 };
	struct disk_queue *queue = NULL;
	AUTO_BUF struct buf room = { 0 };
	struct frame frame;
	uint64_t last = 0, sequence;
	struct err err = { 0 };
	int fd = open(segment, O_WRONLY | O_CREAT | O_TRUNC, 0600), r;

	if (fd < 0 || file_write_fd(fd, bytes, n) < 0)
		abort();
	close(fd);
	if (disk_queue_open(&queue, &options, &err) == 0) {
		while ((r = disk_queue_read(queue, &room, &frame, &err)) > 0) {
			if (frame.sequence <= last)
				abort();
			last = frame.sequence;
		}
		if (r < 0 || disk_queue_append(queue, FRAME_ROWS_FIRST, "x", 1, &sequence) < 0 ||
		    sequence <= last || disk_queue_sync(queue) < 0 ||
		    disk_queue_read(queue, &room, &frame, &err) != 1 || frame.sequence != sequence)
			abort();
		disk_queue_close(queue);
	}
	file_remove_tree(directory);
	if (mkdir(directory, 0700) != 0)
		abort();
}

static void remove_directory(void)
{
	file_remove_tree(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	snprintf(directory, sizeof(directory), "%s/fuzz-frame-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(directory) || atexit(remove_directory) != 0)
		abort();
	snprintf(segment, sizeof(segment), "%s/%020d.frames", directory, 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct sums_table *table;

	if (size < 2 || size > 1u << 18)
		return 0;
	buf_add(&bytes, data + 2, size - 2);
	if (data[0] & FLAG_SEAL && bytes.len)
		seal((uint8_t *)bytes.data, bytes.len, data[0]);
	if (data[0] & FLAG_QUEUE) {
		read_queue((const uint8_t *)buf_text(&bytes), bytes.len);
		return 0;
	}
	table = sums_table_new();
	read_connection((const uint8_t *)buf_text(&bytes), bytes.len, (size_t)data[1] + 1, table);
	sums_table_free(table);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzzes the collector's side of a spool: a process writes anything into its spool, before it is
 * opened and between the passes.
 *
 * Input: a byte with the number of patches (modulo 32), a byte of flags, the patches, and the words
 * of chunk 0. A patch is an offset in the file and a value, 4 bytes each. The first half of the
 * patches is applied before the spool is opened, the rest after the first pass.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/collect/intake.h"
#include "trace/facts.h"

#define PATCHES_MAX 32

enum { FLAG_FULL = 1, FLAG_TRUNCATE = 2, FLAG_COUNTERS = 4 }; /* upper half: pages that stay */

static char directory[64], path[128], counters[128];

/* A writer that checks what every reader relies on. */
struct sink {
	uint32_t processes;
	file_id files;
};

static int add_process(void *writer, const struct process_info *p, struct err *err)
{
	struct sink *sink = writer;

	(void)err;
	if (p->index > sink->processes || p->parent >= (int32_t)p->index)
		abort();
	sink->processes += p->index == sink->processes;
	return 0;
}

static int add_file(void *writer, file_id id, const char *name, struct err *err)
{
	struct sink *sink = writer;

	(void)err;
	if (id != ++sink->files || !name)
		abort();
	return 0;
}

static int add_activities(void *writer, const struct activity *batch, size_t n, struct err *err)
{
	const struct sink *sink = writer;

	(void)err;
	for (const struct activity *a = batch; a < batch + n; a++)
		if (a->process >= sink->processes || a->file > sink->files ||
		    a->file2 > sink->files || a->name > sink->files || a->hints > sink->files ||
		    !a->call || a->call >= call_count || a->duration_ns < 0 || a->start_ns < 0)
			abort();
	return 0;
}

static int add_aggregate(void *writer, const struct aggregate *row, struct err *err)
{
	const struct sink *sink = writer;

	(void)err;
	if (row->file > sink->files || row->bytes < 0 || row->duration_ns < 0 ||
	    row->errors > row->calls)
		abort();
	return 0;
}

static int add_loss(void *writer, const struct loss_info *row, struct err *err)
{
	(void)writer, (void)err;
	if (row->records > UINT64_C(1) << 50 || row->threads > UINT64_C(1) << 50)
		abort();
	return 0;
}

/* The causes of losses are notes. */
static int add_fact(void *writer, const struct fact *fact, const void *row, struct err *err)
{
	const struct note *note = row;

	(void)writer, (void)err;
	if (fact != &fact_note || !note->kind[0] || !note->name[0] || !note->value[0])
		abort();
	return 0;
}

static const struct trace_format form = { .add_process = add_process,
					  .add_file = add_file,
					  .add_activities = add_activities,
					  .add_aggregate = add_aggregate,
					  .add_loss = add_loss,
					  .add_fact = add_fact };

static void put_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
	if (pwrite(fd, bytes, n, (off_t)offset) != (ssize_t)n)
		abort();
}

/* Writes a valid header and chunk 0 with the given words. */
static void write_spool(int fd, uint8_t flags, const uint8_t *words, size_t n)
{
	static struct spool_header header;
	struct chunk chunk = { .committed = (uint32_t)(n / 8),
			       .state = flags & FLAG_FULL ? CHUNK_FULL : CHUNK_OWNED,
			       .thread = 1 };

	memset(&header, 0, sizeof(header));
	header.magic = SPOOL_MAGIC;
	header.version = SPOOL_VERSION;
	header.state = SPOOL_LIVE;
	header.pid = 1;
	header.parent_number = -1;
	header.rank = -1;
	header.segment_map[0] = 1;
	header.free_map[0] = 2;
	strcpy(header.directory, "/home");
	if (ftruncate(fd, 0) != 0 ||
	    ftruncate(fd, (off_t)spool_chunk_offset(SPOOL_FIRST_CHUNKS)) != 0)
		abort();
	put_at(fd, &header, sizeof(header), 0);
	put_at(fd, &chunk, sizeof(chunk), spool_chunk_offset(0));
	put_at(fd, words, n / 8 * 8, spool_chunk_offset(0) + sizeof(chunk));
}

static void apply_patches(int fd, const uint8_t *patches, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		uint32_t patch[2];

		memcpy(patch, patches + (size_t)i * 8, sizeof(patch));
		put_at(fd, &patch[1], sizeof(patch[1]),
		       patch[0] % (spool_chunk_offset(SPOOL_FIRST_CHUNKS) - 4));
	}
}

static void write_counters(const uint8_t *bytes, size_t n)
{
	int fd = open(counters, O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint64_t magic = COUNTERS_MAGIC;

	if (fd < 0 || ftruncate(fd, sizeof(struct counters_file)) != 0)
		abort();
	put_at(fd, bytes, n, sizeof(magic) * 8);
	put_at(fd, &magic, sizeof(magic), 0);
	close(fd);
}

static void read_spool(int fd, uint8_t flags, const uint8_t *patches, unsigned count)
{
	struct sink sink = { 0 };
	struct intake in;

	intake_init(&in, directory, "host");
	in.form = &form;
	in.writer = &sink;
	in.in_ns = true;
	in.clock = (struct run_clock){ .tick0 = 1000, .num = 3, .den = 2 };
	intake_find(&in, false);
	intake_pass(&in, 1u << 30, true);
	apply_patches(fd, patches, count / 2, count);
	if (flags & FLAG_TRUNCATE && ftruncate(fd, flags >> 4 << 12) != 0)
		abort();
	intake_ranks(&in);
	intake_find(&in, true);
	for (int i = 0; i < 8 && (!i || in.progress); i++)
		intake_pass(&in, UINT64_MAX, true);
	while (in.member_count)
		intake_end(&in, in.members[0]);
	intake_release(&in);
}

static void remove_directory(void)
{
	unlink(path);
	unlink(counters);
	rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	snprintf(directory, sizeof(directory), "%s/fuzz-spool-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(directory) || atexit(remove_directory) != 0)
		abort();
	snprintf(path, sizeof(path), "%s/00000001-1%s", directory, SPOOL_SUFFIX);
	snprintf(counters, sizeof(counters), "%s/00000001-1%s", directory, COUNTERS_SUFFIX);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned count;
	int fd;

	if (size < 2 || size < 2 + (size_t)(data[0] % PATCHES_MAX) * 8)
		return 0;
	count = data[0] % PATCHES_MAX;
	if (size - 2 - (size_t)count * 8 > (size_t)CHUNK_WORDS * 8)
		return 0;
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		abort();
	write_spool(fd, data[1], data + 2 + (size_t)count * 8, size - 2 - (size_t)count * 8);
	if (data[1] & FLAG_COUNTERS)
		write_counters(data + 2, size - 2);
	apply_patches(fd, data + 2, 0, count / 2);
	read_spool(fd, data[1], data + 2, count);
	close(fd);
	unlink(path);
	unlink(counters);
	return 0;
}

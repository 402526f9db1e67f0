/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a container. The file has its final name from the start, and every block is written
 * completely, so that a collector that is killed leaves a trace that can be read up to its last
 * block. The writer needs memory for one block of activities, and for one header per block for the
 * index.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/container/rows.h"
#include "trace/container/wire.h"
#include "trace/output.h"

/* Facts that wait for their block to be written. */
struct pending {
	enum block_type type;
	struct buf rows;
	uint32_t count;
	uint32_t repeated; /* rows that update an earlier row of the same number */
	int64_t first;	   /* number of the first row that is not an update */
};

struct writer {
	char *path;
	int fd;
	uint64_t offset; /* end of the last complete block */
	int failed;	 /* -errno of the first failure; nothing is written after it */
	ZSTD_CCtx *zstd;
	struct rows_in rows;
	struct buf raw, packed;
	struct pending processes, files, aggregates, losses, hosts, statistics, samples, notes,
		usages, flows, other;
	struct sample_chain chain; /* of the pending samples */
	struct buf index;
	uint32_t blocks;
	uint32_t process_count, file_count, statistic_count;
};

static int write_all(struct writer *w, const void *bytes, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = pwrite(w->fd, (const char *)bytes + done, n - done, (off_t)(at + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -EIO;
		done += (size_t)r;
	}
	return 0;
}

/* Notes the failure and truncates the file after its last complete block to keep it readable. */
static int fail_write(struct writer *w, int code, struct err *err)
{
	w->failed = -code;
	if (ftruncate(w->fd, (off_t)w->offset) < 0)
		code = errno == ENOSPC ? ENOSPC : code;
	return err_set(err, code, "%s: cannot write at offset %llu: %s", w->path,
		       (unsigned long long)w->offset, strerror(code));
}

static int refuse_write(const struct writer *w, struct err *err)
{
	return err_set(err, -w->failed, "%s: an earlier write failed: %s", w->path,
		       strerror(-w->failed));
}

/* Writes w->raw as a block. The caller has filled in type, count, times and sets. */
static int write_block(struct writer *w, struct block *block, struct err *err)
{
	unsigned ratio =
		block_fact(block->type) || block->type == BLOCK_PROFILE ? BLOCK_FACTS_RATIO : 0;
	uint8_t entry[8 + BLOCK_HEADER_BYTES];
	int r;

	if (w->failed)
		return refuse_write(w, err);
	if (!w->zstd)
		w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		return fail_write(w, ENOMEM, err);
	block->version = (uint16_t)block_version(block->type);
	block->offset = w->offset;
	r = block_pack(block, w->zstd, &w->raw, ratio, &w->packed);
	if (r < 0)
		return fail_write(w, -r, err);
	store_u64(entry, w->offset);
	block_encode_header(entry + 8, block);
	r = write_all(w, entry + 8, BLOCK_HEADER_BYTES, w->offset);
	if (!r)
		r = write_all(w, w->packed.data, w->packed.len, w->offset + BLOCK_HEADER_BYTES);
	if (r < 0)
		return fail_write(w, -r, err);
	w->offset = block_end(block);
	w->blocks++;
	buf_add(&w->index, entry, sizeof(entry));
	return 0;
}

/* The facts that these rows refer to. They are written first, in case the writer is killed. */
static struct pending *find_referenced(struct writer *w, const struct pending *pending)
{
	if (pending == &w->samples)
		return &w->statistics;
	return pending == &w->notes ? &w->processes : NULL;
}

static int flush_pending(struct writer *w, struct pending *pending, struct err *err)
{
	struct pending *referenced = find_referenced(w, pending);
	uint32_t fresh = pending->count - pending->repeated;
	struct block block = { .type = (uint16_t)pending->type,
			       .count = pending->count,
			       .tmin = pending->first,
			       .tmax = pending->first + fresh - 1 };
	struct buf swap = w->raw;
	int r;

	if (!pending->count)
		return 0;
	r = referenced ? flush_pending(w, referenced, err) : 0;
	if (r < 0)
		return r;
	w->raw = pending->rows;
	r = write_block(w, &block, err);
	pending->rows = w->raw;
	w->raw = swap;
	buf_clear(&pending->rows);
	pending->first += fresh;
	pending->count = pending->repeated = 0;
	return r;
}

static int add_pending(struct writer *w, struct pending *pending, const void *row, struct err *err)
{
	fact_row_encode(&pending->rows, block_fact(pending->type), row);
	pending->count++;
	if (pending->count < BLOCK_FACTS_ROWS && pending->rows.len < BLOCK_FACTS_BYTES)
		return 0;
	return flush_pending(w, pending, err);
}

/* Writes a block with a single row. */
static int write_single(struct writer *w, enum block_type type, const void *row, struct err *err)
{
	w->other.type = type;
	w->other.first = 0;
	fact_row_encode(&w->other.rows, block_fact(type), row);
	w->other.count = 1;
	return flush_pending(w, &w->other, err);
}

static int write_names(struct writer *w, struct err *err)
{
	w->other.type = BLOCK_NAMES;
	for (uint32_t i = 0; i < LAYER_COUNT; i++, w->other.count++)
		fact_row_encode(&w->other.rows, &fact_name,
				&(struct name_row){ (char *)"layer", i, (char *)layer_name(i) });
	for (uint32_t i = 0; i < FIELD_COUNT; i++, w->other.count++)
		fact_row_encode(&w->other.rows, &fact_name,
				&(struct name_row){ (char *)"field", i, (char *)field_name(i) });
	return flush_pending(w, &w->other, err);
}

static int write_calls(struct writer *w, const struct call_info *calls, size_t count,
		       struct err *err)
{
	w->other.type = BLOCK_CALLS;
	for (size_t i = 0; i < count; i++) {
		struct call_row row = call_row_make(&calls[i], i);
		int r = add_pending(w, &w->other, &row, err);

		fact_release(&fact_call, &row);
		if (r < 0)
			return r;
	}
	return flush_pending(w, &w->other, err);
}

static int write_start(struct writer *w, const struct run_info *run, const struct run_clock *clock,
		       const struct call_info *calls, size_t count, struct err *err)
{
	uint8_t head[CONTAINER_HEADER_BYTES] = CONTAINER_MAGIC;
	int r;

	store_u32(head + 8, CONTAINER_VERSION);
	store_u32(head + 12, 0);
	r = write_all(w, head, sizeof(head), 0);
	if (r < 0)
		return fail_write(w, -r, err);
	w->offset = sizeof(head);
	r = write_names(w, err);
	if (!r)
		r = write_calls(w, calls, count, err);
	if (!r)
		r = write_single(w, BLOCK_RUN, run, err);
	if (!r)
		r = write_single(w, BLOCK_CLOCK, clock, err);
	return r;
}

static void writer_free(struct writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	rows_in_release(&w->rows);
	buf_release(&w->raw);
	buf_release(&w->packed);
	buf_release(&w->processes.rows);
	buf_release(&w->files.rows);
	buf_release(&w->aggregates.rows);
	buf_release(&w->losses.rows);
	buf_release(&w->hosts.rows);
	buf_release(&w->statistics.rows);
	buf_release(&w->samples.rows);
	buf_release(&w->notes.rows);
	buf_release(&w->usages.rows);
	buf_release(&w->flows.rows);
	buf_release(&w->other.rows);
	buf_release(&w->index);
	free(w->path);
	free(w);
}

int container_create(void **writer, const char *path, const struct run_info *run,
		     const struct run_clock *clock, const struct call_info *calls, size_t count,
		     struct err *err)
{
	int fd = trace_output_create(path, err), r;
	struct writer *w;

	if (fd < 0)
		return fd;
	w = xcalloc(1, sizeof(*w));
	w->fd = fd;
	w->path = xstrdup(path);
	rows_in_init(&w->rows);
	w->processes.type = BLOCK_PROCESSES;
	w->files.type = BLOCK_FILES;
	w->files.first = 1;
	w->aggregates.type = BLOCK_AGGREGATES;
	w->losses.type = BLOCK_LOSSES;
	w->hosts.type = BLOCK_HOSTS;
	w->statistics.type = BLOCK_STATISTICS;
	w->samples.type = BLOCK_SAMPLES;
	w->notes.type = BLOCK_NOTES;
	w->usages.type = BLOCK_USAGES;
	w->flows.type = BLOCK_FLOWS;
	r = write_start(w, run, clock, calls, count, err);
	if (r < 0) {
		writer_free(w);
		return r;
	}
	*writer = w;
	return 0;
}

int container_add_process(void *writer, const struct process_info *process, struct err *err)
{
	struct writer *w = writer;

	if (process->index > w->process_count)
		return err_set(err, EINVAL,
			       "%s: process %u was added out of order, after %u others", w->path,
			       process->index, w->process_count);
	if (process->index < w->process_count)
		w->processes.repeated++;
	else
		w->process_count++;
	return add_pending(w, &w->processes, process, err);
}

int container_add_file(void *writer, file_id id, const char *path, struct err *err)
{
	struct writer *w = writer;

	if (id != w->file_count + 1)
		return err_set(err, EINVAL, "%s: file %u was added out of order, after %u others",
			       w->path, id, w->file_count);
	w->file_count++;
	return add_pending(w, &w->files, &(struct file_row){ id, (char *)path }, err);
}

/* Processes and files that activities refer to are written first, in case the writer is killed. */
static int flush_rows(struct writer *w, struct err *err)
{
	struct block block = { .type = BLOCK_ACTIVITIES };
	int r = flush_pending(w, &w->processes, err);

	if (!r)
		r = flush_pending(w, &w->files, err);
	if (r || !w->rows.count)
		return r;
	rows_in_encode(&w->rows, &w->raw, &block);
	return write_block(w, &block, err);
}

int container_add_activities(void *writer, const struct activity *batch, size_t n, struct err *err)
{
	struct writer *w = writer;
	int r;

	if (w->failed)
		return refuse_write(w, err);
	while (n) {
		size_t taken = rows_in_add(&w->rows, batch, n);

		batch += taken;
		n -= taken;
		if (w->rows.count < BLOCK_ROWS_MAX)
			continue;
		r = flush_rows(w, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int container_add_aggregate(void *writer, const struct aggregate *aggregate, struct err *err)
{
	struct writer *w = writer;
	struct aggregate_row row = aggregate_row_make(aggregate);
	int r = add_pending(w, &w->aggregates, &row, err);

	fact_release(&fact_aggregate, &row);
	return r;
}

int container_add_loss(void *writer, const struct loss_info *row, struct err *err)
{
	struct writer *w = writer;

	return add_pending(w, &w->losses, row, err);
}

int container_add_host(void *writer, const struct host_info *row, struct err *err)
{
	struct writer *w = writer;

	return add_pending(w, &w->hosts, row, err);
}

static int add_statistic(struct writer *w, const struct statistic_info *row, struct err *err)
{
	if (row->number != w->statistic_count)
		return err_set(err, EINVAL,
			       "%s: statistic %u was added out of order, after %u others", w->path,
			       row->number, w->statistic_count);
	w->statistic_count++;
	return add_pending(w, &w->statistics, row, err);
}

static int add_sample(struct writer *w, const struct stat_sample *row, struct err *err)
{
	struct stat_sample difference;

	if (row->statistic >= w->statistic_count)
		return err_set(err, EINVAL,
			       "%s: a sample refers to statistic %u, but only %u were added",
			       w->path, row->statistic, w->statistic_count);
	if (!w->samples.count)
		w->chain = (struct sample_chain){ 0 };
	difference = sample_to_difference(&w->chain, row);
	return add_pending(w, &w->samples, &difference, err);
}

int container_add_fact(void *writer, const struct fact *fact, const void *row, struct err *err)
{
	struct writer *w = writer;

	if (fact == &fact_statistic)
		return add_statistic(w, row, err);
	if (fact == &fact_sample)
		return add_sample(w, row, err);
	if (fact == &fact_note)
		return add_pending(w, &w->notes, row, err);
	if (fact == &fact_usage)
		return add_pending(w, &w->usages, row, err);
	if (fact == &fact_flow)
		return add_pending(w, &w->flows, row, err);
	return err_set(err, EINVAL, "%s: add_fact() does not accept %s", w->path, fact->name);
}

int container_add_profile(void *writer, const void *bytes, size_t n, struct err *err)
{
	struct writer *w = writer;

	for (size_t done = 0; done < n;) {
		struct block block = { .type = BLOCK_PROFILE, .count = 1 };
		size_t piece = n - done < BLOCK_FACTS_BYTES ? n - done : BLOCK_FACTS_BYTES;
		int r;

		buf_clear(&w->raw);
		buf_add(&w->raw, (const char *)bytes + done, piece);
		r = write_block(w, &block, err);
		if (r < 0)
			return r;
		done += piece;
	}
	return 0;
}

static int write_index(struct writer *w, struct err *err)
{
	uint8_t trailer[CONTAINER_TRAILER_BYTES];
	struct block block = { .type = BLOCK_INDEX, .count = w->blocks };
	int r;

	store_u64(trailer, w->offset);
	store_u64(trailer + 8, w->blocks);
	store_u64(trailer + 16, XXH64(trailer, 16, 0));
	memcpy(trailer + 24, CONTAINER_END_MAGIC, 8);
	buf_clear(&w->raw);
	buf_add(&w->raw, w->index.data, w->index.len);
	r = write_block(w, &block, err);
	if (r < 0)
		return r;
	r = write_all(w, trailer, sizeof(trailer), w->offset);
	if (r < 0)
		return fail_write(w, -r, err);
	return fsync(w->fd) < 0 && errno != EINVAL ? fail_write(w, errno, err) : 0;
}

void container_rest(void *writer)
{
	struct writer *w = writer;

	if (w->rows.count)
		return;
	rows_in_release(&w->rows);
	buf_release(&w->raw);
	buf_release(&w->packed);
	ZSTD_freeCCtx(w->zstd);
	w->zstd = NULL;
}

int container_flush(void *writer, struct err *err)
{
	struct writer *w = writer;
	int r = w->failed ? refuse_write(w, err) : flush_rows(w, err);

	if (!r)
		r = flush_pending(w, &w->aggregates, err);
	if (!r)
		r = flush_pending(w, &w->losses, err);
	if (!r)
		r = flush_pending(w, &w->hosts, err);
	if (!r)
		r = flush_pending(w, &w->statistics, err);
	if (!r)
		r = flush_pending(w, &w->samples, err);
	if (!r)
		r = flush_pending(w, &w->notes, err);
	if (!r)
		r = flush_pending(w, &w->usages, err);
	if (!r)
		r = flush_pending(w, &w->flows, err);
	return r;
}

int container_finish(void *writer, const struct run_end *end, const struct run_clock *clock,
		     struct err *err)
{
	struct writer *w = writer;
	int r = container_flush(w, err);

	if (!r)
		r = write_single(w, BLOCK_CLOCK, clock, err);
	if (!r)
		r = write_single(w, BLOCK_END, end, err);
	if (!r)
		r = write_index(w, err);
	if (!r && close(w->fd) < 0)
		r = err_set(err, errno, "%s: cannot close: %s", w->path, strerror(errno));
	else if (r < 0)
		close(w->fd);
	w->fd = -1;
	writer_free(w);
	return r;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a container in order of time. Blocks overlap in time, because threads deliver their records
 * independently. A block is decoded when the merge reaches its first activity and freed after its
 * last one, so memory use depends on the number of overlapping blocks, not on their total. The
 * block headers allow a filter to skip whole blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/container/rows.h"
#include "trace/container/wire.h"
#include "trace/head.h"
#include "trace/ticks.h"

#define OPEN_BLOCKS_MAX 512 /* blocks that may overlap: about 2 GiB of memory */

struct reader {
	char *path;
	int fd;
	struct block_list list;	   /* after opening: the selected activity blocks, sorted by tmin */
	size_t next;		   /* the next block of the list to open */
	struct block_list profile; /* blocks of a saved profile */
	struct head_builder builder;
	struct ticks ticks;
	struct buf packed, raw;
	struct rows_out
		*heap[OPEN_BLOCKS_MAX]; /* heap[0] is the block with the earliest next row */
	size_t open;
	struct rows_out *spare; /* a block that was read, whose memory the next one uses */
};

static void reader_free(struct reader *r)
{
	for (size_t i = 0; i < r->open; i++)
		rows_out_free(r->heap[i]);
	rows_out_free(r->spare);
	block_list_release(&r->list);
	block_list_release(&r->profile);
	buf_release(&r->packed);
	buf_release(&r->raw);
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	free(r);
}

void container_close(void *reader)
{
	if (reader)
		reader_free(reader);
}

static int check_file(struct reader *r, uint64_t *bytes, struct err *err)
{
	uint8_t head[CONTAINER_HEADER_BYTES];
	struct stat st;
	ssize_t got;

	if (fstat(r->fd, &st) < 0)
		return err_set(err, errno, "%s: %s", r->path, strerror(errno));
	got = read_at(r->fd, head, sizeof(head), 0);
	if (got < 0)
		return err_set(err, (int)-got, "%s: cannot read: %s", r->path, strerror((int)-got));
	if (got < (ssize_t)sizeof(head) || memcmp(head, CONTAINER_MAGIC, CONTAINER_MAGIC_BYTES))
		return err_set(err, EINVAL, "%s: not a Sluice trace", r->path);
	if (load_u32(head + 8) != CONTAINER_VERSION)
		return err_set(err, ENOTSUP,
			       "%s: the trace has container version %u, but this version of Sluice "
			       "reads version %d; update Sluice",
			       r->path, load_u32(head + 8), CONTAINER_VERSION);
	*bytes = (uint64_t)st.st_size;
	return 0;
}

/* Adds placeholders for the rows of a damaged block, by the numbers in its header. */
static void replace_lost_facts(struct reader *r, const struct block *block)
{
	uint64_t count = (uint64_t)block->tmax + 1;

	if (block->tmin < 0 || block->tmax < block->tmin || block->tmax > INT32_MAX ||
	    count - (uint64_t)block->tmin > block->count)
		return;
	if (block->type == BLOCK_PROCESSES &&
	    (uint64_t)block->tmin == r->builder.head->process_count)
		head_fill_processes(&r->builder, count);
	if (block->type == BLOCK_FILES && (uint64_t)block->tmin == r->builder.head->file_count)
		head_fill_files(&r->builder, count);
	if (block->type == BLOCK_STATISTICS &&
	    (uint64_t)block->tmin == r->builder.head->statistic_count)
		head_fill_statistics(&r->builder, count);
}

/* Adds placeholders for rows that must have been in a block whose header is lost, too. */
static void fill_number_gap(struct reader *r, const struct block *block)
{
	const struct trace_head *head = r->builder.head;
	uint64_t limit = block->offset / BLOCK_HEADER_BYTES * BLOCK_FACTS_ROWS;

	if (block->tmin < 0)
		return;
	if (block->type == BLOCK_PROCESSES && (uint64_t)block->tmin - head->process_count <= limit)
		head_fill_processes(&r->builder, (size_t)block->tmin);
	if (block->type == BLOCK_FILES && (uint64_t)block->tmin - head->file_count <= limit)
		head_fill_files(&r->builder, (size_t)block->tmin);
	if (block->type == BLOCK_STATISTICS &&
	    (uint64_t)block->tmin - head->statistic_count <= limit)
		head_fill_statistics(&r->builder, (size_t)block->tmin);
}

/* Returns -EBADMSG if the block is damaged. */
static int read_facts(struct reader *r, const struct block *block, struct err *err)
{
	const struct fact *fact = block_fact(block->type);
	struct sample_chain chain = { 0 };
	struct wire in;
	int code = block_unpack(block, r->fd, &r->packed, &r->raw);

	if (code < 0)
		return err_set(err, -code, "%s",
			       code == -EBADMSG ? "wrong checksum" : strerror(-code));
	fill_number_gap(r, block);
	in = (struct wire){ (const uint8_t *)r->raw.data, (const uint8_t *)r->raw.data + r->raw.len,
			    false };
	for (uint32_t i = 0; i < block->count; i++) {
		union fact_row row;

		if (fact_row_decode(&in, fact, &row) < 0)
			return err_set(err, EBADMSG, "row %u of the %s facts is invalid", i,
				       fact->name);
		if (fact == &fact_sample)
			row.sample = sample_from_difference(&chain, &row.sample);
		code = head_add(&r->builder, fact, &row, err);
		if (code < 0)
			return code;
	}
	return 0;
}

/* A payload of an unknown version could be misread, so it is refused. */
static int check_versions(const struct reader *r, struct err *err)
{
	for (size_t i = 0; i < r->list.count; i++) {
		const struct block *block = &r->list.blocks[i];
		unsigned known = block_version(block->type);

		if (known && block->version > known)
			return err_set(
				err, ENOTSUP,
				"%s: the block at offset %llu has version %u, but this version "
				"of Sluice reads up to %u; update Sluice",
				r->path, (unsigned long long)block->offset, block->version, known);
	}
	return 0;
}

/* Damaged names and calls are an error, because activities need them; other damage is counted. */
static int load_facts(struct reader *r, struct err *err)
{
	for (size_t i = 0; i < r->list.count; i++) {
		const struct block *block = &r->list.blocks[i];
		int code;

		if (!block_fact(block->type))
			continue;
		code = read_facts(r, block, err);
		if (code == -EBADMSG && block->type != BLOCK_NAMES && block->type != BLOCK_CALLS) {
			r->builder.head->damaged_blocks++;
			replace_lost_facts(r, block);
		} else if (code < 0) {
			return err_prefix(err, "%s: block at offset %llu", r->path,
					  (unsigned long long)block->offset);
		}
	}
	head_finish(&r->builder);
	return 0;
}

static bool sets_intersect(const uint64_t *a, const uint64_t *b, unsigned words)
{
	uint64_t common = 0;

	for (unsigned i = 0; i < words; i++)
		common |= a[i] & b[i];
	return common;
}

/* The filter in terms of block headers. */
struct wanted {
	uint64_t layers;
	uint64_t processes[BLOCK_PROCESS_WORDS], files[BLOCK_FILE_WORDS];
};

static void want_processes(struct wanted *wanted, const struct trace_filter *filter,
			   const struct trace_head *head)
{
	for (size_t i = 0; i < head->process_count; i++)
		if ((!filter->process || (size_t)filter->process - 1 == i) &&
		    (!filter->rank || head->processes[i].rank == filter->rank - 1))
			block_set_add(wanted->processes, BLOCK_PROCESS_WORDS, i);
}

static void want_files(struct wanted *wanted, const struct trace_filter *filter,
		       const struct trace_head *head)
{
	AUTO_FREE char *match = head_match_files(head, filter->file);

	for (size_t i = 0; i < head->file_count; i++)
		if (match[i])
			block_set_add(wanted->files, BLOCK_FILE_WORDS, i);
}

static struct wanted make_wanted(const struct reader *r, const struct trace_filter *filter)
{
	struct wanted wanted = { .layers = filter->layers ? 0 : UINT64_MAX };

	for (unsigned i = 0; i < LAYERS_MAX && filter->layers; i++)
		if (r->builder.layers[i] >= 0 && filter->layers >> r->builder.layers[i] & 1)
			wanted.layers |= UINT64_C(1) << i;
	if (filter->process || filter->rank)
		want_processes(&wanted, filter, r->builder.head);
	else
		memset(wanted.processes, 0xff, sizeof(wanted.processes));
	if (filter->file)
		want_files(&wanted, filter, r->builder.head);
	else
		memset(wanted.files, 0xff, sizeof(wanted.files));
	return wanted;
}

static bool is_wanted(const struct reader *r, const struct block *block,
		      const struct trace_filter *filter, const struct wanted *wanted)
{
	if (ticks_ns(&r->ticks, block->tmax) < filter->from_ns ||
	    (filter->to_ns && ticks_ns(&r->ticks, block->tmin) >= filter->to_ns))
		return false;
	return block->layers & wanted->layers &&
	       sets_intersect(block->processes, wanted->processes, BLOCK_PROCESS_WORDS) &&
	       sets_intersect(block->files, wanted->files, BLOCK_FILE_WORDS);
}

static int block_compare(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->tmin != y->tmin)
		return x->tmin < y->tmin ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Keeps only the activity blocks that the filter needs, in the order of reading. */
static int select_blocks(struct reader *r, const struct trace_filter *filter, struct err *err)
{
	struct wanted wanted = make_wanted(r, filter);
	size_t kept = 0;

	for (size_t i = 0; i < r->list.count; i++) {
		struct block *block = &r->list.blocks[i];

		if (block->type == BLOCK_PROFILE)
			block_list_append(&r->profile, block);
		if (block->type != BLOCK_ACTIVITIES)
			continue;
		if (!r->builder.head->call_count)
			return err_set(err, EBADMSG,
				       "%s: cannot read activities: the call table is damaged",
				       r->path);
		r->builder.head->activities += block->count;
		if (is_wanted(r, block, filter, &wanted))
			r->list.blocks[kept++] = *block;
	}
	r->list.count = kept;
	if (kept)
		qsort(r->list.blocks, kept, sizeof(*r->list.blocks), block_compare);
	return 0;
}

static int start_reader(struct reader *r, const struct trace_filter *filter, struct err *err)
{
	struct trace_head *head = r->builder.head;
	uint64_t bytes = 0;
	int code = check_file(r, &bytes, err);

	if (code < 0)
		return code;
	code = block_list_load(&r->list, r->fd, bytes, err);
	if (code < 0)
		return err_prefix(err, "%s", r->path);
	head->damaged_blocks = r->list.damaged;
	code = check_versions(r, err);
	if (!code)
		code = load_facts(r, err);
	if (code < 0)
		return code;
	head->end.complete = head->end.complete && r->list.sealed;
	ticks_init(&r->ticks, &head->clock);
	return select_blocks(r, filter, err);
}

static const struct trace_filter everything;

int container_open(void **reader, const char *path, const struct trace_filter *filter,
		   struct trace_head *head, struct err *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int code;

	head_init(&r->builder, head);
	r->path = xstrdup(path);
	r->fd = file_open(path, err);
	code = r->fd < 0 ? r->fd : start_reader(r, filter ? filter : &everything, err);
	if (code < 0) {
		reader_free(r);
		return code;
	}
	*reader = r;
	return 0;
}

int container_reopen(void **reader, const void *first, const struct trace_filter *filter,
		     struct trace_head *head, struct err *err)
{
	const struct reader *from = first;
	struct reader *r = xcalloc(1, sizeof(*r));
	struct wanted wanted;

	r->builder = from->builder;
	r->builder.head = head;
	r->ticks = from->ticks;
	r->path = xstrdup(from->path);
	r->fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd < 0) {
		int code = err_set(err, errno, "%s: cannot open: %s", r->path, strerror(errno));

		reader_free(r);
		return code;
	}
	filter = filter ? filter : &everything;
	wanted = make_wanted(r, filter);
	for (size_t i = 0; i < from->list.count; i++) {
		if (is_wanted(r, &from->list.blocks[i], filter, &wanted))
			block_list_append(&r->list, &from->list.blocks[i]);
	}
	for (size_t i = 0; i < from->profile.count; i++)
		block_list_append(&r->profile, &from->profile.blocks[i]);
	*reader = r;
	return 0;
}

int container_read_profile(void *reader, struct buf *out, struct err *err)
{
	struct reader *r = reader;

	for (size_t i = 0; i < r->profile.count; i++) {
		const struct block *block = &r->profile.blocks[i];
		int code = block_unpack(block, r->fd, &r->packed, &r->raw);

		if (code < 0)
			return err_set(err, -code,
				       "%s: the saved profile at offset %llu is damaged", r->path,
				       (unsigned long long)block->offset);
		buf_add(out, r->raw.data, r->raw.len);
	}
	return 0;
}

static bool heap_before(const struct rows_out *a, const struct rows_out *b)
{
	return rows_before(a, a->at, b, b->at);
}

static void heap_sink(struct reader *r, size_t i)
{
	struct rows_out *moved = r->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= r->open)
			break;
		if (child + 1 < r->open && heap_before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!heap_before(r->heap[child], moved))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = moved;
}

static void heap_push(struct reader *r, struct rows_out *rows)
{
	size_t i = r->open++;

	while (i && heap_before(rows, r->heap[(i - 1) / 2])) {
		r->heap[i] = r->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	r->heap[i] = rows;
}

/* The open block with the second earliest next row, or NULL. */
static const struct rows_out *heap_second(const struct reader *r)
{
	if (r->open < 3)
		return r->open == 2 ? r->heap[1] : NULL;
	return heap_before(r->heap[1], r->heap[2]) ? r->heap[1] : r->heap[2];
}

static void count_damaged_block(struct reader *r, const struct block *block)
{
	r->builder.head->damaged_blocks++;
	r->builder.head->activities -= block->count;
}

/* Decodes the next block of the list and pushes it onto the heap. Damaged blocks are skipped. */
static int open_next_block(struct reader *r, struct err *err)
{
	const struct block *block = &r->list.blocks[r->next++];
	struct rows_out *rows = NULL;
	int code;

	if (r->open == OPEN_BLOCKS_MAX)
		return err_set(err, EOVERFLOW,
			       "%s: block at offset %llu: more than %d blocks overlap in time",
			       r->path, (unsigned long long)block->offset, OPEN_BLOCKS_MAX);
	code = block_unpack(block, r->fd, &r->packed, &r->raw);
	if (code < 0 && code != -EBADMSG)
		return err_set(err, -code, "%s: cannot read at offset %llu: %s", r->path,
			       (unsigned long long)block->offset, strerror(-code));
	if (!code) {
		rows = rows_out_new(block, &r->raw, &r->builder, &r->ticks, r->spare);
		r->spare = NULL;
	}
	if (!rows) {
		count_damaged_block(r, block);
		return 0;
	}
	rows->number = block->offset;
	heap_push(r, rows);
	return 0;
}

/* Opens every block that may contain the next activity. */
static int open_due_blocks(struct reader *r, struct err *err)
{
	while (r->next < r->list.count) {
		int64_t tmin_ns = ticks_ns(&r->ticks, r->list.blocks[r->next].tmin);
		int code;

		if (r->open && tmin_ns > r->heap[0]->start_ns[r->heap[0]->at])
			return 0;
		code = open_next_block(r, err);
		if (code < 0)
			return code;
	}
	return 0;
}

/* The number of rows of the top block, at most cap, that precede the rows of all other blocks. */
static size_t count_leading_rows(const struct reader *r, size_t cap)
{
	const struct rows_out *top = r->heap[0], *second = heap_second(r);
	size_t end = top->count - top->at < cap ? top->count : top->at + cap, i;
	bool more = r->next < r->list.count;
	int64_t limit = more ? ticks_ns(&r->ticks, r->list.blocks[r->next].tmin) : 0;

	/* The usual case: no other block starts before the last of these rows. */
	if ((!second || top->start_ns[end - 1] < second->start_ns[second->at]) &&
	    (!more || top->start_ns[end - 1] < limit))
		return end - top->at;
	for (i = top->at + 1; i < end; i++) {
		if (second && !rows_before(top, i, second, second->at))
			break;
		if (more && top->start_ns[i] >= limit)
			break;
	}
	return i - top->at;
}

ssize_t container_next(void *reader, struct activity *batch, size_t cap, struct err *err)
{
	struct reader *r = reader;
	size_t given = 0;

	while (given < cap) {
		size_t n;
		int code = open_due_blocks(r, err);

		if (code < 0)
			return code;
		if (!r->open)
			break;
		n = count_leading_rows(r, cap - given);
		rows_out_read(r->heap[0], batch + given, n);
		given += n;
		if (r->heap[0]->at == r->heap[0]->count) {
			rows_out_free(r->spare);
			r->spare = r->heap[0];
			r->heap[0] = r->heap[--r->open];
		}
		if (r->open)
			heap_sink(r, 0);
	}
	return (ssize_t)given;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of followed streams. An entry belongs to the stream that it names until that is closed.
 * The users of a stream have to order their calls, except on functions that lock it; `inside`
 * counts those. Guest.
 */
#include "capture/libraries/followed.h"

#include "capture/record/handles.h"
#include "contract/calls.h"

#define ENTRIES 256u /* further streams are not followed: their macros count as one byte */
#define PROBES 8u

struct followed {
	_Atomic(FILE *) stream;
	_Atomic uint32_t inside;	    /* recorded calls on the stream that have not ended */
	_Atomic uintptr_t read, written;    /* positions after the last one */
	_Atomic uint64_t to_read, to_write; /* bytes moved by macros that no record has reported */
};

static struct followed entries[ENTRIES];
_Atomic uint32_t followed_count;

static struct followed *entry_at(const FILE *stream, unsigned probe)
{
	uint64_t mixed = (uintptr_t)stream * UINT64_C(0x9e3779b97f4a7c15);

	return &entries[((unsigned)(mixed >> 32) + probe) % ENTRIES];
}

static struct followed *entry_find(const FILE *stream)
{
	for (unsigned i = 0; stream && i < PROBES; i++) {
		struct followed *e = entry_at(stream, i);

		if (atomic_load_explicit(&e->stream, memory_order_relaxed) == stream)
			return e;
	}
	return NULL;
}

static void note_positions(struct followed *e, const FILE *stream)
{
	atomic_store_explicit(&e->read, (uintptr_t)stream->_IO_read_ptr, memory_order_relaxed);
	atomic_store_explicit(&e->written, (uintptr_t)stream->_IO_write_ptr, memory_order_relaxed);
}

/* Bytes from a position to the present one; 0 if the buffer has changed. */
static uint64_t advance(const _Atomic uintptr_t *from, const char *base, const char *to)
{
	uintptr_t at = atomic_load_explicit(from, memory_order_relaxed);

	return at && (uintptr_t)base <= at && at <= (uintptr_t)to ? (uintptr_t)to - at : 0;
}

static void add_moved(struct followed *e, const FILE *stream)
{
	uint64_t got = advance(&e->read, stream->_IO_read_base, stream->_IO_read_ptr);
	uint64_t put = advance(&e->written, stream->_IO_write_base, stream->_IO_write_ptr);

	if (got)
		atomic_fetch_add_explicit(&e->to_read, got, memory_order_relaxed);
	if (put)
		atomic_fetch_add_explicit(&e->to_write, put, memory_order_relaxed);
}

struct followed *followed_enter_slow(FILE *stream)
{
	struct followed *e = entry_find(stream);

	if (e && !atomic_fetch_add_explicit(&e->inside, 1, memory_order_relaxed))
		add_moved(e, stream);
	return e;
}

void followed_leave(struct followed *followed, FILE *stream)
{
	if (atomic_fetch_sub_explicit(&followed->inside, 1, memory_order_relaxed) == 1)
		note_positions(followed, stream);
}

void followed_start(struct followed *followed, FILE *stream)
{
	for (unsigned i = 0; !followed && i < PROBES; i++) {
		struct followed *e = entry_at(stream, i);
		FILE *none = NULL;

		if (!atomic_compare_exchange_strong_explicit(
			    &e->stream, &none, stream, memory_order_relaxed, memory_order_relaxed))
			continue;
		note_positions(e, stream);
		atomic_store_explicit(&e->inside, 0, memory_order_relaxed);
		atomic_store_explicit(&e->to_read, 0, memory_order_relaxed);
		atomic_store_explicit(&e->to_write, 0, memory_order_relaxed);
		atomic_fetch_add_explicit(&followed_count, 1, memory_order_relaxed);
		return;
	}
}

uint64_t followed_take_read(struct followed *followed)
{
	return followed ? atomic_exchange_explicit(&followed->to_read, 0, memory_order_relaxed) : 0;
}

uint64_t followed_take_written(struct followed *followed)
{
	return followed ? atomic_exchange_explicit(&followed->to_write, 0, memory_order_relaxed)
			: 0;
}

/* Writes a record of the call, below the one that closes the stream. */
static void report_rest(FILE *stream, unsigned call, uint64_t bytes)
{
	const struct call_info *info = &call_table[call];
	unsigned words = RECORD_HEAD_WORDS + info->field_count;
	struct frame f;
	uint64_t values[FIELD_COUNT] = { [FIELD_RESULT] = bytes };
	uint64_t *w;

	if (!bytes)
		return;
	values[FIELD_LINK] = handle_link(stream_fd(stream), 0);
	if (!frame_enter(&f))
		return;
	f.stop = f.start;
	w = frame_leave(&f, call, words, 0);
	for (unsigned i = 0; i < info->field_count; i++)
		w[RECORD_HEAD_WORDS + i] = values[info->fields[i]];
	frame_commit(&f, w, words);
}

void followed_close_slow(FILE *stream)
{
	struct followed *e = entry_find(stream);
	uint64_t got, put;

	if (!e)
		return;
	if (!atomic_load_explicit(&e->inside, memory_order_relaxed))
		add_moved(e, stream);
	got = followed_take_read(e);
	put = followed_take_written(e);
	atomic_store_explicit(&e->stream, NULL, memory_order_relaxed);
	atomic_fetch_sub_explicit(&followed_count, 1, memory_order_relaxed);
	report_rest(stream, CALL___uflow, got);
	report_rest(stream, CALL___overflow, put);
}

/* libc flushes stdout at exit without a call that has a wrapper. */
__attribute__((destructor)) static void process_ends(void)
{
	followed_close(stdout);
}

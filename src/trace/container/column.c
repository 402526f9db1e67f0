/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The column codec. Each page uses the one of three encodings that needs the fewest bytes per
 * value. The bytes of a page are written plane by plane, so that the high bytes, which are mostly
 * zero, are adjacent and compress well. Loops do not branch on values, because they run tens of
 * millions of times per second.
 */
#if defined(__GNUC__) && !defined(__clang__)
/* gcc vectorizes these loops only at -O3; clang does at -O2. */
#pragma GCC optimize("O3")
#endif

#include "trace/container/column.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/integer.h"
#include "base/mem.h"

enum form { FORM_CONSTANT, FORM_PAGES };

/* The high half of a page's first byte. The low half is the bytes per value; 0: all are equal. */
enum way {
	WAY_VALUE, /* the value itself */
	WAY_DELTA, /* zigzag of the difference to the previous row */
	WAY_GUESS, /* zigzag of the difference to the guess */
	WAY_COUNT
};

/* A page in one encoding: its words, the union of their bits, and the bits in which they differ. */
struct words {
	const uint64_t *at;
	uint64_t bits, differ;
};

static unsigned count_bytes(uint64_t bits)
{
	return bits ? (unsigned)(71 - __builtin_clzll(bits)) / 8 : 0;
}

static void set_buf_end(struct buf *out, const uint8_t *end)
{
	out->len = (size_t)(end - (uint8_t *)out->data);
	out->data[out->len] = 0;
}

void column_put_constant(struct buf *out, uint64_t value)
{
	uint8_t *at;

	buf_reserve(out, 1 + VARINT_MAX);
	at = (uint8_t *)out->data + out->len;
	*at++ = FORM_CONSTANT;
	set_buf_end(out, wire_put_varint(at, value));
}

static struct words scan_words(const uint64_t *at, size_t n)
{
	uint64_t bits = 0, differ = 0, first = n ? at[0] : 0;

	for (size_t i = 0; i < n; i++) {
		bits |= at[i];
		differ |= at[i] ^ first;
	}
	return (struct words){ at, bits, differ };
}

static struct words subtract_words(uint64_t *restrict to, const uint64_t *values,
				   const uint64_t *guess, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = zigzag(values[i] - guess[i]);
	return scan_words(to, n);
}

static uint8_t *encode_words(uint8_t *restrict to, enum way way, const struct words *words,
			     size_t n)
{
	unsigned width = words->differ ? count_bytes(words->bits) : 0;

	*to++ = (uint8_t)(way << 4 | width);
	if (!width)
		return wire_put_varint(to, words->at[0]);
	for (unsigned plane = 0; plane < width; plane++, to += n)
		for (size_t i = 0; i < n; i++)
			to[i] = (uint8_t)(words->at[i] >> 8 * plane);
	return to;
}

/* Chooses the encoding with the fewest bytes; on a tie the one that is the fastest to decode. */
static enum way choose_way(const struct words *words, unsigned ways)
{
	unsigned best = 0, least = UINT_MAX;

	for (unsigned way = 0; way < ways; way++) {
		unsigned cost = words[way].differ ? count_bytes(words[way].bits) : 0;

		if (cost < least) {
			least = cost;
			best = way;
		}
	}
	return (enum way)best;
}

/*
 * Collects a page. window[1..n] are its values and window[0] is the value before them; guess[] gets
 * the predictions from the other column.
 */
static void gather_page(const struct column_source *from, size_t base, size_t n, uint64_t *window,
			uint64_t *guess)
{
	const uint64_t *values = from->values, *other = from->other;
	const uint32_t *order = from->order ? from->order + base : NULL;

	if (order)
		for (size_t i = 0; i < n; i++)
			window[1 + i] = values[order[i]];
	else
		memcpy(window + 1, values + base, n * sizeof(*window));
	if (from->guess == GUESS_SAME) {
		for (size_t i = 0; i < n; i++)
			guess[i] = other[order ? order[i] : base + i];
	} else if (from->guess == GUESS_NEXT) {
		guess[0] = base ? window[0] + other[order ? order[-1] : base - 1] : 0;
		for (size_t i = 1; i < n; i++)
			guess[i] = window[i] + other[order ? order[i - 1] : base + i - 1];
	}
}

/* guess may be NULL. */
static uint8_t *encode_page(uint8_t *to, const uint64_t *window, const uint64_t *guess, size_t n)
{
	uint64_t delta[COLUMN_PAGE], miss[COLUMN_PAGE];
	struct words words[WAY_COUNT];
	enum way way;

	words[WAY_VALUE] = scan_words(window + 1, n);
	words[WAY_DELTA] = subtract_words(delta, window + 1, window, n);
	if (guess)
		words[WAY_GUESS] = subtract_words(miss, window + 1, guess, n);
	way = choose_way(words, guess ? WAY_COUNT : WAY_GUESS);
	return encode_words(to, way, &words[way], n);
}

void column_put(struct buf *out, const struct column_source *source)
{
	uint64_t window[COLUMN_PAGE + 1] = { 0 }, guess[COLUMN_PAGE];
	const uint64_t *guessed = source->guess == GUESS_NONE ? NULL : guess;
	uint8_t *to;

	buf_reserve(out,
		    1 + source->count * 8 + (source->count / COLUMN_PAGE + 1) * (1 + VARINT_MAX));
	to = (uint8_t *)out->data + out->len;
	*to++ = FORM_PAGES;
	for (size_t base = 0, n; base < source->count; base += n) {
		n = size_min(source->count - base, COLUMN_PAGE);
		gather_page(source, base, n, window, guess);
		to = encode_page(to, window, guessed, n);
		window[0] = window[n];
	}
	set_buf_end(out, to);
}

void column_set_constant(struct column *column, uint64_t value)
{
	column->constant = value;
	column->values = &column->constant;
	column->mask = 0;
}

void column_release(struct column *column)
{
	free(column->room);
	*column = (struct column){ 0 };
}

void column_reserve(struct column *column, size_t count)
{
	if (column->cap < count) {
		free(column->room);
		column->room = xmalloc(count * sizeof(*column->room));
		column->cap = count;
	}
	column->values = column->room;
	column->mask = SIZE_MAX;
}

static int decode_words(struct wire *in, uint64_t *restrict to, unsigned width, size_t n)
{
	const uint8_t *planes;
	uint64_t all;

	if (!width) {
		all = wire_varint(in);
		for (size_t i = 0; i < n; i++)
			to[i] = all;
		return in->bad ? -EBADMSG : 0;
	}
	planes = width <= 8 ? wire_bytes(in, width * n) : NULL;
	if (!planes)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++)
		to[i] = planes[i];
	for (unsigned plane = 1; plane < width; plane++)
		for (size_t i = 0; i < n; i++)
			to[i] |= (uint64_t)planes[plane * n + i] << 8 * plane;
	return 0;
}

static void undo_delta(uint64_t *values, uint64_t before, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = before += unzigzag(values[i]);
}

static void undo_guess(uint64_t *values, size_t base, size_t n, const struct column *other,
		       enum column_guess guess)
{
	if (guess == GUESS_SAME) {
		for (size_t i = 0; i < n; i++)
			values[i] = column_at(other, base + i) + unzigzag(values[i]);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t expected =
			base + i ? values[(ptrdiff_t)i - 1] + column_at(other, base + i - 1) : 0;

		values[i] = expected + unzigzag(values[i]);
	}
}

static int decode_page(struct wire *in, uint64_t *values, size_t base, size_t n,
		       const struct column *other, enum column_guess guess)
{
	const uint8_t *head = wire_bytes(in, 1);

	if (!head || decode_words(in, values + base, *head & 15, n) < 0)
		return -EBADMSG;
	switch (*head >> 4) {
	case WAY_VALUE:
		return 0;
	case WAY_DELTA:
		undo_delta(values + base, base ? values[base - 1] : 0, n);
		return 0;
	case WAY_GUESS:
		if (guess == GUESS_NONE)
			return -EBADMSG;
		undo_guess(values + base, base, n, other, guess);
		return 0;
	default:
		return -EBADMSG;
	}
}

int column_get(struct wire *in, struct column *column, size_t count, const struct column *other,
	       enum column_guess guess)
{
	const uint8_t *form = wire_bytes(in, 1);

	column_set_constant(column, 0);
	if (!form || *form > FORM_PAGES)
		return -EBADMSG;
	if (*form == FORM_CONSTANT) {
		column_set_constant(column, wire_varint(in));
		return in->bad ? -EBADMSG : 0;
	}
	/* A page has at least two bytes, so a short input cannot cause a large allocation. */
	if (wire_left(in) / 2 < (count + COLUMN_PAGE - 1) / COLUMN_PAGE)
		return -EBADMSG;
	column_reserve(column, count);
	for (size_t base = 0; base < count; base += COLUMN_PAGE) {
		size_t n = size_min(count - base, COLUMN_PAGE);

		if (decode_page(in, column->values, base, n, other, guess) < 0)
			return -EBADMSG;
	}
	return 0;
}

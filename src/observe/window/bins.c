/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/window/bins.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct bins bins_divide(const struct window_frame *frame, size_t count)
{
	struct bins bins = { .from_ns = frame->from_ns, .to_ns = frame->to_ns };
	int64_t length = frame->to_ns - frame->from_ns;

	if (count > WINDOW_BINS_MAX)
		count = WINDOW_BINS_MAX;
	if (length <= 0 || !count)
		return bins;
	bins.bin_ns = (length - 1) / (int64_t)count + 1;
	bins.count = (size_t)((length - 1) / bins.bin_ns + 1);
	return bins;
}

void bin_sums_init(struct bin_sums *sums, const struct bins *bins, size_t rows)
{
	size_t count = rows * (bins->count + 1);

	sums->whole = xcalloc(count, sizeof(*sums->whole));
	sums->parts = xcalloc(count, sizeof(*sums->parts));
	sums->change = xcalloc(count, sizeof(*sums->change));
}

void bin_sums_release(struct bin_sums *sums)
{
	free(sums->whole);
	free(sums->parts);
	free(sums->change);
	*sums = (struct bin_sums){ 0 };
}

static size_t bin_of(const struct bins *bins, int64_t time_ns)
{
	return (size_t)((time_ns - bins->from_ns) / bins->bin_ns);
}

static int64_t end_of(const struct bins *bins, size_t bin)
{
	return bin + 1 < bins->count ? bins->from_ns + (int64_t)(bin + 1) * bins->bin_ns
				     : bins->to_ns;
}

/* The calls of a row of a chapter start at any time of a part: their number is spread, too. */
static void add_calls(const struct bins *bins, struct window_sum *whole,
		      const struct window_sum *sum, const struct row_span *span)
{
	int64_t length = span->starts_ns - span->from_ns;
	uint64_t calls = 0, errors = 0;

	for (size_t i = bin_of(bins, span->from_ns); i < bins->count; i++) {
		int64_t passed = end_of(bins, i) - span->from_ns;
		bool is_last = passed >= length || i + 1 == bins->count;
		double share = is_last ? 1 : (double)passed / (double)length;
		uint64_t calls_now = is_last ? sum->calls : (uint64_t)(share * (double)sum->calls);
		uint64_t errors_now =
			is_last ? sum->errors : (uint64_t)(share * (double)sum->errors);

		whole[i].calls += calls_now - calls;
		whole[i].errors += errors_now - errors;
		calls = calls_now;
		errors = errors_now;
		if (is_last)
			return;
	}
}

static void add_values(struct bin_values *to, const struct bin_values *values, double share)
{
	to->bytes[0] += values->bytes[0] * share;
	to->bytes[1] += values->bytes[1] * share;
	to->time_ns += values->time_ns * share;
}

void bins_add(const struct bins *bins, struct bin_sums *sums, size_t row,
	      const struct window_sum *sum, const struct row_span *span, bool inside)
{
	size_t base = row * (bins->count + 1), first, last;
	int64_t from = span->from_ns > bins->from_ns ? span->from_ns : bins->from_ns;
	int64_t until = span->until_ns < bins->to_ns ? span->until_ns : bins->to_ns;
	struct bin_values values;
	double length;

	if (!bins->count || from >= bins->to_ns)
		return;
	if (inside)
		add_calls(bins, sums->whole + base, sum, span);
	first = bin_of(bins, from);
	if (inside && span->until_ns <= end_of(bins, first)) {
		sums->whole[base + first].bytes[0] += sum->bytes[0];
		sums->whole[base + first].bytes[1] += sum->bytes[1];
		sums->whole[base + first].time_ns += sum->time_ns;
		return;
	}
	if (until <= from)
		return;
	values = (struct bin_values){ { (double)(int64_t)sum->bytes[0],
					(double)(int64_t)sum->bytes[1] },
				      (double)sum->time_ns };
	length = (double)(span->until_ns - span->from_ns);
	last = bin_of(bins, until - 1);
	if (first == last) {
		add_values(&sums->parts[base + first], &values, (double)(until - from) / length);
		return;
	}
	add_values(&sums->parts[base + first], &values,
		   (double)(end_of(bins, first) - from) / length);
	add_values(&sums->parts[base + last], &values,
		   (double)(until - end_of(bins, last - 1)) / length);
	add_values(&sums->change[base + first + 1], &values, (double)bins->bin_ns / length);
	add_values(&sums->change[base + last], &values, -(double)bins->bin_ns / length);
}

/* Of a sum of parts, not more than rounding is lost. */
static int64_t rounded(double value)
{
	return fabs(value) < 0x1p62 ? llround(value) : 0;
}

/* What is left of bytes that were taken back may be slightly below 0. */
static uint64_t add_rounded(uint64_t bytes, double value)
{
	__int128 sum = (__int128)(int64_t)bytes + rounded(value);

	return sum > 0 ? (uint64_t)sum : 0;
}

void bins_finish(const struct bins *bins, const struct bin_sums *sums, size_t row,
		 struct window_sum *out)
{
	size_t base = row * (bins->count + 1);
	struct bin_values level = { 0 };

	for (size_t i = 0; i < bins->count; i++) {
		struct bin_values values = sums->parts[base + i];

		add_values(&level, &sums->change[base + i], 1);
		add_values(&values, &level, 1);
		out[i] = sums->whole[base + i];
		out[i].time_ns += rounded(values.time_ns);
		for (int way = 0; way < 2; way++) {
			out[i].bytes[way] = add_rounded(out[i].bytes[way], values.bytes[way]);
		}
	}
}

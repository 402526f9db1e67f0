/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prices of terms. costs.h has the prices of benchmarked operations; this file derives the price of
 * a cached round, which no benchmark measures directly.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "predict/model/hybrid/hybrid_internal.h"

/* Lower bound of the price of a cached round, relative to its upper bound. */
#define LEAST_SHARE 1e-3

/*
 * Two first rounds that differ in bytes only: the cost of locks does not depend on bytes, and the
 * cost of bytes is proportional to them, so the difference is the cost of bytes. The rounds are as
 * far apart as possible: the least benchmarked bytes, and the most that caches hold of one round.
 */
struct span {
	struct elemental less, more;
	double factor; /* on the difference; 0: both rounds are the same */
};

static struct span find_span(const struct hybrid *hybrid, enum operation first,
			     const struct elemental *at)
{
	const struct cost *cost = &hybrid->costs.of[first];
	double cache = (double)machine_cache_bytes(&hybrid->machine, (uint64_t)at->nodes);
	double held = cache / (at->writers * at->nodes);
	struct span span = { *at, *at, 0 };

	span.less.bytes = cost->least.bytes;
	span.more.bytes = fmin(cost->most.bytes, fmax(held, 2 * cost->least.bytes));
	if (span.more.bytes > span.less.bytes)
		span.factor = at->bytes / (span.more.bytes - span.less.bytes);
	return span;
}

/* INFINITY: the cost of bytes is unknown. */
static double span_price(const struct span *span, double less, double more)
{
	return span->factor > 0 ? span->factor * (more - less) : INFINITY;
}

double hybrid_bytes_price(const struct hybrid *hybrid, enum operation first,
			  const struct elemental *at)
{
	struct span span = find_span(hybrid, first, at);

	return span_price(&span, costs_price((void *)&hybrid->costs, first, &span.less),
			  costs_price((void *)&hybrid->costs, first, &span.more));
}

/* The bounds and the cost of bytes of a cached round. */
struct cached {
	double first, later; /* it costs no more than either */
	double bytes;
};

static double cached_price(const struct cached *c)
{
	double most = fmin(c->first, c->later);

	return fmax(fmin(c->bytes, most), LEAST_SHARE * most);
}

static struct cached find_cached(const struct hybrid *hybrid, const struct elemental *at)
{
	void *costs = (void *)&hybrid->costs;

	return (struct cached){ costs_price(costs, OPERATION_WRITE_FIRST, at),
				costs_price(costs, OPERATION_WRITE_FULL, at),
				hybrid_bytes_price(hybrid, OPERATION_WRITE_FIRST, at) };
}

double hybrid_price(const struct hybrid *hybrid, enum operation operation,
		    const struct elemental *at)
{
	struct cached cached;

	if (operation != OPERATION_WRITE_CACHED)
		return costs_price((void *)&hybrid->costs, operation, at);
	cached = find_cached(hybrid, at);
	return cached_price(&cached);
}

static void cached_prices(const struct hybrid *hybrid, const struct elemental *at, size_t count,
			  double *seconds)
{
	AUTO_FREE struct elemental *firsts = xmalloc((3 * count + 1) * sizeof(*firsts));
	AUTO_FREE double *prices = xmalloc((3 * count + 1) * sizeof(*prices));

	for (size_t i = 0; i < count; i++) {
		struct span span = find_span(hybrid, OPERATION_WRITE_FIRST, &at[i]);

		firsts[3 * i] = at[i];
		firsts[3 * i + 1] = span.less;
		firsts[3 * i + 2] = span.more;
	}
	costs_prices(&hybrid->costs, OPERATION_WRITE_FIRST, firsts, 3 * count, prices);
	costs_prices(&hybrid->costs, OPERATION_WRITE_FULL, at, count, seconds);
	for (size_t i = 0; i < count; i++) {
		struct span span = find_span(hybrid, OPERATION_WRITE_FIRST, &at[i]);
		const double *p = prices + 3 * i;

		seconds[i] = cached_price(
			&(struct cached){ p[0], seconds[i], span_price(&span, p[1], p[2]) });
	}
}

void hybrid_prices(const struct hybrid *hybrid, enum operation operation,
		   const struct elemental *at, size_t count, double *seconds)
{
	if (operation == OPERATION_WRITE_CACHED)
		cached_prices(hybrid, at, count, seconds);
	else
		costs_prices(&hybrid->costs, operation, at, count, seconds);
}

/*
 * The errors of the two prices of the difference are independent, so their squares add up. The
 * margin ends where a full round or a first round would be cheaper.
 */
static double cached_margin(const struct hybrid *hybrid, const struct elemental *at,
			    double coverage)
{
	const struct costs *costs = &hybrid->costs;
	struct span span = find_span(hybrid, OPERATION_WRITE_FIRST, at);
	struct cached cached = find_cached(hybrid, at);
	enum operation most =
		cached.first < cached.later ? OPERATION_WRITE_FIRST : OPERATION_WRITE_FULL;
	double price = cached_price(&cached), squares = 0, margin;

	for (int i = 0; i < 2; i++) {
		const struct elemental *end = i ? &span.more : &span.less;
		double error = expm1(costs_margin(costs, OPERATION_WRITE_FIRST, end, coverage)) *
			       costs_price((void *)costs, OPERATION_WRITE_FIRST, end);

		squares += error * error;
	}
	margin = log(fmin(cached.first, cached.later) / price) +
		 costs_margin(costs, most, at, coverage);
	if (span.factor > 0)
		margin = fmin(margin, log1p(span.factor * sqrt(squares) / price));
	return margin;
}

double hybrid_margin(const struct hybrid *hybrid, enum operation operation,
		     const struct elemental *at, double coverage)
{
	if (operation == OPERATION_WRITE_CACHED)
		return cached_margin(hybrid, at, coverage);
	return costs_margin(&hybrid->costs, operation, at, coverage);
}

bool hybrid_is_outside(const struct hybrid *hybrid, enum operation operation,
		       const struct elemental *at)
{
	if (operation == OPERATION_WRITE_CACHED)
		operation = OPERATION_WRITE_FIRST;
	return costs_is_outside(&hybrid->costs, operation, at);
}

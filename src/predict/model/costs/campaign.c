/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/costs/campaign.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "predict/model/costs/rows.h"

/* Communication: what is cheap is repeated a hundred times (HYB-37), nothing less often than 5. */
#define REPETITIONS_MOST 100
#define REPETITIONS_LEAST 5
#define CELL_S 0.5
/* All messages of an exchange together, and what a rank holds of a collective. */
#define EXCHANGE_BYTES (256ull << 20)
/* For estimates alone: a message, bytes per second in memory, of a device, of a cache. */
#define LATENCY_S 10e-6
#define TURN_S 100e-6 /* ranks that share a core wait for their turn */
#define MEMORY_RATE 1e9
#define DEVICE_RATE 300e6
#define CACHE_RATE 1e9
#define ROUND_S 1e-3
/* Of what a budget leaves: repetitions at least, and cells of a series. */
#define THIN_REPETITIONS 3
#define THIN_CELLS 2
/* What is tried: all cells, then each time a share of those before. */
#define THIN_SHARE 0.8
#define THIN_STEPS 20

void campaign_release(struct campaign *campaign)
{
	free(campaign->cells);
	*campaign = (struct campaign){ 0 };
}

static void cell_add(struct campaign *campaign, const struct campaign_cell *cell)
{
	campaign->cells = xgrow(campaign->cells, &campaign->cap, campaign->count + 1,
				sizeof(*campaign->cells));
	campaign->cells[campaign->count++] = *cell;
}

/* ---- lists of numbers ---- */

static int number_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void numbers_sort(struct campaign_numbers *numbers)
{
	size_t n = 0;

	qsort(numbers->items, numbers->count, sizeof(numbers->items[0]), number_compare);
	for (size_t i = 0; i < numbers->count; i++)
		if (!n || numbers->items[i] != numbers->items[n - 1])
			numbers->items[n++] = numbers->items[i];
	numbers->count = n;
}

static void numbers_add(struct campaign_numbers *numbers, uint64_t number)
{
	if (numbers->count < CAMPAIGN_LIST)
		numbers->items[numbers->count++] = number;
}

int campaign_numbers(struct campaign_numbers *numbers, const char *option, const char *text,
		     struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text);
	struct campaign_numbers found = { 0 };
	char *rest = copy, *item;

	while ((item = strsep(&rest, ","))) {
		uint64_t number;

		if (unit_parse_bytes(item, &number) < 0 || !number)
			return err_set(err, EINVAL, "--%s: \"%s\" is no number from 1", option,
				       item);
		if (found.count == CAMPAIGN_LIST)
			return err_set(err, E2BIG, "--%s: more than %d numbers", option,
				       CAMPAIGN_LIST);
		numbers_add(&found, number);
	}
	numbers_sort(&found);
	*numbers = found;
	return 0;
}

/* 1, 2, 4, ... and the last one itself. */
static void powers_to(struct campaign_numbers *numbers, uint64_t last)
{
	for (uint64_t n = 1; n < last && n < 1ull << (CAMPAIGN_LIST - 2); n *= 2)
		numbers_add(numbers, n);
	numbers_add(numbers, last);
	numbers_sort(numbers);
}

/* ---- communication ---- */

struct series {
	enum operation operation;
	uint64_t first, last; /* bytes; HYB-37 */
};

static const struct series series[] = {
	{ OPERATION_ALLREDUCE, 4, 1 << 20 },  { OPERATION_ALLTOALL, 4, 256 << 10 },
	{ OPERATION_ALLGATHER, 4, 64 << 10 }, { OPERATION_BROADCAST, 4, 1 << 20 },
	{ OPERATION_BARRIER, 0, 0 },
};

/* Bytes that all ranks together move. */
static double comm_bytes(const struct campaign_cell *c)
{
	double bytes = (double)c->bytes, ranks = (double)c->ranks;

	switch (c->operation) {
	case OPERATION_ALLTOALL:
	case OPERATION_ALLGATHER:
		return bytes * ranks * ranks;
	case OPERATION_ALLTOALLV:
		return bytes * (double)c->senders;
	default:
		return 2 * bytes * ranks;
	}
}

/* Of one repetition, with the barrier before it. */
static double comm_seconds(const struct campaign_cell *c, uint64_t cores)
{
	double steps = 2 * ceil(log2((double)c->ranks + 1));
	bool is_shared = cores && c->ranks > cores;

	return steps * (LATENCY_S + (is_shared ? TURN_S : 0)) + comm_bytes(c) / MEMORY_RATE;
}

static void comm_add(struct campaign *campaign, const struct campaign_wish *wish,
		     struct campaign_cell *cell)
{
	double once = comm_seconds(cell, wish->cores);

	cell->repetitions = (uint64_t)fmin(REPETITIONS_MOST, CELL_S / once);
	if (cell->repetitions < REPETITIONS_LEAST)
		cell->repetitions = REPETITIONS_LEAST;
	cell->seconds = once * (double)cell->repetitions;
	cell_add(campaign, cell);
}

static void collectives_add(struct campaign *campaign, const struct campaign_wish *wish,
			    uint64_t ranks)
{
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
		struct campaign_cell cell = { .ranks = ranks, .operation = series[i].operation };

		for (uint64_t bytes = series[i].first; bytes <= series[i].last;
		     bytes *= wish->is_dense ? 2 : 4) {
			cell.bytes = bytes;
			if (comm_bytes(&cell) <= (double)EXCHANGE_BYTES * (double)ranks)
				comm_add(campaign, wish, &cell);
			if (!bytes)
				break;
		}
	}
}

/* Messages up to the largest buffer: what a round sends. */
static void exchange_add(struct campaign *campaign, const struct campaign_wish *wish,
			 uint64_t ranks, uint64_t senders, uint64_t receivers)
{
	uint64_t last = wish->buffers.count ? wish->buffers.items[wish->buffers.count - 1] : 1;
	struct campaign_cell cell = { .ranks = ranks,
				      .operation = OPERATION_ALLTOALLV,
				      .senders = senders,
				      .receivers = receivers };

	for (uint64_t bytes = 4; bytes <= last && bytes * senders <= EXCHANGE_BYTES;
	     bytes *= wish->is_dense ? 2 : 4) {
		cell.bytes = bytes;
		comm_add(campaign, wish, &cell);
	}
}

/* One message per receiver, one of each rank, and the full matrix. */
static void exchanges_add(struct campaign *campaign, const struct campaign_wish *wish,
			  uint64_t ranks)
{
	struct campaign_numbers receivers = { 0 };

	powers_to(&receivers, ranks);
	for (size_t i = 0; i < receivers.count; i++) {
		struct campaign_numbers senders = { 0 };

		numbers_add(&senders, receivers.items[i]);
		numbers_add(&senders, ranks);
		numbers_add(&senders, ranks * receivers.items[i]);
		numbers_sort(&senders);
		for (size_t s = 0; s < senders.count; s++)
			exchange_add(campaign, wish, ranks, senders.items[s], receivers.items[i]);
	}
}

/* ---- storage ---- */

static void storage_estimate(struct campaign_cell *cell, const struct campaign_wish *wish)
{
	double rate = wish->cache == CAMPAIGN_WITHIN ? CACHE_RATE : DEVICE_RATE;
	uint64_t rounds = cell->rounds + cell->part_count, bytes = cell->rounds * cell->writers;
	double once;

	for (size_t i = 0; i < cell->part_count; i++)
		bytes += cell->parts[i];
	bytes *= cell->bytes;
	once = (double)bytes / rate + ROUND_S * (double)rounds;
	cell->written = bytes * cell->repetitions;
	cell->file_bytes = cell->writers * rounds * cell->bytes;
	cell->seconds = once * (double)cell->repetitions * (wish->writes_only ? 1 : 2);
}

/* Enough of them that twice the cache is written. */
static uint64_t rounds_of(const struct campaign_cell *cell, const struct campaign_wish *wish)
{
	uint64_t round = cell->writers * cell->bytes, least;

	if (wish->cache != CAMPAIGN_EXCEEDED)
		return wish->rounds;
	least = (2 * wish->cache_bytes + round - 1) / round;
	return least > wish->rounds ? least : wish->rounds;
}

static void storage_add(struct campaign *campaign, const struct campaign_wish *wish, uint64_t ranks)
{
	struct campaign_numbers writers = { 0 };

	for (size_t i = 0; i < wish->writers.count; i++)
		if (wish->writers.items[i] <= ranks)
			numbers_add(&writers, wish->writers.items[i]);
	if (!wish->writers.count)
		powers_to(&writers, ranks);
	for (size_t w = 0; w < writers.count; w++) {
		struct campaign_cell cell = { .ranks = ranks,
					      .operation = OPERATION_WRITE_FIRST,
					      .writers = writers.items[w],
					      .repetitions = wish->repetitions };

		if (w + 1 == writers.count) {
			memcpy(cell.parts, writers.items, sizeof(cell.parts));
			cell.part_count = writers.count;
		}
		for (size_t b = 0; b < wish->buffers.count; b++) {
			cell.bytes = wish->buffers.items[b];
			cell.rounds = rounds_of(&cell, wish);
			storage_estimate(&cell, wish);
			cell_add(campaign, &cell);
		}
	}
}

/* ---- budget ---- */

static double total_seconds(const struct campaign *campaign)
{
	return campaign_left(campaign, 0).seconds;
}

static void repetitions_thin(struct campaign *campaign, double share)
{
	for (size_t i = 0; i < campaign->count; i++) {
		struct campaign_cell *c = &campaign->cells[i];
		uint64_t less = (uint64_t)((double)c->repetitions * share);
		double part;

		if (less < THIN_REPETITIONS)
			less = THIN_REPETITIONS < c->repetitions ? THIN_REPETITIONS
								 : c->repetitions;
		part = (double)less / (double)c->repetitions;
		c->seconds *= part;
		c->written = c->written / c->repetitions * less;
		c->repetitions = less;
	}
}

/* Cells that differ in bytes alone. */
static bool is_one_series(const struct campaign_cell *a, const struct campaign_cell *b)
{
	return a->ranks == b->ranks && a->operation == b->operation && a->senders == b->senders &&
	       a->receivers == b->receivers && a->writers == b->writers;
}

/* Is number i of n among m that are spread from the first to the last? */
static bool is_kept(size_t i, size_t n, size_t m)
{
	for (size_t k = 0; k < m; k++)
		if ((m == 1 ? 0 : k * (n - 1) / (m - 1)) == i)
			return true;
	return false;
}

/* Of each series a share of cells, its ends among them, or all of a short one. */
static void cells_thin(struct campaign *thin, const struct campaign *full, double share)
{
	thin->count = 0;
	for (size_t i = 0, end; i < full->count; i = end) {
		size_t n, m;

		for (end = i + 1; end < full->count; end++)
			if (!is_one_series(&full->cells[i], &full->cells[end]))
				break;
		n = end - i;
		m = (size_t)((double)n * share);
		m = m < THIN_CELLS ? THIN_CELLS : m;
		for (size_t k = 0; k < n; k++)
			if (m >= n || is_kept(k, n, m))
				cell_add(thin, &full->cells[i + k]);
	}
}

static void budget_keep(struct campaign *campaign, double budget_s)
{
	struct campaign thin = *campaign;

	if (budget_s <= 0 || total_seconds(campaign) <= budget_s)
		return;
	repetitions_thin(campaign, budget_s / total_seconds(campaign));
	thin.cells = NULL;
	thin.count = thin.cap = 0;
	for (int i = 0; i < THIN_STEPS; i++) {
		cells_thin(&thin, campaign, pow(THIN_SHARE, i));
		if (total_seconds(&thin) <= budget_s)
			break;
	}
	thin.is_over = total_seconds(&thin) > budget_s;
	free(campaign->cells);
	*campaign = thin;
}

/* ---- the plan ---- */

static int storage_check(const struct campaign_wish *wish, struct err *err)
{
	uint64_t most = wish->ranks.items[wish->ranks.count - 1];

	if (!wish->rounds || !wish->repetitions)
		return err_set(err, EINVAL, "there is nothing to do: no rounds or no repetitions");
	for (size_t i = 0; i < wish->writers.count; i++)
		if (wish->writers.items[i] > most)
			return err_set(err, EINVAL, "--writers: %" PRIu64 " are more than ranks",
				       wish->writers.items[i]);
	for (size_t i = 0; i < wish->buffers.count; i++)
		if (wish->cache == CAMPAIGN_BYPASSED && wish->buffers.items[i] % CAMPAIGN_ALIGNMENT)
			return err_set(err, EINVAL,
				       "--buffers: %" PRIu64
				       ": past the cache they are multiples of %d bytes",
				       wish->buffers.items[i], CAMPAIGN_ALIGNMENT);
	if (wish->cache == CAMPAIGN_EXCEEDED && !wish->cache_bytes)
		return err_set(err, EINVAL, "the size of the cache is not known");
	return 0;
}

int campaign_make(struct campaign *campaign, const struct campaign_wish *wish, struct err *err)
{
	struct campaign made = { .placement = wish->placement,
				 .cache = wish->cache,
				 .reads = !wish->writes_only,
				 .start_s = wish->start_s > 0 ? wish->start_s : 1 };
	int r = 0;

	if (!wish->ranks.count || (!wish->buffers.count && wish->storage))
		return err_set(err, EINVAL, "there is nothing to do: no ranks or no buffers");
	if (wish->storage)
		r = storage_check(wish, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < wish->ranks.count; i++) {
		uint64_t ranks = wish->ranks.items[i];

		if (wish->comm) {
			collectives_add(&made, wish, ranks);
			exchanges_add(&made, wish, ranks);
		}
		if (wish->storage)
			storage_add(&made, wish, ranks);
	}
	budget_keep(&made, wish->budget_s);
	*campaign = made;
	return 0;
}

struct campaign_sum campaign_left(const struct campaign *campaign, uint64_t ranks)
{
	struct campaign_sum sum = { 0 };
	uint64_t last = 0;

	for (size_t i = 0; i < campaign->count; i++) {
		const struct campaign_cell *c = &campaign->cells[i];

		if (c->is_done || (ranks && c->ranks != ranks))
			continue;
		sum.cells++;
		sum.seconds += c->seconds + (c->ranks == last ? 0 : campaign->start_s);
		sum.written += c->written;
		if (c->file_bytes > sum.file_bytes)
			sum.file_bytes = c->file_bytes;
		last = c->ranks;
	}
	return sum;
}

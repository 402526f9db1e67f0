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
#include "predict/model/costs/selectors.h"

/* Communication: cheap operations are repeated 100 times, all others at least 5 times. */
#define REPETITIONS_MOST 100
#define REPETITIONS_LEAST 5
#define CELL_S 0.5 /* time per cell that limits repetitions */
/* Limit of all messages of an exchange, and of the data of a rank in a collective. */
#define EXCHANGE_BYTES (256ull << 20)
/* For estimates only: latency of a message, and rates of memory, device and cache in bytes/s. */
#define LATENCY_S 10e-6
#define TURN_S 100e-6 /* additional latency if ranks share cores */
#define MEMORY_RATE 1e9
#define DEVICE_RATE 300e6
#define CACHE_RATE 1e9
#define ROUND_S 1e-3
/* The least repetitions and cells per series that a time limit leaves. */
#define THIN_REPETITIONS 3
#define THIN_CELLS 2
/* Thinning keeps this fraction of cells in each step. */
#define THIN_SHARE 0.8
#define THIN_STEPS 20

void campaign_release(struct campaign *campaign)
{
	free(campaign->cells);
	*campaign = (struct campaign){ 0 };
}

static void append_cell(struct campaign *campaign, const struct campaign_cell *cell)
{
	campaign->cells = xgrow(campaign->cells, &campaign->cap, campaign->count + 1,
				sizeof(*campaign->cells));
	campaign->cells[campaign->count++] = *cell;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort_numbers(struct campaign_numbers *numbers)
{
	size_t n = 0;

	qsort(numbers->items, numbers->count, sizeof(numbers->items[0]), compare_numbers);
	for (size_t i = 0; i < numbers->count; i++)
		if (!n || numbers->items[i] != numbers->items[n - 1])
			numbers->items[n++] = numbers->items[i];
	numbers->count = n;
}

static void append_number(struct campaign_numbers *numbers, uint64_t number)
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
			return err_set(err, EINVAL, "--%s: \"%s\" is not a positive number", option,
				       item);
		if (found.count == CAMPAIGN_LIST)
			return err_set(err, E2BIG, "--%s: more than %d numbers", option,
				       CAMPAIGN_LIST);
		append_number(&found, number);
	}
	sort_numbers(&found);
	*numbers = found;
	return 0;
}

/* Appends the powers of two below `last`, and `last` itself. */
static void append_powers(struct campaign_numbers *numbers, uint64_t last)
{
	for (uint64_t n = 1; n < last && n < 1ull << (CAMPAIGN_LIST - 2); n *= 2)
		append_number(numbers, n);
	append_number(numbers, last);
	sort_numbers(numbers);
}

struct series {
	enum operation operation;
	uint64_t first, last; /* in bytes */
};

static const struct series series[] = {
	{ OPERATION_ALLREDUCE, 4, 1 << 20 },  { OPERATION_ALLTOALL, 4, 256 << 10 },
	{ OPERATION_ALLGATHER, 4, 64 << 10 }, { OPERATION_BROADCAST, 4, 1 << 20 },
	{ OPERATION_BARRIER, 0, 0 },
};

/* Bytes that all ranks move together. */
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

/* Estimated time of one repetition, including the barrier before it. */
static double comm_seconds(const struct campaign_cell *c, uint64_t cores)
{
	double steps = 2 * ceil(log2((double)c->ranks + 1));
	bool is_shared = cores && c->ranks > cores;

	return steps * (LATENCY_S + (is_shared ? TURN_S : 0)) + comm_bytes(c) / MEMORY_RATE;
}

static void append_comm(struct campaign *campaign, const struct campaign_request *request,
			struct campaign_cell *cell)
{
	double once = comm_seconds(cell, request->cores);

	cell->repetitions = (uint64_t)fmin(REPETITIONS_MOST, CELL_S / once);
	if (cell->repetitions < REPETITIONS_LEAST)
		cell->repetitions = REPETITIONS_LEAST;
	cell->seconds = once * (double)cell->repetitions;
	append_cell(campaign, cell);
}

static void append_collectives(struct campaign *campaign, const struct campaign_request *request,
			       uint64_t ranks)
{
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
		struct campaign_cell cell = { .ranks = ranks, .operation = series[i].operation };

		for (uint64_t bytes = series[i].first; bytes <= series[i].last;
		     bytes *= request->is_dense ? 2 : 4) {
			cell.bytes = bytes;
			if (comm_bytes(&cell) <= (double)EXCHANGE_BYTES * (double)ranks)
				append_comm(campaign, request, &cell);
			if (!bytes)
				break;
		}
	}
}

/* Appends exchanges with messages up to the largest buffer, which a round can send. */
static void append_exchange(struct campaign *campaign, const struct campaign_request *request,
			    uint64_t ranks, uint64_t senders, uint64_t receivers)
{
	uint64_t last =
		request->buffers.count ? request->buffers.items[request->buffers.count - 1] : 1;
	struct campaign_cell cell = { .ranks = ranks,
				      .operation = OPERATION_ALLTOALLV,
				      .senders = senders,
				      .receivers = receivers };

	for (uint64_t bytes = 4; bytes <= last && bytes * senders <= EXCHANGE_BYTES;
	     bytes *= request->is_dense ? 2 : 4) {
		cell.bytes = bytes;
		append_comm(campaign, request, &cell);
	}
}

/* Appends exchanges with one message per receiver, one per rank, and one per pair. */
static void append_exchanges(struct campaign *campaign, const struct campaign_request *request,
			     uint64_t ranks)
{
	struct campaign_numbers receivers = { 0 };

	append_powers(&receivers, ranks);
	for (size_t i = 0; i < receivers.count; i++) {
		struct campaign_numbers senders = { 0 };

		append_number(&senders, receivers.items[i]);
		append_number(&senders, ranks);
		append_number(&senders, ranks * receivers.items[i]);
		sort_numbers(&senders);
		for (size_t s = 0; s < senders.count; s++)
			append_exchange(campaign, request, ranks, senders.items[s],
					receivers.items[i]);
	}
}

static void estimate_storage(struct campaign_cell *cell, const struct campaign_request *request)
{
	double rate = request->cache == CAMPAIGN_WITHIN ? CACHE_RATE : DEVICE_RATE;
	uint64_t rounds = cell->rounds + cell->part_count, bytes = cell->rounds * cell->writers;
	double once;

	for (size_t i = 0; i < cell->part_count; i++)
		bytes += cell->parts[i];
	bytes *= cell->bytes;
	once = (double)bytes / rate + ROUND_S * (double)rounds;
	cell->written = bytes * cell->repetitions;
	cell->file_bytes = cell->writers * rounds * cell->bytes;
	cell->seconds = once * (double)cell->repetitions * (request->writes_only ? 1 : 2);
}

/* EXCEEDED: enough rounds to write twice the size of the cache. */
static uint64_t count_rounds(const struct campaign_cell *cell,
			     const struct campaign_request *request)
{
	uint64_t round = cell->writers * cell->bytes, least;

	if (request->cache != CAMPAIGN_EXCEEDED)
		return request->rounds;
	least = (2 * request->cache_bytes + round - 1) / round;
	return least > request->rounds ? least : request->rounds;
}

struct stripes_spread campaign_spread(const struct campaign_cell *cell, uint64_t round,
				      uint64_t writers)
{
	AUTO_FREE struct range *ranges = xcalloc(writers + 1, sizeof(*ranges));
	uint64_t region = (cell->rounds + cell->part_count) * cell->bytes;

	/* As in kernels/elemental_storage.c: each writer advances in its own region. */
	for (uint64_t i = 0; i < writers; i++) {
		ranges[i].from =
			selector_part(cell->writers, writers, i) * region + round * cell->bytes;
		ranges[i].to = ranges[i].from + cell->bytes;
	}
	return stripes_spread_find(&cell->stripes, ranges, writers);
}

/* One cell per buffer. */
static void append_buffers(struct campaign *campaign, const struct campaign_request *request,
			   struct campaign_cell cell)
{
	for (size_t b = 0; b < request->buffers.count; b++) {
		cell.bytes = request->buffers.items[b];
		cell.rounds = count_rounds(&cell, request);
		estimate_storage(&cell, request);
		append_cell(campaign, &cell);
	}
}

/* One file per layout. The units of a single stripe are adjacent, whatever their size is. */
static void append_layouts(struct campaign *campaign, const struct campaign_request *request,
			   struct campaign_cell cell)
{
	const struct campaign_numbers *units = &request->units;

	if (!request->stripes.count)
		append_buffers(campaign, request, cell);
	for (size_t i = 0; i < request->stripes.count; i++)
		for (size_t u = 0; u < units->count; u++) {
			if (request->stripes.items[i] == 1 && u)
				break;
			cell.stripes =
				(struct stripes){ request->stripes.items[i], units->items[u] };
			append_buffers(campaign, request, cell);
			cell.first_repetition += request->repetitions;
		}
}

static void append_storage(struct campaign *campaign, const struct campaign_request *request,
			   uint64_t ranks)
{
	struct campaign_numbers writers = { 0 };

	for (size_t i = 0; i < request->writers.count; i++)
		if (request->writers.items[i] <= ranks)
			append_number(&writers, request->writers.items[i]);
	if (!request->writers.count)
		append_powers(&writers, ranks);
	for (size_t w = 0; w < writers.count; w++) {
		struct campaign_cell cell = { .ranks = ranks,
					      .operation = OPERATION_WRITE_FIRST,
					      .writers = writers.items[w],
					      .repetitions = request->repetitions };

		if (w + 1 == writers.count) {
			memcpy(cell.parts, writers.items, sizeof(cell.parts));
			cell.part_count = writers.count;
		}
		append_layouts(campaign, request, cell);
	}
}

/* Sequences of pieces and windows: bytes of a sequence of one rank, and bounds of its steps. */
#define SEQUENCE_BYTES (8ull << 20)
#define STEPS_LEAST 4
#define STEPS_MOST 2048
#define STEP_S 2e-6
/* Sizes of the windows of data sieving; ROMIO's default is 512 KiB. */
static const uint64_t windows[] = { 64 << 10, 512 << 10, 4 << 20 };

static void append_sequence(struct campaign *campaign, const struct campaign_request *request,
			    struct campaign_cell cell)
{
	uint64_t steps = SEQUENCE_BYTES / cell.bytes;

	steps = steps < STEPS_LEAST ? STEPS_LEAST : steps > STEPS_MOST ? STEPS_MOST : steps;
	cell.rounds = steps;
	cell.repetitions = request->repetitions;
	if (cell.operation == OPERATION_PIECE_WRITE)
		cell.file_bytes = cell.writers * steps * cell.bytes;
	if (cell.operation == OPERATION_SIEVE) /* in windows that all ranks share */
		cell.file_bytes = steps * cell.bytes;
	cell.written = cell.file_bytes * cell.repetitions;
	cell.seconds = (double)cell.repetitions *
		       (ROUND_S + (double)(cell.writers * steps) *
					  (STEP_S + (double)cell.bytes / CACHE_RATE));
	append_cell(campaign, &cell);
}

/* In an independent access all ranks take part. Pieces are exchanged by ranks and aggregators. */
static void append_pieces(struct campaign *campaign, const struct campaign_request *request,
			  uint64_t ranks)
{
	static const enum operation of_all[] = { OPERATION_PIECE_WRITE, OPERATION_PIECE_COPY };
	struct campaign_cell cell = { .ranks = ranks, .writers = ranks };
	struct campaign_numbers writers = { 0 };

	if (!request->pieces.count)
		return;
	for (size_t o = 0; o < sizeof(of_all) / sizeof(of_all[0]); o++)
		for (size_t i = 0; i < request->pieces.count; i++) {
			cell.operation = of_all[o];
			cell.bytes = request->pieces.items[i];
			append_sequence(campaign, request, cell);
		}
	cell.operation = OPERATION_SIEVE;
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		cell.bytes = windows[i];
		append_sequence(campaign, request, cell);
	}
	cell.operation = OPERATION_PIECE_EXCHANGE;
	append_powers(&writers, ranks);
	for (size_t w = 0; w < writers.count; w++)
		for (size_t i = 0; i < request->pieces.count; i++) {
			cell.writers = writers.items[w];
			cell.bytes = request->pieces.items[i];
			append_sequence(campaign, request, cell);
		}
}

static double total_seconds(const struct campaign *campaign)
{
	return campaign_remaining(campaign, 0).seconds;
}

static void thin_repetitions(struct campaign *campaign, double share)
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

/* True if the cells differ in bytes only. */
static bool is_one_series(const struct campaign_cell *a, const struct campaign_cell *b)
{
	return a->ranks == b->ranks && a->operation == b->operation && a->senders == b->senders &&
	       a->receivers == b->receivers && a->writers == b->writers &&
	       a->stripes.count == b->stripes.count && a->stripes.unit == b->stripes.unit;
}

/* True if item i of n is among m items that are spread evenly from the first to the last. */
static bool is_kept(size_t i, size_t n, size_t m)
{
	for (size_t k = 0; k < m; k++)
		if ((m == 1 ? 0 : k * (n - 1) / (m - 1)) == i)
			return true;
	return false;
}

/* Keeps a fraction of the cells of each series, including both ends, or all cells of a short
 * series. */
static void thin_cells(struct campaign *thin, const struct campaign *full, double share)
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
				append_cell(thin, &full->cells[i + k]);
	}
}

static void apply_time_limit(struct campaign *campaign, double budget_s)
{
	struct campaign thin = *campaign;

	if (budget_s <= 0 || total_seconds(campaign) <= budget_s)
		return;
	thin_repetitions(campaign, budget_s / total_seconds(campaign));
	thin.cells = NULL;
	thin.count = thin.cap = 0;
	for (int i = 0; i < THIN_STEPS; i++) {
		thin_cells(&thin, campaign, pow(THIN_SHARE, i));
		if (total_seconds(&thin) <= budget_s)
			break;
	}
	thin.is_over = total_seconds(&thin) > budget_s;
	free(campaign->cells);
	*campaign = thin;
}

static int check_storage(const struct campaign_request *request, struct err *err)
{
	uint64_t most = request->ranks.items[request->ranks.count - 1];

	if (!request->rounds || !request->repetitions)
		return err_set(err, EINVAL,
			       "the number of rounds and of repetitions must be at least 1");
	for (size_t i = 0; i < request->writers.count; i++)
		if (request->writers.items[i] > most)
			return err_set(err, EINVAL,
				       "--writers: %" PRIu64 " exceeds the number of ranks",
				       request->writers.items[i]);
	for (size_t i = 0; i < request->buffers.count; i++)
		if (request->cache == CAMPAIGN_BYPASSED &&
		    request->buffers.items[i] % CAMPAIGN_ALIGNMENT)
			return err_set(err, EINVAL,
				       "--buffers: %" PRIu64
				       " is not a multiple of %d bytes, as bypassing the page "
				       "cache requires",
				       request->buffers.items[i], CAMPAIGN_ALIGNMENT);
	if (request->stripes.count && !request->units.count)
		return err_set(err, EINVAL, "the units of the stripes are missing");
	if (request->stripes.count &&
	    request->stripes.items[request->stripes.count - 1] > STRIPES_MOST)
		return err_set(err, EINVAL, "--stripes: a file has at most %d stripes",
			       STRIPES_MOST);
	if (request->cache == CAMPAIGN_EXCEEDED && !request->cache_bytes)
		return err_set(err, EINVAL, "the size of the page cache is unknown");
	return 0;
}

int campaign_make(struct campaign *campaign, const struct campaign_request *request,
		  struct err *err)
{
	struct campaign made = { .placement = request->placement,
				 .cache = request->cache,
				 .reads = !request->writes_only,
				 .start_s = request->start_s > 0 ? request->start_s : 1 };
	int r = 0;

	if (!request->ranks.count || (!request->buffers.count && request->storage))
		return err_set(err, EINVAL, "the list of ranks or of buffers is empty");
	if (request->storage)
		r = check_storage(request, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < request->ranks.count; i++) {
		uint64_t ranks = request->ranks.items[i];

		if (request->comm) {
			append_collectives(&made, request, ranks);
			append_exchanges(&made, request, ranks);
		}
		if (request->storage) {
			append_pieces(&made, request, ranks);
			append_storage(&made, request, ranks);
		}
	}
	apply_time_limit(&made, request->budget_s);
	*campaign = made;
	return 0;
}

struct campaign_sum campaign_remaining(const struct campaign *campaign, uint64_t ranks)
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

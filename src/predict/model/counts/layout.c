/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/counts/layout.h"

#include "base/integer.h"
#include "predict/model/counts/counts.h"

/* Default buffers of data sieving (ind_wr_buffer_size and ind_rd_buffer_size). */
#define SIEVE_WRITE_BYTES (512 << 10)
#define SIEVE_READ_BYTES (4 << 20)

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* Bytes before x of `count` pieces that begin at `first` and repeat every `period`. */
static uint64_t bytes_before(uint64_t x, uint64_t first, uint64_t period, uint64_t block,
			     uint64_t count)
{
	uint64_t done;

	if (x <= first)
		return 0;
	done = (x - first) / period;
	if (done >= count)
		return count * block;
	return done * block + u64_min((x - first) % period, block);
}

/* Bytes of data of one rank in a range of the file. */
static uint64_t rank_bytes(const struct layout *l, uint64_t rank, uint64_t from, uint64_t to)
{
	uint64_t first = l->first + rank * l->spacing;

	if (from >= to)
		return 0;
	return bytes_before(to, first, l->period, l->block, l->pieces) -
	       bytes_before(from, first, l->period, l->block, l->pieces);
}

uint64_t layout_bytes(const struct layout *l, uint64_t from, uint64_t to)
{
	uint64_t count = l->pieces * l->access.ranks;

	if (from >= to)
		return 0;
	return bytes_before(to, l->first, l->spacing, l->block, count) -
	       bytes_before(from, l->first, l->spacing, l->block, count);
}

/* Shrinks a range to its first and last byte of data. */
static struct range trim_range(const struct layout *l, uint64_t from, uint64_t to)
{
	struct range r = { u64_max(from, l->first), u64_min(to, l->end) };
	uint64_t into;

	if (r.from >= r.to)
		return (struct range){ 0, 0 };
	into = (r.from - l->first) % l->spacing;
	if (into >= l->block)
		r.from += l->spacing - into;
	into = (r.to - 1 - l->first) % l->spacing;
	if (into >= l->block)
		r.to -= into - l->block + 1;
	return r.from < r.to ? r : (struct range){ 0, 0 };
}

int64_t layout_number(const struct layout *l, uint64_t rank)
{
	uint64_t i = rank / l->cores * l->node_aggregators + rank % l->cores;

	return rank % l->cores < l->node_aggregators && i < l->aggregators ? (int64_t)i : -1;
}

/* The end of part i, ignoring the end of the data. */
static uint64_t aligned_end(const struct layout *l, uint64_t i)
{
	uint64_t end = l->first + l->domain * (i + 1), over = end % l->unit;

	if (i + 1 == l->aggregators)
		return l->end;
	return over < l->unit - over ? end - over : end + l->unit - over;
}

/* The driver does not count the block of the last byte if that byte is the first of its block; the
 * last aggregator gets it. */
static uint64_t block_end(const struct layout *l, uint64_t i)
{
	uint64_t low = l->first / l->unit, high = divide_up(l->end - 1, l->unit);
	uint64_t blocks = high > low ? high - low : 0;
	uint64_t each = blocks / l->aggregators, larger = blocks % l->aggregators;

	if (i + 1 == l->aggregators)
		return l->end;
	return (low + (i + 1) * each + u64_min(i + 1, larger)) * l->unit;
}

static uint64_t part_end(const struct layout *l, uint64_t i)
{
	if (l->domains == LAYOUT_ALIGNED)
		return aligned_end(l, i);
	if (l->domains == LAYOUT_BLOCKS)
		return block_end(l, i);
	return l->first + l->domain * (i + 1);
}

/* The first stripe of aggregator i at or after the given one. */
static uint64_t own_stripe(const struct layout *l, uint64_t i, uint64_t stripe)
{
	uint64_t turn = stripe % l->aggregators;

	return stripe + (i + l->aggregators - turn) % l->aggregators;
}

/* The range from the first to the last byte of data in the stripes of aggregator i. */
static struct range striped_part(const struct layout *l, uint64_t i)
{
	uint64_t first = l->first / l->unit, last = (l->end - 1) / l->unit;
	uint64_t stripe = own_stripe(l, i, first),
		 back = (last + l->aggregators - i) % l->aggregators;
	struct range front = { 0, 0 }, rear = { 0, 0 };

	for (; stripe <= last && front.from == front.to; stripe += l->aggregators)
		front = trim_range(l, stripe * l->unit, (stripe + 1) * l->unit);
	if (front.from == front.to)
		return front;
	for (stripe = last - back; rear.from == rear.to; stripe -= l->aggregators)
		rear = trim_range(l, stripe * l->unit, (stripe + 1) * l->unit);
	return (struct range){ front.from, rear.to };
}

/* The part of aggregator i, from its first to its last byte of data. */
static struct range find_part(const struct layout *l, uint64_t i)
{
	if (l->domains == LAYOUT_STRIPES)
		return striped_part(l, i);
	return trim_range(l, i ? part_end(l, i - 1) : l->first, part_end(l, i));
}

static uint64_t stripe_rounds(const struct layout *l)
{
	return divide_up(l->end - l->first / l->unit * l->unit, l->unit * l->aggregators);
}

uint64_t layout_own_rounds(const struct layout *l, uint64_t i)
{
	struct range part = find_part(l, i);

	if (part.from == part.to)
		return 0;
	return l->domains == LAYOUT_STRIPES ? stripe_rounds(l)
					    : divide_up(part.to - part.from, l->buffer);
}

static uint64_t part_length(const struct layout *l, uint64_t i)
{
	uint64_t from = i ? part_end(l, i - 1) : l->first, to = u64_min(part_end(l, i), l->end);

	return from < to ? to - from : 0;
}

/* Parts between the first and the last have domain / unit units, or one more. */
static uint64_t longest_aligned(const struct layout *l)
{
	uint64_t from = aligned_end(l, 0), to = aligned_end(l, l->aggregators - 2);
	uint64_t units = l->domain / l->unit, inner = l->aggregators - 2;

	return to - from > inner * units * l->unit ? (units + 1) * l->unit : units * l->unit;
}

/* The length of the longest part before its ends are trimmed; 0: unknown without a loop over all
 * parts. */
static uint64_t longest_part(const struct layout *l)
{
	uint64_t last = l->aggregators - 1,
		 longest = u64_max(part_length(l, 0), part_length(l, last));

	if (l->domains == LAYOUT_ALIGNED && last &&
	    (part_end(l, 0) < l->first || part_end(l, last - 1) > l->end))
		return 0;
	if (last < 2 || l->domains == LAYOUT_EVEN)
		return longest;
	if (l->domains == LAYOUT_BLOCKS)
		return u64_max(longest, part_length(l, 1));
	return u64_max(longest, longest_aligned(l));
}

uint64_t layout_rounds(const struct layout *l)
{
	uint64_t gaps = 2 * (l->spacing - l->block), most = 0, longest;

	if (l->domains == LAYOUT_STRIPES)
		return stripe_rounds(l);
	longest = longest_part(l);
	/* Holes at its ends may save the longest part a round; then all parts have to be compared.
	 */
	if (longest > gaps && divide_up(longest, l->buffer) == divide_up(longest - gaps, l->buffer))
		return divide_up(longest, l->buffer);
	for (uint64_t i = 0; i < l->aggregators; i++)
		most = u64_max(most, layout_own_rounds(l, i));
	return most;
}

/* The window begins at the first byte of data and extends to the end of the stripe, but not beyond
 * the last byte of its aggregator. */
static struct range striped_window(const struct layout *l, uint64_t i, uint64_t round)
{
	uint64_t stripe = own_stripe(l, i, l->first / l->unit + round * l->aggregators);
	struct range r = trim_range(l, stripe * l->unit, (stripe + 1) * l->unit);

	if (r.from == r.to)
		return r;
	return (struct range){ r.from, u64_min((stripe + 1) * l->unit, find_part(l, i).to) };
}

struct range layout_window(const struct layout *l, uint64_t i, uint64_t round)
{
	struct range part, window;

	if (l->domains == LAYOUT_STRIPES)
		return striped_window(l, i, round);
	part = find_part(l, i);
	if (part.from == part.to || round >= divide_up(part.to - part.from, l->buffer))
		return (struct range){ 0, 0 };
	window.from = part.from + round * l->buffer;
	window.to = u64_min(window.from + l->buffer, part.to);
	return window;
}

uint64_t layout_message(const struct layout *l, uint64_t round, uint64_t rank, uint64_t i)
{
	struct range window = layout_window(l, i, round);

	return rank_bytes(l, rank, window.from, window.to);
}

uint64_t layout_messages(const struct layout *l, uint64_t rank, uint64_t i)
{
	struct range part = find_part(l, i);
	uint64_t sum = 0;

	if (l->domains != LAYOUT_STRIPES)
		return rank_bytes(l, rank, part.from, part.to);
	for (uint64_t round = 0; round < stripe_rounds(l); round++)
		sum += layout_message(l, round, rank, i);
	return sum;
}

/* The driver chooses a divisor of the number of stripes, so that no two aggregators write to the
 * same target. */
static uint64_t lustre_aggregators(uint64_t hinted, uint64_t stripes)
{
	uint64_t best = 1;

	if (hinted >= stripes)
		return stripes;
	for (uint64_t divisor = 2; divisor * divisor <= stripes; divisor++) {
		if (stripes % divisor)
			continue;
		if (stripes / divisor <= hinted)
			return stripes / divisor;
		if (divisor <= hinted)
			best = divisor;
	}
	return best;
}

static uint64_t hint_or(uint64_t hint, uint64_t initial)
{
	return hint ? hint : initial;
}

static void divide_file(struct layout *l, const struct machine *machine,
			const struct settings *settings)
{
	uint64_t stripe = hint_or(settings->stripe_bytes, machine->stripe_bytes);

	l->domain = divide_up(l->end - l->first, l->hinted);
	if (machine->romio == ROMIO_GPFS) {
		l->domains = LAYOUT_BLOCKS;
		l->unit = machine->block_bytes;
	} else if (machine->romio == ROMIO_LUSTRE && !l->access.is_read) {
		l->domains = LAYOUT_STRIPES;
		l->unit = l->buffer = stripe;
		l->aggregators =
			lustre_aggregators(l->hinted, hint_or(settings->stripes, machine->stripes));
	} else if (stripe) {
		l->domains = LAYOUT_ALIGNED;
		l->unit = stripe;
	}
}

/* Writes on Lustre sieve one stripe at a time, whatever the size of the buffer is. */
static uint64_t sieve_bytes(const struct layout *l, const struct machine *machine,
			    const struct settings *settings)
{
	if (settings->sieving == BUFFERING_DISABLED)
		return 0;
	if (machine->romio == ROMIO_LUSTRE && !l->access.is_read)
		return l->unit;
	return hint_or(settings->sieve_bytes,
		       l->access.is_read ? SIEVE_READ_BYTES : SIEVE_WRITE_BYTES);
}

/* A machine without stripes ignores the hints. */
struct stripes counts_stripes(const struct machine *machine, const struct settings *settings)
{
	if (!machine->file_stripes || !machine->file_stripe_bytes)
		return (struct stripes){ 0 };
	return (struct stripes){ hint_or(settings->stripes, machine->file_stripes),
				 hint_or(settings->stripe_bytes, machine->file_stripe_bytes) };
}

void layout_compute(struct layout *layout, const struct machine *machine,
		    const struct access *access, const struct settings *settings)
{
	bool is_strided = access->pattern == ACCESS_STRIDED;
	struct layout l = { .access = *access, .first = access->offset, .pieces = 1 };

	l.block = l.spacing = access->rank_bytes;
	if (is_strided) {
		l.block = access->block_bytes;
		l.spacing = access->stride_bytes;
		l.pieces = access->rank_bytes / access->block_bytes;
	}
	l.period = l.spacing * access->ranks;
	l.end = l.first + access_extent(access);
	l.cores = access->ranks / access->nodes;
	l.buffer = hint_or(settings->buffer_bytes, machine->buffer_bytes);
	l.hinted = l.aggregators = counts_aggregators(machine, access, settings);
	l.node_aggregators = counts_node_aggregators(machine, access, settings);
	l.lists = machine->list_messages == 2 ? 2 : 1;
	divide_file(&l, machine, settings);
	l.stripes = counts_stripes(machine, settings);
	l.sieve = sieve_bytes(&l, machine, settings);
	*layout = l;
}

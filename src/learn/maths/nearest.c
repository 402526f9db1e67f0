/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distances are computed twice: for most rows only in float, sixteen rows side by side, as the
 * least that |row|^2 + |at|^2 - 2 row.at can be whatever rounding does; for those few that this
 * does not leave out, exactly.
 *
 * Up to TREE_WIDTH inputs a tree halves the rows at the median of the input that varies most, both
 * found from a few of them, until some blocks are left: a leaf, with the box around its rows. A
 * search leaves out what is farther than the k nearest so far. With more inputs there is hardly
 * anything to leave out, and all blocks are read. Rows that are added later stand in blocks of
 * their own, which are read one by one, until they are a quarter of all: then the tree is made
 * anew.
 */
#include "learn/maths/nearest.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	LANES = 16, /* rows of a block */
	QUADS = LANES / 4,
	LEAF = 192,	 /* rows that are not halved any more */
	TREE_WIDTH = 20, /* inputs up to which a tree is made */
	LOOK = 16,	 /* rows that are looked at to halve a node */
	NARROW = 64,	 /* inputs for which little room on the stack is enough */
};

#define NOBODY UINT32_MAX /* fills up the last block */

typedef nearest_quad quad;
typedef nearest_pair pair;
typedef int32_t ints __attribute__((vector_size(16)));
typedef int64_t mask __attribute__((vector_size(16)));

/* Its left half follows it. A leaf has no right half. */
struct nearest_node {
	double cut; /* rows with a value up to it are in the left half */
	uint32_t input, right;
	uint32_t block, blocks, box; /* of a leaf */
	uint32_t first;		     /* the row that came first */
	size_t from, rows;	     /* of a leaf, in the builder's order */
};

/* ---- rows in float ---- */

/* A centred and scaled row with a larger square than this is always looked at exactly. */
#define SQUARE_MOST 1e18

/* What lies below the least float may be lost: |row| is at most 1e9, so that is far more. */
#define SQUARE_SLACK 0x1p-110

/* Of such a row nothing is known but that it may be near. */
static __attribute__((noinline)) void row_give_up(float *out, size_t width, size_t step)
{
	for (size_t j = 0; j < width; j++)
		out[j * step] = 0;
	out[width * step] = -INFINITY;
}

/*
 * Values of a row in float go to out[0], out[step], ..., and behind them the least that its square
 * contributes. Let u be 2^-24. Rounding to float and summing width + 2 terms changes |row|^2 +
 * |at|^2 - 2 row.at by at most (2 width + 7) u times |row|^2 + |at|^2, so each square is lessened
 * by its share.
 */
static inline __attribute__((always_inline)) void row_shorten(const struct nearest *n,
							      const double *values, float *out,
							      size_t step)
{
	double error = (2 * (double)n->width + 12) * 0x1p-24, square;
	pair sum = { 0 };
	size_t j = 0;

	for (; j + 2 <= n->width; j += 2) {
		pair value, centre;

		memcpy(&value, values + j, sizeof(value));
		memcpy(&centre, n->centre + j, sizeof(centre));
		value = value * n->scale - centre;
		out[j * step] = (float)value[0];
		out[(j + 1) * step] = (float)value[1];
		sum += value * value;
	}
	if (j < n->width) {
		double value = values[j] * n->scale - n->centre[j];

		out[j * step] = (float)value;
		sum[0] += value * value;
	}
	square = sum[0] + sum[1];
	out[n->width * step] = (float)(square * (1 - error) - SQUARE_SLACK * (double)n->width);
	if (!(square < SQUARE_MOST))
		row_give_up(out, n->width, step);
}

/* Where some rows are. Any centre and scale are right; these leave the most digits. */
static void centre_find(struct nearest *n)
{
	size_t stride = n->rows / LOOK + 1, seen = (n->rows + stride - 1) / stride;
	double most = 0;

	for (size_t j = 0; j < n->width; j++)
		n->centre[j] = 0;
	for (size_t i = 0; i < n->rows; i += stride) {
		for (size_t j = 0; j < n->width; j++)
			n->centre[j] += n->x[i * n->width + j] / (double)seen;
	}
	for (size_t i = 0; i < n->rows; i += stride) {
		for (size_t j = 0; j < n->width; j++)
			most = fmax(most, fabs(n->x[i * n->width + j] - n->centre[j]));
	}
	n->scale = most > 0 ? ldexp(1, -(int)fmax(-1000, fmin(1000, ilogb(most)))) : 1;
	for (size_t j = 0; j < n->width; j++)
		n->centre[j] *= n->scale;
}

/* ---- blocks ---- */

static float *slot(const struct nearest *n, size_t slot)
{
	return (float *)(n->blocks + slot / LANES * (n->width + 1) * QUADS) + slot % LANES;
}

/* Rows order[0 .. rows) into blocks from `block` on. The last one is filled up. */
static void blocks_fill(struct nearest *n, size_t block, const uint32_t *order, size_t rows)
{
	size_t at = block * LANES, end = (block + (rows + LANES - 1) / LANES) * LANES;

	for (size_t i = 0; at < end; i++, at++) {
		uint32_t row = order[i < rows ? i : 0];

		n->row[at] = i < rows ? row : NOBODY;
		row_shorten(n, n->x + row * n->width, slot(n, at), LANES);
	}
}

/* Room for at least so many slots; what is there stays. */
static void blocks_reserve(struct nearest *n, size_t slots)
{
	size_t need = (slots + LANES - 1) / LANES;

	if (need <= n->block_cap)
		return;
	/* The first time exactly, later in steps: further rows may come one by one. */
	n->block_cap = n->block_cap ? need + need / 8 : need;
	n->blocks = xrealloc(n->blocks, n->block_cap, (n->width + 1) * LANES * sizeof(float));
	n->row = xrealloc(n->row, n->block_cap, LANES * sizeof(*n->row));
}

/* ---- tree ---- */

struct builder {
	const double *x;
	size_t width;
	uint32_t *order, *other;
	struct nearest *n;
};

/*
 * The input that varies most among every stride-th row. By variance: a range would follow a few
 * rows far out. -1: all of these rows are the same.
 */
static int widest(const struct builder *b, const uint32_t *order, size_t count, size_t stride)
{
	const double *first = b->x + order[0] * b->width;
	double sum[TREE_WIDTH] = { 0 }, square[TREE_WIDTH] = { 0 }, most = 0;
	size_t seen = (count + stride - 1) / stride;
	int found = -1;

	for (size_t i = stride; i < count; i += stride) {
		const double *row = b->x + order[i] * b->width;

		for (size_t j = 0; j < b->width; j++) {
			sum[j] += row[j] - first[j];
			square[j] += (row[j] - first[j]) * (row[j] - first[j]);
		}
	}
	for (size_t j = 0; j < b->width; j++) {
		double variance = square[j] - sum[j] * sum[j] / (double)seen;

		if (square[j] > 0 && (found < 0 || variance > most)) {
			most = variance;
			found = (int)j;
		}
	}
	return found;
}

/* Where to cut, so that both sides have rows: of the values seen, the one nearest the middle. */
static double middle(const struct builder *b, const uint32_t *order, size_t count, size_t stride,
		     uint32_t input)
{
	double values[LOOK + 1] = { 0 };
	size_t seen = 0, up, down;

	for (size_t i = 0; i < count && seen <= LOOK; i += stride) {
		double value = b->x[order[i] * b->width + input];
		size_t at = seen++;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
	for (up = down = seen / 2; down > 0; down--, up++) {
		if (values[down - 1] < values[down])
			return values[down - 1];
		if (up + 1 < seen && values[up] < values[up + 1])
			return values[up];
	}
	return values[0];
}

/* The same where those seen are all the same, but the others are not. */
static double beside(const struct builder *b, const uint32_t *order, size_t count, uint32_t input)
{
	double common = b->x[order[0] * b->width + input], below = -INFINITY;

	for (size_t i = 1; i < count; i++) {
		double value = b->x[order[i] * b->width + input];

		if (value > common)
			return common;
		if (value < common && value > below)
			below = value;
	}
	return below;
}

/* Rows with a value up to the cut to the front; their number. */
static size_t rows_part(struct builder *b, size_t from, size_t count, uint32_t input, double cut)
{
	uint32_t *restrict order = b->order + from, *restrict other = b->other;
	const double *restrict x = b->x + input;
	size_t left = 0, right = 0, width = b->width;

	/* Written to both sides, counted on one: no branch to guess wrong. */
	for (size_t i = 0; i < count; i++) {
		uint32_t row = order[i];
		bool above = x[row * width] > cut;

		order[left] = row;
		other[right] = row;
		left += !above;
		right += above;
	}
	memcpy(order + left, other, right * sizeof(*order));
	return left;
}

static uint32_t node_make(struct builder *b, size_t from, size_t count);

static void node_halve(struct builder *b, uint32_t at, size_t from, size_t count, uint32_t input,
		       double cut)
{
	struct nearest *n = b->n;
	size_t left = rows_part(b, from, count, input, cut);
	uint32_t right;

	node_make(b, from, left);
	right = node_make(b, from + left, count - left);
	n->nodes[at].input = input;
	n->nodes[at].cut = cut;
	n->nodes[at].right = right;
	n->nodes[at].first = n->nodes[at + 1].first < n->nodes[right].first ? n->nodes[at + 1].first
									    : n->nodes[right].first;
}

static void leaf_make(struct builder *b, struct nearest_node *node, size_t from, size_t count)
{
	struct nearest *n = b->n;

	node->box = (uint32_t)n->leaf_count++;
	node->block = (uint32_t)n->block_count;
	node->blocks = (uint32_t)((count + LANES - 1) / LANES);
	n->block_count += node->blocks;
	for (size_t i = from; i < from + count; i++)
		node->first = b->order[i] < node->first ? b->order[i] : node->first;
	node->from = from;
	node->rows = count;
}

static uint32_t node_make(struct builder *b, size_t from, size_t count)
{
	struct nearest *n = b->n;
	uint32_t at = (uint32_t)n->node_count++;
	const uint32_t *order = b->order + from;
	size_t stride = count / LOOK + 1;
	int input = -1;
	double cut = 0;

	n->nodes = xgrow(n->nodes, &n->node_cap, n->node_count, sizeof(*n->nodes));
	n->nodes[at] = (struct nearest_node){ .first = NOBODY };
	if (count > LEAF && (input = widest(b, order, count, stride)) >= 0) {
		cut = middle(b, order, count, stride, (uint32_t)input);
	} else if (count > LEAF && (input = widest(b, order, count, 1)) >= 0) {
		cut = beside(b, order, count, (uint32_t)input);
	}
	if (input >= 0)
		node_halve(b, at, from, count, (uint32_t)input, cut);
	else
		leaf_make(b, &n->nodes[at], from, count);
	return at;
}

/* In pairs. */
static size_t box_size(const struct nearest *n)
{
	return 2 * (n->width / 2 + 1);
}

static inline pair choose(mask yes, pair a, pair b)
{
	return (pair)((yes & (mask)a) | (~yes & (mask)b));
}

static inline pair greater(pair a, pair b)
{
	return choose(a > b, a, b);
}

static inline double lesser_of(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater_of(double a, double b)
{
	return a > b ? a : b;
}

/* Four rows at a time; the last ones may come twice. */
static void box_make(struct nearest *n, const struct nearest_node *leaf, const uint32_t *order)
{
	double *restrict least = (double *)(n->boxes + leaf->box * box_size(n));
	double *restrict most = least + box_size(n);
	size_t width = n->width, last = leaf->rows - 1;

	memcpy(least, n->x + order[0] * width, width * sizeof(*least));
	memcpy(most, least, width * sizeof(*most));
	for (size_t i = 1; i <= last; i += 4) {
		const double *restrict a = n->x + order[i] * width;
		const double *restrict b = n->x + order[i + 1 < last ? i + 1 : last] * width;
		const double *restrict c = n->x + order[i + 2 < last ? i + 2 : last] * width;
		const double *restrict d = n->x + order[i + 3 < last ? i + 3 : last] * width;

		for (size_t j = 0; j < width; j++) {
			least[j] = lesser_of(
				least[j], lesser_of(lesser_of(a[j], b[j]), lesser_of(c[j], d[j])));
			most[j] = greater_of(most[j], greater_of(greater_of(a[j], b[j]),
								 greater_of(c[j], d[j])));
		}
	}
}

static void tree_make(struct nearest *n, uint32_t *order)
{
	AUTO_FREE uint32_t *other = xmalloc(n->rows * sizeof(*other));
	struct builder b = { .x = n->x, .width = n->width, .order = order, .other = other, .n = n };

	node_make(&b, 0, n->rows);
	blocks_reserve(n, n->block_count * LANES);
	n->boxes = xmalloc(n->leaf_count * box_size(n) * sizeof(*n->boxes));
	for (size_t i = 0; i < n->node_count; i++) {
		const struct nearest_node *node = &n->nodes[i];

		if (node->right)
			continue;
		blocks_fill(n, node->block, order + node->from, node->rows);
		box_make(n, node, order + node->from);
	}
	n->tree_blocks = n->block_count;
	n->tree_rows = n->rows;
}

static void tree_release(struct nearest *n)
{
	free(n->nodes);
	free(n->boxes);
	n->nodes = NULL;
	n->boxes = NULL;
	n->node_count = n->node_cap = n->leaf_count = n->tree_blocks = n->tree_rows = 0;
}

/* Puts all rows into blocks, by a tree where it helps. */
static void nearest_build(struct nearest *n)
{
	AUTO_FREE uint32_t *order = xmalloc(n->rows * sizeof(*order));

	for (size_t i = 0; i < n->rows; i++)
		order[i] = (uint32_t)i;
	tree_release(n);
	n->block_count = 0;
	centre_find(n);
	if (n->width <= TREE_WIDTH && n->rows > LEAF) {
		tree_make(n, order);
		return;
	}
	blocks_reserve(n, n->rows);
	n->block_count = (n->rows + LANES - 1) / LANES;
	blocks_fill(n, 0, order, n->rows);
}

/* ---- search ---- */

struct search {
	const struct nearest *n;
	const double *at;
	const float *minus;	    /* in float, times -2; then the least that its square is */
	struct nearest_found *best; /* k of them, nearest first */
	size_t k;
	float limit;		   /* the worst distance in the scale of blocks, or more */
	double offset[TREE_WIDTH]; /* per input: how far the query is outside of the node */
};

static inline struct nearest_found *worst(struct search *s)
{
	return &s->best[s->k - 1];
}

static void found_add(struct search *s, double distance, uint32_t row)
{
	struct nearest_found *last = worst(s);
	size_t i;

	if (distance > last->distance || (distance == last->distance && row > last->row))
		return;
	for (i = s->k - 1; i > 0; i--) {
		const struct nearest_found *before = &s->best[i - 1];

		if (before->distance < distance ||
		    (before->distance == distance && before->row < row))
			break;
		s->best[i] = *before;
	}
	s->best[i] = (struct nearest_found){ distance, row };
}

static double distance_to(const struct search *s, const double *row)
{
	size_t width = s->n->width, j = 0;
	pair even = { 0 }, odd = { 0 };

	for (; j + 4 <= width; j += 4) {
		pair a, b, c, d;

		memcpy(&a, row + j, sizeof(a));
		memcpy(&b, s->at + j, sizeof(b));
		memcpy(&c, row + j + 2, sizeof(c));
		memcpy(&d, s->at + j + 2, sizeof(d));
		even += (a - b) * (a - b);
		odd += (c - d) * (c - d);
	}
	for (; j < width; j++)
		even[j % 2] += (row[j] - s->at[j]) * (row[j] - s->at[j]);
	even += odd;
	return even[0] + even[1];
}

static void row_look(struct search *s, uint32_t row)
{
	double distance = distance_to(s, s->n->x + row * s->n->width);

	if (!(distance <= worst(s)->distance))
		return;
	found_add(s, distance, row);
	s->limit = (float)(worst(s)->distance * s->n->scale * s->n->scale * (1 + 0x1p-20));
}

/* The least that the squared distances of a block's rows can be. */
static inline __attribute__((always_inline)) void block_least(const quad *block, const float *minus,
							      size_t width, quad least[QUADS])
{
	for (size_t l = 0; l < QUADS; l++)
		least[l] = block[width * QUADS + l] + minus[width];
	for (size_t j = 0; j < width; j++, block += QUADS) {
		for (size_t l = 0; l < QUADS; l++)
			least[l] += block[l] * minus[j];
	}
}

/* A bit per row that may be within the limit. */
static inline unsigned rows_within(const quad least[QUADS], float limit)
{
	ints bits = (least[0] <= limit) & (ints){ 1, 2, 4, 8 };
	mask both;

	bits |= (least[1] <= limit) & (ints){ 1 << 4, 2 << 4, 4 << 4, 8 << 4 };
	bits |= (least[2] <= limit) & (ints){ 1 << 8, 2 << 8, 4 << 8, 8 << 8 };
	bits |= (least[3] <= limit) & (ints){ 1 << 12, 2 << 12, 4 << 12, 8 << 12 };
	both = (mask)bits;
	both[0] |= both[1];
	return (unsigned)both[0] | (unsigned)(both[0] >> 32);
}

static void blocks_search(struct search *s, size_t from, size_t count)
{
	const struct nearest *n = s->n;

	for (size_t b = from; b < from + count; b++) {
		unsigned within;
		quad least[QUADS];

		block_least(n->blocks + b * (n->width + 1) * QUADS, s->minus, n->width, least);
		within = rows_within(least, s->limit);
		for (; within; within &= within - 1) {
			uint32_t row = n->row[b * LANES + (size_t)__builtin_ctz(within)];

			if (row != NOBODY)
				row_look(s, row);
		}
	}
}

/* Is the box around a leaf farther than the worst? Rounding must not say so wrongly. */
static bool box_far(struct search *s, const struct nearest_node *leaf)
{
	size_t pairs = s->n->width / 2;
	const pair *low = s->n->boxes + leaf->box * box_size(s->n), *high = low + pairs + 1;
	pair sum = { 0 }, zero = { 0 };

	for (size_t j = 0; j < pairs; j++) {
		pair at, away;

		memcpy(&at, s->at + 2 * j, sizeof(at));
		away = greater(greater(low[j] - at, at - high[j]), zero);
		sum += away * away;
	}
	if (s->n->width % 2) {
		double at = s->at[2 * pairs], below = low[pairs][0] - at;
		double above = at - high[pairs][0], away = below > above ? below : above;

		sum[0] += away > 0 ? away * away : 0;
	}
	return sum[0] + sum[1] > worst(s)->distance * (1 + 1e-14);
}

/* distance: from the query to the node's cell, squared. */
static void node_search(struct search *s, uint32_t at, double distance)
{
	const struct nearest_node *node = &s->n->nodes[at];
	double old, away;
	uint32_t near, far;

	if (distance > worst(s)->distance ||
	    (distance == worst(s)->distance && node->first > worst(s)->row))
		return;
	if (!node->right) {
		if (!box_far(s, node))
			blocks_search(s, node->block, node->blocks);
		return;
	}
	away = s->at[node->input] - node->cut;
	near = away > 0 ? node->right : at + 1;
	far = away > 0 ? at + 1 : node->right;
	away = fabs(away);
	node_search(s, near, distance);
	old = s->offset[node->input];
	if (away < old)
		away = old;
	s->offset[node->input] = away;
	/*
	 * A hair less than the sum of squares: rounding must not leave out a row that is exactly
	 * as far as the worst.
	 */
	node_search(s, far, (distance + (away * away - old * old)) * (1 - 1e-14));
	s->offset[node->input] = old;
}

static inline __attribute__((always_inline)) void find(const struct nearest *n, const double *row,
						       size_t k, struct nearest_found *found,
						       float *minus)
{
	struct search s = {
		.n = n, .at = row, .minus = minus, .best = found, .k = k, .limit = INFINITY
	};

	row_shorten(n, row, minus, 1);
	for (size_t j = 0; j < n->width; j++)
		minus[j] *= -2;
	for (size_t i = 0; i < k; i++)
		found[i] = (struct nearest_found){ INFINITY, NOBODY };
	if (n->node_count)
		node_search(&s, 0, 0);
	blocks_search(&s, n->tree_blocks, n->block_count - n->tree_blocks);
}

/* A large frame costs even where it is not touched. */
static __attribute__((noinline)) void find_wide(const struct nearest *n, const double *row,
						size_t k, struct nearest_found *found)
{
	float minus[NEAREST_WIDTH_MAX + 1];

	find(n, row, k, found, minus);
}

void nearest_find(const struct nearest *n, const double *row, size_t k, struct nearest_found *found)
{
	float minus[NARROW + 1];

	if (n->width > NARROW)
		find_wide(n, row, k, found);
	else
		find(n, row, k, found, minus);
	/* A row with values that are not finite is near nothing; the first ones stand in. */
	for (size_t i = 0; i < k; i++) {
		if (found[i].row == NOBODY)
			found[i].row = (uint32_t)i;
	}
}

/* ---- life ---- */

static void rows_append(struct nearest *n, const double *x, size_t rows)
{
	size_t need = n->rows + rows;

	if (need > n->row_cap) {
		n->row_cap = n->row_cap ? need + need / 8 : need;
		n->x = xrealloc(n->x, n->row_cap, n->width * sizeof(*n->x));
	}
	memcpy(n->x + n->rows * n->width, x, rows * n->width * sizeof(*x));
}

void nearest_init(struct nearest *n, const double *x, size_t rows, size_t width)
{
	*n = (struct nearest){ .width = width };
	n->centre = xmalloc(width * sizeof(*n->centre));
	rows_append(n, x, rows);
	n->rows = rows;
	nearest_build(n);
}

void nearest_release(struct nearest *n)
{
	free(n->x);
	free(n->centre);
	free(n->blocks);
	free(n->row);
	tree_release(n);
	*n = (struct nearest){ 0 };
}

/* Outside of the tree. */
static void row_add(struct nearest *n, uint32_t row)
{
	size_t at = n->tree_blocks * LANES + row - n->tree_rows;

	blocks_reserve(n, at + 1);
	if (at / LANES == n->block_count) {
		blocks_fill(n, n->block_count++, &row, 1);
	} else {
		row_shorten(n, n->x + row * n->width, slot(n, at), LANES);
		n->row[at] = row;
	}
}

void nearest_add(struct nearest *n, const double *x, size_t rows)
{
	rows_append(n, x, rows);
	for (size_t i = 0; i < rows; i++)
		row_add(n, (uint32_t)n->rows++);
	if (n->width <= TREE_WIDTH && n->rows > LEAF && (n->rows - n->tree_rows) * 4 > n->rows)
		nearest_build(n);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows stand in blocks of eight, input by input, so that eight distances are computed side by side.
 * Up to TREE_WIDTH inputs a tree halves the rows at the median of the input that varies most, both
 * found from a few of them, until some blocks are left: a leaf, with the box around its rows. A
 * search leaves out what is farther than the k nearest so far. With more inputs there is hardly
 * anything to leave out, and all blocks are read. Rows that are added later stand in blocks of
 * their own, which are read one by one, until they are a quarter of all: then the tree is made
 * anew.
 */
#include "learn/data/nearest.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	LANES = 8,	 /* rows of a block */
	LEAF = 64,	 /* rows that are not halved any more */
	TREE_WIDTH = 20, /* inputs up to which a tree is made */
	LOOK = 24,	 /* rows that are looked at to halve a node */
};

#define NOBODY UINT32_MAX /* fills up the last block */

typedef nearest_pair pair;
typedef int64_t mask __attribute__((vector_size(16)));

/* Its left half follows it. A leaf has no right half. */
struct nearest_node {
	double cut; /* rows with a value up to it are in the left half */
	uint32_t input, right;
	uint32_t block, blocks, box; /* of a leaf */
	uint32_t first;		     /* the row that came first */
	size_t from, rows;	     /* of a leaf, in the builder's order */
};

/* ---- blocks ---- */

static double *slot(const struct nearest *n, size_t slot)
{
	return (double *)(n->blocks + slot / LANES * n->width * (LANES / 2)) + slot % LANES;
}

/* Eight rows, or what there are, into a block; row[] must be there already. */
static void block_fill(struct nearest *n, size_t block, const double *const rows[LANES])
{
	pair *to = n->blocks + block * n->width * (LANES / 2);

	for (size_t j = 0; j < n->width; j++) {
		for (size_t l = 0; l < LANES; l += 2)
			*to++ = (pair){ rows[l][j], rows[l + 1][j] };
	}
}

/* Rows order[0 .. rows) of x into blocks from `block` on. The last one is filled up. */
static void blocks_fill(struct nearest *n, size_t block, const double *x, const uint32_t *order,
			size_t rows)
{
	for (size_t i = 0; i < rows; i += LANES, block++) {
		const double *from[LANES];

		for (size_t l = 0; l < LANES; l++) {
			bool there = i + l < rows;

			from[l] = x + (there ? order[i + l] : order[i]) * n->width;
			n->row[block * LANES + l] = there ? order[i + l] : NOBODY;
		}
		block_fill(n, block, from);
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
	n->blocks = xrealloc(n->blocks, n->block_cap, n->width * LANES * sizeof(double));
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

static inline pair lesser(pair a, pair b)
{
	return choose(a < b, a, b);
}

static inline pair greater(pair a, pair b)
{
	return choose(a > b, a, b);
}

/* Without branches, and in lanes that do not wait for each other. */
static void box_make(struct nearest *n, const struct nearest_node *leaf)
{
	double *least = (double *)(n->boxes + leaf->box * box_size(n));
	double *most = least + box_size(n);

	for (size_t j = 0; j < n->width; j++) {
		const pair *values = n->blocks + (leaf->block * n->width + j) * (LANES / 2);
		pair low[LANES / 2], high[LANES / 2];

		memcpy(low, values, sizeof(low));
		memcpy(high, values, sizeof(high));
		for (size_t b = 1; b < leaf->blocks; b++) {
			values += n->width * (LANES / 2);
			for (size_t l = 0; l < LANES / 2; l++) {
				low[l] = lesser(values[l], low[l]);
				high[l] = greater(values[l], high[l]);
			}
		}
		for (size_t l = 1; l < LANES / 2; l++) {
			low[0] = lesser(low[0], low[l]);
			high[0] = greater(high[0], high[l]);
		}
		low[1] = (pair){ low[0][1], low[0][0] };
		high[1] = (pair){ high[0][1], high[0][0] };
		least[j] = lesser(low[0], low[1])[0];
		most[j] = greater(high[0], high[1])[0];
	}
}

static void tree_make(struct nearest *n, const double *x, uint32_t *order, size_t rows)
{
	AUTO_FREE uint32_t *other = xmalloc(rows * sizeof(*other));
	struct builder b = { .x = x, .width = n->width, .order = order, .other = other, .n = n };

	node_make(&b, 0, rows);
	blocks_reserve(n, n->block_count * LANES);
	n->boxes = xmalloc(n->leaf_count * box_size(n) * sizeof(*n->boxes));
	for (size_t i = 0; i < n->node_count; i++) {
		const struct nearest_node *node = &n->nodes[i];

		if (node->right)
			continue;
		blocks_fill(n, node->block, x, order + node->from, node->rows);
		box_make(n, node);
	}
	n->tree_blocks = n->block_count;
	n->tree_rows = rows;
}

static void tree_release(struct nearest *n)
{
	free(n->nodes);
	free(n->boxes);
	n->nodes = NULL;
	n->boxes = NULL;
	n->node_count = n->node_cap = n->leaf_count = n->tree_blocks = n->tree_rows = 0;
}

/* Puts rows of x, numbered as they come, into blocks, by a tree where it helps. */
static void nearest_build(struct nearest *n, const double *x, size_t rows)
{
	AUTO_FREE uint32_t *order = xmalloc(rows * sizeof(*order));

	for (size_t i = 0; i < rows; i++)
		order[i] = (uint32_t)i;
	tree_release(n);
	n->block_count = 0;
	if (n->width <= TREE_WIDTH && rows > LEAF) {
		tree_make(n, x, order, rows);
		return;
	}
	blocks_reserve(n, rows);
	n->block_count = (rows + LANES - 1) / LANES;
	blocks_fill(n, 0, x, order, rows);
}

/* ---- search ---- */

struct search {
	const struct nearest *n;
	const double *at;
	struct nearest_found *best; /* k of them, nearest first */
	size_t k;
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

/* Adds inputs [from, to) of a block to the squared distances. */
static inline __attribute__((always_inline)) void distances_add(pair sums[LANES / 2],
								const pair *block, const double *at,
								size_t from, size_t to)
{
	for (size_t j = from; j < to; j++) {
		for (size_t l = 0; l < LANES / 2; l++) {
			pair off = block[j * (LANES / 2) + l] - at[j];

			sums[l] += off * off;
		}
	}
}

static inline bool any_within(const pair sums[LANES / 2], double limit)
{
	mask within = sums[0] <= limit;

	for (size_t l = 1; l < LANES / 2; l++)
		within |= sums[l] <= limit;
	return within[0] | within[1];
}

static void blocks_search(struct search *s, size_t from, size_t count)
{
	const struct nearest *n = s->n;
	size_t half = n->width >= 8 ? n->width / 2 : 0;

	for (size_t b = from; b < from + count; b++) {
		const pair *block = n->blocks + b * n->width * (LANES / 2);
		double limit = worst(s)->distance;
		pair sums[LANES / 2] = { 0 };

		if (half) {
			/* Most rows are too far away by half of their inputs. */
			distances_add(sums, block, s->at, 0, half);
			if (!any_within(sums, limit))
				continue;
		}
		distances_add(sums, block, s->at, half, n->width);
		if (!any_within(sums, limit))
			continue;
		for (size_t l = 0; l < LANES; l++) {
			if (sums[l / 2][l % 2] <= worst(s)->distance &&
			    n->row[b * LANES + l] != NOBODY)
				found_add(s, sums[l / 2][l % 2], n->row[b * LANES + l]);
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

void nearest_find(const struct nearest *n, const double *row, size_t k, struct nearest_found *found)
{
	struct search s = { .n = n, .at = row, .best = found, .k = k };

	for (size_t i = 0; i < k; i++)
		found[i] = (struct nearest_found){ INFINITY, NOBODY };
	if (n->node_count)
		node_search(&s, 0, 0);
	blocks_search(&s, n->tree_blocks, n->block_count - n->tree_blocks);
	/* A row with values that are not finite is near nothing; the first ones stand in. */
	for (size_t i = 0; i < k; i++) {
		if (found[i].row == NOBODY)
			found[i].row = (uint32_t)i;
	}
}

/* ---- life ---- */

void nearest_init(struct nearest *n, const double *x, size_t rows, size_t width)
{
	*n = (struct nearest){ .width = width, .rows = rows };
	nearest_build(n, x, rows);
}

void nearest_release(struct nearest *n)
{
	free(n->blocks);
	free(n->row);
	tree_release(n);
	*n = (struct nearest){ 0 };
}

double *nearest_unpack(const struct nearest *n)
{
	double *x = xmalloc(n->rows * n->width * sizeof(*x));

	for (size_t i = 0; i < n->block_count * LANES; i++) {
		const double *from = slot(n, i);

		for (size_t j = 0; n->row[i] != NOBODY && j < n->width; j++)
			x[n->row[i] * n->width + j] = from[j * LANES];
	}
	return x;
}

/* The slot of a row outside of the tree. */
static size_t slot_of(const struct nearest *n, size_t row)
{
	return n->tree_blocks * LANES + row - n->tree_rows;
}

static void row_append(struct nearest *n, const double *values)
{
	size_t at = slot_of(n, n->rows), block = at / LANES;
	double *to;

	blocks_reserve(n, at + 1);
	if (block == n->block_count) {
		const double *rows[LANES];

		for (size_t l = 0; l < LANES; l++)
			rows[l] = values;
		block_fill(n, n->block_count++, rows);
		memset(n->row + at, 0xff, LANES * sizeof(*n->row)); /* NOBODY */
	}
	to = slot(n, at);
	for (size_t j = 0; j < n->width; j++)
		to[j * LANES] = values[j];
	n->row[at] = (uint32_t)n->rows++;
}

void nearest_add(struct nearest *n, const double *x, size_t rows)
{
	AUTO_FREE double *all = NULL;

	for (size_t i = 0; i < rows; i++)
		row_append(n, x + i * n->width);
	if (n->width > TREE_WIDTH || n->rows <= LEAF || (n->rows - n->tree_rows) * 4 <= n->rows)
		return;
	all = nearest_unpack(n);
	nearest_build(n, all, n->rows);
}

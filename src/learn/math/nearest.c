/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Most rows are ruled out in single precision, sixteen rows at a time, by a lower bound of |row|^2
 * + |at|^2 - 2 row.at that accounts for rounding. Exact distances are computed only for the few
 * rows that remain.
 *
 * Up to TREE_WIDTH inputs, a tree splits the rows at the median of the input with the largest
 * variance (both estimated from a sample) until some blocks remain: a leaf, with the bounding box
 * of its rows. A search skips whatever is farther away than the k nearest rows so far. With more
 * inputs hardly anything can be skipped, and all blocks are read.
 *
 * Rows that are added later are kept in separate blocks, which are read one by one, until they are
 * a quarter of all rows; then the tree is rebuilt.
 */
#include "learn/math/nearest.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	LANES = 16, /* rows per block */
	QUADS = LANES / 4,
	LEAF = 192,	 /* maximum number of rows of a leaf */
	TREE_WIDTH = 20, /* maximum number of inputs for a tree */
	LOOK = 16,	 /* rows sampled to split a node */
	NARROW = 64,	 /* inputs that fit into a small stack frame */
};

#define NOBODY UINT32_MAX /* pads the last block */

typedef nearest_quad quad;
typedef nearest_pair pair;
typedef int32_t ints __attribute__((vector_size(16)));
typedef int64_t mask __attribute__((vector_size(16)));

/* The left child follows its parent. A leaf has no right child. */
struct nearest_node {
	double cut; /* rows with a value up to this one are in the left child */
	uint32_t input, right;
	uint32_t block, blocks, box; /* blocks of a leaf */
	uint32_t first;		     /* the earliest row */
	size_t from, rows;	     /* rows of a leaf, in the order of the builder */
};

/* A centered and scaled row with a larger square than this always gets an exact distance. */
#define SQUARE_MOST 1e18

/* Allowance for values that underflow in float: |row| is at most 1e9, so this is ample. */
#define SQUARE_SLACK 0x1p-110

/* Marks a row as possibly near, because no bound is known. */
static __attribute__((noinline)) void mark_row_unbounded(float *out, size_t width, size_t step)
{
	for (size_t j = 0; j < width; j++)
		out[j * step] = 0;
	out[width * step] = -INFINITY;
}

/*
 * Writes the values of a row as floats to out[0], out[step], ..., followed by a lower bound of its
 * square. Let u be 2^-24. Rounding to float and summing width + 2 terms changes |row|^2 + |at|^2 -
 * 2 row.at by at most (2 width + 7) u times |row|^2 + |at|^2, so each square is reduced by its
 * share.
 */
static inline __attribute__((always_inline)) void write_float_row(const struct nearest *n,
								  const double *values, float *out,
								  size_t step)
{
	double error = (2 * (double)n->width + 12) * 0x1p-24, square;
	pair sum = { 0 };
	size_t j = 0;

	for (; j + 2 <= n->width; j += 2) {
		pair value, center;

		memcpy(&value, values + j, sizeof(value));
		memcpy(&center, n->center + j, sizeof(center));
		value = value * n->scale - center;
		out[j * step] = (float)value[0];
		out[(j + 1) * step] = (float)value[1];
		sum += value * value;
	}
	if (j < n->width) {
		double value = values[j] * n->scale - n->center[j];

		out[j * step] = (float)value;
		sum[0] += value * value;
	}
	square = sum[0] + sum[1];
	out[n->width * step] = (float)(square * (1 - error) - SQUARE_SLACK * (double)n->width);
	if (!(square < SQUARE_MOST))
		mark_row_unbounded(out, n->width, step);
}

/*
 * Chooses center and scale from a sample of rows. Any choice is correct; this one keeps the most
 * digits.
 */
static void choose_center(struct nearest *n)
{
	size_t stride = n->rows / LOOK + 1, seen = (n->rows + stride - 1) / stride;
	double most = 0;

	for (size_t j = 0; j < n->width; j++)
		n->center[j] = 0;
	for (size_t i = 0; i < n->rows; i += stride) {
		for (size_t j = 0; j < n->width; j++)
			n->center[j] += n->x[i * n->width + j] / (double)seen;
	}
	for (size_t i = 0; i < n->rows; i += stride) {
		for (size_t j = 0; j < n->width; j++)
			most = fmax(most, fabs(n->x[i * n->width + j] - n->center[j]));
	}
	n->scale = most > 0 ? ldexp(1, -(int)fmax(-1000, fmin(1000, ilogb(most)))) : 1;
	for (size_t j = 0; j < n->width; j++)
		n->center[j] *= n->scale;
}

static float *find_slot(const struct nearest *n, size_t slot)
{
	return (float *)(n->blocks + slot / LANES * (n->width + 1) * QUADS) + slot % LANES;
}

/* Writes rows order[0 .. rows) into blocks from `block` on and pads the last one. */
static void fill_blocks(struct nearest *n, size_t block, const uint32_t *order, size_t rows)
{
	size_t at = block * LANES, end = (block + (rows + LANES - 1) / LANES) * LANES;

	for (size_t i = 0; at < end; i++, at++) {
		uint32_t row = order[i < rows ? i : 0];

		n->row[at] = i < rows ? row : NOBODY;
		write_float_row(n, n->x + row * n->width, find_slot(n, at), LANES);
	}
}

/* Reserves at least this number of slots and keeps the contents. */
static void reserve_blocks(struct nearest *n, size_t slots)
{
	size_t need = (slots + LANES - 1) / LANES;

	if (need <= n->block_cap)
		return;
	/*
	 * The first reservation is exact. Later ones grow in steps, because rows may be added one
	 * by one.
	 */
	n->block_cap = n->block_cap ? need + need / 8 : need;
	n->blocks = xrealloc(n->blocks, n->block_cap, (n->width + 1) * LANES * sizeof(float));
	n->row = xrealloc(n->row, n->block_cap, LANES * sizeof(*n->row));
}

struct builder {
	const double *x;
	size_t width;
	uint32_t *order, *other;
	struct nearest *n;
};

/*
 * Finds the input with the largest variance in a sample of every stride-th row. (The range would
 * follow a few outliers.) Returns -1 if all sampled rows are equal.
 */
static int find_widest_input(const struct builder *b, const uint32_t *order, size_t count,
			     size_t stride)
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

/* Finds a cut that leaves rows on both sides: of the sampled values the one nearest the
 * middle. */
static double find_middle_cut(const struct builder *b, const uint32_t *order, size_t count,
			      size_t stride, uint32_t input)
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

/* Finds a cut if all sampled values are equal but others differ. */
static double find_other_cut(const struct builder *b, const uint32_t *order, size_t count,
			     uint32_t input)
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

/* Moves rows with a value up to the cut to the front; returns their number. */
static size_t partition_rows(struct builder *b, size_t from, size_t count, uint32_t input,
			     double cut)
{
	uint32_t *restrict order = b->order + from, *restrict other = b->other;
	const double *restrict x = b->x + input;
	size_t left = 0, right = 0, width = b->width;

	/* Writing to both sides and advancing one of them avoids a mispredicted branch. */
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

static uint32_t make_node(struct builder *b, size_t from, size_t count);

static void split_node(struct builder *b, uint32_t at, size_t from, size_t count, uint32_t input,
		       double cut)
{
	struct nearest *n = b->n;
	size_t left = partition_rows(b, from, count, input, cut);
	uint32_t right;

	make_node(b, from, left);
	right = make_node(b, from + left, count - left);
	n->nodes[at].input = input;
	n->nodes[at].cut = cut;
	n->nodes[at].right = right;
	n->nodes[at].first = n->nodes[at + 1].first < n->nodes[right].first ? n->nodes[at + 1].first
									    : n->nodes[right].first;
}

static void make_leaf(struct builder *b, struct nearest_node *node, size_t from, size_t count)
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

static uint32_t make_node(struct builder *b, size_t from, size_t count)
{
	struct nearest *n = b->n;
	uint32_t at = (uint32_t)n->node_count++;
	const uint32_t *order = b->order + from;
	size_t stride = count / LOOK + 1;
	int input = -1;
	double cut = 0;

	n->nodes = xgrow(n->nodes, &n->node_cap, n->node_count, sizeof(*n->nodes));
	n->nodes[at] = (struct nearest_node){ .first = NOBODY };
	if (count > LEAF && (input = find_widest_input(b, order, count, stride)) >= 0) {
		cut = find_middle_cut(b, order, count, stride, (uint32_t)input);
	} else if (count > LEAF && (input = find_widest_input(b, order, count, 1)) >= 0) {
		cut = find_other_cut(b, order, count, (uint32_t)input);
	}
	if (input >= 0)
		split_node(b, at, from, count, (uint32_t)input, cut);
	else
		make_leaf(b, &n->nodes[at], from, count);
	return at;
}

/* In pairs of doubles. */
static size_t box_size(const struct nearest *n)
{
	return 2 * (n->width / 2 + 1);
}

static inline pair select_pair(mask yes, pair a, pair b)
{
	return (pair)((yes & (mask)a) | (~yes & (mask)b));
}

static inline pair larger_pair(pair a, pair b)
{
	return select_pair(a > b, a, b);
}

static inline double lesser_of(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater_of(double a, double b)
{
	return a > b ? a : b;
}

/* Processes four rows at a time; the last ones may be processed twice. */
static void make_box(struct nearest *n, const struct nearest_node *leaf, const uint32_t *order)
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

static void make_tree(struct nearest *n, uint32_t *order)
{
	AUTO_FREE uint32_t *other = xmalloc(n->rows * sizeof(*other));
	struct builder b = { .x = n->x, .width = n->width, .order = order, .other = other, .n = n };

	make_node(&b, 0, n->rows);
	reserve_blocks(n, n->block_count * LANES);
	n->boxes = xmalloc(n->leaf_count * box_size(n) * sizeof(*n->boxes));
	for (size_t i = 0; i < n->node_count; i++) {
		const struct nearest_node *node = &n->nodes[i];

		if (node->right)
			continue;
		fill_blocks(n, node->block, order + node->from, node->rows);
		make_box(n, node, order + node->from);
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

/* Puts all rows into blocks, ordered by a tree if that helps. */
static void nearest_build(struct nearest *n)
{
	AUTO_FREE uint32_t *order = xmalloc(n->rows * sizeof(*order));

	for (size_t i = 0; i < n->rows; i++)
		order[i] = (uint32_t)i;
	tree_release(n);
	n->block_count = 0;
	choose_center(n);
	if (n->width <= TREE_WIDTH && n->rows > LEAF) {
		make_tree(n, order);
		return;
	}
	reserve_blocks(n, n->rows);
	n->block_count = (n->rows + LANES - 1) / LANES;
	fill_blocks(n, 0, order, n->rows);
}

struct search {
	const struct nearest *n;
	const double *at;
	const float *minus; /* the query in float times -2, then a lower bound of its square */
	struct nearest_found *best; /* the k nearest rows, nearest first */
	size_t k;
	float limit; /* upper bound of the worst distance, in the scale of the blocks */
	double offset[TREE_WIDTH]; /* per input: distance of the query from the node */
};

static inline struct nearest_found *worst_found(struct search *s)
{
	return &s->best[s->k - 1];
}

static void insert_found(struct search *s, double distance, uint32_t row)
{
	struct nearest_found *last = worst_found(s);
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

static double squared_distance(const struct search *s, const double *row)
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

static void check_row(struct search *s, uint32_t row)
{
	double distance = squared_distance(s, s->n->x + row * s->n->width);

	if (!(distance <= worst_found(s)->distance))
		return;
	insert_found(s, distance, row);
	s->limit = (float)(worst_found(s)->distance * s->n->scale * s->n->scale * (1 + 0x1p-20));
}

/* A lower bound of the squared distances of the rows of a block. */
static inline __attribute__((always_inline)) void block_lower_bounds(const quad *block,
								     const float *minus,
								     size_t width,
								     quad least[QUADS])
{
	for (size_t l = 0; l < QUADS; l++)
		least[l] = block[width * QUADS + l] + minus[width];
	for (size_t j = 0; j < width; j++, block += QUADS) {
		for (size_t l = 0; l < QUADS; l++)
			least[l] += block[l] * minus[j];
	}
}

/* One bit per row that may be within the limit. */
static inline unsigned mask_rows_within(const quad least[QUADS], float limit)
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

static void search_blocks(struct search *s, size_t from, size_t count)
{
	const struct nearest *n = s->n;

	for (size_t b = from; b < from + count; b++) {
		unsigned within;
		quad least[QUADS];

		block_lower_bounds(n->blocks + b * (n->width + 1) * QUADS, s->minus, n->width,
				   least);
		within = mask_rows_within(least, s->limit);
		for (; within; within &= within - 1) {
			uint32_t row = n->row[b * LANES + (size_t)__builtin_ctz(within)];

			if (row != NOBODY)
				check_row(s, row);
		}
	}
}

/*
 * True if the bounding box of a leaf is certainly farther away than the worst row, even with
 * rounding.
 */
static bool box_is_far(struct search *s, const struct nearest_node *leaf)
{
	size_t pairs = s->n->width / 2;
	const pair *low = s->n->boxes + leaf->box * box_size(s->n), *high = low + pairs + 1;
	pair sum = { 0 }, zero = { 0 };

	for (size_t j = 0; j < pairs; j++) {
		pair at, away;

		memcpy(&at, s->at + 2 * j, sizeof(at));
		away = larger_pair(larger_pair(low[j] - at, at - high[j]), zero);
		sum += away * away;
	}
	if (s->n->width % 2) {
		double at = s->at[2 * pairs], below = low[pairs][0] - at;
		double above = at - high[pairs][0], away = below > above ? below : above;

		sum[0] += away > 0 ? away * away : 0;
	}
	return sum[0] + sum[1] > worst_found(s)->distance * (1 + 1e-14);
}

/* distance: squared distance from the query to the region of the node. */
static void search_node(struct search *s, uint32_t at, double distance)
{
	const struct nearest_node *node = &s->n->nodes[at];
	double old, away;
	uint32_t near, far;

	if (distance > worst_found(s)->distance ||
	    (distance == worst_found(s)->distance && node->first > worst_found(s)->row))
		return;
	if (!node->right) {
		if (!box_is_far(s, node))
			search_blocks(s, node->block, node->blocks);
		return;
	}
	away = s->at[node->input] - node->cut;
	near = away > 0 ? node->right : at + 1;
	far = away > 0 ? at + 1 : node->right;
	away = fabs(away);
	search_node(s, near, distance);
	old = s->offset[node->input];
	if (away < old)
		away = old;
	s->offset[node->input] = away;
	/*
	 * Slightly less than the sum of squares, so that rounding cannot exclude a row that is
	 * exactly as far away as the worst one.
	 */
	search_node(s, far, (distance + (away * away - old * old)) * (1 - 1e-14));
	s->offset[node->input] = old;
}

static inline __attribute__((always_inline)) void find_with_room(const struct nearest *n,
								 const double *row, size_t k,
								 struct nearest_found *found,
								 float *minus)
{
	struct search s = {
		.n = n, .at = row, .minus = minus, .best = found, .k = k, .limit = INFINITY
	};

	write_float_row(n, row, minus, 1);
	for (size_t j = 0; j < n->width; j++)
		minus[j] *= -2;
	for (size_t i = 0; i < k; i++)
		found[i] = (struct nearest_found){ INFINITY, NOBODY };
	if (n->node_count)
		search_node(&s, 0, 0);
	search_blocks(&s, n->tree_blocks, n->block_count - n->tree_blocks);
}

/* Separate, because a large stack frame costs time even if it is not used. */
static __attribute__((noinline)) void find_wide(const struct nearest *n, const double *row,
						size_t k, struct nearest_found *found)
{
	float minus[NEAREST_WIDTH_MAX + 1];

	find_with_room(n, row, k, found, minus);
}

void nearest_find(const struct nearest *n, const double *row, size_t k, struct nearest_found *found)
{
	float minus[NARROW + 1];

	if (n->width > NARROW)
		find_wide(n, row, k, found);
	else
		find_with_room(n, row, k, found, minus);
	/* A row that is not finite is near nothing; the first rows are returned. */
	for (size_t i = 0; i < k; i++) {
		if (found[i].row == NOBODY)
			found[i].row = (uint32_t)i;
	}
}

static void append_rows(struct nearest *n, const double *x, size_t rows)
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
	n->center = xmalloc(width * sizeof(*n->center));
	append_rows(n, x, rows);
	n->rows = rows;
	nearest_build(n);
}

void nearest_release(struct nearest *n)
{
	free(n->x);
	free(n->center);
	free(n->blocks);
	free(n->row);
	tree_release(n);
	*n = (struct nearest){ 0 };
}

/* Adds a row outside of the tree. */
static void add_loose_row(struct nearest *n, uint32_t row)
{
	size_t at = n->tree_blocks * LANES + row - n->tree_rows;

	reserve_blocks(n, at + 1);
	if (at / LANES == n->block_count) {
		fill_blocks(n, n->block_count++, &row, 1);
	} else {
		write_float_row(n, n->x + row * n->width, find_slot(n, at), LANES);
		n->row[at] = row;
	}
}

void nearest_add(struct nearest *n, const double *x, size_t rows)
{
	append_rows(n, x, rows);
	for (size_t i = 0; i < rows; i++)
		add_loose_row(n, (uint32_t)n->rows++);
	if (n->width <= TREE_WIDTH && n->rows > LEAF && (n->rows - n->tree_rows) * 4 > n->rows)
		nearest_build(n);
}

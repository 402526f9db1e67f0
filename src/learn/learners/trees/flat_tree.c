/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk down a tree waits for one load after another. Eight walks in lockstep hide this latency.
 */
#include "learn/learners/trees/flat_tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "learn/file/blob.h"

enum { LANES = 8 };

void flat_tree_release(struct flat_tree *flat)
{
	free(flat->nodes);
	free(flat->values);
	*flat = (struct flat_tree){ 0 };
}

double flat_tree_cut(double below, double above)
{
	double middle = below / 2 + above / 2;

	/* Between adjacent numbers, and between subnormal ones, the midpoint may be rounded up. */
	return middle >= below && middle < above ? middle : below;
}

static inline const struct flat_tree_node *next_node(const struct flat_tree_node *node,
						     const double *row)
{
	return node + node->child + (row[node->feature] > node->cut);
}

size_t flat_tree_leaf(const struct flat_tree *flat, const double *row)
{
	const struct flat_tree_node *at = flat->nodes;

	while (at->child)
		at = next_node(at, row);
	return (size_t)(at - flat->nodes);
}

/* Moves all lanes to their leaves. */
static inline void walk_lanes(const struct flat_tree_node *at[LANES],
			      const double *const rows[LANES])
{
	uint32_t moved;

	do {
		moved = 0;
		for (int lane = 0; lane < LANES; lane++) {
			moved |= at[lane]->child;
			at[lane] = next_node(at[lane], rows[lane]);
		}
	} while (moved);
}

static void add_value(const struct flat_tree *flat, const struct flat_tree_node *leaf,
		      size_t answers, double *out)
{
	const double *value = flat->values + (size_t)(leaf - flat->nodes) * answers;

	for (size_t i = 0; i < answers; i++)
		out[i] += value[i];
}

void flat_tree_sum(const struct flat_tree *flat, size_t count, size_t answers, const double *row,
		   double *out)
{
	const double *rows[LANES];
	const struct flat_tree_node *at[LANES];

	for (int lane = 0; lane < LANES; lane++)
		rows[lane] = row;
	for (; count >= LANES; count -= LANES, flat += LANES) {
		for (int lane = 0; lane < LANES; lane++)
			at[lane] = flat[lane].nodes;
		walk_lanes(at, rows);
		for (int lane = 0; lane < LANES; lane++)
			add_value(&flat[lane], at[lane], answers, out);
	}
	for (; count; count--, flat++)
		add_value(flat, flat->nodes + flat_tree_leaf(flat, row), answers, out);
}

static void sum_rows(const struct flat_tree *flat, size_t answers, const double *x, size_t width,
		     size_t count, double *out)
{
	const double *rows[LANES];
	const struct flat_tree_node *at[LANES];

	for (; count >= LANES; count -= LANES, x += LANES * width, out += LANES * answers) {
		for (int lane = 0; lane < LANES; lane++) {
			rows[lane] = x + (size_t)lane * width;
			at[lane] = flat->nodes;
		}
		walk_lanes(at, rows);
		for (int lane = 0; lane < LANES; lane++)
			add_value(flat, at[lane], answers, out + (size_t)lane * answers);
	}
	for (; count; count--, x += width, out += answers)
		add_value(flat, flat->nodes + flat_tree_leaf(flat, x), answers, out);
}

/*
 * A tree stays in the cache for a batch of rows. The order of additions is that of flat_tree_sum().
 */
void flat_tree_sum_rows(const struct flat_tree *flat, size_t count, size_t answers, const double *x,
			size_t width, size_t rows, double *out)
{
	for (size_t done = 0; done < rows; done += 256) {
		size_t batch = rows - done < 256 ? rows - done : 256;

		for (size_t i = 0; i < count; i++)
			sum_rows(&flat[i], answers, x + done * width, width, batch,
				 out + done * answers);
	}
}

static void describe_leaf(const double *value, size_t answers, struct buf *out)
{
	for (size_t i = 0; i < answers; i++)
		buf_printf(out, "%s%.4g", i ? " " : "", value[i]);
}

struct describing {
	const struct flat_tree *flat;
	size_t answers;
	const char *const *names;
	unsigned levels;
	struct buf *out;
};

static void describe_node(const struct describing *d, size_t at, unsigned level)
{
	const struct flat_tree_node *node = &d->flat->nodes[at];

	if (!node->child || level == d->levels) {
		buf_puts(d->out, node->child ? ": (more) " : ": ");
		describe_leaf(d->flat->values + at * d->answers, d->answers, d->out);
		buf_putc(d->out, '\n');
		return;
	}
	if (level)
		buf_putc(d->out, '\n');
	for (unsigned side = 0; side < 2; side++) {
		buf_printf(d->out, "%*s%s %s %.6g", (int)(2 * level), "", d->names[node->feature],
			   side ? ">" : "<=", node->cut);
		describe_node(d, at + node->child + side, level + 1);
	}
}

void flat_tree_describe(const struct flat_tree *flat, size_t answers, const char *const *names,
			unsigned levels, struct buf *out)
{
	struct describing d = { flat, answers, names, levels, out };

	if (!flat->nodes->child)
		buf_puts(out, "always");
	describe_node(&d, 0, 0);
}

void flat_tree_save(const struct flat_tree *flat, size_t answers, struct buf *buf)
{
	blob_put_u64(buf, flat->count);
	for (size_t i = 0; i < flat->count; i++) {
		blob_put_real(buf, flat->nodes[i].cut);
		blob_put_u32(buf, flat->nodes[i].child);
		blob_put_u32(buf, flat->nodes[i].feature);
	}
	blob_put_reals(buf, flat->values, flat->count * answers);
}

static bool node_is_valid(const struct flat_tree_node *node, size_t after, size_t width)
{
	if (!node->child)
		return node->cut == INFINITY && node->feature == 0;
	return isfinite(node->cut) && node->feature < width && node->child < after;
}

void flat_tree_load(struct flat_tree *flat, size_t answers, size_t width, struct blob *blob)
{
	size_t count = blob_take_count(blob, 16 + answers * sizeof(double));

	*flat = (struct flat_tree){ 0 };
	if (!blob_expect(blob, count > 0 && count <= FLAT_TREE_NODES_MAX))
		return;
	*flat = (struct flat_tree){ .nodes = xmalloc(count * sizeof(*flat->nodes)),
				    .values = xmalloc(count * answers * sizeof(*flat->values)),
				    .count = count };
	for (size_t i = 0; i < count; i++) {
		struct flat_tree_node *node = &flat->nodes[i];

		node->cut = blob_take_real(blob);
		node->child = blob_take_u32(blob);
		node->feature = blob_take_u32(blob);
		/* The right child follows the left one. */
		blob_expect(blob, node_is_valid(node, count - i - 1, width));
	}
	blob_take_reals(blob, flat->values, count * answers);
	for (size_t i = 0; i < count * answers; i++)
		blob_expect(blob, isfinite(flat->values[i]));
}

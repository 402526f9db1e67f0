/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk waits for one load after the other. Eight walks in step keep the machine busy meanwhile.
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

void wood_release(struct wood *wood)
{
	free(wood->nodes);
	free(wood->values);
	*wood = (struct wood){ 0 };
}

/* The last double that rounds to this float or less. */
static double float_edge(float value)
{
	double edge = ((double)value + (double)nextafterf(value, INFINITY)) / 2;

	return (float)edge <= value ? edge : nextafter(edge, -INFINITY);
}

double wood_cut(float below, float above)
{
	double middle = (double)below / 2 + (double)above / 2;
	float cut = (float)middle;

	if ((double)cut > middle)
		cut = nextafterf(cut, -INFINITY);
	return float_edge(cut);
}

static inline const struct wood_node *step(const struct wood_node *node, const double *row)
{
	return node + node->child + (row[node->feature] > node->cut);
}

size_t wood_leaf(const struct wood *wood, const double *row)
{
	const struct wood_node *at = wood->nodes;

	while (at->child)
		at = step(at, row);
	return (size_t)(at - wood->nodes);
}

/* Moves all lanes to their leaves. */
static inline void lanes_walk(const struct wood_node *at[LANES], const double *const rows[LANES])
{
	uint32_t moved;

	do {
		moved = 0;
		for (int lane = 0; lane < LANES; lane++) {
			moved |= at[lane]->child;
			at[lane] = step(at[lane], rows[lane]);
		}
	} while (moved);
}

static void value_add(const struct wood *wood, const struct wood_node *leaf, size_t answers,
		      double *out)
{
	const double *value = wood->values + (size_t)(leaf - wood->nodes) * answers;

	for (size_t i = 0; i < answers; i++)
		out[i] += value[i];
}

void wood_sum(const struct wood *woods, size_t count, size_t answers, const double *row,
	      double *out)
{
	const double *rows[LANES];
	const struct wood_node *at[LANES];

	for (int lane = 0; lane < LANES; lane++)
		rows[lane] = row;
	for (; count >= LANES; count -= LANES, woods += LANES) {
		for (int lane = 0; lane < LANES; lane++)
			at[lane] = woods[lane].nodes;
		lanes_walk(at, rows);
		for (int lane = 0; lane < LANES; lane++)
			value_add(&woods[lane], at[lane], answers, out);
	}
	for (; count; count--, woods++)
		value_add(woods, woods->nodes + wood_leaf(woods, row), answers, out);
}

static void rows_sum(const struct wood *wood, size_t answers, const double *x, size_t width,
		     size_t count, double *out)
{
	const double *rows[LANES];
	const struct wood_node *at[LANES];

	for (; count >= LANES; count -= LANES, x += LANES * width, out += LANES * answers) {
		for (int lane = 0; lane < LANES; lane++) {
			rows[lane] = x + (size_t)lane * width;
			at[lane] = wood->nodes;
		}
		lanes_walk(at, rows);
		for (int lane = 0; lane < LANES; lane++)
			value_add(wood, at[lane], answers, out + (size_t)lane * answers);
	}
	for (; count; count--, x += width, out += answers)
		value_add(wood, wood->nodes + wood_leaf(wood, x), answers, out);
}

/* A tree stays in the cache for a batch of rows. The order of adding is that of wood_sum(). */
void wood_sum_rows(const struct wood *woods, size_t count, size_t answers, const double *x,
		   size_t width, size_t rows, double *out)
{
	for (size_t done = 0; done < rows; done += 256) {
		size_t batch = rows - done < 256 ? rows - done : 256;

		for (size_t i = 0; i < count; i++)
			rows_sum(&woods[i], answers, x + done * width, width, batch,
				 out + done * answers);
	}
}

static void leaf_describe(const double *value, size_t answers, struct buf *out)
{
	for (size_t i = 0; i < answers; i++)
		buf_printf(out, "%s%.4g", i ? " " : "", value[i]);
}

struct describing {
	const struct wood *wood;
	size_t answers;
	const char *const *names;
	unsigned levels;
	struct buf *out;
};

static void node_describe(const struct describing *d, size_t at, unsigned level)
{
	const struct wood_node *node = &d->wood->nodes[at];

	if (!node->child || level == d->levels) {
		buf_puts(d->out, node->child ? ": (more) " : ": ");
		leaf_describe(d->wood->values + at * d->answers, d->answers, d->out);
		buf_putc(d->out, '\n');
		return;
	}
	if (level)
		buf_putc(d->out, '\n');
	for (unsigned side = 0; side < 2; side++) {
		buf_printf(d->out, "%*s%s %s %.6g", (int)(2 * level), "", d->names[node->feature],
			   side ? ">" : "<=", node->cut);
		node_describe(d, at + node->child + side, level + 1);
	}
}

void wood_describe(const struct wood *wood, size_t answers, const char *const *names,
		   unsigned levels, struct buf *out)
{
	struct describing d = { wood, answers, names, levels, out };

	if (!wood->nodes->child)
		buf_puts(out, "always");
	node_describe(&d, 0, 0);
}

void wood_save(const struct wood *wood, size_t answers, struct buf *buf)
{
	blob_put_u64(buf, wood->count);
	for (size_t i = 0; i < wood->count; i++) {
		blob_put_real(buf, wood->nodes[i].cut);
		blob_put_u32(buf, wood->nodes[i].child);
		blob_put_u32(buf, wood->nodes[i].feature);
	}
	blob_put_reals(buf, wood->values, wood->count * answers);
}

static bool node_sound(const struct wood_node *node, size_t after, size_t width)
{
	if (!node->child)
		return node->cut == INFINITY && node->feature == 0;
	return isfinite(node->cut) && node->feature < width && node->child < after;
}

void wood_load(struct wood *wood, size_t answers, size_t width, struct blob *blob)
{
	size_t count = blob_take_count(blob, 16 + answers * sizeof(double));

	*wood = (struct wood){ 0 };
	if (!blob_expect(blob, count > 0 && count <= WOOD_NODES_MOST))
		return;
	*wood = (struct wood){ .nodes = xmalloc(count * sizeof(*wood->nodes)),
			       .values = xmalloc(count * answers * sizeof(*wood->values)),
			       .count = count };
	for (size_t i = 0; i < count; i++) {
		struct wood_node *node = &wood->nodes[i];

		node->cut = blob_take_real(blob);
		node->child = blob_take_u32(blob);
		node->feature = blob_take_u32(blob);
		/* The right child is one further than the left. */
		blob_expect(blob, node_sound(node, count - i - 1, width));
	}
	blob_take_reals(blob, wood->values, count * answers);
	for (size_t i = 0; i < count * answers; i++)
		blob_expect(blob, isfinite(wood->values[i]));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a file of blocks. They are rejected with an error message, or are the
 * same after they were written and read again.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "predict/forecast/chronicle/blocks.h"

static const uint8_t key[OWNER_KEY_BYTES] = { 1, 2, 3 };

static bool is_same_number(double a, double b)
{
	/* Larger numbers are unrealistic, and the readers of job lists reject them. */
	return a == b || (isnan(a) && isnan(b)) || a > 1e30;
}

static bool is_same_series(const struct chronicle_series *a, const struct chronicle_series *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->time_s[i] != b->time_s[i] || a->seconds[i] != b->seconds[i] ||
		    a->outcome[i] != b->outcome[i])
			return false;
	return true;
}

static bool is_same_snapshot(const struct jobs *a, const struct jobs *b)
{
	if (a->time_s != b->time_s || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct job *one = &a->rows[i], *other = &b->rows[i];

		if (strcmp(one->id, other->id) != 0 || strcmp(one->queue, other->queue) != 0 ||
		    strcmp(one->owner, other->owner) != 0 ||
		    !is_same_number(one->nodes, other->nodes) ||
		    !is_same_number(one->memory_bytes, other->memory_bytes) ||
		    !is_same_number(one->virtual_bytes, other->virtual_bytes) ||
		    !is_same_number(one->used_s, other->used_s) ||
		    !is_same_number(one->allocated_s, other->allocated_s))
			return false;
	}
	return true;
}

/* Targets may have another order, and those without samples are missing. */
static bool is_same(const struct chronicle *a, const struct chronicle *b)
{
	for (size_t i = 0; i < a->target_count; i++)
		for (size_t j = 0; j < a->size_count; j++) {
			const struct chronicle_series *series = chronicle_series(a, i, j);
			int target = chronicle_find_target(b, a->targets[i]);
			int size = chronicle_find_size(b, a->sizes[j]);

			if (series->count &&
			    (target < 0 || size < 0 ||
			     !is_same_series(series,
					     chronicle_series(b, (size_t)target, (size_t)size))))
				return false;
		}
	if (a->snapshot_count != b->snapshot_count || a->node_count != b->node_count)
		return false;
	for (size_t i = 0; i < a->snapshot_count; i++)
		if (!is_same_snapshot(&a->snapshots[i], &b->snapshots[i]))
			return false;
	return true;
}

static void write_and_read(const struct chronicle *chronicle)
{
	struct chronicle again = { 0 };
	struct blocks_facts facts;
	AUTO_BUF struct buf text = { 0 };

	blocks_begin(&text, chronicle);
	blocks_add(&text, chronicle, -INFINITY, INFINITY);
	if (blocks_parse(&again, "again", buf_text(&text), text.len, key, &facts, NULL) < 0 ||
	    facts.torn || !is_same(chronicle, &again))
		abort();
	chronicle_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct chronicle chronicle = { 0 };
	struct err err = { 0 };

	if (blocks_parse(&chronicle, "fuzz", (const char *)data, n, key, NULL, &err) < 0 &&
	    !*err.text)
		abort();
	write_and_read(&chronicle);
	chronicle_release(&chronicle);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a search space as JSON. It is not in space_read.c because names of jansson and base/json.h
 * collide.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "params/space.h"

static void values_write(struct json *j, const char *key, const struct space_dimension *d,
			 const bool *chosen)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < d->count; i++)
		if (!chosen || chosen[i])
			json_text(j, NULL, d->values[i]);
	json_close(j);
}

/* "when" is an object with one entry per dimension, so several conditions on the same dimension are
 * merged to the values that satisfy all of them. */
static void conditions_write(struct json *j, const struct space *space,
			     const struct space_dimension *d)
{
	if (!d->condition_count)
		return;
	json_open(j, "when", '{');
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *other = &space->dimensions[i];
		AUTO_FREE bool *chosen = xcalloc(other->count, sizeof(*chosen));
		bool any = false;

		for (size_t v = 0; v < other->count; v++)
			chosen[v] = true;
		for (size_t k = 0; k < d->condition_count; k++) {
			if (d->conditions[k].dimension != i)
				continue;
			any = true;
			for (size_t v = 0; v < other->count; v++)
				chosen[v] = chosen[v] && d->conditions[k].values[v];
		}
		if (any)
			values_write(j, other->tunable->name, other, chosen);
	}
	json_close(j);
}

static void dimension_write(struct json *j, const struct space *space,
			    const struct space_dimension *d)
{
	json_open(j, NULL, '{');
	json_text(j, "name", d->tunable->name);
	values_write(j, "values", d, NULL);
	json_text(j, "default", d->values[d->initial]);
	if (d->tie_count) {
		json_open(j, "ties", '[');
		for (size_t i = 0; i < d->tie_count; i++)
			json_text(j, NULL, d->ties[i]->name);
		json_close(j);
	}
	conditions_write(j, space, d);
	if (d->file)
		json_text(j, "file", d->file);
	if (d->object)
		json_text(j, "object", d->object);
	json_close(j);
}

int space_write(const struct space *space, struct buf *out)
{
	AUTO_FREE char *text = NULL;
	size_t bytes;
	FILE *stream = xmemstream(&text, &bytes);
	struct json j;

	json_start(&j, stream, "sluice.space/1");
	json_open(&j, "dimensions", '[');
	for (size_t i = 0; i < space->count; i++)
		dimension_write(&j, space, &space->dimensions[i]);
	json_end(&j);
	fclose(stream);
	buf_add(out, text, bytes);
	return 0;
}

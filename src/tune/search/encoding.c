/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/search/encoding.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "params/space.h"

/* Values of the category that accompanies an ordered dimension. */
enum { HAS_PLACE, LEFT_ALONE, NOT_COUNTED };

static bool needs_category(const struct space_dimension *dimension)
{
	for (size_t v = 0; v < dimension->count; v++)
		if (!dimension->values[v])
			return true;
	return dimension->condition_count > 0;
}

/* Spreads the values evenly, without NULL: lists are powers, and their effect is rarely linear. */
static double *spread_places(const struct space_dimension *dimension)
{
	double *places = xcalloc(dimension->count + 1, sizeof(*places));
	size_t values = 0, at = 0;

	for (size_t v = 0; v < dimension->count; v++)
		values += dimension->values[v] != NULL;
	for (size_t v = 0; v < dimension->count; v++) {
		places[v] = values > 1 ? (double)at / (double)(values - 1) : 0.5;
		if (dimension->values[v])
			at++;
		else
			places[v] = NAN;
	}
	return places;
}

void encoding_init(struct encoding *encoding, const struct space *space)
{
	size_t n = space->count;

	*encoding = (struct encoding){ .space = space };
	encoding->first = xcalloc(n + 1, sizeof(size_t));
	encoding->places = xcalloc(n + 1, sizeof(double *));
	encoding->category = xcalloc(2 * n + 1, sizeof(bool));
	for (size_t d = 0; d < n; d++) {
		const struct space_dimension *dimension = &space->dimensions[d];

		encoding->places[d] = spread_places(dimension);
		if (dimension->is_ordered)
			encoding->width++;
		if (!dimension->is_ordered || needs_category(dimension))
			encoding->category[encoding->width++] = true;
		encoding->first[d + 1] = encoding->width;
	}
}

void encoding_release(struct encoding *encoding)
{
	for (size_t d = 0; encoding->places && d < encoding->space->count; d++)
		free(encoding->places[d]);
	free(encoding->places);
	free(encoding->first);
	free(encoding->category);
	*encoding = (struct encoding){ 0 };
}

void encoding_row(const struct encoding *encoding, const size_t *point, double *row, size_t stride)
{
	for (size_t d = 0; d < encoding->space->count; d++) {
		const struct space_dimension *dimension = &encoding->space->dimensions[d];
		double *at = row + encoding->first[d] * stride, place;
		bool counts = space_is_active(encoding->space, point, d);

		if (!dimension->is_ordered) {
			*at = counts ? (double)point[d] : (double)dimension->count;
			continue;
		}
		place = counts ? encoding->places[d][point[d]] : NAN;
		*at = isnan(place) ? 0.5 : place;
		if (encoding->first[d + 1] - encoding->first[d] == 2)
			at[stride] = !counts ? NOT_COUNTED : isnan(place) ? LEFT_ALONE : HAS_PLACE;
	}
}

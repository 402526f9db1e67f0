/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a search space. An accepted space must be consistent: points can be
 * converted to numbers and back, settling a point twice changes nothing, and the space is the same
 * after it was written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "params/space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void point_check(const struct space *space, uint64_t number)
{
	size_t point[SPACE_DIMENSIONS], again[SPACE_DIMENSIONS];
	struct param_set set;

	space_point(space, number, point);
	if (space_number(space, point) != number)
		abort();
	space_settle(space, point);
	memcpy(again, point, sizeof(point));
	space_settle(space, again);
	if (memcmp(point, again, space->count * sizeof(*point)) != 0)
		abort();
	space_allows(space, point);
	space_set(space, point, &set);
	for (size_t i = 0; i < set.count; i++)
		if (!set.params[i].value)
			abort();
	param_set_release(&set);
}

static void write_and_read(struct space *space)
{
	AUTO_BUF struct buf first = { 0 }, second = { 0 };
	struct err err = { 0 };

	space_write(space, &first);
	if (space_read_text(space, "again", first.data, first.len, &err) < 0)
		abort();
	space_write(space, &second);
	if (strcmp(buf_text(&first), buf_text(&second)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct space space = { .context = { .filesystem = FILESYSTEM_LUSTRE } };
	struct err err = { 0 };
	size_t point[SPACE_DIMENSIONS];
	uint64_t points;

	if (space_read_text(&space, "fuzz", (const char *)data, size, &err) < 0) {
		if (!*err.text || space.count)
			abort();
		return 0;
	}
	points = space_points(&space);
	for (uint64_t i = 0; i < 16 && i < points; i++)
		point_check(&space, points - 1 - i * (points / 16));
	space_default(&space, point);
	write_and_read(&space);
	space_release(&space);
	return 0;
}

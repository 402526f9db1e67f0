/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws the accesses and settings, and converts them to and from the lines of collective_io.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "learn/math/random.h"
#include "learn/math/vector.h"
#include "params/set.h"
#include "predict/model/counts/counts.h"
#include "predict/model/measure/validate.h"

/* Of three accesses, two are strided. */
#define KINDS 3
/* Powers of two: smallest size and number of sizes. */
#define CONTIGUOUS_FIRST 18
#define CONTIGUOUS_SIZES 5
#define STRIDED_FIRST 16
#define STRIDED_SIZES 6
#define PIECE_FIRST 6
#define PIECE_SIZES 11
#define PIECES_MAX (UINT64_C(1) << 14)
#define BUFFER_FIRST 18
#define BUFFER_SIZES 7
/* Units of stripes: powers of four. */
#define UNIT_FIRST 16
#define UNIT_SIZES 4

void validate_release(struct validate_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		for (int way = 0; way < VALIDATE_WAYS; way++)
			free(plan->cases[i].runs[way]);
	free(plan->cases);
	free(plan->accesses);
	*plan = (struct validate_plan){ 0 };
}

static uint64_t draw_power(struct random *random, unsigned first, unsigned count)
{
	return UINT64_C(1) << (first + random_below(random, count));
}

/* A power of two, or one and a half times a power of two. */
static uint64_t draw_size(struct random *random, unsigned first, unsigned count)
{
	uint64_t power = draw_power(random, first, count);

	return power + (random_below(random, 2) ? power / 2 : 0);
}

static struct access draw_access(struct random *random, const struct validate_range *range,
				 size_t ranks, size_t number)
{
	struct access a = { .nodes = range->nodes[ranks] ? range->nodes[ranks] : 1,
			    .ranks = range->ranks->items[ranks] };
	uint64_t pieces;

	if (number % KINDS == 0 || !range->least_piece) {
		a.rank_bytes = draw_size(random, CONTIGUOUS_FIRST, CONTIGUOUS_SIZES);
		return a;
	}
	a.pattern = ACCESS_STRIDED;
	a.block_bytes = draw_power(random, PIECE_FIRST, PIECE_SIZES);
	a.block_bytes = a.stride_bytes = u64_max(a.block_bytes, range->least_piece);
	pieces = draw_size(random, STRIDED_FIRST, STRIDED_SIZES) / a.block_bytes;
	a.rank_bytes = a.block_bytes * u64_min(u64_max(pieces, 2), PIECES_MAX);
	return a;
}

static void add_case(struct validate_plan *plan, const struct settings *settings)
{
	plan->cases = xgrow(plan->cases, &plan->cap, plan->count + 1, sizeof(*plan->cases));
	plan->cases[plan->count++] =
		(struct validate_case){ .group = plan->access_count - 1, .settings = *settings };
}

static bool is_independent(const struct machine *machine, const struct access *access)
{
	static const struct settings initial;
	struct counts counts;

	return counts_compute(&counts, machine, access, &initial, NULL) >= 0 &&
	       counts.transfer != TRANSFER_COLLECTIVE;
}

/* Several stripes in random units; nothing on a machine without stripes. */
static void draw_stripes(struct settings *settings, const struct validate_range *range,
			 struct random *random)
{
	unsigned choices = 0;

	while (UINT64_C(2) << choices <= range->most_stripes)
		choices++;
	if (!choices)
		return;
	settings->stripes = draw_power(random, 1, choices);
	settings->stripe_bytes = UINT64_C(1) << (UNIT_FIRST + 2 * random_below(random, UNIT_SIZES));
}

/* The default is one kind of transfer; the others are requested. If files can have several stripes,
 * these are added to both kinds, and to the random settings. */
static void draw_cases(struct validate_plan *plan, const struct validate_range *range,
		       const struct access *access, struct random *random)
{
	struct settings s = { .buffering = BUFFERING_DISABLED };
	struct settings enabled = { .buffering = BUFFERING_ENABLED }, striped;

	add_case(plan, &(struct settings){ 0 });
	if (is_independent(range->machine, access))
		add_case(plan, &enabled);
	else
		add_case(plan, &s);
	if (range->most_stripes > 1) {
		striped = enabled;
		draw_stripes(&striped, range, random);
		add_case(plan, &striped);
	}
	if (range->most_stripes > 1 && !access_has_pieces(access)) {
		striped = s;
		draw_stripes(&striped, range, random);
		add_case(plan, &striped);
	}
	draw_stripes(&enabled, range, random);
	enabled.aggregators = 1 + random_below(random, access->ranks);
	enabled.buffer_bytes = draw_power(random, BUFFER_FIRST, BUFFER_SIZES);
	add_case(plan, &enabled);
	if (!access_has_pieces(access))
		return;
	s.sieve_bytes = draw_power(random, BUFFER_FIRST - 2, BUFFER_SIZES);
	add_case(plan, &s);
	s.sieve_bytes = 0;
	s.sieving = BUFFERING_DISABLED;
	add_case(plan, &s);
}

void validate_draw(struct validate_plan *plan, const struct validate_range *range, size_t count,
		   uint64_t seed)
{
	const struct campaign_numbers *ranks = range->ranks;
	struct random random;

	*plan = (struct validate_plan){ 0 };
	for (size_t r = 0; r < ranks->count; r++) {
		random_stream(&random, seed, ranks->items[r]);
		for (size_t i = 0; i < count; i++) {
			struct access access = draw_access(&random, range, r, i);

			plan->accesses = xgrow(plan->accesses, &plan->access_cap,
					       plan->access_count + 1, sizeof(*plan->accesses));
			plan->accesses[plan->access_count++] = access;
			draw_cases(plan, range, &access, &random);
		}
	}
}

struct access validate_access(const struct validate_plan *plan, size_t group, int way)
{
	struct access access = plan->accesses[group];

	access.is_read = way == VALIDATE_READ;
	return access;
}

size_t validate_find_or_add(struct validate_plan *plan, size_t group,
			    const struct settings *settings)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->cases[i].group == group &&
		    settings_equal(&plan->cases[i].settings, settings))
			return i;
	add_case(plan, settings);
	plan->cases[plan->count - 1].group = group;
	return plan->count - 1;
}

int validate_write_line(const struct validate_plan *plan, size_t at, const struct machine *machine,
			struct buf *out, struct err *err)
{
	const struct validate_case *one = &plan->cases[at];
	struct param_set set = { 0 };
	int r = 0;

	for (int way = 0; r >= 0 && way < VALIDATE_WAYS; way++) {
		struct access access = validate_access(plan, one->group, way);

		r = settings_to_params(&one->settings, machine, &access, &set, err);
		if (way)
			continue;
		buf_printf(out, "%lu", access.rank_bytes);
		if (access.pattern == ACCESS_STRIDED)
			buf_printf(out, "/%lu", access.block_bytes);
	}
	for (size_t i = 0; r >= 0 && i < set.count; i++)
		buf_printf(out, " %s=%s", set.params[i].tunable->name, set.params[i].value);
	buf_putc(out, '\n');
	param_set_release(&set);
	return r;
}

static void take_library(const char *line, struct validate_library *library)
{
	const char *path = strstr(line, " library="), *version = strstr(line, " version=");
	const char *nodes = strstr(line, " nodes=");
	size_t n;

	if (!path || !version || version < path)
		return;
	if (nodes && nodes < path)
		library->nodes = strtoull(nodes + strlen(" nodes="), NULL, 10);
	path += strlen(" library=");
	n = (size_t)(version - path);
	if (n >= sizeof(library->path))
		return;
	memcpy(library->path, path, n);
	library->path[n] = 0;
	snprintf(library->version, sizeof(library->version), "%s", version + strlen(" version="));
}

void validate_take_line(struct validate_plan *plan, const size_t *cases, size_t count,
			const char *line, struct validate_library *library)
{
	static const char name[] = "collective_io ";
	const char *number = strstr(line, " case="), *time = strstr(line, " elapsed_s=");
	int way = strstr(line, " direction=read ") ? VALIDATE_READ : VALIDATE_WRITE;
	struct validate_case *one;
	unsigned long at;
	double seconds;

	if (strncmp(line, name, strlen(name)) != 0)
		return;
	take_library(line, library);
	if (!number || !time || sscanf(number, " case=%lu", &at) != 1 || at < 1 || at > count ||
	    sscanf(time, " elapsed_s=%lf", &seconds) != 1 || !(seconds > 0))
		return;
	one = &plan->cases[cases[at - 1]];
	one->runs[way] = xrealloc(one->runs[way], one->run_count[way] + 1, sizeof(*one->runs[way]));
	one->runs[way][one->run_count[way]++] = seconds;
}

double validate_median(const struct validate_case *one, int way)
{
	size_t count = one->run_count[way];
	AUTO_FREE double *sorted = xmalloc((count + 1) * sizeof(*sorted));

	if (!count)
		return NAN;
	memcpy(sorted, one->runs[way], count * sizeof(*sorted));
	return vector_median(sorted, count);
}

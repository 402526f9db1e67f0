/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/hybrid/choices.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "params/space.h"

void choices_release(struct choices *choices)
{
	free(choices->list);
	buf_release(&choices->unknown);
	*choices = (struct choices){ 0 };
}

static void append_choice(struct choices *c, const struct settings *settings)
{
	c->list = xgrow(c->list, &c->cap, c->count + 1, sizeof(*c->list));
	c->list[c->count++] = *settings;
}

static bool dimension_is_known(const struct space_dimension *dimension,
			       const struct machine *machine, const struct access *access)
{
	bool known = settings_know(dimension->tunable->name, machine, access);

	for (size_t i = 0; i < dimension->tie_count; i++)
		known |= settings_know(dimension->ties[i]->name, machine, access);
	return known;
}

/* Advances to the next point in the free dimensions. Returns false after the last one. */
static bool next_point(const struct space *space, const bool *is_free, size_t *point)
{
	for (size_t i = 0; i < space->count; i++) {
		if (!is_free[i])
			continue;
		if (++point[i] < space->dimensions[i].count)
			return true;
		point[i] = 0;
	}
	return false;
}

static int append_point(struct choices *c, const struct space *space, const size_t *point,
			const struct machine *machine, const struct access *access, struct err *err)
{
	size_t settled[SPACE_DIMENSIONS];
	struct param_set set = { 0 };
	struct settings settings;
	int r;

	memcpy(settled, point, sizeof(settled));
	space_settle(space, settled);
	/* Of points with the same meaning only the canonical one is used. */
	if (memcmp(settled, point, space->count * sizeof(*point)) != 0 ||
	    !space_allows(space, settled))
		return 0;
	space_set(space, settled, &set);
	r = settings_from_params(&settings, machine, access, &set, err);
	param_set_release(&set);
	if (r >= 0)
		append_choice(c, &settings);
	return r;
}

static double count_points(const struct space *space, const bool *is_free)
{
	double count = 1;

	for (size_t i = 0; i < space->count; i++)
		count *= is_free[i] ? (double)space->dimensions[i].count : 1;
	return count;
}

int choices_from_space(struct choices *choices, const struct space *space,
		       const struct machine *machine, const struct access *access, struct err *err)
{
	size_t point[SPACE_DIMENSIONS] = { 0 };
	bool is_free[SPACE_DIMENSIONS];
	struct choices made = { 0 };
	int r = 0;

	for (size_t i = 0; i < space->count; i++) {
		is_free[i] = dimension_is_known(&space->dimensions[i], machine, access);
		point[i] = is_free[i] ? 0 : space->dimensions[i].initial;
		if (!is_free[i])
			buf_printf(&made.unknown, "%s%s", made.unknown.len ? ", " : "",
				   space->dimensions[i].tunable->name);
	}
	if (count_points(space, is_free) > CHOICES_MAX)
		r = err_set(err, E2BIG,
			    "the space has %.0f points, but the limit is %d; use fewer values",
			    count_points(space, is_free), CHOICES_MAX);
	if (r >= 0)
		do {
			r = append_point(&made, space, point, machine, access, err);
		} while (r >= 0 && next_point(space, is_free, point));
	if (r >= 0 && !made.count)
		r = err_set(err, ENODATA, "the space has no allowed point for this access");
	if (r < 0) {
		choices_release(&made);
		return r;
	}
	*choices = made;
	return 0;
}

/* Range of collective buffers; ROMIO stores the size in an int. */
#define BUFFER_MIN (UINT64_C(1) << 20)
#define BUFFER_MAX (UINT64_C(1) << 30)
/* Range of the buffers of data sieving. */
#define SIEVE_MIN (UINT64_C(64) << 10)
#define SIEVE_MAX (UINT64_C(4) << 20)
#define STRIPES_MAX 128
#define STRIPE_BYTES_MAX (64 * BUFFER_MIN)
#define STRIPE_BYTES_MIN (UINT64_C(64) << 10)

struct catalog {
	struct choices made;
	const struct hybrid *hybrid;
	const struct access *access;
};

/* True if the first and full rounds lie in the benchmarked range. Partial rounds may be smaller. */
static bool is_benchmarked(const struct catalog *c, const struct settings *settings)
{
	struct counts counts;

	if (counts_compute(&counts, &c->hybrid->machine, c->access, settings, NULL) < 0)
		return false;
	for (size_t i = 0; i < counts.count; i++) {
		const struct term *term = &counts.terms[i];
		enum operation o = term->operation;

		if (o != OPERATION_WRITE_PARTIAL && o != OPERATION_READ_PARTIAL &&
		    operations[o].kind == OPERATION_STORAGE &&
		    costs_is_outside(&c->hybrid->costs,
				     o == OPERATION_WRITE_CACHED ? OPERATION_WRITE_FIRST : o,
				     &term->at))
			return false;
	}
	return true;
}

static void append_benchmarked(struct catalog *c, const struct settings *s)
{
	if (is_benchmarked(c, s))
		append_choice(&c->made, s);
}

/* Without aggregators, pieces are sieved, with windows of several sizes, or accessed one by one. */
static void append_independent(struct catalog *c, struct settings s)
{
	s.buffering = BUFFERING_DISABLED;
	append_benchmarked(c, &s);
	if (!access_has_pieces(c->access))
		return;
	for (s.sieve_bytes = SIEVE_MIN; s.sieve_bytes <= SIEVE_MAX; s.sieve_bytes *= 8)
		append_benchmarked(c, &s);
	s.sieve_bytes = 0;
	s.sieving = BUFFERING_DISABLED;
	append_benchmarked(c, &s);
}

static void append_bufferings(struct catalog *c, struct settings s)
{
	const struct counts_form *form = counts_form_find(&c->hybrid->machine, NULL);

	append_benchmarked(c, &s);
	if (!form || !form->has_layout)
		return;
	/* Without collective buffering the other settings have no effect. */
	if (!s.aggregators && !s.buffer_bytes)
		append_independent(c, s);
	s.buffering = BUFFERING_ENABLED;
	append_benchmarked(c, &s);
}

/* 0 is the default. The Lustre driver uses the stripe size as buffer size. */
static void append_buffers(struct catalog *c, struct settings s)
{
	append_bufferings(c, s);
	if (c->hybrid->machine.romio == ROMIO_LUSTRE && !c->access->is_read)
		return;
	for (s.buffer_bytes = BUFFER_MIN; s.buffer_bytes <= BUFFER_MAX; s.buffer_bytes *= 2)
		append_bufferings(c, s);
}

static void append_aggregators(struct catalog *c, struct settings s)
{
	const struct machine *machine = &c->hybrid->machine;
	uint64_t most = c->access->ranks;

	if (machine->bridges)
		most = machine->cores * machine->bridge_nodes / machine->bridges;
	append_buffers(c, s);
	for (s.aggregators = 1; s.aggregators < most; s.aggregators *= 2)
		append_buffers(c, s);
	s.aggregators = most;
	if (!machine->bridges)
		append_buffers(c, s);
}

uint64_t hybrid_most_stripes(const struct hybrid *hybrid)
{
	double targets = hybrid->costs.of[OPERATION_WRITE_FIRST].most.receivers;

	if (!hybrid->machine.file_stripes)
		return 0;
	return targets < STRIPES_MAX ? (uint64_t)targets : STRIPES_MAX;
}

/* Stripes that ROMIO does not know of. The units of a single stripe are adjacent. */
static void append_file_stripes(struct catalog *c)
{
	struct settings s = { .stripes = 1 };

	if (c->hybrid->machine.file_stripes != 1 && hybrid_most_stripes(c->hybrid))
		append_aggregators(c, s);
	for (s.stripes = 2; s.stripes <= hybrid_most_stripes(c->hybrid); s.stripes *= 2)
		for (s.stripe_bytes = STRIPE_BYTES_MIN; s.stripe_bytes <= STRIPE_BYTES_MAX;
		     s.stripe_bytes *= 4)
			append_aggregators(c, s);
}

/* A file that is read has its stripes already. */
static void append_stripes(struct catalog *c)
{
	struct settings s = { 0 };

	append_aggregators(c, s);
	if (c->access->is_read)
		return;
	if (c->hybrid->machine.romio != ROMIO_LUSTRE) {
		append_file_stripes(c);
		return;
	}
	for (s.stripes = 1; s.stripes <= STRIPES_MAX; s.stripes *= 2)
		for (s.stripe_bytes = BUFFER_MIN; s.stripe_bytes <= STRIPE_BYTES_MAX;
		     s.stripe_bytes *= 4)
			append_aggregators(c, s);
}

int choices_from_catalog(struct choices *choices, const struct hybrid *hybrid,
			 const struct access *access, struct err *err)
{
	static const struct settings initial;
	struct catalog c = { .hybrid = hybrid, .access = access };
	struct prediction prediction;
	int r = hybrid_predict(hybrid, access, &initial, HYBRID_COVERAGE, &prediction, err);

	if (r < 0)
		return r;
	append_stripes(&c);
	if (!c.made.count || !settings_equal(&c.made.list[0], &initial))
		append_choice(&c.made, &initial);
	*choices = c.made;
	return 0;
}

/*
 * Does a choice keep what is set already? A buffer that is much larger than what is accessed would
 * only take memory of the program.
 */
static bool keeps(const struct settings *choice, const struct settings *opened,
		  const struct access *access)
{
	return choice->buffer_bytes / 2 < access_extent(access) &&
	       (!opened->buffer_bytes || choice->buffer_bytes == opened->buffer_bytes) &&
	       (!opened->sieve_bytes || choice->sieve_bytes == opened->sieve_bytes) &&
	       (!opened->buffering || choice->buffering == opened->buffering) &&
	       (!opened->sieving || choice->sieving == opened->sieving);
}

void choices_while_open(struct choices *choices, const struct hybrid *hybrid,
			const struct access *access, const struct settings *opened)
{
	struct catalog c = { .hybrid = hybrid, .access = access };
	struct settings s = *opened;
	size_t kept = 0;

	s.buffer_bytes = s.sieve_bytes = 0;
	s.buffering = s.sieving = BUFFERING_AUTOMATIC;
	append_buffers(&c, s);
	if (s.aggregators)
		append_independent(&c, s);
	for (size_t i = 0; i < c.made.count; i++)
		if (keeps(&c.made.list[i], opened, access))
			c.made.list[kept++] = c.made.list[i];
	c.made.count = kept;
	*choices = c.made;
}

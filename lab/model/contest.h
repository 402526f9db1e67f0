/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A contest for methods that choose settings of collective accesses: instances (one access each),
 * the choices of settings, and the times of several runs of each choice. The methods are not known
 * here.
 *
 * The choices are all pairs of a number of aggregators and a buffer size; one pair is the default.
 * A method is judged by the mean time of its choice over the runs; methods that learn from runs see
 * single runs.
 */
#ifndef SLUICE_LAB_MODEL_CONTEST_H
#define SLUICE_LAB_MODEL_CONTEST_H

#include <stddef.h>
#include <stdint.h>

#include "predict/model/access.h"
#include "predict/model/machine.h"

struct dataset;
struct err;

struct contest {
	struct machine machine;
	struct access *instances;
	size_t instance_count;
	uint64_t *aggregators, *buffers; /* levels, ascending */
	size_t aggregator_count, buffer_count;
	struct settings *choices; /* aggregators x buffers */
	size_t choice_count;
	size_t initial;	 /* the choice that is the default */
	size_t runs;	 /* of each instance and choice */
	double *seconds; /* instances x choices x runs */
	double *means;	 /* instances x choices */
};

/* The 33 instances and 9 choices of the paper, without times. The machine defines the default. */
int contest_paper(struct contest *contest, const struct machine *machine, struct err *err);

/* Returns the seconds of one run. */
typedef double (*contest_run)(void *arg, const struct access *access,
			      const struct settings *settings, uint64_t run);
/* Calls `run` for all instances and choices. Fails if a time is not positive and finite. */
int contest_measure(struct contest *contest, size_t runs, contest_run run, void *arg,
		    struct err *err);

/*
 * Makes a contest from a table of measured runs with the columns nodes, rank_bytes, aggregators,
 * buffer_bytes, seconds and optionally ranks (default: one per core of the machine). Each row is a
 * run. Every instance must have the same number of runs of each pair of levels, and the default of
 * the machine must be among the pairs. `name` is for messages.
 */
int contest_table(struct contest *contest, const struct machine *machine,
		  const struct dataset *table, const char *name, struct err *err);
int contest_read(struct contest *contest, const struct machine *machine, const char *path,
		 struct err *err);
void contest_release(struct contest *contest);

static inline double contest_mean(const struct contest *contest, size_t instance, size_t choice)
{
	return contest->means[instance * contest->choice_count + choice];
}

/* Seconds of one run; run numbers wrap around after the measured runs. */
static inline double contest_seconds(const struct contest *contest, size_t instance, size_t choice,
				     size_t run)
{
	return contest->seconds[(instance * contest->choice_count + choice) * contest->runs +
				run % contest->runs];
}

/* The mean time of the default divided by that of the choice. */
double contest_gain(const struct contest *contest, size_t instance, size_t choice);

/* The choice with the shortest mean time. */
size_t contest_best(const struct contest *contest, size_t instance);

/*
 * Makes a fractional factorial design: each instance has as many choices as the factor with more
 * levels, with each of its levels once and the levels of the other factor equally often: (i, i + k)
 * with a random k per instance. points receives instance * choice_count + choice, ordered by
 * instance; it has room for instance_count * max(aggregator_count, buffer_count). Returns the
 * number of points.
 */
size_t contest_design(const struct contest *contest, uint64_t seed, size_t *points);

#endif

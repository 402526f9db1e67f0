/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A contest of those who choose settings for collective accesses: instances (an access each), the
 * choices that all have, and what each choice took in each of several measured runs (HYB-4, HYB-5,
 * HYB-48). Who takes part is not known here.
 *
 * The choices are all pairs of a number of aggregators and a buffer size; one pair is the default.
 * What counts is the mean of the runs of a choice; who learns from runs may see single ones.
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
	uint64_t *aggregators, *buffers; /* their levels, ascending */
	size_t aggregator_count, buffer_count;
	struct settings *choices; /* aggregators x buffers */
	size_t choice_count;
	size_t initial;	 /* the choice that is the default */
	size_t runs;	 /* of each instance and choice */
	double *seconds; /* instances x choices x runs */
	double *means;	 /* instances x choices */
};

/* The 33 instances and 9 choices of the paper, without times. machine says what is the default. */
int contest_paper(struct contest *contest, const struct machine *machine, struct err *err);

/* Seconds of one run. */
typedef double (*contest_run)(void *arg, const struct access *access,
			      const struct settings *settings, uint64_t run);
/* Fails where a run takes no time or is not a number. */
int contest_measure(struct contest *contest, size_t runs, contest_run run, void *arg,
		    struct err *err);

/*
 * A contest from a table of measured runs: columns nodes, rank_bytes, aggregators, buffer_bytes,
 * seconds, and ranks (else the machine's cores per node). Each row is a run; every instance must
 * have each pair of levels equally often, the machine's default among them.
 */
int contest_table(struct contest *contest, const struct machine *machine,
		  const struct dataset *table, const char *name, struct err *err);
int contest_read(struct contest *contest, const struct machine *machine, const char *path,
		 struct err *err);
/* And back. */
int contest_write(const struct contest *contest, const char *path, struct err *err);
void contest_release(struct contest *contest);

static inline double contest_mean(const struct contest *contest, size_t instance, size_t choice)
{
	return contest->means[instance * contest->choice_count + choice];
}

/* One run; numbers beyond those that were measured begin again. */
static inline double contest_seconds(const struct contest *contest, size_t instance, size_t choice,
				     size_t run)
{
	return contest->seconds[(instance * contest->choice_count + choice) * contest->runs +
				run % contest->runs];
}

/* Mean time of the default over that of the choice (HYB-48). */
double contest_gain(const struct contest *contest, size_t instance, size_t choice);
size_t contest_best(const struct contest *contest, size_t instance);

/*
 * A fractional factorial design (HYB-45): per instance as many choices as the longer factor has
 * levels, each of its levels once and those of the other equally often: (i, i + k), k drawn per
 * instance. points gets instance * choice_count + choice, in the order of instances; it has room
 * for instance_count times max(aggregator_count, buffer_count). Returns how many.
 */
size_t contest_design(const struct contest *contest, uint64_t seed, size_t *points);

#endif

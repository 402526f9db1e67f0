/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The course of a tuning, as the store has it: the plan and all runs.
 */
#ifndef SLUICE_PLOT_STORED_COURSE_H
#define SLUICE_PLOT_STORED_COURSE_H

#include "plot/plot.h"
#include "tune/loop/plan.h"

struct course_run {
	int64_t number;
	char *phase, *state;
	uint64_t point; /* number in the search space; UINT64_MAX: none */
	double cost;	/* NAN: none */
};

struct course {
	int64_t id;
	char *command;
	double gain, gain_low, gain_high; /* NAN: none was confirmed */
	struct tuning_plan plan;
	struct course_run *runs;
	size_t count, cap;
};

/*
 * Reads the tuning that source->name gives by its number; NULL: the latest. -ENODATA if there is
 * none. The caller releases the course also after a failure.
 */
int course_open(struct course *course, const struct plot_source *source, struct err *err);
void course_release(struct course *course);

/* Starts the figure with a line about the tuning. */
void course_start(const struct course *course, const struct plot_kind *kind, const char *about,
		  struct plot *plot);

/*
 * Converts a cost to the number that is drawn: seconds, or for a bandwidth the seconds per GiB.
 */
double course_seconds(const struct course *course, double cost);
/* "I/O time", "time per GiB written". */
const char *course_cost_title(const struct course *course);

/* The median cost of the runs without parameters; NAN: there is none. */
double course_baseline(const struct course *course);

#endif

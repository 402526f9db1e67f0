/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates the gain of placement from measured times (WAN-37, WAN-38). A point is a time at which
 * one write to every target was measured. A step writes one unit per target in total. A rule
 * divides this volume by its shares, the baseline divides it equally, and v units on a target take
 * v times the measured time. Each repetition draws points at random. Gains are given per metric
 * (placement.h), because a rule that wins by one metric may lose by another.
 */
#ifndef SLUICE_PREDICT_FORECAST_PLACE_STEPS_H
#define SLUICE_PREDICT_FORECAST_PLACE_STEPS_H

#include <stdint.h>

#include "predict/forecast/place/placement.h"

struct chronicle;
struct err;
struct features;
struct forecast;
struct forecaster;

/* Where the states of the targets come from. */
enum steps_source {
	STEPS_FORECAST, /* the models */
	STEPS_TRUTH,	/* the true states, if known: an oracle */
	STEPS_LABELS,	/* the labels drawn from the measured times, which models learn from */
	STEPS_RANDOM,	/* forecasts shuffled among the targets: no information */
	STEPS_MEASURED, /* the measured times: the upper bound */
	STEPS_SOURCES
};
extern const char *const steps_sources[STEPS_SOURCES];

/* The points; arrays have points x targets values unless stated otherwise. */
struct steps {
	size_t targets, points;
	double *time_s; /* per point */
	double *seconds;
	struct placement_target *forecasts;
	bool *truth, *labels; /* true states and labels; NULL: unknown */
	size_t left_out;      /* times at which not all targets were measured */
};

/* Allocates zeroed arrays; `truth` only if has_truth. */
void steps_init(struct steps *steps, size_t points, size_t targets, bool has_truth);
void steps_release(struct steps *steps);

/* Converts a forecast to an allowed placement target. */
struct placement_target steps_target(const struct forecast *forecast);

/* The source of the points. */
struct steps_origin {
	const struct forecaster *forecaster;
	const struct features *features; /* with the forecaster's plan */
	uint64_t bytes;			 /* the write size */
	double from_s, to_s;		 /* times in [from_s, to_s) */
	uint8_t *const *busy;		 /* true states as in struct generated; NULL: unknown */
	uint64_t label_seed;
	unsigned threads;
};

/*
 * Collects every time at which all targets were measured, with the forecast that was possible then.
 * Returns the number of points; -ENODATA if there is none. steps is unchanged on failure.
 */
int steps_gather(struct steps *steps, const struct steps_origin *origin, struct err *err);

/* Share of forecasts whose class equals the given states, steps->truth or labels; NAN: unknown. */
double steps_accuracy(const struct steps *steps, const bool *states);

#define STEPS_FEEDBACKS 8
struct steps_plan {
	size_t points, repetitions; /* 0: 100 each, as in the paper */
	size_t files;		    /* of the adaptive rule, per target; 0: 16 */
	struct placement_limits limits;
	double feedbacks[STEPS_FEEDBACKS]; /* exponents for placement_evaluate(); { 0 } in the paper
					    */
	size_t feedback_count;		   /* 0: one feedback of 0 */
	uint64_t seed;
	unsigned threads;
};

/* Gains of throughput over equal shares; 0.09 means 9 %. */
struct steps_gain {
	double mean;	  /* over steps and repetitions */
	double low, high; /* interval that contains 95 % of the repetitions */
	double total;	  /* gain of the total time of all steps */
	double won, lost; /* share of steps that are faster or slower than with equal shares */
	double worst;	  /* gain of the worst step */
};

struct steps_row {
	enum placement_rule rule;
	enum steps_source source;
	double feedback;
	struct steps_gain gains[PLACEMENT_METRICS];
	double seconds[PLACEMENT_METRICS], equal_seconds[PLACEMENT_METRICS]; /* means */
};

/*
 * Simulates one row per feedback, known source, and rule that uses it. The caller frees *rows. The
 * groups of the slower-group metric are the classes of the row's source, also for equal shares; for
 * STEPS_MEASURED they are those of the forecasts. The same seed gives the same rows on any number
 * of threads. Returns the number of rows.
 */
int steps_run(const struct steps *steps, const struct steps_plan *plan, struct steps_row **rows,
	      struct err *err);

#endif

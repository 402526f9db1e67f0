/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What placement would have gained (WAN-37, WAN-38): a simulation driven by measured times. A point
 * is a moment at which one write to every target was measured. A step writes one unit per target in
 * all; with a rule the volume is divided by its shares, else it is the same everywhere, and v units
 * to a target take v times what was measured. Points are drawn, which is repeated, and every gain
 * names its metric (placement.h), because rules that win by one lose by another.
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

/* What is known of the targets' states before the step. */
enum steps_source {
	STEPS_FORECAST, /* what the models say */
	STEPS_TRUTH,	/* the states as they are, where these are known: an oracle */
	STEPS_LABELS,	/* those drawn from the measured times, which models learn from: another */
	STEPS_RANDOM,	/* forecasts, dealt out among the targets at random: nothing is known */
	STEPS_MEASURED, /* the very times: nobody can do better */
	STEPS_SOURCES
};
extern const char *const steps_sources[STEPS_SOURCES];

/* Points x targets each. */
struct steps {
	size_t targets, points;
	double *time_s; /* of a point */
	double *seconds;
	struct placement_target *forecasts;
	bool *truth, *labels; /* NULL: not known */
	size_t left_out;      /* moments at which not every target was measured */
};

/* Room for points, all zero; truth only if wanted. */
void steps_init(struct steps *steps, size_t points, size_t targets, bool has_truth);
void steps_release(struct steps *steps);

/* A forecast as placement takes it; the target is allowed. */
struct placement_target steps_target(const struct forecast *forecast);

/* What the points come from. */
struct steps_origin {
	const struct forecaster *forecaster;
	const struct features *features; /* made by the forecaster's plan */
	uint64_t bytes;			 /* the size of write */
	double from_s, to_s;		 /* moments in [from_s, to_s) */
	uint8_t *const *busy;		 /* states as struct generated has them; NULL: unknown */
	uint64_t label_seed;
	unsigned threads;
};

/*
 * Every moment at which all of the chronicle's targets were measured, with the forecast that was
 * possible then. -ENODATA where there is none; steps is untouched on failure. Returns how many.
 */
int steps_gather(struct steps *steps, const struct steps_origin *origin, struct err *err);

/* Share of forecasts whose class is that of the true state, and of the label; NAN: unknown. */
double steps_accuracy(const struct steps *steps, const bool *states);

#define STEPS_FEEDBACKS 8
struct steps_plan {
	size_t points, repetitions; /* 0: 100 each, as in the paper */
	struct placement_limits limits;
	double feedbacks[STEPS_FEEDBACKS]; /* of placement_judge(); { 0 } is the paper's */
	size_t feedback_count;		   /* 0: one, of 0 */
	uint64_t seed;
	unsigned threads;
};

/* Gains of throughput over equal shares: 0.09 is 9 %. */
struct steps_gain {
	double mean;	  /* over steps and repetitions */
	double low, high; /* 95 % of the repetitions lie between */
	double total;	  /* of the time that all steps take together */
	double won, lost; /* share of steps that are faster, or slower, than with equal shares */
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
 * A row per feedback, source that is known, and rule that makes use of it; they belong to the
 * caller. The groups of the slower-group metric are the classes by the row's source, for equal
 * shares, too; of STEPS_MEASURED, those of the forecasts. The same seed gives the same rows on any
 * number of threads. Returns how many rows.
 */
int steps_run(const struct steps *steps, const struct steps_plan *plan, struct steps_row **rows,
	      struct err *err);

/* Seconds of a step with the rule's shares and with equal ones. */
struct steps_outcome {
	struct placement_result placed, equal;
};

/*
 * The steps of the first repetition one by one, which is a run of the paper's (Fig. 12): outcomes
 * has room for the plan's points, without feedback. -ENOENT where the source is not known.
 */
int steps_trace(const struct steps *steps, const struct steps_plan *plan, enum placement_rule rule,
		enum steps_source source, struct steps_outcome *outcomes, struct err *err);

/* NULL where there is no such row. */
const struct steps_row *steps_find(const struct steps_row *rows, size_t count,
				   enum placement_rule rule, enum steps_source source,
				   double feedback);

#endif

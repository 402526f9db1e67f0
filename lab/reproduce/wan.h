/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproduces the paper on forecasting busy storage targets (Wan et al., 2019). A struct wan is one
 * generated system with the results of all experiments on it. wan.c computes them once; sheets and
 * plots only read them. wan.c and wan_*.c implement it together.
 */
#ifndef SLUICE_LAB_REPRODUCE_WAN_H
#define SLUICE_LAB_REPRODUCE_WAN_H

#include "base/term.h"
#include "lab/reproduce/reproduce.h"
#include "predict/forecast/place/steps.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/judgment.h"
#include "predict/simulate/system.h"

enum { WAN_TITAN, WAN_CORI, WAN_SYSTEMS };
enum { WAN_PROBE, WAN_64M, WAN_256M, WAN_1G, WAN_SIZES };
#define WAN_SPLITS 3   /* numbers of training days in Figure 11 */
#define WAN_ROCS 3     /* targets in Figures 9 and 10 */
#define WAN_POINTS 100 /* steps in Figure 12 */
#define WAN_BINS 80    /* of a histogram */
#define WAN_SVM 0      /* number of the method for judgment_method() */

extern const char *const wan_sizes[WAN_SIZES];	  /* "1 MB" to "1 GB" */
extern const double wan_train_shares[WAN_SPLITS]; /* 8, 6 and 4 days of 10 */

struct wan_args {
	const char *plots; /* NULL: none */
	uint64_t seed, max_targets;
	bool full, quick, json;
};

/* Numbers of the paper about a system. Arrays of three hold minimum, median and maximum. */
struct wan_paper {
	const char *name, *title;
	double modes_s[2];	     /* modes of the write time of 1 GB */
	double within_s;	     /* most writes take less */
	double span_s, probe_span_s; /* ranges of Figures 4 and 5 */
	double train_share;
	double bound;	/* accuracy that the paper reports for most targets */
	double per_day; /* jobs */
	double small;	/* share of jobs with fewer than 10 nodes */
	double nodes[3], memory_gb[3], hours[3];
	const char *accuracy; /* in words */
};
extern const struct wan_paper wan_papers[WAN_SYSTEMS];

/* One run of the simulation of Figure 12: seconds of each step, by rule and metric. */
struct wan_run {
	double seconds[WAN_POINTS][PLACEMENT_RULES][PLACEMENT_METRICS];
	size_t count;
};

struct wan {
	const struct wan_args *args;
	const struct wan_paper *paper;
	struct system *system;
	struct site site;
	struct generated generated;
	struct chronicle few; /* the first targets, which classifiers are compared on; a view */
	double days;
	struct judgment judged;		    /* all methods and sizes, tested on later days */
	struct judgment folds;		    /* some methods, 1 GB, also cross-validated */
	struct judgment splits[WAN_SPLITS]; /* SVM by number of training days; Titan only */
	/* Placement, Titan only. */
	struct steps steps;
	struct steps_row *rows;
	size_t row_count;
	struct wan_run run;
	struct progress progress;
};

/* Times of the writes of one size to all targets, sorted. The caller frees them. */
double *wan_seconds(const struct wan *wan, size_t size, size_t *count);

struct wan_modes {
	double first_s, second_s; /* second_s is NAN if there is only one mode */
	double width_s;		  /* of a bin */
	double share[WAN_BINS];	  /* share of all writes in each bin; the first bin starts at 0 */
};
/*
 * Makes a histogram from 0 to span_s and finds its two modes: the highest bin, and the bin after it
 * that rises most above the lowest bin between them.
 */
void wan_modes(struct wan_modes *modes, const double *seconds, size_t count, double span_s);

/*
 * A case of Figures 9 and 10, or NULL. The first targets serve as a random sample, because each
 * target is generated from its own random numbers.
 */
const struct judgment_case *wan_roc(const struct wan *wan, size_t which);

/* Figure 8: writes by predicted state. */
struct wan_split {
	double idle, busy;	       /* number of writes */
	double idle_below, busy_below; /* share of them that is faster than bound_s */
	double tail_s;		       /* 95 % quantile of all writes */
	double tail_recall;	       /* share of slower writes that was predicted as busy */
};
void wan_split(const struct wan *wan, double bound_s, struct wan_split *split);

/* Print sheets. */
void wan_add_trace(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS]);
void wan_add_accuracy(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS]);
void wan_add_placement(struct reproduce_output *output, const struct wan *titan);

/* Writes wan-figure4-titan.svg and further files into the directory. */
int wan_plots(const struct wan systems[WAN_SYSTEMS], const char *directory, struct err *err);

#endif

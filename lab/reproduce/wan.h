/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of `sluice reproduce wan` share: a generated system with all that was found out
 * about it, once, for sheets and pictures alike. Whoever looks at it later changes nothing.
 */
#ifndef SLUICE_LAB_REPRODUCE_WAN_H
#define SLUICE_LAB_REPRODUCE_WAN_H

#include "base/term.h"
#include "lab/reproduce/reproduce.h"
#include "predict/forecast/states/judgement.h"
#include "predict/forecast/site.h"
#include "predict/forecast/place/steps.h"
#include "predict/simulate/system.h"

enum { WAN_TITAN, WAN_CORI, WAN_SYSTEMS };
enum { WAN_PROBE, WAN_64M, WAN_256M, WAN_1G, WAN_SIZES };
#define WAN_SPLITS 3 /* of Figure 11 */
#define WAN_ROCS 3   /* targets of Figures 9 and 10 */
#define WAN_POINTS 100
#define WAN_BINS 80
#define WAN_SVM 0 /* of judgement_method() */

extern const char *const wan_sizes[WAN_SIZES];	  /* "1 MB", ... */
extern const double wan_train_shares[WAN_SPLITS]; /* 8, 6 and 4 of 10 days */

/* What the paper says of a system. */
struct wan_paper {
	const char *name, *title;
	double modes_s[2], within_s, span_s; /* of 1 GB; what Figure 4 shows */
	double probe_span_s;		     /* and Figure 5 */
	double train_share;
	double bound; /* accuracy that most targets exceed */
	double per_day, small, nodes[3], memory_gb[3], hours[3];
	const char *accuracy; /* in words */
};
extern const struct wan_paper wan_papers[WAN_SYSTEMS];

/* One run of Figure 12: seconds of each step by rule and metric. */
struct wan_run {
	double seconds[WAN_POINTS][PLACEMENT_RULES][PLACEMENT_METRICS];
	size_t count;
};

struct wan {
	const struct reproduce_args *args;
	const struct wan_paper *paper;
	struct system *system;
	struct site site;
	struct generated generated;
	struct chronicle few; /* its first targets: what classifiers are tried on; a view */
	double days;
	struct judgement judged;	     /* all methods and sizes, on the days after */
	struct judgement folds;		     /* some methods, 1 GB, in folds as well */
	struct judgement splits[WAN_SPLITS]; /* SVM by days to train on; Titan only */
	/* Placement, Titan only. */
	struct steps steps;
	struct steps_row *rows;
	size_t row_count;
	struct wan_run run;
	struct progress progress;
};

/* Does all the work; wan is empty on failure. */
int wan_open(struct wan *wan, const struct reproduce_args *args, size_t system, struct err *err);
void wan_close(struct wan *wan);

/* Writes of a size to all targets, sorted; the caller's to free. */
double *wan_seconds(const struct wan *wan, size_t size, size_t *count);

struct wan_modes {
	double first_s, second_s; /* second_s is NAN where there is one only */
	double width_s;		  /* of a bin */
	double share[WAN_BINS];	  /* of all writes, from 0 on */
};
/* A histogram from 0 to span_s and its two peaks: the highest, and the one that rises most behind.
 */
void wan_modes(struct wan_modes *modes, const double *seconds, size_t count, double span_s);

/*
 * The case of Figures 9 and 10, or NULL. The first targets are as good as drawn: each is generated
 * from random numbers of its own.
 */
const struct judgement_case *wan_roc(const struct wan *wan, size_t which);

/* Figure 8: writes by predicted state, over all targets that placement was tried on. */
struct wan_split {
	double idle, busy, idle_below, busy_below, tail_s, tail_recall;
};
void wan_split(const struct wan *wan, double bound_s, struct wan_split *split);

/* Sheets, of both systems side by side. */
void wan_put_trace(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS]);
void wan_put_judged(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS]);
void wan_put_steps(struct reproduce_output *output, const struct wan *titan);

/* wan-figure4-titan.svg and so on. */
int wan_plots(const struct wan systems[WAN_SYSTEMS], const char *folder, struct err *err);

#endif

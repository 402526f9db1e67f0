/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproduces the paper on auto-tuning parallel I/O (Behzad et al., SC 2013). A cell is one kernel
 * on one platform at one scale, with the results of the default settings, of a search and of the
 * optimum. behzad.c, behzad_tables.c, behzad_figures.c and behzad_results.c implement it together.
 */
#ifndef SLUICE_LAB_REPRODUCE_BEHZAD_H
#define SLUICE_LAB_REPRODUCE_BEHZAD_H

#include "lab/reproduce/optimum.h"
#include "lab/reproduce/reproduce.h"
#include "tune/search/search.h"

#define BEHZAD_RUNS 600	  /* budget of the paper: 15 individuals, 40 generations */
#define BEHZAD_RANKS 2048 /* scale of the figures and of Table 5 */

struct behzad_args {
	const char *search, *plots; /* plots NULL: none */
	uint64_t seed;
	bool json;
};

struct cell {
	struct platform *platform;
	struct workload workload;
	struct space space;
	struct simulated initial;     /* with the default settings of the site */
	struct simulated found, best; /* results of cell_search() and cell_optimize() */
	size_t found_point[SPACE_DIMENSIONS], best_point[SPACE_DIMENSIONS];
	struct search_counts counts; /* of cell_search() */
	double tried[BEHZAD_RUNS];   /* rates of the runs of cell_search() */
	size_t tried_count;
};

struct behzad {
	const struct behzad_args *args;
	struct reproduce_output output;
	struct cell *cells; /* of Table 4, in its order, see behzad_cells() */
	size_t cell_count;
};

/*
 * Searches and optimizes all cells of Table 4, unless that has been done. The cells remain until
 * the end of the command. Tables and figures share them.
 */
int behzad_cells(struct behzad *behzad, struct err *err);

/* On failure there is nothing to close. */
int cell_open(struct cell *cell, const char *platform, const char *kernel, uint64_t ranks,
	      struct err *err);
void cell_close(struct cell *cell);

/* Searches as the paper did: at most BEHZAD_RUNS runs; keeps the best one. */
int cell_search(struct cell *cell, const struct behzad_args *args, struct err *err);

/* Finds the optimum: tries every point of the space. */
int cell_optimize(struct cell *cell, struct err *err);

int behzad_table2(struct behzad *behzad, struct err *err);
int behzad_table3(struct behzad *behzad, struct err *err);
int behzad_table4(struct behzad *behzad, struct err *err);
int behzad_table5(struct behzad *behzad, struct err *err);
int behzad_figure6(struct behzad *behzad, struct err *err);
int behzad_figure7(struct behzad *behzad, struct err *err);
int behzad_figure8(struct behzad *behzad, struct err *err);
int behzad_figure13(struct behzad *behzad, struct err *err);

/* Figures 9 to 12: the rate as a function of one size. */
struct sweep {
	const char *name, *title, *platform, *kernel, *tunable;
	const char *fixed; /* NAME=VALUE that the paper kept constant, or NULL */
	const char *note;
};
extern const struct sweep behzad_sweeps[]; /* ends with a row without a name */
int behzad_sweep(struct behzad *behzad, const struct sweep *sweep, struct err *err);

#endif

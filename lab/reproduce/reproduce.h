/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of `sluice reproduce` share: cells, that is a kernel on a platform at a scale with
 * what each way of tuning makes of it, and where sheets go.
 */
#ifndef SLUICE_LAB_REPRODUCE_REPRODUCE_H
#define SLUICE_LAB_REPRODUCE_REPRODUCE_H

#include "cli/sheet.h"
#include "lab/reproduce/optimum.h"
#include "tune/search/search.h"

#define REPRODUCE_MB 1e6
#define REPRODUCE_RUNS 600 /* GA-3: 15 individuals, 40 generations */

struct json;

struct reproduce_args {
	const char *search;
	uint64_t seed;
	bool json;
	/* isaila; plots and full are wan's, too */
	const char *plots; /* NULL: none */
	uint64_t repetitions, budget;
	int law, policy;
	bool full;
	/* wan */
	uint64_t targets;
	bool quick;
};

struct reproduce_output {
	const struct reproduce_args *args;
	struct json *json; /* NULL: text */
	size_t sheets;	   /* that were put */
};

/* Prints the sheet and releases it. */
void reproduce_put(struct reproduce_output *output, struct sheet *sheet);

struct cell {
	struct platform *platform;
	struct workload workload;
	struct space space;
	struct simulated initial;     /* at the site's defaults */
	struct simulated found, best; /* by cell_search() and cell_optimise() */
	size_t found_point[SPACE_DIMENSIONS], best_point[SPACE_DIMENSIONS];
	struct search_counts counts;
};

int cell_open(struct cell *cell, const char *platform, const char *kernel, uint64_t ranks,
	      struct err *err);
void cell_close(struct cell *cell);

/* As the paper did it: a search with its budget, which keeps the best it has seen. */
int cell_search(struct cell *cell, const struct reproduce_args *args, struct err *err);

/* Every point of the space. */
int cell_optimise(struct cell *cell, struct err *err);

int reproduce_table2(struct reproduce_output *output, struct err *err);
int reproduce_table3(struct reproduce_output *output, struct err *err);
int reproduce_table4(struct reproduce_output *output, struct err *err);
int reproduce_table5(struct reproduce_output *output, struct err *err);
int reproduce_figure7(struct reproduce_output *output, struct err *err);

/* Of the paper on collective I/O. */
int reproduce_isaila(struct reproduce_output *output, struct err *err);

/* Of the paper on forecasts of storage targets. */
int reproduce_wan(struct reproduce_output *output, struct err *err);

/* Figures 9 to 12: how a size changes the rate. */
struct sweep {
	const char *name, *title, *platform, *kernel, *tunable;
	const char *fixed; /* NAME=VALUE that the paper held; NULL: none */
	const char *note;
};
extern const struct sweep reproduce_sweeps[]; /* ends with one without name */
int reproduce_sweep(struct reproduce_output *output, const struct sweep *sweep, struct err *err);

#endif

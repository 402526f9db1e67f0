/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The application of the SIOX paper: the run time of a climate model without recording, with one
 * recorded layer and with two, and for twice the simulated time. A small program takes the place of
 * ICON: kernels/climate.c, on up to 12 processes.
 * Papers: SIOX-59, SIOX-AC-13.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "chart/chart.h"
#include "lab/reproduce/siox.h"

#define RANKS_MAX 12 /* the cores of the paper's node */
#define WORK "200"   /* rounds per step */
#define FIRST_STEPS 40
#define STEPS_LEAST 20
#define LENGTHS 2

enum layers { POSIX_ONLY, MPI_ONLY, BOTH, LAYERS };

/* One layer is recorded: calls of MPI are by linked wrappers, which do not see those of the
 * library. */
static const struct layer {
	const char *title, *word;
	bool is_linked;
	double paper_s[LENGTHS]; /* overhead; NAN: within the error of the shorter run */
	double bound_percent;
} layers[LAYERS] = {
	{ "POSIX", "posix", false, { 2.75, NAN }, 3 },
	{ "MPI", "mpi", true, { 2.75, 4.5 }, 3 },
	{ "POSIX and MPI", "both", false, { 5, NAN }, 5 },
};

static const double paper_base_s[LENGTHS] = { 100.7, 193.3 };

struct application {
	char ranks[8];
	uint64_t steps[LAYERS]; /* of the shorter run; 0: the programs are missing */
	/* Seconds without [0] and with [1] recording. */
	struct siox_sample wall[LENGTHS][LAYERS][2], cpu[LENGTHS][LAYERS][2];
};

/* One run of a layer. Returns the output, which the caller frees. */
static char *run_layer(struct siox *siox, const struct application *app, const struct layer *layer,
		       uint64_t steps, bool recorded, const char *round, struct err *err)
{
	AUTO_FREE char *count = xprintf("%llu", (unsigned long long)steps);
	AUTO_FREE char *key = xprintf("application-%s-%s-%s-%s-%s", layer->word, app->ranks, count,
				      recorded ? "recorded" : "base", round);
	struct siox_command command = { 0 };

	if (recorded)
		siox_add_sluice(siox, &command, layer->is_linked, NULL);
	siox_add_ranks(siox, &command, app->ranks);
	siox_add_all(&command,
		     (const char *const[]){ recorded && layer->is_linked ? siox->climate_linked
									 : siox->climate,
					    count, WORK, layer->word, NULL });
	return siox_run(siox, key, &command, err);
}

/*
 * Chooses the number of steps so that each process takes scale.seconds of CPU time. The choice is
 * kept with the results, because the keys of the runs contain it.
 */
static int choose_steps(struct siox *siox, struct application *app, struct err *err)
{
	AUTO_FREE char *round = xprintf("calibration-%g", siox->scale.seconds);
	double wanted = siox->scale.seconds * strtod(app->ranks, NULL), seconds;
	AUTO_FREE char *output =
		run_layer(siox, app, &layers[POSIX_ONLY], FIRST_STEPS, false, round, err);

	if (!output)
		return -err->code;
	seconds = siox_number(output, "wall_s=", "cpu_s");
	for (int i = 0; i < LAYERS; i++) {
		double steps = FIRST_STEPS * wanted / fmax(seconds, 1e-3);

		/* A multiple of the steps between writes. */
		app->steps[i] = (uint64_t)fmax(steps / STEPS_LEAST, 1) * STEPS_LEAST;
		if (layers[i].is_linked && !siox->climate_linked)
			app->steps[i] = 0;
	}
	return 0;
}

static int measure_pair(struct siox *siox, struct application *app, size_t length, size_t i,
			uint64_t round, struct err *err)
{
	AUTO_FREE char *number = xprintf("%llu", (unsigned long long)round);

	for (int n = 0; n < 2; n++) {
		/* The order alternates, so that a drift of the machine affects both. */
		bool recorded = (round + (uint64_t)n) % 2;
		AUTO_FREE char *output = run_layer(
			siox, app, &layers[i], app->steps[i] * (length + 1), recorded, number, err);

		if (!output)
			return -err->code;
		siox_sample_add(&app->wall[length][i][recorded],
				siox_number(output, "wall_s=", "wall_s"));
		siox_sample_add(&app->cpu[length][i][recorded],
				siox_number(output, "wall_s=", "cpu_s"));
	}
	return 0;
}

static int measure_application(struct siox *siox, struct application *app, struct err *err)
{
	int r = choose_steps(siox, app, err);

	for (uint64_t round = 1; round <= siox->scale.repeat; round++)
		for (size_t length = 0; length < LENGTHS; length++)
			for (size_t i = 0; i < LAYERS && r >= 0; i++)
				if (app->steps[i])
					r = measure_pair(siox, app, length, i, round, err);
	return r;
}

/* Overhead in percent, of medians of elapsed time or of the least CPU time. */
static double wall_percent(const struct application *app, size_t length, size_t i)
{
	const struct siox_sample *wall = app->wall[length][i];

	return 100 * (siox_sample_median(&wall[1]) / siox_sample_median(&wall[0]) - 1);
}

static double cpu_percent(const struct application *app, size_t length, size_t i)
{
	const struct siox_sample *cpu = app->cpu[length][i];

	return 100 * (siox_sample_least(&cpu[1]) / siox_sample_least(&cpu[0]) - 1);
}

static void add_sheet(struct siox *siox, const struct application *app)
{
	static const struct sheet_column columns[] = { { ">length", "length", 0 },
						       { "recorded", "layers", 0 },
						       { ">paper: base s", "paper_base_s", 1 },
						       { ">overhead s", "paper_overhead_s", 2 },
						       { ">%", "paper_percent", 1 },
						       { ">here: base s", "base_s", 3 },
						       { ">overhead s", "overhead_s", 3 },
						       { ">%", "percent", 2 },
						       { ">base CPU s", "base_cpu_s", 3 },
						       { ">CPU overhead %", "cpu_percent", 2 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "application", "Application: overhead of one and of two recorded layers",
		   columns);
	for (size_t length = 0; length < LENGTHS; length++)
		for (size_t i = 0; i < LAYERS; i++) {
			const struct siox_sample *wall = app->wall[length][i];
			double base = paper_base_s[length], paper = layers[i].paper_s[length];

			sheet_number(&sheet, (double)length + 1);
			sheet_text(&sheet, "%s", layers[i].title);
			sheet_number(&sheet, base);
			sheet_number(&sheet, paper);
			sheet_number(&sheet, 100 * paper / base);
			sheet_number(&sheet, siox_sample_median(&wall[0]));
			sheet_number(&sheet,
				     siox_sample_median(&wall[1]) - siox_sample_median(&wall[0]));
			sheet_number(&sheet, wall_percent(app, length, i));
			sheet_number(&sheet, siox_sample_least(&app->cpu[length][i][0]));
			sheet_number(&sheet, cpu_percent(app, length, i));
		}
	sheet_note(&sheet,
		   "Here: %s processes, medians of %llu runs; CPU time of all processes, least of "
		   "them.",
		   app->ranks, (unsigned long long)siox->scale.repeat);
	sheet_note(&sheet,
		   "Paper: ICON on 12 cores, 2.5 to 3.0 s with one layer; for twice the simulated "
		   "time, the overhead grows beyond its error only with MPI.");
	siox_note_mpi(siox, &sheet);
	reproduce_add_sheet(&siox->output, &sheet);
}

static int draw_chart(const struct siox *siox, const struct application *app, struct err *err)
{
	static const char *const names[] = { "paper", "elapsed time", "CPU time" };
	struct chart chart;
	size_t series[3];

	chart_init(&chart, "Application: overhead of recording", "length and recorded layers",
		   "percent of the run without recording");
	for (size_t i = 0; i < 3; i++)
		series[i] = chart_series(&chart, CHART_BARS, names[i]);
	for (size_t length = 0; length < LENGTHS; length++)
		for (size_t i = 0; i < LAYERS; i++) {
			chart_category(&chart, "%zu: %s", length + 1, layers[i].title);
			chart_value(&chart, series[0],
				    100 * layers[i].paper_s[length] / paper_base_s[length]);
			chart_value(&chart, series[1], wall_percent(app, length, i));
			chart_value(&chart, series[2], cpu_percent(app, length, i));
		}
	return siox_save_chart(siox, &chart, "application", err);
}

static void judge(struct siox *siox, const struct application *app)
{
	bool holds = true;

	for (size_t i = 0; i < LAYERS; i++) {
		double percent = cpu_percent(app, 0, i);

		/* A layer that was not measured does not hold. */
		holds = holds && percent <= layers[i].bound_percent &&
			cpu_percent(app, 1, i) <= percent;
	}
	siox_check_add(siox, "SIOX-AC-13", holds,
		       "overhead at most 3 % with one layer and 5 % with two on a run of 100 s; "
		       "falls when the run is twice as long",
		       xprintf("CPU time of %s processes of %g s each: POSIX %.2f %%, MPI %.2f %%, "
			       "both %.2f %%; twice as long: %.2f, %.2f and %.2f %%",
			       app->ranks, siox->scale.seconds, cpu_percent(app, 0, POSIX_ONLY),
			       cpu_percent(app, 0, MPI_ONLY), cpu_percent(app, 0, BOTH),
			       cpu_percent(app, 1, POSIX_ONLY), cpu_percent(app, 1, MPI_ONLY),
			       cpu_percent(app, 1, BOTH)));
}

int siox_application(struct siox *siox, struct err *err)
{
	struct application app = { 0 };
	unsigned ranks = parallel_cores();
	int r = 0;

	snprintf(app.ranks, sizeof(app.ranks), "%u", ranks < RANKS_MAX ? ranks : RANKS_MAX);
	if (siox_has_mpi(siox))
		r = measure_application(siox, &app, err);
	if (r < 0)
		return r;
	add_sheet(siox, &app);
	if (app.steps[BOTH])
		judge(siox, &app);
	return draw_chart(siox, &app, err);
}

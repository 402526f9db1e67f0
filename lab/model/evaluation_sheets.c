/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sheets of an evaluation, with the numbers that Isaila et al. print. Cells that the paper does
 * not print are empty.
 * Papers: HYB-42, HYB-43.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "lab/model/evaluation.h"
#include "learn/judge/metrics.h"

#define MIB 1048576.0

struct printed_score {
	const char *name, *title;
	double r2, rmse;
	const char *method; /* that won in the paper */
};

static const struct printed_score printed_scores[] = {
	{ "ml", "black box", 0.85, 17.9, "svm" },
	{ "aa", "alltoall", 0.89, 0.358, "svm" },
	{ "aav", "alltoallv", 0.88, 67.3, "svm" },
	{ "ar", "allreduce", 0.84, 4.58e-4, "rules" },
	{ "s_nl_full", "full round", 0.57, 1.89, "neighbors" },
	{ "s_lock", "first round", 0.79, 0.285, "neighbors" },
	{ "s_nl_partial", "partial round", 0.83, 0.249, "neighbors" },
};

static void add_score(struct sheet *sheet, const struct printed_score *printed, const char *method,
		      double rows, double r2, double rmse, double log_r2)
{
	sheet_text(sheet, "%s", printed->name);
	sheet_text(sheet, "%s", printed->title);
	sheet_text(sheet, "%s", method);
	sheet_text(sheet, "%s", printed->method);
	sheet_number(sheet, rows);
	sheet_number(sheet, r2);
	sheet_number(sheet, printed->r2);
	sheet_text(sheet, "%.3g", rmse);
	sheet_text(sheet, "%.3g", printed->rmse);
	sheet_number(sheet, log_r2);
}

static void make_scores(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { "model", "model", 0 },
						       { "operation", "of", 0 },
						       { "method", "method", 0 },
						       { "paper", "paper_method", 0 },
						       { ">rows", "rows", 0 },
						       { ">~R2", "r2", 2 },
						       { ">paper", "paper_r2", 2 },
						       { ">RMSE s", "rmse", 0 },
						       { ">paper", "paper_rmse", 0 },
						       { ">R2 of log", "log_r2", 2 },
						       { 0 } };
	const struct study *study = &evaluation->study;
	size_t trained = evaluation->ml_sizes[0].rows;

	sheet_init(sheet, "table2", "Table 2: cross-validation of the learned models", columns);
	add_score(sheet, &printed_scores[0], study->seconds_score.method, (double)trained,
		  study->seconds_score.r2, study->seconds_score.rmse, study->logarithms_score.r2);
	for (size_t i = 1; i < sizeof(printed_scores) / sizeof(*printed_scores); i++) {
		int operation = operation_by_name(printed_scores[i].name);
		const struct cost *cost = operation < 0 ? NULL : &study->hybrid.costs.of[operation];

		if (!cost || !cost->is_fitted)
			continue;
		add_score(sheet, &printed_scores[i],
			  cost->entry_count ? cost->entries[0].learner : "line", (double)cost->rows,
			  cost->score.r2, cost->score.rmse, cost->score.log_r2);
	}
	sheet_note(sheet,
		   "Methods are selected by cross-validation. Costs are learned as logarithms. The "
		   "black box learns seconds; its last column is that of a second black box, which "
		   "learns logarithms (%s). The paper's methods: svm with a radial kernel, rules "
		   "(Cubist), neighbors (k-NN).",
		   study->logarithms_score.method);
}

/* Readings of the paper, and forms of its model; each differs from the first in one rule. */
static const struct {
	const char *title;
	struct bluegene_rules rules;
} readings[] = {
	{ "published", { 0 } },
	{ "message of one process (--message process)", { .message = MESSAGE_PROCESS } },
	{ "intermediate form (--incomplete full)", { .incomplete = INCOMPLETE_FULL } },
	{ "preprint (--incomplete none)", { .incomplete = INCOMPLETE_NONE } },
	{ "naive form (--incomplete naive)", { .incomplete = INCOMPLETE_NAIVE } },
	{ "single round charged once (--single corrected)", { .single = SINGLE_CORRECTED } },
	{ "rounds of ROMIO on GPFS (--rounds domains)", { .rounds = ROUNDS_DOMAINS } },
};

static size_t find_least(const double *values, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (values[i] < values[best])
			best = i;
	return best;
}

/* Adds a row: how a reading ranks the settings of each instance, compared with the published one.
 */
static void add_reading(struct sheet *sheet, const struct evaluation *evaluation, size_t which)
{
	const struct contest *contest = &evaluation->contest;
	struct hybrid hybrid = evaluation->study.hybrid;
	AUTO_FREE double *published = xmalloc(contest->choice_count * sizeof(*published));
	AUTO_FREE double *times = xmalloc(contest->choice_count * sizeof(*times));
	double tau = 0, least = 1, gain = 0;
	size_t differ = 0, n = contest->instance_count;

	for (size_t i = 0; i < n; i++) {
		const struct access *access = &contest->instances[i];
		size_t best;
		double one;

		bluegene_attach(&hybrid.machine, &readings[0].rules);
		hybrid_times(&hybrid, access, contest->choices, contest->choice_count, published,
			     NULL);
		bluegene_attach(&hybrid.machine, &readings[which].rules);
		hybrid_times(&hybrid, access, contest->choices, contest->choice_count, times, NULL);
		best = find_least(times, contest->choice_count);
		differ += best != find_least(published, contest->choice_count);
		one = metrics_kendall(published, times, contest->choice_count);
		tau += one / (double)n;
		least = fmin(least, one);
		gain += contest_mean(contest, i, contest->initial) /
			contest_mean(contest, i, best) / (double)n;
	}
	sheet_text(sheet, "%s", readings[which].title);
	sheet_number(sheet, (double)differ);
	sheet_number(sheet, tau);
	sheet_number(sheet, least);
	sheet_number(sheet, gain);
}

static void make_readings(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = {
		{ "reading", "reading", 0 },	{ ">~other choice", "differ", 0 },
		{ ">tau", "tau", 2 },		{ ">least tau", "least_tau", 2 },
		{ ">mean speedup", "mean", 3 }, { 0 }
	};
	size_t count = evaluation->contest.machine.romio == ROMIO_BLUEGENE
			       ? sizeof(readings) / sizeof(*readings)
			       : 1;

	sheet_init(sheet, "readings", "Readings of the paper: ranking of the settings", columns);
	for (size_t i = 0; i < count; i++)
		add_reading(sheet, evaluation, i);
	sheet_note(
		sheet,
		"Compared with the published form, by the model of the first repetition: number of "
		"instances with another best setting, and rank correlation of the predicted times "
		"(mean and least of all instances). Mean speedup of the best setting over the "
		"default.");
}

static void add_count(struct sheet *sheet, const char *what, double ours, double paper)
{
	sheet_text(sheet, "%s", what);
	sheet_number(sheet, ours);
	sheet_number(sheet, paper);
}

static void make_headroom(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { "instances", "what", 0 },
						       { ">~Sluice", "ours", 0 },
						       { ">paper", "paper", 0 },
						       { 0 } };
	struct headroom h;

	headroom_init(&h, &evaluation->contest);
	sheet_init(sheet, "headroom", "Potential gain over the default settings", columns);
	add_count(sheet, "the default is optimal or within 5 %", (double)h.near, 12);
	add_count(sheet, "  of these: the default is optimal", (double)h.exact, NAN);
	add_count(sheet, "the optimum is up to 1.5x faster", (double)h.up_to_half, 13);
	add_count(sheet, "the optimum is 1.5x to 2.5x faster", (double)h.up_to_two_half, 6);
	add_count(sheet, "the optimum is 2.5x to 3x faster", (double)h.up_to_three, 0);
	add_count(sheet, "the optimum is more than 3x faster", (double)h.above_three, 2);
	add_count(sheet, "75 % quantile of all settings above 1", (double)h.upper_above, 15);
	add_count(sheet, "25 % quantile of all settings above 1", (double)h.lower_above, NAN);
}

static void add_standing(struct sheet *sheet, const char *name, const struct standing *s)
{
	sheet_text(sheet, "%s", name);
	sheet_number(sheet, (double)s->worse);
	sheet_number(sheet, (double)s->worse_surely);
	sheet_number(sheet, (double)s->worse_much);
	sheet_number(sheet, (double)s->even);
	sheet_number(sheet, (double)s->better);
	sheet_number(sheet, (double)s->most);
	sheet_number(sheet, s->mean);
	sheet_number(sheet, 100 * s->of_optimal);
	sheet_number(sheet, 100 * s->won);
	for (size_t q = 0; q < OUTCOME_QUANTILES; q++)
		sheet_number(sheet, s->quantiles[q]);
	sheet_number(sheet, log2(s->quantiles[0]));
	sheet_number(sheet, s->kendall);
}

static const struct sheet_column standing_columns[] = { { "method", "method", 0 },
							{ ">~slower", "worse", 0 },
							{ ">by 2 SE", "worse_surely", 0 },
							{ ">by 5 %", "worse_much", 0 },
							{ ">to 1.1x", "even", 0 },
							{ ">to 1.5x", "better", 0 },
							{ ">above 1.5x", "most", 0 },
							{ ">mean", "mean", 3 },
							{ ">% of optimum", "optimal_percent", 1 },
							{ ">% faster", "won_percent", 0 },
							{ ">5 %", "q05", 2 },
							{ ">25 %", "q25", 2 },
							{ ">50 %", "q50", 2 },
							{ ">75 %", "q75", 2 },
							{ ">95 %", "q95", 2 },
							{ ">log2 5 %", "log2_q05", 2 },
							{ ">tau", "kendall", 2 },
							{ 0 } };

/* Adds a row of the paper. NAN: not printed. */
static void add_printed(struct sheet *sheet, const char *name, double worse, double even,
			double better, double most, double q05)
{
	sheet_text(sheet, "paper: %s", name);
	sheet_number(sheet, worse);
	sheet_number(sheet, NAN);
	sheet_number(sheet, NAN);
	sheet_number(sheet, even);
	sheet_number(sheet, better);
	sheet_number(sheet, most);
	for (int i = 0; i < 3; i++)
		sheet_number(sheet, NAN);
	sheet_number(sheet, q05);
	for (int i = 0; i < 4; i++)
		sheet_number(sheet, NAN);
	sheet_number(sheet, log2(q05));
	sheet_number(sheet, NAN);
}

static void make_methods(const struct evaluation *evaluation, struct sheet *sheet)
{
	sheet_init(sheet, "figure9", "Figures 8 and 9: speedup of each method over the default",
		   standing_columns);
	for (int i = 0; i < STUDY_METHODS; i++) {
		const char *title = evaluation_title(evaluation, (enum study_method)i);
		struct standing standing;

		standing_init(&standing, &evaluation->comparison.of[i], &evaluation->contest);
		if (title)
			add_standing(sheet, title, &standing);
		if (i == STUDY_EXPECTED)
			add_printed(sheet, "random", 18, NAN, NAN, 2, NAN);
		else if (i == STUDY_ML_LOG)
			add_printed(sheet, "ml", 5, 17, 5, 6, NAN);
		else if (i == STUDY_DOMAINS_KEEP)
			add_printed(sheet, "hybrid", 2, 14, 11, 6, 0.25);
	}
	sheet_note(
		sheet,
		"Number of instances by mean speedup of %zu repetitions. by 2 SE: slower by more "
		"than two standard errors; by 5 %%: speedup below 0.95; %% faster: choices that "
		"are "
		"faster than the default; quantiles: of the speedup of all choices; tau: "
		"Kendall's rank correlation of predicted and measured times of an instance.",
		evaluation->plan.study.repetitions);
}

static void add_hybrid_sizes(struct sheet *sheet, const struct evaluation *evaluation, int which)
{
	const char *title = evaluation_title(evaluation, (enum study_method)(STUDY_HYBRID + which));
	struct standing standing;
	char name[96];

	for (size_t i = 0; title && i < EVALUATION_HYBRID_SIZES; i++) {
		const struct size_result *result = &evaluation->hybrid_sizes[i];

		snprintf(name, sizeof(name), "%s, %.0f %% (%zu rows)", title, 100 * result->share,
			 result->rows);
		standing_init(&standing, &result->hybrid[which], &evaluation->contest);
		add_standing(sheet, name, &standing);
	}
}

static void make_sizes(const struct evaluation *evaluation, struct sheet *sheet)
{
	struct standing standing;
	char name[64];

	sheet_init(
		sheet, "figure10",
		"Figure 10: fewer runs for ml and, beyond the paper, fewer benchmarks for hybrid",
		standing_columns);
	for (size_t i = 0; i < EVALUATION_ML_SIZES; i++) {
		snprintf(name, sizeof(name), "ml, %zu runs", evaluation->ml_sizes[i].rows);
		standing_init(&standing, &evaluation->ml_sizes[i].ml, &evaluation->contest);
		add_standing(sheet, name, &standing);
	}
	for (int i = 0; i < HYBRID_OUTCOMES; i++)
		add_hybrid_sizes(sheet, evaluation, i);
	sheet_note(sheet,
		   "Paper: ml becomes worse with each step; with 33 runs, half of its choices are "
		   "faster than the default, about as many as of random choices.");
}

static void add_noise(struct sheet *sheet, const char *name, double sigma,
		      const struct outcome *outcome, double kendall,
		      const struct evaluation *evaluation)
{
	struct standing s;

	standing_init(&s, outcome, &evaluation->contest);
	sheet_text(sheet, "%s", name);
	sheet_number(sheet, sigma);
	sheet_number(sheet, (double)s.worse);
	sheet_number(sheet, (double)s.worse_surely);
	sheet_number(sheet, (double)s.worse_much);
	sheet_number(sheet, (double)s.most);
	sheet_number(sheet, s.mean);
	sheet_number(sheet, 100 * s.of_optimal);
	sheet_number(sheet, 100 * s.won);
	for (size_t q = 0; q < OUTCOME_QUANTILES; q++)
		sheet_number(sheet, s.quantiles[q]);
	sheet_number(sheet, kendall);
}

static void add_hybrid_noise(struct sheet *sheet, const struct evaluation *evaluation, int which)
{
	const char *title = evaluation_title(evaluation, (enum study_method)(STUDY_HYBRID + which));

	if (!title)
		return;
	add_noise(sheet, title, 0, &evaluation->comparison.of[STUDY_HYBRID + which], 1, evaluation);
	for (size_t i = 0; i < NOISE_LEVELS; i++)
		add_noise(sheet, title, evaluation->noise[i].sigma,
			  &evaluation->noise[i].hybrid[which],
			  evaluation->noise[i].hybrid_kendall[which % ROUNDS_RULES], evaluation);
}

static void make_noise(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { "method", "method", 0 },
						       { ">sigma", "sigma", 3 },
						       { ">~slower", "worse", 0 },
						       { ">by 2 SE", "worse_surely", 0 },
						       { ">by 5 %", "worse_much", 0 },
						       { ">above 1.5x", "most", 0 },
						       { ">mean", "mean", 3 },
						       { ">% of optimum", "optimal_percent", 1 },
						       { ">% faster", "won_percent", 0 },
						       { ">5 %", "q05", 2 },
						       { ">25 %", "q25", 2 },
						       { ">50 %", "q50", 2 },
						       { ">75 %", "q75", 2 },
						       { ">95 %", "q95", 2 },
						       { ">tau to clean", "kendall_clean", 2 },
						       { 0 } };
	static const char *const policies[] = { "kept", "clipped",
						"replaced by their absolute value" };
	const struct comparison *clean = &evaluation->comparison;

	sheet_init(sheet, "figure11", "Figure 11: noise in the training data, N(0, sigma)",
		   columns);
	for (int i = 0; i < HYBRID_OUTCOMES; i++)
		add_hybrid_noise(sheet, evaluation, i);
	add_noise(sheet, "ml", 0, &clean->of[STUDY_ML], 1, evaluation);
	for (size_t i = 0; i < NOISE_LEVELS; i++)
		add_noise(sheet, "ml", evaluation->noise[i].sigma, &evaluation->noise[i].ml,
			  evaluation->noise[i].ml_kendall, evaluation);
	sheet_note(
		sheet,
		"Negative times are %s; hybrid ignores cells with a negative mean. tau to clean: "
		"rank correlation of predictions with and without noise.%s",
		policies[evaluation->plan.policy],
		evaluation->plan.study.full
			? ""
			: " Methods were selected without noise; --full selects them again.");
	sheet_note(sheet, "Paper: hybrid is unchanged up to sigma 0.5; ml is worse from 0.001 on.");
}

static void add_instance(struct sheet *sheet, const struct access *access)
{
	sheet_number(sheet, (double)access->nodes);
	sheet_number(sheet, (double)access->rank_bytes / MIB);
}

static void make_instances(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { ">nodes", "nodes", 0 },
						       { ">MiB/rank", "rank_mib", 0 },
						       { ">~default s", "default_s", 2 },
						       { ">5 %", "q05", 2 },
						       { ">25 %", "q25", 2 },
						       { ">50 %", "q50", 2 },
						       { ">75 %", "q75", 2 },
						       { ">95 %", "q95", 2 },
						       { ">random", "rs", 2 },
						       { ">ml", "ml", 2 },
						       { ">hybrid", "hybrid", 2 },
						       { ">or default", "hybrid_keep", 2 },
						       { ">domains", "domains", 2 },
						       { ">or default", "domains_keep", 2 },
						       { ">optimal", "optimal", 2 },
						       { 0 } };
	static const enum study_method methods[] = { STUDY_RANDOM,  STUDY_ML,
						     STUDY_HYBRID,  STUDY_HYBRID_KEEP,
						     STUDY_DOMAINS, STUDY_DOMAINS_KEEP,
						     STUDY_OPTIMAL };
	const struct contest *contest = &evaluation->contest;

	sheet_init(sheet, "figure7",
		   "Figures 7 and 8: speedups of all settings of each instance, and of each method",
		   columns);
	for (size_t i = 0; i < contest->instance_count; i++) {
		double quantiles[OUTCOME_QUANTILES];

		headroom_quantiles(contest, i, quantiles);
		add_instance(sheet, &contest->instances[i]);
		sheet_number(sheet, contest_mean(contest, i, contest->initial));
		for (size_t q = 0; q < OUTCOME_QUANTILES; q++)
			sheet_number(sheet, quantiles[q]);
		for (size_t m = 0; m < sizeof(methods) / sizeof(*methods); m++)
			sheet_number(sheet,
				     outcome_mean(&evaluation->comparison.of[methods[m]], i));
	}
}

const struct evaluation_sheet evaluation_sheets[] = {
	{ "table2", make_scores },     { "readings", make_readings },
	{ "headroom", make_headroom }, { "figure7", make_instances },
	{ "figure9", make_methods },   { "figure10", make_sizes },
	{ "figure11", make_noise },    { 0 },
};

void evaluation_make_sheet(const struct evaluation *evaluation,
			   const struct evaluation_sheet *which, struct sheet *sheet)
{
	which->make(evaluation, sheet);
	sheet->is_modelled = evaluation->replica != NULL;
}

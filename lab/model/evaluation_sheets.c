/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of HYB-AC-8 to HYB-AC-14 beside what the paper prints. What it does not print is missing.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lab/model/evaluation.h"

#define MIB 1048576.0

/* ---- table 2 ---- */

struct printed_score {
	const char *name, *title;
	double r2, rmse;
};

/* HYB-43 */
static const struct printed_score printed_scores[] = {
	{ "ml", "black box", 0.85, 17.9 },
	{ "aa", "alltoall", 0.89, 0.358 },
	{ "aav", "alltoallv", 0.88, 67.3 },
	{ "ar", "allreduce", 0.84, 4.58e-4 },
	{ "s_nl_full", "full round", 0.57, 1.89 },
	{ "s_lock", "first round", 0.79, 0.285 },
	{ "s_nl_partial", "partial round", 0.83, 0.249 },
};

static void score_put(struct sheet *sheet, const struct printed_score *printed, const char *method,
		      double rows, double r2, double rmse, double log_r2)
{
	sheet_text(sheet, "%s", printed->name);
	sheet_text(sheet, "%s", printed->title);
	sheet_text(sheet, "%s", method);
	sheet_number(sheet, rows);
	sheet_number(sheet, r2);
	sheet_number(sheet, printed->r2);
	sheet_text(sheet, "%.3g", rmse);
	sheet_text(sheet, "%.3g", printed->rmse);
	sheet_number(sheet, log_r2);
}

static void sheet_scores(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { "model", "model", 0 },
						       { "of", "of", 0 },
						       { "method", "method", 0 },
						       { ">rows", "rows", 0 },
						       { ">R2", "r2", 2 },
						       { ">paper", "paper_r2", 2 },
						       { ">RMSE s", "rmse", 0 },
						       { ">paper", "paper_rmse", 0 },
						       { ">R2 of log", "log_r2", 2 },
						       { 0 } };
	const struct study *study = &evaluation->study;
	size_t trained = evaluation->ml_sizes[0].rows;

	sheet_init(sheet, "table2", "Table 2: cross-validation of what was learnt (HYB-AC-8)",
		   columns);
	score_put(sheet, &printed_scores[0], study->seconds_score.method, (double)trained,
		  study->seconds_score.r2, study->seconds_score.rmse, study->logarithms_score.r2);
	for (size_t i = 1; i < sizeof(printed_scores) / sizeof(*printed_scores); i++) {
		int operation = operation_by_name(printed_scores[i].name);
		const struct cost *cost = operation < 0 ? NULL : &study->hybrid.costs.of[operation];

		if (!cost || !cost->is_fitted)
			continue;
		score_put(sheet, &printed_scores[i],
			  cost->entry_count ? cost->entries[0].learner : "line", (double)cost->rows,
			  cost->score.r2, cost->score.rmse, cost->score.log_r2);
	}
	sheet_note(sheet,
		   "Methods by cross-validation; costs are learnt as logarithms. The black "
		   "box learns seconds; its last column is another one, that learns "
		   "logarithms (%s).",
		   study->logarithms_score.method);
}

/* ---- headroom ---- */

static void count_put(struct sheet *sheet, const char *what, double ours, double paper)
{
	sheet_text(sheet, "%s", what);
	sheet_number(sheet, ours);
	sheet_number(sheet, paper);
}

static void sheet_headroom(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { "instances where", "what", 0 },
						       { ">ours", "ours", 0 },
						       { ">paper", "paper", 0 },
						       { 0 } };
	struct headroom h;

	headroom_of(&h, &evaluation->contest);
	sheet_init(sheet, "headroom", "What there is to gain over the default (HYB-AC-9)", columns);
	count_put(sheet, "the default is the best or within 5 %", (double)h.near, 12);
	count_put(sheet, "  of these: the best", (double)h.exact, NAN);
	count_put(sheet, "the best gains up to 1.5x", (double)h.up_to_half, 13);
	count_put(sheet, "the best gains 1.5x to 2.5x", (double)h.up_to_two_half, 6);
	count_put(sheet, "the best gains 2.5x to 3x", (double)h.up_to_three, 0);
	count_put(sheet, "the best gains more than 3x", (double)h.above_three, 2);
	count_put(sheet, "75 % quantile of all choices above 1", (double)h.upper_above, 15);
	count_put(sheet, "25 % quantile of all choices above 1", (double)h.lower_above, NAN);
}

/* ---- all side by side ---- */

static void standing_put(struct sheet *sheet, const char *name, const struct standing *s)
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

static const struct sheet_column standing_columns[] = { { "choices by", "method", 0 },
							{ ">worse", "worse", 0 },
							{ ">surely", "worse_surely", 0 },
							{ ">by 5 %", "worse_much", 0 },
							{ ">to 1.1x", "even", 0 },
							{ ">to 1.5x", "better", 0 },
							{ ">above", "most", 0 },
							{ ">mean", "mean", 3 },
							{ ">% of best", "optimal_percent", 1 },
							{ ">% won", "won_percent", 0 },
							{ ">5 %", "q05", 2 },
							{ ">25 %", "q25", 2 },
							{ ">50 %", "q50", 2 },
							{ ">75 %", "q75", 2 },
							{ ">95 %", "q95", 2 },
							{ ">log2 5 %", "log2_q05", 2 },
							{ ">tau", "kendall", 2 },
							{ 0 } };

/* HYB-AC-10, HYB-AC-11; NAN: not printed. */
static void printed_put(struct sheet *sheet, const char *name, double worse, double even,
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

static void sheet_methods(const struct evaluation *evaluation, struct sheet *sheet)
{
	sheet_init(sheet, "figure9",
		   "Figures 8 and 9: who gains how much over the default (HYB-AC-10 to 12)",
		   standing_columns);
	for (int i = 0; i < STUDY_METHODS; i++) {
		const char *title = evaluation_title(evaluation, (enum study_method)i);
		struct standing standing;

		standing_of(&standing, &evaluation->comparison.of[i], &evaluation->contest);
		if (title)
			standing_put(sheet, title, &standing);
		if (i == STUDY_EXPECTED)
			printed_put(sheet, "rs", 18, NAN, NAN, 2, NAN);
		else if (i == STUDY_ML_LOG)
			printed_put(sheet, "ml", 5, 17, 5, 6, NAN);
		else if (i == STUDY_DOMAINS_KEEP)
			printed_put(sheet, "hybrid", 2, 14, 11, 6, 0.25);
	}
	sheet_note(sheet,
		   "Instances by mean gain of %zu repetitions; surely: of the worse, those where "
		   "the mean of single runs' ratios is below 1 by more than two standard errors; "
		   "by 5 %%: below 0.95; %% won: choices that beat the default; quantiles: of all "
		   "choices; tau: Kendall's, of predicted and measured times of an instance.",
		   evaluation->plan.study.repetitions);
}

/* ---- studies ---- */

static void hybrid_sizes_put(struct sheet *sheet, const struct evaluation *evaluation, int which)
{
	const char *title = evaluation_title(evaluation, (enum study_method)(STUDY_HYBRID + which));
	struct standing standing;
	char name[96];

	for (size_t i = 0; title && i < EVALUATION_HYBRID_SIZES; i++) {
		const struct size_result *result = &evaluation->hybrid_sizes[i];

		snprintf(name, sizeof(name), "%s, %.0f %% (%zu rows)", title, 100 * result->share,
			 result->rows);
		standing_of(&standing, &result->hybrid[which], &evaluation->contest);
		standing_put(sheet, name, &standing);
	}
}

static void sheet_sizes(const struct evaluation *evaluation, struct sheet *sheet)
{
	struct standing standing;
	char name[64];

	sheet_init(sheet, "figure10",
		   "Figure 10: fewer runs for ml (HYB-AC-13) and, beyond the paper, fewer "
		   "benchmarks for hybrid",
		   standing_columns);
	for (size_t i = 0; i < EVALUATION_ML_SIZES; i++) {
		snprintf(name, sizeof(name), "ml, %zu runs", evaluation->ml_sizes[i].rows);
		standing_of(&standing, &evaluation->ml_sizes[i].ml, &evaluation->contest);
		standing_put(sheet, name, &standing);
	}
	for (int i = 0; i < HYBRID_OUTCOMES; i++)
		hybrid_sizes_put(sheet, evaluation, i);
	sheet_note(sheet, "The paper: ml becomes worse with each step; with 33 runs half of its "
			  "choices beat the default, about as rs.");
}

static void noise_put(struct sheet *sheet, const char *name, double sigma,
		      const struct outcome *outcome, double kendall,
		      const struct evaluation *evaluation)
{
	struct standing s;

	standing_of(&s, outcome, &evaluation->contest);
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

static void hybrid_noise_put(struct sheet *sheet, const struct evaluation *evaluation, int which)
{
	const char *title = evaluation_title(evaluation, (enum study_method)(STUDY_HYBRID + which));

	if (!title)
		return;
	noise_put(sheet, title, 0, &evaluation->comparison.of[STUDY_HYBRID + which], 1, evaluation);
	for (size_t i = 0; i < NOISE_LEVELS; i++)
		noise_put(sheet, title, evaluation->noise[i].sigma,
			  &evaluation->noise[i].hybrid[which],
			  evaluation->noise[i].hybrid_kendall[which % ROUNDS_RULES], evaluation);
}

static void sheet_noise(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { "choices by", "method", 0 },
						       { ">sigma", "sigma", 3 },
						       { ">worse", "worse", 0 },
						       { ">surely", "worse_surely", 0 },
						       { ">by 5 %", "worse_much", 0 },
						       { ">above 1.5x", "most", 0 },
						       { ">mean", "mean", 3 },
						       { ">% of best", "optimal_percent", 1 },
						       { ">% won", "won_percent", 0 },
						       { ">5 %", "q05", 2 },
						       { ">25 %", "q25", 2 },
						       { ">50 %", "q50", 2 },
						       { ">75 %", "q75", 2 },
						       { ">95 %", "q95", 2 },
						       { ">tau to clean", "kendall_clean", 2 },
						       { 0 } };
	static const char *const policies[] = { "kept", "clipped", "made positive" };
	const struct comparison *clean = &evaluation->comparison;

	sheet_init(sheet, "figure11",
		   "Figure 11: noise in what is learnt from, N(0, sigma) (HYB-AC-14)", columns);
	for (int i = 0; i < HYBRID_OUTCOMES; i++)
		hybrid_noise_put(sheet, evaluation, i);
	noise_put(sheet, "ml", 0, &clean->of[STUDY_ML], 1, evaluation);
	for (size_t i = 0; i < NOISE_LEVELS; i++)
		noise_put(sheet, "ml", evaluation->noise[i].sigma, &evaluation->noise[i].ml,
			  evaluation->noise[i].ml_kendall, evaluation);
	sheet_note(sheet,
		   "Times below 0 are %s; hybrid leaves out cells whose mean is. tau to "
		   "clean: order of the choices with and without noise.%s",
		   policies[evaluation->plan.policy],
		   evaluation->plan.study.full
			   ? ""
			   : " Methods are those that were selected without noise (--full: anew).");
	sheet_note(sheet,
		   "The paper: hybrid is unchanged up to sigma 0.5, ml worse from 0.001 on.");
}

/* ---- instances ---- */

static void instance_put(struct sheet *sheet, const struct access *access)
{
	sheet_number(sheet, (double)access->nodes);
	sheet_number(sheet, (double)access->rank_bytes / MIB);
}

static void sheet_instances(const struct evaluation *evaluation, struct sheet *sheet)
{
	static const struct sheet_column columns[] = { { ">nodes", "nodes", 0 },
						       { ">MiB/rank", "rank_mib", 0 },
						       { ">default s", "default_s", 2 },
						       { ">5 %", "q05", 2 },
						       { ">25 %", "q25", 2 },
						       { ">50 %", "q50", 2 },
						       { ">75 %", "q75", 2 },
						       { ">95 %", "q95", 2 },
						       { ">rs", "rs", 2 },
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
		   "Figures 7 and 8: gains of all choices of each instance, and of those who "
		   "choose",
		   columns);
	for (size_t i = 0; i < contest->instance_count; i++) {
		double quantiles[OUTCOME_QUANTILES];

		headroom_quantiles(contest, i, quantiles);
		instance_put(sheet, &contest->instances[i]);
		sheet_number(sheet, contest_mean(contest, i, contest->initial));
		for (size_t q = 0; q < OUTCOME_QUANTILES; q++)
			sheet_number(sheet, quantiles[q]);
		for (size_t m = 0; m < sizeof(methods) / sizeof(*methods); m++)
			sheet_number(sheet,
				     outcome_mean(&evaluation->comparison.of[methods[m]], i));
	}
}

const struct evaluation_sheet evaluation_sheets[] = {
	{ "table2", sheet_scores },
	{ "headroom", sheet_headroom },
	{ "figure7", sheet_instances },
	{ "figure9", sheet_methods },
	{ "figure10", sheet_sizes },
	{ "figure11", sheet_noise },
	{ 0 },
};

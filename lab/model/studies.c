/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-46, HYB-49.
 */
#include "lab/model/studies.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "lab/model/contest.h"
#include "lab/model/studies_internal.h"

const char *const study_method_names[STUDY_METHODS] = {
	[STUDY_RANDOM] = "rs",
	[STUDY_EXPECTED] = "rs_expected",
	[STUDY_ML] = "ml",
	[STUDY_ML_UNSEEN] = "ml_unseen",
	[STUDY_ML_LOG] = "ml_log",
	[STUDY_HYBRID] = "hybrid",
	[STUDY_DOMAINS] = "domains",
	[STUDY_HYBRID_KEEP] = "hybrid_keep",
	[STUDY_DOMAINS_KEEP] = "domains_keep",
	[STUDY_OPTIMAL] = "optimal",
	[STUDY_DEFAULT] = "default",
};

const char *const study_method_titles[STUDY_METHODS] = {
	[STUDY_RANDOM] = "random",
	[STUDY_EXPECTED] = "random, expected",
	[STUDY_ML] = "ml",
	[STUDY_ML_UNSEEN] = "ml, unseen choices",
	[STUDY_ML_LOG] = "ml, logarithms",
	[STUDY_HYBRID] = "hybrid (published)",
	[STUDY_DOMAINS] = "hybrid (domains)",
	[STUDY_HYBRID_KEEP] = "hybrid (published) or default",
	[STUDY_DOMAINS_KEEP] = "hybrid (domains) or default",
	[STUDY_OPTIMAL] = "optimal",
	[STUDY_DEFAULT] = "default",
};

static void run_piece(void *arg, size_t piece, unsigned worker)
{
	struct pieces *pieces = arg;
	const struct study_plan *plan = &pieces->study->plan;
	struct err err = { 0 };
	int r = pieces->work(pieces, piece, &err);

	(void)worker;
	pthread_mutex_lock(&pieces->lock);
	pieces->done++;
	if (r < 0 && piece < pieces->failed) {
		pieces->failed = piece;
		pieces->err = err;
		pieces->err.code = -r;
	}
	if (plan->progress)
		plan->progress(plan->progress_arg, pieces->stage, pieces->done, pieces->count);
	pthread_mutex_unlock(&pieces->lock);
}

int pieces_run(struct pieces *pieces, struct err *err)
{
	unsigned threads = pieces->study->plan.threads;

	pieces->failed = SIZE_MAX;
	pthread_mutex_init(&pieces->lock, NULL);
	parallel_for(threads ? threads : parallel_cores(), pieces->count, run_piece, pieces);
	pthread_mutex_destroy(&pieces->lock);
	if (pieces->failed == SIZE_MAX)
		return 0;
	return err_set(err, pieces->err.code, "%s: %s", pieces->stage, pieces->err.text);
}

/* The plan to fit the hybrid model with. chosen NULL: methods are selected. */
static struct costs_plan make_costs_plan(const struct study_plan *plan, const struct costs *chosen,
					 uint64_t repetition, unsigned threads)
{
	return (struct costs_plan){
		.learners = plan->learners,
		.budget = plan->budget,
		.folds = plan->folds,
		.surrogates_alone = plan->surrogates_alone,
		.like = plan->full ? NULL : chosen,
		.seed = plan->seed + repetition,
		.threads = threads,
	};
}

static struct blackbox_plan make_blackbox_plan(const struct study_plan *plan, bool logarithm,
					       uint64_t repetition, unsigned threads)
{
	return (struct blackbox_plan){
		.learners = plan->learners,
		.budget = plan->budget,
		.folds = plan->folds,
		.log_target = logarithm,
		.seed = plan->seed + repetition,
		.threads = threads,
	};
}

/* Argument of the progress callbacks. */
struct reporting {
	const struct study_plan *plan;
	const char *stage;
};

static bool report_costs(void *arg, enum operation operation, size_t done, size_t total)
{
	const struct reporting *reporting = arg;
	const struct study_plan *plan = reporting->plan;

	plan->progress(plan->progress_arg, operations[operation].title, done, total);
	return false;
}

static bool report_blackbox(void *arg, size_t done, size_t total)
{
	const struct reporting *reporting = arg;
	const struct study_plan *plan = reporting->plan;

	plan->progress(plan->progress_arg, reporting->stage, done, total);
	return false;
}

static int select_hybrid(struct study *study, struct err *err)
{
	const struct study_plan *plan = &study->plan;
	struct reporting reporting = { plan, "hybrid" };
	struct costs_plan costs =
		make_costs_plan(plan, NULL, 0, plan->threads ? plan->threads : parallel_cores());
	struct machine machine = study->contest->machine;

	bluegene_attach(&machine, &plan->rules);
	if (plan->progress) {
		costs.progress = report_costs;
		costs.progress_arg = &reporting;
	}
	return hybrid_fit(&study->hybrid, &machine, &study->draws[0], &costs, err);
}

static int select_blackboxes(struct study *study, struct err *err)
{
	const struct study_plan *plan = &study->plan;
	unsigned threads = plan->threads ? plan->threads : parallel_cores();
	struct training training;
	int r = 0;

	training_init(&training, study->contest, plan->seed + SEED_DESIGN, 0);
	for (int logarithm = 0; logarithm < 2 && r >= 0; logarithm++) {
		struct reporting reporting = { plan, logarithm ? "ml, logarithms" : "ml" };
		struct blackbox_plan wanted = make_blackbox_plan(plan, logarithm, 0, threads);

		if (plan->progress) {
			wanted.progress = report_blackbox;
			wanted.progress_arg = &reporting;
		}
		r = blackbox_select(logarithm ? &study->logarithms : &study->seconds,
				    logarithm ? &study->logarithms_score : &study->seconds_score,
				    study->contest, &training, &wanted, err);
	}
	training_release(&training);
	return r;
}

int study_init(struct study *study, const struct contest *contest, const struct study_plan *plan,
	       struct err *err)
{
	int r = 0;

	*study = (struct study){ .contest = contest, .plan = *plan };
	study->draws = xcalloc(plan->repetitions, sizeof(*study->draws));
	for (size_t i = 0; i < plan->repetitions && r >= 0; i++)
		r = plan->benchmark(plan->benchmark_arg, plan->seed * SEED_DRAWS + i,
				    &study->draws[i], err);
	if (r >= 0)
		r = select_hybrid(study, err);
	if (r >= 0)
		r = select_blackboxes(study, err);
	if (r < 0)
		study_release(study);
	return r;
}

void study_release(struct study *study)
{
	for (size_t i = 0; study->draws && i < study->plan.repetitions; i++)
		elements_release(&study->draws[i]);
	free(study->draws);
	hybrid_release(&study->hybrid);
	*study = (struct study){ 0 };
}

int study_learn(struct hybrid *hybrid, const struct study *study, const struct elements *rows,
		size_t repetition, struct err *err)
{
	struct costs_plan plan = make_costs_plan(&study->plan, &study->hybrid.costs, repetition, 1);
	struct machine machine = study->contest->machine;

	bluegene_attach(&machine, &study->plan.rules);
	return hybrid_fit(hybrid, &machine, rows, &plan, err);
}

static int predict_with_hybrid(const struct hybrid *hybrid, const struct contest *contest,
			       double *predicted, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < contest->instance_count && r >= 0; i++)
		r = hybrid_times(hybrid, &contest->instances[i], contest->choices,
				 contest->choice_count, predicted + i * contest->choice_count, err);
	return r;
}

static int choose_or_keep_default(const struct hybrid *hybrid, const struct study *study,
				  size_t repetition, struct outcome *outcome, struct err *err)
{
	const struct contest *contest = study->contest;

	for (size_t i = 0; i < contest->instance_count; i++) {
		struct recommendation said;
		int r = hybrid_recommend(hybrid, &contest->instances[i], contest->choices,
					 contest->choice_count, &contest->choices[contest->initial],
					 study->plan.coverage, &said, err);

		if (r < 0)
			return r;
		outcome_choose(outcome, contest, repetition, i,
			       said.keep ? contest->initial : said.best);
	}
	return 0;
}

int study_hybrid_choose(struct hybrid *hybrid, const struct study *study, size_t repetition,
			struct outcome outcomes[HYBRID_OUTCOMES], double *predicted,
			struct err *err)
{
	const struct contest *contest = study->contest;
	size_t cells = contest->instance_count * contest->choice_count;
	int r = 0;

	for (int rounds = 0; rounds < ROUNDS_RULES && r >= 0; rounds++) {
		struct bluegene_rules rules = study->plan.rules;
		double *said = predicted + (size_t)rounds * cells;

		rules.rounds = (enum rule_rounds)rounds;
		bluegene_attach(&hybrid->machine, &rules);
		r = predict_with_hybrid(hybrid, contest, said, err);
		if (r >= 0)
			r = choose_or_keep_default(hybrid, study, repetition,
						   &outcomes[ROUNDS_RULES + rounds], err);
		if (r >= 0)
			outcome_predicted(&outcomes[rounds], contest, repetition, said, NULL);
	}
	return r;
}

int study_ml_predict(const struct study *study, const struct training *training, bool logarithm,
		     size_t repetition, double *predicted, struct err *err)
{
	struct pipeline_plan chosen = logarithm ? study->logarithms : study->seconds;
	struct blackbox_plan plan = make_blackbox_plan(&study->plan, logarithm, repetition, 1);
	int r = 0;

	if (study->plan.full)
		r = blackbox_select(&chosen, NULL, study->contest, training, &plan, err);
	if (r < 0)
		return r;
	return blackbox_predict(&chosen, study->contest, training, plan.seed, predicted, err);
}

void study_training(struct training *training, const struct study *study, size_t repetition)
{
	training_init(training, study->contest, study->plan.seed + SEED_DESIGN, repetition);
}

static int compare_hybrid(struct comparison *comparison, const struct study *study,
			  size_t repetition, struct err *err)
{
	const struct contest *contest = study->contest;
	size_t cells = ROUNDS_RULES * contest->instance_count * contest->choice_count;
	struct hybrid hybrid;
	int r = study_learn(&hybrid, study, &study->draws[repetition], repetition, err);

	if (r < 0)
		return r;
	r = study_hybrid_choose(&hybrid, study, repetition, &comparison->of[STUDY_HYBRID],
				comparison->hybrid + repetition * cells, err);
	hybrid_release(&hybrid);
	return r;
}

static int compare_ml(struct comparison *comparison, const struct study *study, size_t repetition,
		      struct err *err)
{
	const struct contest *contest = study->contest;
	size_t cells = contest->instance_count * contest->choice_count;
	AUTO_FREE double *other = xmalloc(cells * sizeof(*other));
	AUTO_FREE bool *seen = xcalloc(cells, sizeof(*seen));
	double *predicted = comparison->ml + repetition * cells;
	struct training training;
	int r;

	study_training(&training, study, repetition);
	for (size_t i = 0; i < training.count; i++)
		seen[training.points[i]] = true;
	r = study_ml_predict(study, &training, false, repetition, predicted, err);
	if (r >= 0)
		r = study_ml_predict(study, &training, true, repetition, other, err);
	if (r >= 0) {
		outcome_predicted(&comparison->of[STUDY_ML], contest, repetition, predicted, NULL);
		outcome_predicted(&comparison->of[STUDY_ML_UNSEEN], contest, repetition, predicted,
				  seen);
		outcome_predicted(&comparison->of[STUDY_ML_LOG], contest, repetition, other, NULL);
	}
	training_release(&training);
	return r;
}

static int run_compare_piece(struct pieces *pieces, size_t piece, struct err *err)
{
	size_t repetition = piece / 2;

	if (piece % 2)
		return compare_ml(pieces->arg, pieces->study, repetition, err);
	return compare_hybrid(pieces->arg, pieces->study, repetition, err);
}

int study_compare(const struct study *study, struct comparison *comparison, struct err *err)
{
	const struct contest *contest = study->contest;
	size_t repetitions = study->plan.repetitions;
	size_t cells = repetitions * contest->instance_count * contest->choice_count;
	struct pieces pieces = { .study = study,
				 .stage = "comparison",
				 .work = run_compare_piece,
				 .arg = comparison,
				 .count = 2 * repetitions };
	int r;

	*comparison = (struct comparison){
		.hybrid = xcalloc(ROUNDS_RULES * cells, sizeof(*comparison->hybrid)),
		.ml = xcalloc(cells, sizeof(*comparison->ml)),
	};
	for (int i = 0; i < STUDY_METHODS; i++)
		outcome_init(&comparison->of[i], contest, repetitions);
	outcome_random(&comparison->of[STUDY_RANDOM], contest, study->plan.seed + SEED_RANDOM);
	outcome_expected(&comparison->of[STUDY_EXPECTED], contest);
	outcome_optimal(&comparison->of[STUDY_OPTIMAL], contest);
	outcome_default(&comparison->of[STUDY_DEFAULT], contest);
	r = pieces_run(&pieces, err);
	if (r < 0)
		comparison_release(comparison);
	return r;
}

void comparison_release(struct comparison *comparison)
{
	for (int i = 0; i < STUDY_METHODS; i++)
		outcome_release(&comparison->of[i]);
	free(comparison->hybrid);
	free(comparison->ml);
	*comparison = (struct comparison){ 0 };
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/model/evaluation.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "predict/model/costs/rows.h"

static void report_progress(void *arg, const char *stage, size_t done, size_t total)
{
	struct evaluation *evaluation = arg;

	if (evaluation->stage != stage) {
		if (evaluation->stage)
			progress_end(&evaluation->progress);
		progress_start(&evaluation->progress, stage, total);
		evaluation->stage = stage;
	}
	progress_show(&evaluation->progress, done);
}

#define RUNS 10 /* of each instance and choice */

/* Every seed has its own runs. */
static double simulate_run(void *arg, const struct access *access, const struct settings *settings,
			   uint64_t run)
{
	const struct evaluation *evaluation = arg;

	return replica_run(evaluation->replica, access, settings,
			   evaluation->plan.study.seed * RUNS + run);
}

static int draw_rows(void *arg, uint64_t draw, struct elements *out, struct err *err)
{
	const struct evaluation *evaluation = arg;

	if (!evaluation->rows.count)
		return replica_benchmark(evaluation->replica, draw, out, err);
	/* There is only one measured campaign; repetitions then differ in the seed of learning. */
	for (size_t i = 0; i < evaluation->rows.count; i++)
		elements_add(out, &evaluation->rows.rows[i]);
	return 0;
}

static int make_contest(struct evaluation *evaluation, struct err *err)
{
	const struct evaluation_plan *plan = &evaluation->plan;
	struct machine machine;
	int r;

	if (plan->rows) {
		r = rows_read(&evaluation->rows, plan->rows, err);
		if (r < 0)
			return r;
		if (!evaluation->rows.count)
			return err_set(err, ENODATA, "%s has no rows", plan->rows);
	}
	if (plan->times && plan->rows) {
		r = machine_open(&machine, plan->machine, err);
		return r < 0 ? r : contest_read(&evaluation->contest, &machine, plan->times, err);
	}
	r = replica_open(&evaluation->replica, plan->machine, plan->contention, err);
	if (r < 0)
		return r;
	if (plan->times)
		return contest_read(&evaluation->contest, replica_machine(evaluation->replica),
				    plan->times, err);
	r = contest_paper(&evaluation->contest, replica_machine(evaluation->replica), err);
	if (r < 0)
		return r;
	return contest_measure(&evaluation->contest, RUNS, simulate_run, evaluation, err);
}

static int run_studies(struct evaluation *evaluation, struct err *err)
{
	static const double thirds[EVALUATION_ML_SIZES] = { 1, 2.0 / 3, 1.0 / 3 },
			    shares[EVALUATION_HYBRID_SIZES] = { 1, 0.66, 0.33, 0.1 };
	struct study *study = &evaluation->study;
	int r = study_compare(study, &evaluation->comparison, err);

	if (r >= 0)
		r = study_ml_sizes(study, thirds, EVALUATION_ML_SIZES, evaluation->ml_sizes, err);
	if (r >= 0)
		r = study_hybrid_sizes(study, shares, EVALUATION_HYBRID_SIZES,
				       evaluation->hybrid_sizes, err);
	if (r >= 0)
		r = study_noise(study, &evaluation->comparison, evaluation->plan.policy,
				noise_levels, NOISE_LEVELS, evaluation->noise, err);
	return r;
}

const char *evaluation_title(const struct evaluation *evaluation, enum study_method method)
{
	if (evaluation->contest.machine.romio == ROMIO_BLUEGENE)
		return study_method_titles[method];
	if (method == STUDY_DOMAINS || method == STUDY_DOMAINS_KEEP)
		return NULL;
	return method == STUDY_HYBRID	     ? "hybrid"
	       : method == STUDY_HYBRID_KEEP ? "hybrid or default"
					     : study_method_titles[method];
}

int evaluation_open(struct evaluation *evaluation, const struct evaluation_plan *plan,
		    struct err *err)
{
	int r;

	*evaluation = (struct evaluation){ .plan = *plan };
	evaluation->plan.study.benchmark = draw_rows;
	evaluation->plan.study.benchmark_arg = evaluation;
	evaluation->plan.study.progress = report_progress;
	evaluation->plan.study.progress_arg = evaluation;
	r = make_contest(evaluation, err);
	if (r >= 0)
		r = study_init(&evaluation->study, &evaluation->contest, &evaluation->plan.study,
			       err);
	if (r >= 0)
		r = run_studies(evaluation, err);
	if (evaluation->stage)
		progress_end(&evaluation->progress);
	evaluation->stage = NULL;
	if (r < 0)
		evaluation_close(evaluation);
	return r;
}

void evaluation_close(struct evaluation *evaluation)
{
	noise_results_release(evaluation->noise, NOISE_LEVELS);
	size_results_release(evaluation->ml_sizes, EVALUATION_ML_SIZES);
	size_results_release(evaluation->hybrid_sizes, EVALUATION_HYBRID_SIZES);
	comparison_release(&evaluation->comparison);
	study_release(&evaluation->study);
	contest_release(&evaluation->contest);
	elements_release(&evaluation->rows);
	replica_close(evaluation->replica);
	memset(evaluation, 0, sizeof(*evaluation));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model calibrate: compares predictions with accesses of the real library on this machine,
 * and stores the differences in the model. With --check it only reports them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/term.h"
#include "cmd/model/calibrate.h"
#include "cmd/model/model.h"
#include "predict/model/hybrid/choices.h"
#include "predict/model/measure/validate.h"

struct calibrate_args {
	struct model_args model; /* --model, --coverage, --json and --seed */
	struct model_job job;
	const char *ranks, *dir;
	uint64_t accesses, repeat;
	bool writes_only, check;
};

#define FIELD(name) offsetof(struct calibrate_args, name)

static const struct option calibrate_options[] = {
	{ 'n', "ranks", "N,N,...", "2,4", "numbers of MPI ranks", OPTION_TEXT, FIELD(ranks) },
	{ 0, "dir", "PATH", ".", "directory on the file system that was measured", OPTION_TEXT,
	  FIELD(dir) },
	{ 0, "accesses", "N", "12",
	  "random accesses per number of ranks, each with 3 to 5 settings", OPTION_COUNT,
	  FIELD(accesses) },
	{ 0, "repeat", "N", "5", "runs of each; their median is compared", OPTION_COUNT,
	  FIELD(repeat) },
	{ 0, "seed", "N", "1", "seed of the random accesses", OPTION_COUNT, FIELD(model.seed) },
	{ 0, "writes-only", NULL, NULL, "do not run reads", OPTION_FLAG, FIELD(writes_only) },
	{ 0, "check", NULL, NULL,
	  "do not change the model; report its coverage and compare its recommendations with the "
	  "default, independent and collective settings",
	  OPTION_FLAG, FIELD(check) },
	OPTION_INCLUDE(model_job_options, FIELD(job)),
	OPTION_INCLUDE(model_file_options, FIELD(model)),
	OPTION_INCLUDE(model_coverage_options, FIELD(model)),
	OPTION_INCLUDE(model_json_options, FIELD(model)),
	{ 0 },
};

#undef FIELD

static bool has_reads(const struct hybrid *hybrid)
{
	return hybrid->costs.of[OPERATION_READ_FIRST].is_fitted;
}

/* What the model can predict: nodes, stripes and pieces that were measured. */
static void find_range(struct calibrate_run *run)
{
	const struct cost *pieces = &run->hybrid.costs.of[OPERATION_PIECE_WRITE];
	struct validate_range *range = &run->range;

	*range = (struct validate_range){ .machine = &run->hybrid.machine,
					  .ranks = &run->ranks,
					  .most_stripes = hybrid_most_stripes(&run->hybrid) };
	for (size_t i = 0; i < run->ranks.count; i++)
		range->nodes[i] = hybrid_choose_nodes(&run->hybrid, &run->hybrid.machine,
						      run->ranks.items[i]);
	if (pieces->is_fitted)
		range->least_piece = (uint64_t)pieces->least.bytes;
}

/* Adds the recommended settings of each access to the plan, if they are not in it already. */
static int add_recommended(struct calibrate_run *run, struct err *err)
{
	static const struct settings initial;
	int r = 0;

	run->recommended = xcalloc(run->plan.access_count + 1, sizeof(*run->recommended));
	for (size_t g = 0; r >= 0 && g < run->plan.access_count; g++)
		for (int way = 0; r >= 0 && way < run->ways; way++) {
			struct access access = validate_access(&run->plan, g, way);
			struct recommendation best = { 0 };
			struct choices choices = { 0 };

			r = choices_from_catalog(&choices, &run->hybrid, &access, err);
			if (r >= 0)
				r = hybrid_recommend(&run->hybrid, &access, choices.list,
						     choices.count, &initial, run->coverage, &best,
						     err);
			if (r >= 0)
				run->recommended[g][way] = validate_find_or_add(
					&run->plan, g,
					best.keep ? &initial : &choices.list[best.best]);
			choices_release(&choices);
		}
	return r;
}

static void show_job(void *arg, uint64_t ranks, size_t cases)
{
	struct calibrate_run *run = arg;
	AUTO_FREE char *text = xprintf("%" PRIu64 " ranks, %zu accesses", ranks, cases);

	progress_line(&run->progress, text);
}

static int measure(struct calibrate_run *run, const struct calibrate_args *args, struct err *err)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct validate_options options = { .machine = &run->hybrid.machine,
					    .ranks = &run->ranks,
					    .dir = args->dir,
					    .repeat = args->repeat,
					    .reads = run->ways > 1,
					    .mpi = (enum mpi)args->job.mpi,
					    .hosts = args->job.hosts,
					    .launcher = args->job.launcher,
					    .stop = interrupt_flag(),
					    .show = show_job,
					    .arg = run };
	struct interrupt stop;
	int r;

	if (!args->job.hosts && !args->job.launcher)
		options.cores = cores > 0 ? (uint64_t)cores : 0;
	interrupt_catch(&stop);
	progress_start(&run->progress, "calibrate", 0);
	r = validate_run(&run->plan, &options, &run->environment, err);
	progress_end(&run->progress);
	interrupt_restore(&stop);
	return r;
}

static int add_measured(struct calibrate_run *run, size_t at, int way, bool is_held,
			struct err *err)
{
	static const struct settings initial;
	const struct validate_case *one = &run->plan.cases[at];
	struct access access = validate_access(&run->plan, one->group, way);
	struct prediction p;
	int r = hybrid_predict(&run->hybrid, &access, &one->settings, run->coverage, &p, err);

	if (r < 0)
		return r;
	run->predictions[run->count] = p;
	run->cases[run->count++] = (struct validation_case){
		.group = run->accesses + one->group,
		.transfer = p.counts.transfer,
		.is_read = access.is_read,
		.is_default = settings_equal(&one->settings, &initial),
		.is_held = is_held,
		.ranks = (double)access.ranks,
		.bytes = (double)access.rank_bytes,
		.predicted = p.seconds / p.correction,
		.measured = validate_median(one, way),
	};
	return 0;
}

/* Predicts every measured case of the plan and adds it. */
static int collect_cases(struct calibrate_run *run, bool is_held, struct err *err)
{
	size_t wanted = run->count + run->plan.count * VALIDATE_WAYS;
	int r = 0;

	run->cases = xrealloc(run->cases, wanted, sizeof(*run->cases));
	run->predictions = xrealloc(run->predictions, wanted, sizeof(*run->predictions));
	for (size_t i = 0; r >= 0 && i < run->plan.count; i++)
		for (int way = 0; r >= 0 && way < run->ways; way++)
			r = add_measured(run, i, way, is_held, err);
	run->accesses += run->plan.access_count;
	return r;
}

static int store_calibration(struct calibrate_run *run, const struct calibrate_args *args,
			     struct err *err)
{
	AUTO_FREE char *path = model_path(run->command, &args->model);
	struct validation made = { 0 };
	int r = validation_make(&made, run->cases, run->count, args->repeat, &run->environment,
				err);

	if (r < 0)
		return r;
	validation_release(&run->hybrid.validation);
	run->hybrid.validation = made;
	return hybrid_save(&run->hybrid, path, err);
}

/* Draws and measures accesses. Returns an exit code. */
static int run_session(struct calibrate_run *run, const struct calibrate_args *args,
		       size_t accesses, uint64_t seed, bool is_held)
{
	struct err err = { 0 };
	int r = 0;

	validate_release(&run->plan);
	validate_draw(&run->plan, &run->range, accesses, seed);
	if (args->check)
		r = add_recommended(run, &err);
	if (r < 0)
		return command_fail_err(run->command, r, &err);
	r = measure(run, args, &err);
	if (r == -EINTR && *interrupt_flag())
		return COMMAND_SIGNAL + *interrupt_flag();
	if (r < 0)
		return command_fail(run->command, "%s", err.text);
	r = collect_cases(run, is_held, &err);
	return r < 0 ? command_fail_err(run->command, r, &err) : COMMAND_GOOD;
}

static int check_model(struct calibrate_run *run, const struct calibrate_args *args)
{
	int ret = run_session(run, args, args->accesses, args->model.seed, false);

	if (ret)
		return ret;
	calibrate_show_check(run, args->model.json);
	return command_finish(run->command);
}

/* Half as many accesses are held out. They are drawn with other random numbers, in a session of
 * their own. */
static int calibrate_model(struct calibrate_run *run, const struct calibrate_args *args)
{
	struct err err = { 0 };
	int ret = run_session(run, args, args->accesses, args->model.seed, false), r;

	if (!ret)
		ret = run_session(run, args, (args->accesses + 1) / 2, ~args->model.seed, true);
	if (ret)
		return ret;
	r = store_calibration(run, args, &err);
	if (r < 0)
		return command_fail_err(run->command, r, &err);
	calibrate_show(run, args->model.json);
	return command_finish(run->command);
}

static int calibrate_main(struct command *command)
{
	const struct calibrate_args *args = command->args;
	struct calibrate_run run = { .command = command };
	struct err err = { 0 };
	int ret = model_coverage(command, &args->model, &run.coverage);

	if (!ret && (!args->accesses || !args->repeat))
		ret = command_misuse(command, "--accesses and --repeat must be at least 1");
	if (!ret && campaign_numbers(&run.ranks, "ranks", args->ranks, &err) < 0)
		ret = command_misuse(command, "%s", err.text);
	if (!ret)
		ret = model_open(command, &args->model, &run.hybrid);
	if (!ret)
		find_range(&run);
	run.ways = args->writes_only || !has_reads(&run.hybrid) ? 1 : VALIDATE_WAYS;
	run.repeat = args->repeat;
	if (!ret)
		ret = args->check ? check_model(&run, args) : calibrate_model(&run, args);
	validate_release(&run.plan);
	hybrid_release(&run.hybrid);
	free(run.recommended);
	free(run.cases);
	free(run.predictions);
	return ret;
}

const struct command_ops command_model_calibrate = {
	.name = "calibrate",
	.help = "compare predictions with measured accesses, and correct the model",
	.about =
		"Runs random collective accesses with the MPI library, as programs do, and "
		"compares "
		"their times with the predictions of the model. The differences become part of the "
		"model: they correct its predictions, and prediction intervals are computed from "
		"them. A model that is not calibrated makes no claim about its accuracy.\n\n"
		"The files that are written are removed.\n\n"
		"  sluice model calibrate --dir /scratch\n"
		"  sluice model calibrate --dir /scratch --check --seed 2",
	.options = calibrate_options,
	.args_bytes = sizeof(struct calibrate_args),
	.run = calibrate_main,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/request.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/studies.h"
#include "tune/loop/advice.h"
#include "tune/loop/proof.h"
#include "tune/trial/batch_job.h"
#include "tune/trial/simulated_runner.h"

/* The baseline is run again after this many runs. */
#define DRIFT_EVERY 5
#define RUNS_MAX 1000000
#define REPEAT_MAX 100
#define SLOW_MAX 1000
/* What the plan of a simulated platform begins with. */
#define SIMULATED "simulated:"

static bool needs_model(const struct tuning_request *request)
{
	return strcmp(request->search, "model") == 0;
}

static int check_range(const char *name, uint64_t value, uint64_t min, uint64_t max,
		       struct err *err)
{
	if (value >= min && value <= max)
		return 0;
	return err_set(err, EINVAL, "%s must be between %" PRIu64 " and %" PRIu64, name, min, max);
}

/* Models describe machines that can be benchmarked. */
static int check_model(const struct tuning_request *request, struct err *err)
{
	const struct search_ops *ops = search_find(request->search);

	if (request->simulate && needs_model(request))
		return err_set(err, EINVAL,
			       "search model cannot be used with --simulate: simulated platforms "
			       "have no model");
	if (request->simulate && request->model)
		return err_set(err, EINVAL,
			       "model cannot be used with --simulate: simulated platforms have no "
			       "model");
	if (request->model && ops && !ops->takes_prior)
		return err_set(err, EINVAL, "model cannot be used with --search %s", ops->name);
	return 0;
}

int tuning_request_check(const struct tuning_request *request, struct err *err)
{
	struct err reason = { 0 };
	int r = check_range("runs", request->runs, 2, RUNS_MAX, err);

	if (r >= 0)
		r = check_range("repeat", request->repeat, 1, REPEAT_MAX, err);
	if (r >= 0)
		r = check_range("pairs", request->pairs, PROOF_BLOCK, PROOF_PAIRS_MOST, err);
	if (r >= 0)
		r = check_range("timeout-factor", request->slow, 2, SLOW_MAX, err);
	if (r >= 0)
		r = check_range("seed", request->seed, 0, INT64_MAX, err);
	if (r >= 0)
		r = check_model(request, err);
	if (r >= 0 && search_check_settings(request->search, request->settings, &reason) < 0)
		r = err_set(err, EINVAL, "search: %s", reason.text);
	return r;
}

static char **argv_copy(char *const *argv)
{
	size_t n = 0;
	char **copy;

	while (argv[n])
		n++;
	copy = xcalloc(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(argv[i]);
	return copy;
}

/* Checks the file, but keeps its text as it is: the digest of the plan is of what the user wrote.
 */
static int plan_read_space(struct tuning_plan *plan, const char *path, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	struct space space = { 0 };
	int r = file_read_all(&text, path, 0, err);

	if (r >= 0)
		r = space_read_text(&space, path, buf_text(&text), text.len, err);
	space_release(&space);
	if (r >= 0)
		plan->space_text = xstrdup(buf_text(&text));
	return r < 0 ? r : 0;
}

/* Keeps the absolute path, as the working directory changes. */
static int plan_read_model(struct tuning_plan *plan, const char *path, struct err *err)
{
	struct advice *advice;
	int r = advice_open(&advice, path, err);

	if (r < 0)
		return r;
	plan->model = realpath(path, NULL);
	if (!plan->model)
		plan->model = xstrdup(path);
	plan->model_digest = xstrdup(advice_digest(advice));
	advice_close(advice);
	return 0;
}

int tuning_request_plan(const struct tuning_request *request, const struct config *config,
			struct tuning_plan *plan, struct err *err)
{
	const char *model = request->model;
	AUTO_FREE char *workdir = request->workdir ? realpath(request->workdir, NULL) : NULL;
	int r = 0;

	if (request->launcher && batch_job_find_fault(request->launcher))
		return err_set(err, EINVAL, "--launcher %s: %s", request->launcher,
			       batch_job_find_fault(request->launcher));
	if (request->workdir && !workdir)
		return err_set(err, errno, "--workdir %s: %s", request->workdir, strerror(errno));
	*plan = (struct tuning_plan){
		.directory = getcwd(NULL, 0),
		.search = xstrdup(request->search),
		.settings = xstrdup(request->settings),
		.seed = request->seed,
		.objective = request->objective,
		.runs = request->runs,
		.seconds = request->max_time_s,
		.repeat = (unsigned)request->repeat,
		.pairs = (unsigned)request->pairs,
		.drift = DRIFT_EVERY,
		.slow = (double)request->slow,
		.verify = xstrdup(request->verify),
		.restore = xstrdup(request->restore),
		.check = request->check_data && !request->simulate,
		.partial = request->partial,
		.allowed = request->allowed,
	};
	plan->workdir = xstrdup(workdir);
	plan->launcher = xstrdup(request->launcher);
	if (request->simulate) {
		plan->on = xprintf(SIMULATED "%s", request->simulate);
		plan->kernel = xstrdup(request->kernel);
		plan->on_ranks = request->ranks;
	} else {
		plan->argv = argv_copy(request->argv);
	}
	if (!model && needs_model(request))
		model = config_text(config, SETTING_MODEL_PATH);
	if (request->space)
		r = plan_read_space(plan, request->space, err);
	if (r >= 0 && model)
		r = plan_read_model(plan, model, err);
	return r;
}

int tuning_request_open_simulated(struct trial_runner *runner, struct tuning_plan *plan,
				  struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	struct space space = { 0 };
	int r = simulated_runner_open(runner, plan->on + strlen(SIMULATED), plan->kernel,
				      plan->on_ranks, err);

	if (r < 0 || plan->space_text)
		return r;
	r = simulated_runner_space(runner, &space, err);
	if (r >= 0)
		r = space_write(&space, &text);
	if (r >= 0)
		plan->space_text = xstrdup(buf_text(&text));
	space_release(&space);
	return r;
}

struct earlier_time {
	const char *command;
	int64_t id;
	double run_s;
};

static int earlier_study(void *arg, const struct study *study)
{
	struct earlier_time *earlier = arg;

	if (strcmp(study->command, earlier->command) == 0)
		earlier->id = study->id;
	return 0;
}

/* The first run of a study is one of the baseline. */
static int earlier_run(void *arg, const struct study_run *run)
{
	struct earlier_time *earlier = arg;

	earlier->run_s = run->run_s;
	return 1;
}

/* Seconds of a run without parameters, from the last tuning of this command; NAN: unknown. */
static double earlier_run_time(const struct tuning_plan *plan, const struct config *config)
{
	AUTO_FREE char *command = tuning_plan_command(plan);
	struct earlier_time earlier = { .command = command, .run_s = NAN };
	struct store *store = NULL;

	if (store_open_existing(&store, config_text(config, SETTING_STORE_PATH), NULL) < 0)
		return NAN;
	study_list(store, earlier_study, &earlier, NULL);
	if (earlier.id)
		study_runs(store, earlier.id, earlier_run, &earlier, NULL);
	store_close(store);
	return earlier.run_s;
}

/* Without a first run, the space has all parameters that could matter. */
static int plan_fill_space(struct tuning_plan *plan, struct err *err)
{
	static const struct space_uses all = { .hdf5 = true,
					       .hdf5_parallel = true,
					       .mpi = true,
					       .collective = true,
					       .creates = true,
					       .chunked = true,
					       .collective_hdf5 = true };

	plan->space.context.allowed = plan->allowed;
	if (plan->space_text)
		return space_read_text(&plan->space, "the space", plan->space_text,
				       strlen(plan->space_text), err);
	return space_suggest(&plan->space, &plan->space.context, &all, err);
}

int tuning_request_dry_run(const struct tuning_request *request, const struct config *config,
			   struct tuning_plan *plan, double *run_s, struct err *err)
{
	struct trial_runner runner = { 0 };
	int r = tuning_request_plan(request, config, plan, err);

	if (r >= 0 && plan->on)
		r = tuning_request_open_simulated(&runner, plan, err);
	if (r >= 0)
		r = plan_fill_space(plan, err);
	if (runner.ops)
		runner.ops->close(runner.state);
	if (r < 0) {
		tuning_plan_release(plan);
		return r;
	}
	*run_s = earlier_run_time(plan, config);
	return 0;
}

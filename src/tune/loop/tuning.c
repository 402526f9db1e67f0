/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/tuning.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "tune/loop/tuning_internal.h"
#include "tune/trial/lockstep.h"

const struct tuning_plan *tuning_plan(const struct tuning *t)
{
	return &t->plan;
}

const struct tuning_result *tuning_result(const struct tuning *t)
{
	return &t->result;
}

const struct history *tuning_history(const struct tuning *t)
{
	return &t->history;
}

const struct candidates *tuning_candidates(const struct tuning *t)
{
	return &t->candidates;
}

static void fill_result(struct tuning *t)
{
	struct tuning_result *result = &t->result;

	result->best = t->winner ? t->winner : t->basis.count ? tuning_best(t) : NULL;
	if (t->simple && t->simple != t->origin &&
	    result->best == &t->candidates.list[t->simple - 1])
		result->origin = &t->candidates.list[t->origin - 1];
	free(result->conditions);
	result->conditions = tuning_conditions(t);
	if (t->partial.count)
		result->partial = &t->partial;
	if (t->advice)
		result->note = advice_note(t->advice);
	if (t->search)
		result->asked = search_get_counts(t->search);
}

static int save_result(const struct tuning *t, struct err *err)
{
	const struct tuning_result *result = &t->result;
	const struct proof none = { .gain = NAN, .low = NAN, .high = NAN };
	const struct proof *proof = result->proof.holds ? &result->proof : &none;

	return study_set_result(t->history.store, t->history.study, proof->gain, proof->low,
				proof->high, result->conditions ? result->conditions : "", err);
}

static int run_phases(struct tuning *t, struct err *err)
{
	int r;

	estimate_init(&t->estimate, &t->plan.space);
	r = tuning_run_baseline(t, err);

	if (r >= 0)
		r = tuning_search(t, err);
	if (r >= 0)
		r = tuning_simplify(t, err);
	if (r >= 0)
		r = tuning_prove(t, err);
	if (r >= 0)
		r = tuning_check_unrecorded(t, err);
	if (r >= 0)
		r = tuning_ablate(t, err);
	fill_result(t);
	return r;
}

int tuning_run(struct tuning *t, struct err *err)
{
	int r = run_phases(t, err);

	if (r >= 0)
		r = save_result(t, err);
	if (r >= 0)
		r = study_set_state(t->history.store, t->history.study, "done", clock_realtime_ns(),
				    err);
	t->result.is_complete = r >= 0;
	return r;
}

static struct tuning *tuning_new(struct tuning_plan *plan, struct trial_runner *runner,
				 const struct tuning_watch *watch)
{
	struct tuning *t = xcalloc(1, sizeof(*t));

	t->plan = *plan;
	*plan = (struct tuning_plan){ 0 };
	t->runner = runner;
	if (watch)
		t->watch = *watch;
	t->result.compared = "not compared: no run with parameters succeeded";
	t->result.drift = 1;
	t->result.unrecorded_before = t->result.unrecorded_after = NAN;
	return t;
}

void tuning_close(struct tuning *t)
{
	if (!t)
		return;
	search_free(t->search);
	advice_close(t->advice);
	tuning_plan_release(&t->plan);
	history_release(&t->history);
	candidates_release(&t->candidates);
	estimate_release(&t->estimate);
	param_set_release(&t->nothing);
	candidate_release(&t->basis);
	partial_release(&t->partial);
	free(t->result.conditions);
	free(t->result.withheld);
	free(t);
}

static bool is_data_checked(const struct tuning_plan *plan)
{
	return plan->check || plan->verify;
}

/* Why a value with which the program hangs unless the ranks are in lockstep is not tried. */
static const char *hanging_reason(const struct tuning *t)
{
	const struct lockstep *lockstep = t->runner->lockstep;

	if (!is_data_checked(&t->plan))
		return "the data of the trials is not compared";
	return lockstep && lockstep->reason
		       ? lockstep->reason
		       : "the first run has no transfers that all ranks make together";
}

/* A space that names such a value is refused if the first run does not support it. */
static int check_hanging_values(const struct tuning *t, struct err *err)
{
	const struct space *space = &t->plan.space;

	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		for (size_t k = 0; k < d->count; k++)
			if (tunable_may_hang(d->tunable, d->values[k]) &&
			    tunable_value_safety(d->tunable, d->values[k], &t->plan.context) >
				    t->plan.context.allowed)
				return err_set(err, EPERM,
					       "%s=%s is not tried, because the program would hang "
					       "unless all ranks make the same transfers: %s; "
					       "--allow semantics tries it regardless",
					       d->tunable->name, d->values[k], hanging_reason(t));
	}
	return 0;
}

/* Says why collective transfers are not tried, if there are independent ones of shared files. */
static void note_withheld(struct tuning *t)
{
	const struct lockstep *lockstep = t->runner->lockstep;

	if (!t->plan.space_text && lockstep && lockstep->verdict != LOCKSTEP_NONE &&
	    t->runner->uses.independent && !t->plan.context.is_lockstep &&
	    t->plan.context.allowed < TUNABLE_SEMANTICS)
		t->result.withheld =
			xprintf("transfer=collective was not tried: %s", hanging_reason(t));
}

/* There is nothing else to try. */
static void explain_withheld(const struct tuning *t, struct err *err)
{
	const struct err first = *err;

	err_set(err, first.code, "%s; %s", first.text, t->result.withheld);
}

static int choose_space(struct tuning *t, struct err *err)
{
	struct tuning_plan *plan = &t->plan;
	int r = 0;

	plan->context = t->runner->context;
	plan->context.allowed = plan->allowed;
	/* Evidence of one run is no proof: what a trial wrote must be compared. */
	plan->context.is_lockstep = plan->context.is_lockstep && is_data_checked(plan);
	plan->space.context = plan->context;
	if (plan->space_text)
		r = space_read_text(&plan->space, "the space", plan->space_text,
				    strlen(plan->space_text), err);
	else
		r = space_suggest(&plan->space, &plan->context, &t->runner->uses, err);
	note_withheld(t);
	if (r == -ENODATA && t->result.withheld)
		explain_withheld(t, err);
	if (r >= 0)
		r = check_hanging_values(t, err);
	if (r < 0)
		return r;
	plan->space.context = plan->context;
	if (!plan->space.count)
		return err_set(
			err, ENODATA,
			"nothing to tune: no known parameter affects the I/O of this program; "
			"name parameters with --space");
	return 0;
}

/* The model determines the course, so a tuning cannot be resumed with another one. */
static int open_model(struct tuning *t, struct err *err)
{
	struct tuning_plan *plan = &t->plan;
	int r;

	if (!plan->model)
		return 0;
	r = advice_open(&t->advice, plan->model, err);
	if (r < 0)
		return r;
	if (!plan->model_digest)
		plan->model_digest = xstrdup(advice_digest(t->advice));
	if (strcmp(plan->model_digest, advice_digest(t->advice)) != 0)
		return err_set(err, ESTALE,
			       "the model %s has changed since the tuning was started; start a new "
			       "tuning",
			       plan->model);
	return 0;
}

/* The model predicts the accesses of the first run. */
static int keep_access_profile(struct tuning *t, struct err *err)
{
	if (!t->advice)
		return 0;
	if (t->runner->profile)
		access_profile_copy(&t->plan.profile, t->runner->profile);
	return advice_set_profile(t->advice, &t->plan.profile, err);
}

static int start_study(struct tuning *t, struct store *store, const struct trial *trial,
		       double cost, int64_t begun_ns, struct err *err)
{
	AUTO_BUF struct buf parameters = { 0 };
	AUTO_FREE char *command = tuning_plan_command(&t->plan), *text = NULL;
	char digest[TUNING_DIGEST];
	struct study_run first;
	int r = param_json.write(&t->nothing, &parameters, err);

	if (r < 0)
		return r;
	text = tuning_plan_write(&t->plan);
	tuning_plan_digest(&t->plan, digest);
	first = tuning_row(PHASE_DEFAULT, HISTORY_NO_POINT, buf_text(&parameters), trial, cost,
			   begun_ns);
	return history_begin(&t->history, store,
			     &(struct study){ .command = command,
					      .plan = text,
					      .digest = digest,
					      .state = "running",
					      .begun_ns = begun_ns,
					      .changed_ns = begun_ns },
			     &first, err);
}

/* The first run shows where the program runs and what it does. */
static int make_first_run(struct tuning *t, struct store *store, struct err *err)
{
	int64_t begun_ns = clock_realtime_ns();
	struct trial trial = { 0 };
	double cost;
	int r;

	t->phase_planned = t->plan.runs;
	r = tuning_make_trial(t, PHASE_DEFAULT, &t->nothing, INFINITY, &trial, &cost, err);
	if (r >= 0 && trial.state != TRIAL_GOOD)
		r = tuning_fail_baseline(t, trial.state, trial.reason, 1, err);
	/* Its time is added when it is replayed from the history. */
	t->elapsed_s = 0;
	if (r >= 0)
		r = keep_access_profile(t, err);
	if (r >= 0)
		r = choose_space(t, err);
	if (r >= 0)
		r = start_study(t, store, &trial, cost, begun_ns, err);
	trial_release(&trial);
	return r;
}

int tuning_begin(struct tuning **tuning, struct tuning_plan *plan, struct trial_runner *runner,
		 struct store *store, const struct tuning_watch *watch, struct err *err)
{
	struct tuning *t = tuning_new(plan, runner, watch);
	int r = open_model(t, err);

	if (r >= 0)
		r = make_first_run(t, store, err);
	if (r < 0)
		tuning_close(t);
	else
		*tuning = t;
	return r;
}

int tuning_open(struct tuning **tuning, int64_t study, struct tuning_plan *plan,
		struct trial_runner *runner, struct store *store, const struct tuning_watch *watch,
		struct err *err)
{
	struct tuning *t = tuning_new(plan, runner, watch);
	int r = open_model(t, err);

	if (r >= 0 && t->advice)
		r = advice_set_profile(t->advice, &t->plan.profile, err);
	if (r >= 0)
		r = history_open(&t->history, store, study, err);
	/* The runner would learn it from the first run, which is only replayed. */
	runner->context = t->plan.context;
	if (r >= 0)
		r = study_set_state(store, study, "running", clock_realtime_ns(), err);
	if (r < 0)
		tuning_close(t);
	else
		*tuning = t;
	return r;
}

/* --- replay --- */

static int replay_ended(void *runner, const struct param_set *set,
			const struct trial_limits *limits, struct trial *trial, struct err *err)
{
	(void)runner, (void)set, (void)limits, (void)trial;
	return err_set(err, EINTR, "all runs were replayed");
}

static void replay_close(void *runner)
{
	(void)runner;
}

static const struct trial_runner_ops replay_simulated = { .run = replay_ended,
							  .close = replay_close,
							  .is_exact = true };
static const struct trial_runner_ops replay_measured = { .run = replay_ended,
							 .close = replay_close,
							 .can_skip_recording = true };

int tuning_replay(struct tuning **tuning, const struct study *study, struct tuning_plan *plan,
		  struct store *store, struct err *err)
{
	bool is_done = strcmp(study->state, "done") == 0;
	struct tuning *t = tuning_new(plan, NULL, NULL);
	int r;

	t->runner = &t->replayer;
	t->replayer.ops = t->plan.on ? &replay_simulated : &replay_measured;
	t->replayer.context = t->plan.context;
	/* Whatever the limit was, a tuning that is done had no time for more runs. */
	if (is_done)
		t->plan.seconds = 0;
	r = open_model(t, err);
	if (r >= 0 && t->advice)
		r = advice_set_profile(t->advice, &t->plan.profile, err);
	if (r >= 0)
		r = history_open(&t->history, store, study->id, err);
	if (r >= 0)
		r = run_phases(t, err);
	if (r == -EINTR && !is_done)
		r = 0;
	if (r < 0) {
		tuning_close(t);
		return r;
	}
	t->result.is_complete = is_done;
	/* The number of cores is unknown here, but the tuning has saved what it implies. */
	if (is_done) {
		free(t->result.conditions);
		t->result.conditions = *study->conditions ? xstrdup(study->conditions) : NULL;
	}
	*tuning = t;
	return 0;
}

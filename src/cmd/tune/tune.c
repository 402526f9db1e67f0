/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice tune: finds parameters that make a program faster and proves the gain. This file turns
 * options into a request; tune/loop/session.h does the work, and show.c, plan.c and list.c print.
 * Ctrl-C aborts the running trial; what was found is shown, and the tuning can be resumed.
 */
#include "cmd/tune/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "store/studies.h"
#include "tune/loop/session.h"

#define FIELD(name) offsetof(struct tune_args, name)

static const struct option tune_options[] = {
	{ 's', "search", "NAME", "bayesian",
	  "bayesian, genetic, annealing, random, exhaustive or model", OPTION_TEXT, FIELD(search) },
	{ 'm', "model", "FILE", NULL,
	  "lets a model (sluice model fit) lead; --search model takes model.path unasked",
	  OPTION_TEXT, FIELD(model) },
	{ 0, "set-search", "KEY=VALUE", NULL, "a setting of the search; may be repeated",
	  OPTION_LIST, FIELD(settings) },
	{ 'n', "runs", "N", "40", "most runs to search, those of the default included",
	  OPTION_COUNT, FIELD(runs) },
	{ 't', "time", "TIME", NULL, "search no longer than that", OPTION_TIME, FIELD(time_ns) },
	{ 0, "space", "FILE", NULL, "what to try; else what fits the program and the place",
	  OPTION_TEXT, FIELD(space) },
	{ 0, "objective", COST_WORDS, "io",
	  "time of I/O or of the run, or per byte read or written", OPTION_CHOICE,
	  FIELD(objective) },
	{ 'r', "repeat", "N", "3", "runs of what leads, and at first without parameters",
	  OPTION_COUNT, FIELD(repeat) },
	{ 0, "pairs", "N", "5", "pairs of fresh runs to prove the winner by", OPTION_COUNT,
	  FIELD(pairs) },
	{ 0, "slow", "N", "3", "end a run that takes N times as long as the best", OPTION_COUNT,
	  FIELD(slow) },
	{ 0, "seed", "N", "1", "the same seed and the same times give the same course",
	  OPTION_COUNT, FIELD(seed) },
	{ 0, "verify", "CMD", NULL, "shell command after each run; if it fails, so has the run",
	  OPTION_TEXT, FIELD(verify) },
	{ 0, "no-check", NULL, NULL, "do not compare the data written with that of the default",
	  OPTION_FLAG, FIELD(no_check) },
	{ 0, "no-partial", NULL, NULL, "do not find out what each part of the winner brings",
	  OPTION_FLAG, FIELD(no_partial) },
	{ 0, "allow", "safe|layout|semantics", "layout",
	  "only time may change, or layouts of files, or what readers see", OPTION_CHOICE,
	  FIELD(allow) },
	{ 'o', "output", "PREFIX", NULL, "write the winner as PREFIX.xml, .json, .hints and .sh",
	  OPTION_TEXT, FIELD(output) },
	{ 0, "on", "simulated:PLATFORM", NULL, "tune a kernel on a described platform", OPTION_TEXT,
	  FIELD(on) },
	{ 0, "kernel", "NAME", "vpic", "with --on: vpic, vorpal or gcrm", OPTION_TEXT,
	  FIELD(kernel) },
	{ 0, "ranks", "N", "2048", "with --on: its ranks", OPTION_COUNT, FIELD(ranks) },
	{ 0, "resume", NULL, NULL, "go on with the last unfinished tuning, or with that of COMMAND",
	  OPTION_FLAG, FIELD(resume) },
	{ 0, "plan", NULL, NULL, "show what would be tried and how often; run nothing", OPTION_FLAG,
	  FIELD(plan) },
	{ 'l', "list", NULL, NULL, "list tunings", OPTION_FLAG, FIELD(list) },
	{ 0, "show", "ID", NULL, "show the runs of a tuning", OPTION_COUNT, FIELD(show) },
	{ 0, "forget", "ID", NULL, "delete a tuning and its runs", OPTION_COUNT, FIELD(forget) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " TUNE_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

static bool watch_stop(void *arg)
{
	(void)arg;
	return *interrupt_flag();
}

/* "search 12/40, best 2.31 times faster, 1 min 3 s left" */
static void watch_show(void *arg, const struct tuning_progress *p)
{
	AUTO_BUF struct buf line = { 0 };
	char text[UNIT_TEXT];

	buf_printf(&line, "%s %" PRIu64, history_phase_name(p->phase), p->run);
	if (p->planned)
		buf_printf(&line, "/%" PRIu64, p->planned);
	if (p->gain > 1)
		buf_printf(&line, ", best %.2f times faster", p->gain);
	if (!isnan(p->eta_s))
		buf_printf(&line, ", %s left", unit_ns(text, (int64_t)p->eta_s * 1000000000));
	progress_line(arg, buf_text(&line));
}

#define SIMULATED "simulated:"

/* The settings of the search as one text; NULL: none. The caller frees it. */
static char *settings_text(const struct option_list *given)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < given->count; i++)
		buf_printf(&text, "%s%s", i ? "," : "", given->items[i]);
	return given->count ? buf_take(&text) : NULL;
}

static struct tuning_request request_make(const struct command *command,
					  const char *search_settings)
{
	const struct tune_args *args = command->args;

	return (struct tuning_request){
		.argv = command->argc ? command->argv : NULL,
		.simulate = args->on ? args->on + strlen(SIMULATED) : NULL,
		.kernel = args->kernel,
		.ranks = args->ranks,
		.search = args->search,
		.settings = search_settings,
		.model = args->model,
		.space = args->space,
		.verify = args->verify,
		.output = args->output,
		.runs = args->runs,
		.max_time_s = args->time_ns > 0 ? (double)args->time_ns / 1e9 : INFINITY,
		.repeat = args->repeat,
		.pairs = args->pairs,
		.slow = args->slow,
		.seed = args->seed,
		.objective = (enum cost_kind)args->objective,
		.allowed = (enum tunable_safety)args->allow,
		.check_data = !args->no_check,
		.partial = !args->no_partial,
		.resume = args->resume,
		.stop = interrupt_flag(),
	};
}

static int args_check(const struct command *command)
{
	const struct tune_args *args = command->args;

	if (args->on && command->argc)
		return command_misuse(command, "--on tunes a kernel and takes no COMMAND");
	if (args->on && strncmp(args->on, SIMULATED, strlen(SIMULATED)) != 0)
		return command_misuse(command, "--on: expected simulated:PLATFORM, got \"%s\"",
				      args->on);
	if (!args->on && !command->argc && (!args->resume || args->plan))
		return command_misuse(command,
				      "missing COMMAND; usage: sluice tune [--] COMMAND [ARG]...");
	return COMMAND_GOOD;
}

static int tune_fail(const struct command *command, int r, const struct err *err)
{
	if (r == -EINTR && *interrupt_flag())
		return 128 + *interrupt_flag();
	command_fail(command, "%s", err->text);
	return r == -ENODATA ? COMMAND_NO_DATA : COMMAND_FAILED;
}

/* Saves a proved winner. A failure is reported, and the result is shown all the same. */
static int winner_save(const struct command *command, const struct tuning_session *session,
		       struct tune_outcome *outcome)
{
	struct err err = { 0 };
	int r, ret = COMMAND_GOOD;

	r = tuning_session_remember(session, &outcome->entry, &err);
	if (r == -EEXIST)
		outcome->pinned = "the entry for this program is pinned (see 'sluice kb list')";
	else if (r < 0)
		ret = command_fail(command, "%s", err.text);
	if (tuning_session_write(session, &err) < 0)
		ret = command_fail(command, "%s", err.text);
	else
		outcome->output = tuning_session_output(session);
	return ret;
}

static int outcome_show(const struct command *command, const struct tuning_session *session)
{
	const struct tune_args *args = command->args;
	const struct tuning *tuning = tuning_session_tuning(session);
	AUTO_FREE char *text = tuning_plan_command(tuning_plan(tuning));
	struct tune_outcome outcome = {
		.tuning = tuning,
		.study = tuning_history(tuning)->study,
		.command = text,
		.is_exact = tuning_session_is_exact(session),
	};
	int ret = COMMAND_GOOD;

	if (tuning_session_data_note(session))
		command_warn(command, "data: %s", tuning_session_data_note(session));
	if (tuning_result(tuning)->note)
		command_warn(command, "model: %s", tuning_result(tuning)->note);
	if (tuning_session_has_winner(session))
		ret = winner_save(command, session, &outcome);
	if (args->json)
		tune_show_json(&outcome);
	else
		tune_show(&outcome);
	return ret ? ret : command_finish(command);
}

static void resume_show(const struct tuning_request *request, const struct tuning_session *session)
{
	int64_t unfinished = tuning_session_unfinished(session);

	if (!request->resume && unfinished)
		fprintf(stderr,
			"sluice tune: tuning %" PRId64
			" with the same command and options is unfinished; use --resume to "
			"continue it\n",
			unfinished);
	else if (request->resume && !unfinished && (request->argv || request->simulate))
		fprintf(stderr, "sluice tune: no unfinished tuning has this command and these "
				"options; starting a new one\n");
}

static int session_run(const struct command *command, struct tuning_session *session)
{
	struct progress progress;
	struct tuning_watch watch = { watch_stop, watch_show, &progress };
	struct interrupt stop;
	struct err err = { 0 };
	int r, ret = COMMAND_GOOD;

	interrupt_catch(&stop);
	progress_start(&progress, "tuning", 0);
	r = tuning_session_run(session, &watch, &err);
	progress_end(&progress);
	if (r < 0)
		ret = tune_fail(command, r, &err);
	/* What was found before an interrupt is shown. */
	if (tuning_session_tuning(session) && (r >= 0 || r == -EINTR)) {
		r = outcome_show(command, session);
		ret = ret ? ret : r;
	}
	interrupt_restore(&stop);
	return ret;
}

static int tune_run(const struct command *command, const struct tuning_request *request)
{
	struct tuning_session *session = NULL;
	struct err err = { 0 };
	int r = tuning_session_open(&session, request, command->config, &err);

	if (r < 0)
		return tune_fail(command, r, &err);
	resume_show(request, session);
	r = session_run(command, session);
	tuning_session_close(session);
	return r;
}

static int tune_plan(const struct command *command, const struct tuning_request *request)
{
	const struct tune_args *args = command->args;
	struct tuning_plan plan = { 0 };
	struct err err = { 0 };
	double run_s;
	int r = tuning_request_dry_run(request, command->config, &plan, &run_s, &err);

	if (r < 0)
		return tune_fail(command, r, &err);
	tune_show_plan(&plan, run_s, args->json);
	tuning_plan_release(&plan);
	return command_finish(command);
}

/* --list, --show, --forget */
static int tune_look(struct command *command)
{
	const struct tune_args *args = command->args;
	struct store *store = NULL;
	struct err err = { 0 };
	int r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), &err);

	if (r < 0) {
		command_fail(command, "%s", err.text);
		return r == -ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
	}
	if (args->list)
		r = tune_list(command, store);
	else if (args->show != OPTION_NONE)
		r = tune_show_runs(command, store, (int64_t)args->show);
	else if (study_forget(store, (int64_t)args->forget, &err) < 0)
		r = command_fail(command, "%s", err.text);
	else
		r = COMMAND_GOOD;
	store_close(store);
	return r;
}

static int tune_main(struct command *command)
{
	const struct tune_args *args = command->args;
	AUTO_FREE char *search_settings = settings_text(&args->settings);
	struct tuning_request request;
	struct err err = { 0 };
	int r;

	if (args->list || args->show != OPTION_NONE || args->forget != OPTION_NONE)
		return tune_look(command);
	r = args_check(command);
	if (r)
		return r;
	request = request_make(command, search_settings);
	if (tuning_request_check(&request, &err) < 0)
		return command_misuse(command, "--%s", err.text);
	return args->plan ? tune_plan(command, &request) : tune_run(command, &request);
}

const struct command_ops command_tune = {
	.name = "tune",
	.help = "find parameters that make a program's I/O faster, and prove it",
	.operands = "[--] [COMMAND [ARG]...]",
	.operands_max = -1,
	.about =
		"Runs COMMAND again and again under different parameters of HDF5, MPI-IO and the "
		"file system, without changing the program, and keeps the best.\n\n"
		"  sluice tune -- mpiexec -n 4 ./app\n"
		"  sluice run --tune=apply -- mpiexec -n 4 ./app\n\n"
		"First it is run without parameters, to know what has to be beaten and how much "
		"times vary. Then a search chooses what to try. What looks better than all before "
		"is run again; what fails, crashes, hangs or writes other data than the default "
		"counts as bad and is never fatal. Every now and then the default is run again, "
		"and where the machine has become slower or faster, that is taken into account. "
		"What the best can do without is then left out of it, so that few changes remain. "
		"At last the winner and the default are run in turn: only these fresh runs count, "
		"and a gain is claimed only where its 95 % interval lies above 1. Then each part "
		"of the winner is tried alone.\n\n"
		"A proved winner is kept in the knowledge base (sluice kb), from which sluice run "
		"takes it. Where nothing better is found, that is told, and the exit code is 0. "
		"--runs bounds the search; --plan tells what comes on top.\n\n"
		"A model of the machine (sluice model) may lead the search: it is told what the "
		"first run was seen to do by collective MPI-IO, and predicts that under all "
		"parameters that it knows. --search model then runs no more than the few points of "
		"the shortest predicted times (--set-search top=5); with --model the bayesian "
		"search begins there and goes on by what it learns, also where the model is "
		"wrong.\n\n"
		"Files that a run makes are removed after it; files that were there before stay. "
		"Parameters that are known to lose data are never tried; those that change what "
		"readers see only with --allow semantics.\n\n"
		"Every run is in the store before the next begins. Ctrl-C ends the running one, "
		"shows the best so far and leaves the exit code 130; sluice tune --resume goes on, "
		"also after a crash of the machine.",
	.options = tune_options,
	.args_bytes = sizeof(struct tune_args),
	.order = OPTION_STOP_FIRST,
	.run = tune_main,
};

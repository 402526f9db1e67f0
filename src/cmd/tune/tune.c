/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice tune: finds parameters that make a program faster and confirms the gain. This file turns
 * options into a request; tune/loop/session.h does the work; show.c and dry_run.c print.
 * Ctrl-C aborts the running trial; what was found is shown, and the tuning can be resumed.
 */
#include "cmd/tune/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "cmd/recovered.h"
#include "tune/loop/session.h"

#define FIELD(name) offsetof(struct tune_args, name)

static const struct option tune_options[] = {
	{ 0, "runs", "N", "40", "maximum number of runs for the search, baseline included",
	  OPTION_COUNT, FIELD(runs) },
	{ 0, "max-time", "TIME", NULL,
	  "end after TIME in total, and abort a run that takes longer, even the first one",
	  OPTION_TIME, FIELD(time_ns) },
	{ 0, "objective", COST_WORDS, "io",
	  "minimize I/O time, run time, or the time per byte read or written", OPTION_CHOICE,
	  FIELD(objective) },
	{ 0, "search", "NAME", "bayesian",
	  "search method: bayesian, genetic, annealing, random, exhaustive or model", OPTION_TEXT,
	  FIELD(search) },
	{ 0, "search-option", "KEY=VALUE", NULL, "set an option of the search; may be repeated",
	  OPTION_LIST, FIELD(settings) },
	{ 'm', "model", "FILE", NULL,
	  "guide the search with a fitted model (default with --search model: setting model.path)",
	  OPTION_TEXT, FIELD(model) },
	{ 0, "space", "FILE", NULL,
	  "read the search space from a JSON file (default: derived from the program and file "
	  "system)",
	  OPTION_TEXT, FIELD(space) },
	{ 0, "allow", "safe|layout|semantics", "layout",
	  "limit what parameters may change: run time only, file layout, or what readers see",
	  OPTION_CHOICE, FIELD(allow) },
	{ 0, "repeat", "N", "3", "repetitions of the baseline and of each new best", OPTION_COUNT,
	  FIELD(repeat) },
	{ 0, "pairs", "N", "12",
	  "interleaved pairs of runs reserved to confirm the winner; runs that the steps before "
	  "leave are added",
	  OPTION_COUNT, FIELD(pairs) },
	{ 0, "timeout-factor", "N", "3", "abort a run that takes N times as long as the best",
	  OPTION_COUNT, FIELD(slow) },
	{ 0, "verify", "CMD", NULL,
	  "run a shell command after each run, and reject the run if it fails", OPTION_TEXT,
	  FIELD(verify) },
	{ 0, "launcher", "LAUNCHER", NULL,
	  "submit each run as a batch job: 'slurm', followed by options of sbatch (default: start "
	  "runs directly)",
	  OPTION_TEXT, FIELD(launcher) },
	{ 0, "workdir", "DIR", NULL,
	  "run each time in a fresh copy of DIR, which is removed afterwards (default: in the "
	  "working directory)",
	  OPTION_TEXT, FIELD(workdir) },
	{ 0, "restore", "CMD", NULL,
	  "run a shell command before each run that restores files which Sluice cannot preserve",
	  OPTION_TEXT, FIELD(restore) },
	{ 0, "no-check", NULL, NULL, "do not compare the data written with that of the baseline",
	  OPTION_FLAG, FIELD(no_check) },
	{ 0, "no-ablation", NULL, NULL, "do not measure the contribution of each parameter",
	  OPTION_FLAG, FIELD(no_partial) },
	{ 0, "seed", "N", "1", "seed of the random numbers", OPTION_COUNT, FIELD(seed) },
	{ 0, "simulate", "PLATFORM", NULL, "tune a kernel on a simulated platform, such as hopper",
	  OPTION_TEXT, FIELD(simulate) },
	{ 0, "kernel", "NAME", "vpic", "with --simulate: kernel to tune: vpic, vorpal or gcrm",
	  OPTION_TEXT, FIELD(kernel) },
	{ 'n', "ranks", "N", "2048", "with --simulate: number of MPI ranks", OPTION_COUNT,
	  FIELD(ranks) },
	{ 0, "resume", NULL, NULL, "continue the last unfinished tuning, or that of COMMAND",
	  OPTION_FLAG, FIELD(resume) },
	{ 0, "tuning", "ID", NULL, "with --resume: continue tuning ID (see 'sluice kb tunings')",
	  OPTION_COUNT, FIELD(tuning) },
	{ 0, "dry-run", NULL, NULL, "show the search space and the number of runs, but run nothing",
	  OPTION_FLAG, FIELD(dry_run) },
	{ 'o', "output", "PREFIX", NULL, "write the winner to PREFIX.xml, .json, .hints and .sh",
	  OPTION_TEXT, FIELD(output) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " TUNE_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

static bool is_interrupted(void *arg)
{
	(void)arg;
	return *interrupt_flag();
}

/* "search 12/40, best speedup 2.31, 1 min 3 s left" */
static void show_progress(void *arg, const struct tuning_progress *p)
{
	AUTO_BUF struct buf line = { 0 };
	char text[UNIT_TEXT];

	buf_printf(&line, "%s %" PRIu64, history_phase_name(p->phase), p->run);
	if (p->planned)
		buf_printf(&line, "/%" PRIu64, p->planned);
	if (p->gain > 1)
		buf_printf(&line, ", best speedup %.2f", p->gain);
	if (!isnan(p->eta_s))
		buf_printf(&line, ", %s left", unit_ns(text, (int64_t)p->eta_s * NS_PER_S));
	progress_line(arg, buf_text(&line));
}

/* During a long run, a log gets a line from time to time. */
static void repeat_progress(void *arg)
{
	progress_repeat(arg);
}

/* The values of --search-option as one text; NULL if there is none. The caller frees it. */
static char *join_search_options(const struct option_list *given)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < given->count; i++)
		buf_printf(&text, "%s%s", i ? "," : "", given->items[i]);
	return given->count ? buf_take(&text) : NULL;
}

static struct tuning_request make_request(const struct command *command,
					  const char *search_settings)
{
	const struct tune_args *args = command->args;

	return (struct tuning_request){
		.argv = command->argc ? command->argv : NULL,
		.simulate = args->simulate,
		.kernel = args->kernel,
		.ranks = args->ranks,
		.search = args->search,
		.settings = search_settings,
		.model = args->model,
		.space = args->space,
		.verify = args->verify,
		.restore = args->restore,
		.workdir = args->workdir,
		.launcher = args->launcher,
		.output = args->output,
		.runs = args->runs,
		.max_time_s = args->time_ns > 0 ? (double)args->time_ns / NS_PER_S : INFINITY,
		.repeat = args->repeat,
		.pairs = args->pairs,
		.slow = args->slow,
		.seed = args->seed,
		.objective = (enum cost_kind)args->objective,
		.allowed = (enum tunable_safety)args->allow,
		.check_data = !args->no_check,
		.partial = !args->no_partial,
		.resume = args->resume,
		.tuning = args->tuning == OPTION_NONE ? 0 : (int64_t)args->tuning,
		.stop = interrupt_flag(),
	};
}

static int check_args(const struct command *command)
{
	const struct tune_args *args = command->args;

	if (args->simulate && command->argc)
		return command_misuse(command, "--simulate tunes a kernel and takes no COMMAND");
	if (!args->simulate && !command->argc && (!args->resume || args->dry_run))
		return command_misuse(
			command, "missing COMMAND; usage: sluice tune [--] COMMAND [ARGUMENT]...");
	if (args->tuning != OPTION_NONE && (!args->resume || args->simulate || command->argc))
		return command_misuse(command, "--tuning ID needs --resume and takes no COMMAND");
	if (args->tuning != OPTION_NONE && (!args->tuning || args->tuning > INT64_MAX))
		return command_misuse(command, "--tuning: not the id of a tuning");
	/* The runs of a missing program would fail for reasons that hide this one. */
	return command->argc && !args->dry_run ? command_check_program(command, command->argv[0])
					       : COMMAND_GOOD;
}

static int tune_fail(const struct command *command, int r, const struct err *err)
{
	if (r == -EINTR && *interrupt_flag())
		return COMMAND_SIGNAL + *interrupt_flag();
	command_fail(command, "%s", err->text);
	return r == -ENODATA ? COMMAND_NO_DATA : COMMAND_FAILED;
}

/* Saves a confirmed winner. After a failure, which is printed, the result is still shown. */
static int save_winner(const struct command *command, const struct tuning_session *session,
		       struct tune_outcome *outcome)
{
	struct err err = { 0 };
	int r, ret = COMMAND_GOOD;

	r = tuning_session_remember(session, &outcome->what.entry, &err);
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

/* Saves that nothing better was found, so that 'sluice run' does not suggest what was found for
 * other arguments. A better entry from an earlier tuning is kept. */
static int save_nothing(const struct command *command, const struct tuning_session *session)
{
	struct err err = { 0 };
	int64_t entry;
	int r = tuning_session_remember(session, &entry, &err);

	if (r == -EEXIST)
		command_warn(command, "%s", err.text);
	return r < 0 && r != -EEXIST ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static int show_outcome(const struct command *command, const struct tuning_session *session)
{
	const struct tune_args *args = command->args;
	const struct tuning *tuning = tuning_session_tuning(session);
	AUTO_FREE char *text = tuning_winner_command(tuning);
	struct tune_outcome outcome = {
		.what = { .tuning = tuning,
			  .command = text,
			  .is_exact = tuning_session_is_exact(session) },
		.study = tuning_history(tuning)->study,
	};
	int ret = COMMAND_GOOD;

	if (tuning_result(tuning)->note)
		command_warn(command, "model: %s", tuning_result(tuning)->note);
	if (tuning_result(tuning)->withheld)
		fprintf(stderr, "sluice tune: %s\n", tuning_result(tuning)->withheld);
	if (tuning_session_has_winner(session))
		ret = save_winner(command, session, &outcome);
	else if (tuning_session_found_nothing(session))
		ret = save_nothing(command, session);
	if (args->json)
		tune_show_json(&outcome);
	else
		tune_show(&outcome);
	return ret ? ret : command_finish(command);
}

static void show_unfinished(const struct tuning_request *request,
			    const struct tuning_session *session)
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

static int run_session(const struct command *command, struct tuning_session *session,
		       struct progress *progress)
{
	struct tuning_watch watch = { is_interrupted, show_progress, progress };
	struct interrupt stop;
	struct err err = { 0 };
	int r, ret = COMMAND_GOOD;

	interrupt_catch(&stop);
	progress_start(progress, "tuning", 0);
	r = tuning_session_run(session, &watch, &err);
	progress_end(progress);
	if (r < 0)
		ret = tune_fail(command, r, &err);
	/* What was found before an interrupt is shown. */
	if (tuning_session_tuning(session) && (r >= 0 || r == -EINTR)) {
		r = show_outcome(command, session);
		ret = ret ? ret : r;
	}
	interrupt_restore(&stop);
	return ret;
}

static int tune_run(const struct command *command, const struct tuning_request *request)
{
	struct tuning_session *session = NULL;
	struct progress progress = { 0 };
	struct tuning_request shown = *request;
	struct err err = { 0 };
	int r, recovered;

	shown.look = repeat_progress;
	shown.look_arg = &progress;
	r = tuning_session_open(&session, &shown, command->config, &err);
	if (r < 0)
		return tune_fail(command, r, &err);
	recovered = tuning_session_recovered(session, &err);
	recovered_show(command, recovered, &err);
	show_unfinished(request, session);
	r = run_session(command, session, &progress);
	if (tuning_session_finish(session, &err) < 0) {
		command_fail(command, "your files may not be as they were: %s", err.text);
		r = r ? r : COMMAND_FAILED;
	}
	/* Who sees that the tuning is over may read what it has printed (tuning_log_path()). */
	fflush(stdout);
	tuning_session_close(session);
	return r;
}

static int tune_dry_run(const struct command *command, const struct tuning_request *request)
{
	const struct tune_args *args = command->args;
	struct tuning_plan plan = { 0 };
	struct err err = { 0 };
	double run_s;
	int r = tuning_request_dry_run(request, command->config, &plan, &run_s, &err);

	if (r < 0)
		return tune_fail(command, r, &err);
	tune_show_dry_run(&plan, run_s, args->json);
	tuning_plan_release(&plan);
	return command_finish(command);
}

static int tune_main(struct command *command)
{
	const struct tune_args *args = command->args;
	AUTO_FREE char *search_settings = join_search_options(&args->settings);
	struct tuning_request request;
	struct err err = { 0 };
	int r;

	r = check_args(command);
	if (r)
		return r;
	request = make_request(command, search_settings);
	if (tuning_request_check(&request, &err) < 0)
		return command_misuse(command, "--%s", err.text);
	return args->dry_run ? tune_dry_run(command, &request) : tune_run(command, &request);
}

const struct command_ops command_tune = {
	.name = "tune",
	.help = "find parameters that make a program's I/O faster, and confirm the gain",
	.operands = "[--] [COMMAND [ARGUMENT]...]",
	.operands_max = -1,
	.about = "Runs COMMAND repeatedly with different parameters of HDF5, MPI-IO and the file "
		 "system, without modifying the program, and keeps the best.\n\n"
		 "  sluice tune -- mpiexec -n 4 ./app\n"
		 "  sluice run --tune=apply -- mpiexec -n 4 ./app\n\n"
		 "The first runs use no parameters. They are the baseline and show how much run "
		 "times vary. Then a search chooses parameters to try. A run that fails, crashes, "
		 "hangs or writes different data is rejected and does not end the search. The "
		 "baseline is repeated throughout, and every run is compared with the baseline of "
		 "its time. The best candidates are repeated, and parameters without effect are "
		 "dropped. Finally the winner and the baseline run interleaved in random order, "
		 "until a sequential test decides: only these runs count, and a gain is reported "
		 "only if its 95 % confidence interval lies above 1. If it is not, the runner-up "
		 "is tried. Then the contribution of each parameter is measured.\n\n"
		 "A confirmed winner is stored in the knowledge base (see 'sluice kb'), from "
		 "which 'sluice run' takes it. If nothing better is found, the result says so, the "
		 "knowledge base remembers it and the exit code is 0. --runs limits the search; "
		 "--dry-run shows how many runs "
		 "follow it.\n\n"
		 "The file of --space may also name environment variables (env:NAME), settings of "
		 "Open MPI (mca:NAME) and UCX (ucx:NAME), and arguments of the program: {NAME} in "
		 "COMMAND is replaced by the value of the dimension {NAME}:\n\n"
		 "  sluice tune --space FILE -- ./app --block {block}\n\n"
		 "A model of the machine (see 'sluice model') can guide the search. It predicts "
		 "the collective MPI-IO of the first run for all parameters it knows. --search "
		 "model tries only the few points with the shortest predicted times "
		 "(--search-option top=5). With --model, the Bayesian search starts there and "
		 "corrects the model by what it measures.\n\n"
		 "After each run the files are as they were before the first one: what the program "
		 "creates is removed, what it changes, renames or deletes is restored from a hard "
		 "link, a clone or a copy (up to tune.copy_limit). If a file cannot be preserved, "
		 "the program is not allowed to change it, and the tuning ends; use --workdir or "
		 "--restore then. After 'kill -9' the next 'sluice tune' or 'sluice kb tunings' "
		 "restores the files. "
		 "Parameters that are known to lose data are never tried. Parameters that "
		 "change what readers see are tried only with --allow semantics. "
		 "Independent transfers of HDF5 datasets are made collective only if the first run "
		 "shows that all ranks make the same transfers; a run that hangs is aborted.\n\n"
		 "A command that starts its programs with srun is tuned in the current "
		 "allocation. With --launcher slurm, each run is a batch job of its own:\n\n"
		 "  sluice tune --launcher 'slurm --nodes=2 --time=10' -- srun ./app\n\n"
		 "Jobs run one after the other. The time that they wait in the queue does not "
		 "count as run time, and Ctrl-C cancels the job. The working directory must be on "
		 "a file system that all nodes share. On other file systems of other nodes, the "
		 "program can create files, which are not removed, but not change what was there "
		 "before.\n\n"
		 "Every run is stored before the next one starts. Ctrl-C aborts the current run, "
		 "shows the best result so far and exits with 130. 'sluice tune --resume' "
		 "continues, even after a crash of the machine. 'sluice kb tunings' lists earlier "
		 "tunings.",
	.options = tune_options,
	.args_bytes = sizeof(struct tune_args),
	.order = OPTION_STOP_FIRST,
	.run = tune_main,
};

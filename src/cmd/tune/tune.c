/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice tune: finds parameters that make a program faster, proves it and remembers it. Options
 * become a plan, the work is done by tune/loop/tuning.h, and what is printed comes from tune_show.c,
 * tune_plan.c and tune_list.c. Ctrl-C ends the running trial; what was found is shown, and can be
 * gone on with.
 */
#include "cmd/tune/tune.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/term.h"
#include "base/unit.h"
#include "params/form_files.h"
#include "base/interrupt.h"
#include "store/knowledge.h"
#include "store/outcomes.h"
#include "store/studies.h"
#include "tune/loop/advice.h"
#include "tune/bed/bed_command.h"
#include "tune/bed/bed_simulated.h"
#include "tune/program/identity.h"

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

/* After how many runs the default is run again, to see whether the machine has changed. */
#define DRIFT_EVERY 10

/* ---- progress ---- */

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

/* ---- plan ---- */

struct job {
	struct command *command;
	struct store *store;
	struct bed bed;
	struct tuning_plan plan;
	struct identity identity; /* of argv; empty on a described platform */
	char *output;  /* prefix, absolute: the program may have to run elsewhere; NULL */
	int64_t study; /* to go on with; 0: a new one */
};

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

static int file_text(const char *path, struct buf *out, struct err *err)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char bytes[4096];
	size_t n;

	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		buf_add(out, bytes, n);
	return ferror(f) ? err_set(err, EIO, "%s: %s", path, strerror(EIO)) : 0;
}

/* Read to be checked, and kept as it is: the digest is of what the user wrote. */
static int plan_space(struct tuning_plan *plan, const char *path, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	struct space space = { 0 };
	int r = file_text(path, &text, err);

	if (r >= 0)
		r = space_read_text(&space, path, buf_text(&text), text.len, err);
	space_release(&space);
	if (r >= 0)
		plan->space_text = xstrdup(buf_text(&text));
	return r < 0 ? r : 0;
}

/* As search_new() takes them; NULL where there are none. */
static char *settings_text(const struct option_list *given)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < given->count; i++)
		buf_printf(&text, "%s%s", i ? "," : "", given->items[i]);
	return given->count ? buf_take(&text) : NULL;
}

static double any_prior(void *arg, const size_t *point)
{
	(void)arg;
	(void)point;
	return 1;
}

/* Before the program is run for the first time. */
static int search_check(const struct command *command)
{
	static const struct search_prior prior = { any_prior, NULL };
	const struct tune_args *args = command->args;
	static const char *const values[] = { "1", "2", NULL };
	struct space any = { 0 };
	struct search *search = NULL;
	AUTO_FREE char *text = settings_text(&args->settings);
	struct err err = { 0 };
	int r = space_add(&any, "cb_nodes", values, NULL, &err);

	if (r >= 0)
		r = search_new_with(&search, args->search, text, &any, &prior, args->seed, &err);
	search_free(search);
	space_release(&any);
	return r < 0 ? command_misuse(command, "--search: %s", err.text) : COMMAND_GOOD;
}

/* Models are of machines that can be benchmarked. */
static int model_check(const struct command *command)
{
	const struct tune_args *args = command->args;
	bool needs = strcmp(args->search, "model") == 0;

	if (args->on && (needs || args->model))
		return command_misuse(command,
				      "--on: there is no model of a described platform; %s",
				      needs ? "take another search" : "leave --model away");
	for (size_t i = 0; args->model && searches[i]; i++)
		if (strcmp(searches[i]->name, args->search) == 0 && !searches[i]->takes_prior)
			return command_misuse(command,
					      "--model: the %s search has no use for a model",
					      args->search);
	return COMMAND_GOOD;
}

static int args_check(const struct command *command)
{
	const struct tune_args *args = command->args;

	if (args->on && command->argc)
		return command_misuse(command, "--on takes a kernel, not a command");
	if (args->on && strncmp(args->on, "simulated:", 10) != 0)
		return command_misuse(command, "--on: \"%s\" is not simulated:PLATFORM", args->on);
	if (!args->on && !command->argc && !args->resume)
		return command_misuse(command, "what is to be tuned? sluice tune -- COMMAND");
	if (args->runs < 2 || args->runs > 1000000)
		return command_misuse(command, "--runs: from 2 to 1000000");
	if (args->repeat < 1 || args->repeat > 100)
		return command_misuse(command, "--repeat: from 1 to 100");
	if (args->pairs < PROOF_RUNS_LEAST || args->pairs > PROOF_RUNS_MOST)
		return command_misuse(command, "--pairs: from %d to %d, for fewer prove nothing",
				      PROOF_RUNS_LEAST, PROOF_RUNS_MOST);
	if (args->slow < 2 || args->slow > 1000)
		return command_misuse(command, "--slow: from 2 to 1000");
	if (args->seed > INT64_MAX)
		return command_misuse(command, "--seed: is too large");
	if (model_check(command))
		return COMMAND_MISUSE;
	return search_check(command);
}

/* What cannot be written must not be noticed after hours. */
static int output_check(const char *prefix, struct err *err)
{
	const char *slash = strrchr(prefix, '/');
	AUTO_FREE char *folder =
		slash ? xstrndup(prefix, (size_t)(slash - prefix) + 1) : xstrdup(".");

	return access(folder, W_OK | X_OK) == 0
		       ? 0
		       : err_set(err, errno, "--output: %s: %s", folder, strerror(errno));
}

/* By its full name: the program may have to run elsewhere. */
static int plan_model(struct tuning_plan *plan, const char *path, struct err *err)
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

/* The one that is named, or that the search cannot do without; NULL: none. */
static const char *model_wanted(const struct command *command)
{
	const struct tune_args *args = command->args;

	if (args->model || strcmp(args->search, "model") != 0)
		return args->model;
	return config_text(command->config, SETTING_MODEL_PATH);
}

static int plan_make(struct job *job, struct err *err)
{
	const struct command *command = job->command;
	const struct tune_args *args = command->args;
	struct tuning_plan *plan = &job->plan;
	int r = 0;

	*plan = (struct tuning_plan){
		.directory = getcwd(NULL, 0),
		.search = xstrdup(args->search),
		.settings = settings_text(&args->settings),
		.seed = args->seed,
		.objective = (enum cost_kind)args->objective,
		.runs = args->runs,
		.seconds = args->time_ns > 0 ? (double)args->time_ns / 1e9 : INFINITY,
		.repeat = (unsigned)args->repeat,
		.pairs = (unsigned)args->pairs,
		.drift = DRIFT_EVERY,
		.slow = (double)args->slow,
		.verify = xstrdup(args->verify),
		.check = !args->no_check && !args->on,
		.partial = !args->no_partial,
		.allowed = (enum tunable_safety)args->allow,
	};
	if (args->on) {
		plan->on = xstrdup(args->on);
		plan->kernel = xstrdup(args->kernel);
		plan->on_ranks = args->ranks;
	} else {
		plan->argv = argv_copy(command->argv);
	}
	if (args->space)
		r = plan_space(plan, args->space, err);
	if (r >= 0 && model_wanted(command))
		r = plan_model(plan, model_wanted(command), err);
	return r;
}

/* ---- beds ---- */

static int bed_open_simulated(struct job *job, struct err *err)
{
	struct tuning_plan *plan = &job->plan;
	AUTO_BUF struct buf text = { 0 };
	struct space space = { 0 };
	int r = bed_simulated_open(&job->bed, plan->on + strlen("simulated:"), plan->kernel,
				   plan->on_ranks, 0, plan->seed, err);

	if (r < 0 || plan->space_text)
		return r;
	r = bed_simulated_space(&job->bed, &space, err);
	if (r >= 0)
		r = space_write(&space, &text);
	if (r >= 0)
		plan->space_text = xstrdup(buf_text(&text));
	space_release(&space);
	return r;
}

static int bed_open_command(struct job *job, struct err *err)
{
	struct tuning_plan *plan = &job->plan;
	struct bed_command_options options = {
		.argv = plan->argv,
		.platform = config_text(job->command->config, SETTING_TUNE_PLATFORM),
		.verify = plan->verify,
		.check = plan->check,
		.stop = interrupt_flag(),
	};

	return bed_command_open(&job->bed, &options, err);
}

static int job_open(struct job *job, struct err *err)
{
	struct tuning_plan *plan = &job->plan;

	if (plan->on)
		return bed_open_simulated(job, err);
	if (chdir(plan->directory) < 0)
		return err_set(err, errno, "%s, where the program is to run: %s", plan->directory,
			       strerror(errno));
	identity_of(&job->identity, plan->argv,
		    config_text(job->command->config, SETTING_TUNE_PLATFORM));
	/* One that goes on has its fingerprint already. */
	if (!plan->fingerprint)
		plan->fingerprint = xstrdup(job->identity.fingerprint);
	else if (strcmp(plan->fingerprint, job->identity.fingerprint) != 0)
		return err_set(err, ESTALE,
			       "%s has changed since the tuning was begun: begin a "
			       "new one",
			       job->identity.program);
	return bed_open_command(job, err);
}

static void job_close(struct job *job)
{
	if (job->bed.ops)
		job->bed.ops->close(job->bed.state);
	tuning_plan_release(&job->plan);
	identity_release(&job->identity);
	free(job->output);
	store_close(job->store);
}

/* ---- going on ---- */

struct unfinished {
	int64_t id;
	char *plan;
};

static int unfinished_keep(void *arg, const struct study *study)
{
	struct unfinished *u = arg;

	u->id = study->id;
	u->plan = xstrdup(study->plan);
	return 1;
}

/* The last one, whatever it was of. */
static int resume_any(struct job *job, struct err *err)
{
	struct unfinished u = { 0 };
	int r = study_find(job->store, NULL, unfinished_keep, &u, err);

	if (r == -ENOENT)
		return -ENODATA;
	if (r >= 0)
		r = tuning_plan_read(&job->plan, u.plan, err);
	free(u.plan);
	if (r >= 0)
		job->study = u.id;
	return r;
}

/* One of the same: gone on with if wanted, else told. */
static int resume_same(struct job *job, bool wanted, struct err *err)
{
	struct unfinished u = { 0 };
	char digest[TUNING_DIGEST];
	int r;

	tuning_plan_digest(&job->plan, digest);
	if (study_find(job->store, digest, unfinished_keep, &u, NULL) < 0) {
		if (wanted)
			fprintf(stderr, "sluice tune: there is no unfinished tuning of this with "
					"these options: a new one begins\n");
		return 0;
	}
	if (!wanted) {
		fprintf(stderr,
			"sluice tune: tuning %" PRId64 " of the same is unfinished; "
			"--resume goes on with it\n",
			u.id);
		free(u.plan);
		return 0;
	}
	tuning_plan_release(&job->plan);
	r = tuning_plan_read(&job->plan, u.plan, err);
	free(u.plan);
	job->study = u.id;
	return r;
}

static int job_prepare(struct job *job, struct err *err)
{
	const struct tune_args *args = job->command->args;
	bool any = args->resume && !args->on && !job->command->argc;
	AUTO_FREE char *here = getcwd(NULL, 0);
	int r = args->output ? output_check(args->output, err) : 0;

	if (r >= 0)
		r = any ? resume_any(job, err) : plan_make(job, err);
	if (args->output)
		job->output = *args->output == '/' || !here ? xstrdup(args->output)
							    : place_join(here, args->output);
	if (r >= 0)
		r = job_open(job, err);
	if (r >= 0 && !any)
		r = resume_same(job, args->resume, err);
	return r;
}

/* ---- afterwards ---- */

/* The key is made as `sluice run` makes it, before a run. */
static struct knowledge_key job_key(const struct job *job, double bytes)
{
	const struct identity *id = &job->identity;
	const struct bed *bed = &job->bed;
	unsigned size_class = outcomes_size_class(bytes);

	/* A kernel on a described platform has no command line. */
	if (!id->program)
		return (struct knowledge_key){
			.program = bed->program,
			.fingerprint = bed->fingerprint,
			.arguments = "",
			.platform = bed->platform,
			.filesystem = filesystem_name(bed->context.filesystem),
			.ranks = bed->ranks,
			.size_class = size_class,
		};
	return (struct knowledge_key){
		.program = id->program,
		.fingerprint = id->fingerprint,
		.arguments = id->arguments,
		.platform = id->platform,
		.filesystem = filesystem_name(id->filesystem),
		.ranks = id->ranks,
		.size_class = size_class,
	};
}

static int knowledge_keep(const struct job *job, const struct tuning *tuning,
			  const struct param_set *set, int64_t *entry, struct err *err)
{
	const struct tuning_result *result = tuning_result(tuning);
	AUTO_FREE char *study = xprintf("%" PRId64, tuning_history(tuning)->study);
	AUTO_BUF struct buf parameters = { 0 };
	struct timespec now;
	int r = param_json.write(set, &parameters, err);

	if (r < 0)
		return r;
	clock_gettime(CLOCK_REALTIME, &now);
	return knowledge_put(job->store,
			     &(struct knowledge){
				     .key = job_key(job, result->bytes),
				     .parameters = buf_text(&parameters),
				     .objective = cost_name(tuning_plan(tuning)->objective),
				     .before = result->proof.before,
				     .after = result->proof.after,
				     .gain = result->proof.gain,
				     .gain_low = result->proof.low,
				     .gain_high = result->proof.high,
				     .found_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
				     .study = study,
			     },
			     entry, err);
}

/* Remembers and writes the winner; what fails is told, and the result is shown all the same. */
static int winner_keep(const struct job *job, const struct tuning *tuning,
		       struct tune_outcome *outcome)
{
	struct param_set set = { 0 };
	struct err err = { 0 };
	int r, ret = COMMAND_GOOD;

	space_set(&tuning_plan(tuning)->space, tuning_result(tuning)->best->point, &set);
	r = knowledge_keep(job, tuning, &set, &outcome->entry, &err);
	if (r == -EEXIST)
		outcome->pinned = "an entry for the same is pinned (sluice kb list)";
	else if (r < 0)
		ret = command_fail(job->command, "%s", err.text);
	if (job->output && forms_write(&set, job->output, &err) < 0)
		ret = command_fail(job->command, "%s", err.text);
	else
		outcome->output = job->output;
	param_set_release(&set);
	return ret;
}

static int outcome_show(const struct job *job, const struct tuning *tuning)
{
	const struct tune_args *args = job->command->args;
	AUTO_FREE char *command = tuning_plan_command(tuning_plan(tuning));
	struct tune_outcome outcome = {
		.tuning = tuning,
		.study = tuning_history(tuning)->study,
		.command = command,
		.is_exact = job->bed.ops->is_exact,
	};
	int ret = COMMAND_GOOD;

	if (!tuning_plan(tuning)->on && tuning_plan(tuning)->check && bed_command_note(&job->bed))
		command_warn(job->command, "data: %s", bed_command_note(&job->bed));
	if (tuning_result(tuning)->note)
		command_warn(job->command, "model: %s", tuning_result(tuning)->note);
	if (tuning_result(tuning)->proof.holds && tuning_result(tuning)->is_complete)
		ret = winner_keep(job, tuning, &outcome);
	if (args->json)
		tune_show_json(&outcome);
	else
		tune_show(&outcome);
	return ret ? ret : command_finish(job->command);
}

/* ---- the whole ---- */

static int job_fail(const struct job *job, int r, const struct err *err)
{
	if (r == -EINTR && *interrupt_flag())
		return 128 + *interrupt_flag();
	command_fail(job->command, "%s", err->text);
	return r == -ENODATA ? COMMAND_NO_DATA : COMMAND_FAILED;
}

static int job_tune(struct job *job, struct progress *progress)
{
	struct tuning_watch watch = { watch_stop, watch_show, progress };
	struct tuning *tuning = NULL;
	struct err err = { 0 };
	int r, ret;

	if (job->study)
		r = tuning_open(&tuning, job->study, &job->plan, &job->bed, job->store, &watch,
				&err);
	else
		r = tuning_begin(&tuning, &job->plan, &job->bed, job->store, &watch, &err);
	if (r >= 0)
		r = tuning_run(tuning, &err);
	progress_end(progress);
	ret = r < 0 ? job_fail(job, r, &err) : COMMAND_GOOD;
	/* What was found until it was stopped is worth telling. */
	if (tuning && (r >= 0 || r == -EINTR)) {
		r = outcome_show(job, tuning);
		ret = ret ? ret : r;
	}
	tuning_close(tuning);
	return ret;
}

static int tune_work(struct job *job)
{
	struct interrupt stop;
	struct progress progress;
	struct err err = { 0 };
	int r = store_open(&job->store, config_text(job->command->config, SETTING_STORE_PATH),
			   &err);

	if (r >= 0)
		r = job_prepare(job, &err);
	if (r < 0)
		return job_fail(job, r, &err);
	interrupt_catch(&stop);
	progress_start(&progress, "tuning", 0);
	r = job_tune(job, &progress);
	interrupt_restore(&stop);
	return r;
}

/* ---- --plan ---- */

struct known_time {
	const char *command;
	int64_t id;
	double run_s;
};

static int time_study(void *arg, const struct study *study)
{
	struct known_time *known = arg;

	if (strcmp(study->command, known->command) == 0)
		known->id = study->id;
	return 0;
}

static int time_run(void *arg, const struct study_run *run)
{
	struct known_time *known = arg;

	known->run_s = run->run_s;
	return 1;
}

/* Of a run without parameters, from an earlier tuning; NAN: unknown. */
static double time_known(const struct job *job)
{
	AUTO_FREE char *command = tuning_plan_command(&job->plan);
	struct known_time known = { .command = command, .run_s = NAN };
	struct store *store = NULL;

	if (store_open_existing(&store, config_text(job->command->config, SETTING_STORE_PATH),
				NULL) < 0)
		return NAN;
	study_list(store, time_study, &known, NULL);
	if (known.id)
		study_runs(store, known.id, time_run, &known, NULL);
	store_close(store);
	return known.run_s;
}

/* Where no run has told, everything that may be tried. */
static int plan_fill(struct job *job, struct err *err)
{
	static const struct space_uses all = { .hdf5 = true,
					       .hdf5_parallel = true,
					       .mpi = true,
					       .collective = true,
					       .creates = true,
					       .collective_hdf5 = true };
	struct tuning_plan *plan = &job->plan;
	int r = plan_make(job, err);

	if (r >= 0 && plan->on)
		r = bed_open_simulated(job, err);
	if (r < 0)
		return r;
	plan->space.context.allowed = plan->allowed;
	if (plan->space_text)
		return space_read_text(&plan->space, "the space", plan->space_text,
				       strlen(plan->space_text), err);
	return space_suggest(&plan->space, &plan->space.context, &all, err);
}

static int tune_plan(struct job *job)
{
	const struct tune_args *args = job->command->args;
	struct err err = { 0 };
	int r = plan_fill(job, &err);

	if (r < 0)
		return job_fail(job, r, &err);
	tune_show_plan(&job->plan, time_known(job), args->json);
	return command_finish(job->command);
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
	struct job job = { .command = command };
	int r;

	if (args->list || args->show != OPTION_NONE || args->forget != OPTION_NONE)
		return tune_look(command);
	r = args_check(command);
	if (r)
		return r;
	r = args->plan ? tune_plan(&job) : tune_work(&job);
	job_close(&job);
	return r;
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

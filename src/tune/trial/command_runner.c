/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/command_runner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "contract/journal.h"
#include "observe/collect/collector.h"
#include "tune/program/identity.h"
#include "tune/program/launch.h"
#include "tune/trial/batch_job.h"
#include "tune/trial/cleanup.h"
#include "tune/trial/command_template.h"
#include "tune/trial/conditions.h"
#include "tune/trial/data_check.h"
#include "tune/trial/entries.h"
#include "tune/trial/reading.h"
#include "tune/trial/recorded_command.h"
#include "tune/trial/snapshot.h"
#include "tune/trial/verdict.h"

/* Room for the spools: the default of spool.limit. */
#define SPOOL_BYTES (UINT64_C(1) << 30)
#define REASON_LINES 3
/* Trials in which files were copied to preserve them are repeated, but in all no more than this. */
#define REPEATED_MAX 3
/* A run of the baseline that only serves the comparison is aborted after this many times the
 * longest run so far. */
#define CONTROL_PATIENCE 10
#define REFERENCE_ATTEMPTS 4
/* Slurm may take this long to start and end programs, which is not part of their run time. */
#define STEP_S 30.0
#define TURNS_ATTEMPTS 3

struct command_runner {
	struct trial_runner *runner;
	struct command_runner_options options;
	struct identity identity;
	struct access_profile profile; /* of the first good trial */
	struct lockstep lockstep;      /* of good runs of the baseline */
	bool is_baseline;	       /* the current run has no parameters */
	bool is_elsewhere;	       /* programs run on other nodes */
	struct batch_job job;	       /* with options.launcher */
	char *scratch, *spools, *sluice;
	int scratch_lock, spools_lock; /* of directories that the runner made; -1: none */
	char *spool;		       /* in spools, emptied after each trial; NULL: elsewhere */
	struct snapshot snapshot;      /* of the user's files; journal NULL: none */
	char *journal;		       /* variable of the environment */
	char *home, *copy;	       /* the working directory, and the copy of workdir or NULL */
	char *restore;		       /* command of the options, for the end; NULL: none */
	char *trace, *params, *output, *errors, *verified; /* files in scratch */
	char *parts; /* of a trace of several nodes that was not completed */
	struct recorded_command command;
	unsigned trials, repeated;
	bool is_known; /* a trial was good: context and uses are complete */
	struct data_check check;
	double longest_s; /* of the good runs of the baseline */
};

static void copy_figures(const struct reading *reading, const struct trial_output *output,
			 struct trial *trial)
{
	if (reading->run_s > 0)
		trial->run_s = reading->run_s;
	trial->io_s = reading->io_s;
	trial->read_s = reading->read_s;
	trial->write_s = reading->write_s;
	trial->read_bytes = reading->read_bytes;
	trial->write_bytes = reading->write_bytes;
	trial->effective = xstrdup(reading->effective);
	if (trial->state == TRIAL_GOOD && !reading->calls)
		verdict_set_shown(
			trial, TRIAL_UNSEEN,
			xstrdup("no I/O on data files was recorded; run 'sluice doctor' to find "
				"out why"),
			output);
}

static enum filesystem filesystem_used(const struct command_runner *b,
				       const struct cleanup *cleanup)
{
	return cleanup->file_count ? filesystem_of(cleanup->files[0]) : b->identity.filesystem;
}

/* Did the trial create a data file? The journal knows it, except in a directory that belongs to
 * the trials. */
static bool has_created(const struct command_runner *b, const struct cleanup *cleanup)
{
	struct entries entries = { 0 };
	bool is_created = cleanup_has_new(cleanup);

	if (!is_created && b->snapshot.journal)
		entries_read(&entries, b->snapshot.journal, NULL);
	for (size_t i = 0; !is_created && i < entries.count; i++)
		is_created = entries.list[i].record.kind == JOURNAL_ABSENT &&
			     cleanup_has_file(cleanup, entries.list[i].record.path);
	entries_release(&entries);
	return is_created;
}

/* Fills in what only a run can show, after the first good trial. */
static void complete_runner(struct command_runner *b, struct reading *reading,
			    const struct cleanup *cleanup)
{
	struct trial_runner *runner = b->runner;

	if (b->is_known)
		return;
	b->is_known = true;
	if (reading->ranks)
		runner->ranks = reading->ranks;
	runner->uses = reading->uses;
	runner->uses.creates = has_created(b, cleanup);
	runner->uses.reads = reading->read_bytes > 0;
	runner->uses.writes = reading->write_bytes > 0;
	runner->context.middleware = reading->middleware;
	runner->context.filesystem = filesystem_used(b, cleanup);
	runner->context.ranks = runner->ranks;
	runner->context.nodes = reading->nodes;
	b->profile = reading->profile;
	reading->profile = (struct access_profile){ 0 };
	runner->profile = &b->profile;
}

/* Adds the evidence of a good run of the baseline. */
static void learn_lockstep(struct command_runner *b, struct reading *reading)
{
	struct trial_runner *runner = b->runner;

	/* What was not recorded is no evidence. */
	if (reading->gap) {
		lockstep_release(&reading->lockstep);
		reading->lockstep = (struct lockstep){ LOCKSTEP_NO, xstrdup(reading->gap) };
	}
	lockstep_join(&b->lockstep, &reading->lockstep);
	runner->lockstep = &b->lockstep;
	runner->context.is_lockstep = b->lockstep.verdict == LOCKSTEP_YES;
}

/* Runs a command of the user or of the runner itself, outside of Sluice. */
static int run_helper(const struct command_runner *b, char *const *argv, struct child_end *end,
		      struct err *err)
{
	char *environment[] = { (char *)"SLUICE_DISABLE=1", NULL };
	struct child_options options = {
		.argv = argv,
		.environment = environment,
		.output = b->verified,
		.limit_s = INFINITY,
		.stop = b->options.stop,
	};

	return child_run(&options, end, err);
}

static int run_shell(const struct command_runner *b, const char *command, struct child_end *end,
		     struct err *err)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };

	return run_helper(b, argv, end, err);
}

/* The exit code of a command that had to succeed. */
static int require_success(const struct command_runner *b, const struct child_end *end,
			   const char *what, struct err *err)
{
	AUTO_FREE char *last = child_last_lines(b->verified, REASON_LINES);

	if (WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0)
		return 0;
	return err_set(err, ECANCELED, "%s failed%s%s", what, *last ? ": " : "", last);
}

/* Makes a fresh copy of the work directory and enters it. */
static int enter_copy(struct command_runner *b, struct err *err)
{
	AUTO_FREE char *source = place_join(b->options.workdir, ".");
	char *argv[] = {
		(char *)"cp", (char *)"-a", (char *)"--reflink=auto", source, b->copy, NULL
	};
	struct child_end end;
	int r;

	file_remove_tree(b->copy);
	if (mkdir(b->copy, 0700) != 0)
		return err_set(err, errno, "%s: %s", b->copy, strerror(errno));
	r = run_helper(b, argv, &end, err);
	if (r >= 0)
		r = require_success(b, &end, "the copy of --workdir", err);
	if (r >= 0 && chdir(b->copy) != 0)
		r = err_set(err, errno, "%s: %s", b->copy, strerror(errno));
	return r;
}

/* Brings about the state that each trial starts from. */
static int prepare_trial(struct command_runner *b, struct err *err)
{
	struct child_end end;
	int r = 0;

	snapshot_begin_trial(&b->snapshot);
	if (b->options.restore)
		r = run_shell(b, b->options.restore, &end, err);
	if (r >= 0 && b->options.restore)
		r = require_success(b, &end, "the --restore command", err);
	return r >= 0 && b->copy ? enter_copy(b, err) : r;
}

/* Runs the user's verify command. */
static int run_verify_command(const struct command_runner *b, struct trial *trial, struct err *err)
{
	struct child_end end;
	int r = run_shell(b, b->options.verify, &end, err);

	if (r < 0)
		return r;
	if (!WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0)
		verdict_set_shown(trial, TRIAL_WRONG,
				  xprintf("--verify command failed with %s %d",
					  WIFEXITED(end.status) ? "exit code" : "signal",
					  WIFEXITED(end.status) ? WEXITSTATUS(end.status)
								: WTERMSIG(end.status)),
				  &(struct trial_output){ b->verified, NULL });
	return 0;
}

/* Reads the trace, if there is one, then verifies and checks the data. */
static int judge_trial(struct command_runner *b, struct cleanup *cleanup, struct trial *trial,
		       struct err *err)
{
	const struct trial_output output = { b->output, b->errors };
	struct reading reading = { 0 };
	struct err why = { 0 };
	int r = reading_from_trace(&reading, b->trace, b->scratch, cleanup, &why);

	if (r >= 0)
		copy_figures(&reading, &output, trial);
	else if (trial->state == TRIAL_GOOD)
		verdict_set_shown(trial, TRIAL_UNSEEN,
				  xprintf("no trace was written (%s)", why.text), &output);
	r = 0;
	if (trial->state == TRIAL_GOOD && b->options.verify)
		r = run_verify_command(b, trial, err);
	if (r >= 0 && trial->state == TRIAL_GOOD && b->options.check)
		r = data_check_read(&b->check, &reading, b->output, b->snapshot.journal,
				    b->options.stop, err);
	if (r >= 0 && trial->state == TRIAL_GOOD && b->options.check)
		data_check_digest(&b->check, trial->digest);
	if (r >= 0 && trial->state == TRIAL_GOOD)
		complete_runner(b, &reading, cleanup);
	if (r >= 0 && trial->state == TRIAL_GOOD && b->is_baseline)
		learn_lockstep(b, &reading);
	reading_release(&reading);
	return r;
}

/* Restores the user's files. Fails if one could not be preserved. */
static int restore_files(struct command_runner *b, struct err *err)
{
	AUTO_FREE char *refusal = NULL;
	int r;

	if (!b->snapshot.journal)
		return 0;
	refusal = snapshot_refusal(&b->snapshot, b->options.restore);
	if (b->copy && chdir(b->home) == 0)
		file_remove_tree(b->copy);
	r = snapshot_restore(&b->snapshot, err);
	return r >= 0 && refusal ? err_set(err, EPERM, "cannot preserve %s", refusal) : r;
}

/* Removes the files of the trial. Keeps the output of a failed one in a scratch directory that the
 * user named. */
static int clean_up(struct command_runner *b, const struct trial *trial, struct err *err)
{
	AUTO_FREE char *kept = xprintf("%s/failed-%u.log", b->scratch, b->trials);
	int r = restore_files(b, err);

	if (b->scratch_lock < 0 && trial->state != TRIAL_GOOD)
		verdict_keep_output(&(struct trial_output){ b->output, b->errors }, kept);
	unlink(b->trace);
	file_remove_tree(b->parts);
	if (b->spool) {
		file_remove_tree(b->spool);
		mkdir(b->spool, 0700);
	}
	return r;
}

/* Makes a job of the command. */
static int prepare_job(struct command_runner *b, struct child_options *options, struct err *err)
{
	const struct batch_job_command command = { .argv = b->command.argv,
						   .setting = b->journal,
						   .output = b->output,
						   .errors = b->errors };
	int r = batch_job_prepare(&b->job, &command, err);

	options->argv = b->job.argv;
	options->begun = b->job.begun;
	options->grace_s = BATCH_JOB_GRACE_S;
	return r;
}

/* Runs the command, directly or as a job. */
static int run_command(struct command_runner *b, struct child_options *options,
		       struct child_end *end, struct err *err)
{
	bool is_job = b->options.launcher != NULL;
	int r = is_job ? prepare_job(b, options, err) : 0;

	if (b->is_elsewhere)
		options->limit_s += STEP_S;
	if (r >= 0)
		r = child_run(options, end, err);
	if (r >= 0 && is_job)
		batch_job_read_end(&b->job, end);
	return r;
}

/* Makes one run. What it wrote is in b->check.manifest. */
static int run_once(struct command_runner *b, const struct trial_limits *limits,
		    struct trial *trial, struct err *err)
{
	char *environment[] = { b->journal, NULL };
	struct child_options options = {
		.argv = b->command.argv,
		.environment = b->journal ? environment : NULL,
		.output = b->output,
		.errors = b->errors,
		.limit_s = limits->seconds,
		.stop = b->options.stop,
		.lock = b->snapshot.lock,
		.look = b->options.look,
		.look_arg = b->options.look_arg,
	};
	struct trial result = { .state = TRIAL_GOOD };
	struct err unused = { 0 };
	struct conditions conditions;
	struct cleanup cleanup;
	struct child_end end = { 0 };
	int r = prepare_trial(b, err), restored;

	b->trials++;
	cleanup_begin(&cleanup);
	conditions_begin(&conditions);
	if (r >= 0)
		r = run_command(b, &options, &end, err);
	conditions_end(&conditions);
	result.foreign = b->is_elsewhere ? NAN : conditions.foreign;
	result.frequency = b->is_elsewhere ? NAN : conditions.frequency;
	if (r >= 0) {
		result.run_s = end.seconds;
		verdict_judge_exit(&result, &end, limits->seconds,
				   &(struct trial_output){ b->output, b->errors });
		if (!limits->is_unrecorded)
			r = judge_trial(b, &cleanup, &result, err);
		else if (result.state == TRIAL_GOOD && b->options.verify)
			r = run_verify_command(b, &result, err);
	}
	restored = clean_up(b, &result, r < 0 ? &unused : err);
	cleanup_release(&cleanup);
	if (r < 0 || restored < 0) {
		trial_release(&result);
		return r < 0 ? r : restored;
	}
	*trial = result;
	return 0;
}

/* Makes a run with these parameters, in which no time was spent on preserving files. */
static int run_settled(struct command_runner *b, const struct param_set *set,
		       const struct trial_limits *limits, struct trial *trial, struct err *err)
{
	int r = recorded_command_write_params(b->params, set, err);

	b->is_baseline = !set->count;
	recorded_command_set(&b->command, b->options.argv, set, b->options.defaults,
			     limits->is_unrecorded);
	if (r >= 0)
		r = run_once(b, limits, trial, err);
	/* The copies that preserve files take time. */
	while (r >= 0 && b->snapshot.journal && snapshot_has_copied(&b->snapshot) &&
	       b->repeated < REPEATED_MAX) {
		b->repeated++;
		trial_release(trial);
		r = run_once(b, limits, trial, err);
	}
	return r;
}

/* A run of the baseline that only shows what varies by itself. Returns 1 if it shows something new.
 */
static int run_control(struct command_runner *b, const struct trial_limits *limits, struct err *err)
{
	struct trial_limits control = {
		.seconds = fmax(limits->seconds, CONTROL_PATIENCE * (b->longest_s + 1)),
	};
	struct param_set nothing = { 0 };
	struct trial trial = { 0 };
	int r = run_settled(b, &nothing, &control, &trial, err);

	if (r >= 0 && trial.state == TRIAL_GOOD && b->options.check)
		r = data_check_add_baseline(&b->check);
	trial_release(&trial);
	return r;
}

/*
 * Short transfers may look as if ranks took turns. Further runs of the baseline, which the
 * comparison of data needs anyway, show whether they always do, as far as the time suffices.
 */
static int observe_turns(struct command_runner *b, const struct trial_limits *limits,
			 struct err *err)
{
	const struct trial_limits none = { .seconds = 0 };
	int r = 0;

	if (!b->runner->uses.independent)
		return 0;
	for (int i = 0; r >= 0 && i < TURNS_ATTEMPTS && b->lockstep.verdict == LOCKSTEP_SERIAL &&
			(i + 2) * b->longest_s < limits->seconds;
	     i++)
		r = run_control(b, &none, err);
	return r;
}

/* Two runs of the baseline are needed to see what varies. A runner that resumes a tuning has none.
 */
static int make_reference(struct command_runner *b, const struct trial_limits *limits,
			  struct err *err)
{
	int r = 0;

	for (int i = 0; r >= 0 && i < REFERENCE_ATTEMPTS && b->check.comparison.baselines < 2; i++)
		r = run_control(b, limits, err);
	return r;
}

/*
 * Compares the data of a trial with that of the baseline. A difference counts only if a run of the
 * baseline right after the trial does not show that the data varies there.
 */
static int compare_data(struct command_runner *b, const struct trial_limits *limits,
			struct trial *trial, struct err *err)
{
	struct manifest manifest = data_check_take(&b->check);
	char *why = NULL;
	int r = make_reference(b, limits, err);

	while (r >= 0 && !data_check_compare(&b->check, &manifest, &why)) {
		r = data_check_may_control(&b->check) ? run_control(b, limits, err) : 0;
		if (r <= 0)
			break;
		free(why);
		why = NULL;
	}
	if (r >= 0 && why)
		verdict_set(trial, TRIAL_WRONG,
			    xprintf("its data differs from that of the baseline: %s", why));
	else if (r >= 0)
		trial->compared = data_check_describe(&b->check, &manifest, b->options.verify);
	free(why);
	manifest_release(&manifest);
	return r < 0 ? r : 0;
}

static int command_runner_run(void *state, const struct param_set *set,
			      const struct trial_limits *limits, struct trial *trial,
			      struct err *err)
{
	struct command_runner *b = state;
	struct trial result = { 0 };
	int r = run_settled(b, set, limits, &result, err);

	if (r < 0)
		return r;
	if (limits->is_unrecorded) {
		*trial = result;
		return 0;
	}
	if (result.state == TRIAL_GOOD && !set->count) {
		bool is_first = b->longest_s <= 0;

		b->longest_s = fmax(b->longest_s, result.run_s);
		if (b->options.check)
			data_check_add_baseline(&b->check);
		if (is_first)
			r = observe_turns(b, limits, err);
	} else if (result.state == TRIAL_GOOD && b->options.check) {
		r = compare_data(b, limits, &result, err);
	} else if (result.state == TRIAL_GOOD) {
		result.compared = xstrdup(b->options.verify ? DATA_VERIFIED : DATA_UNCHECKED);
	}
	if (r < 0)
		trial_release(&result);
	else
		*trial = result;
	return r < 0 ? r : 0;
}

/* Also after Ctrl-C. If the journal cannot be restored, it stays, and the next tuning tries again.
 */
static int command_runner_finish(void *state, struct err *err)
{
	struct command_runner *b = state;
	struct err unused = { 0 };
	struct child_end end;
	int r = 0, restored;

	if (!b->snapshot.journal)
		return 0;
	restored = snapshot_close(&b->snapshot, err);
	b->options.stop = NULL;
	if (!b->restore || !b->trials)
		return restored;
	if (restored < 0)
		err = &unused;
	r = run_shell(b, b->restore, &end, err);
	if (r >= 0)
		r = require_success(b, &end, "the --restore command at the end", err);
	return restored < 0 ? restored : r;
}

static void command_runner_close(void *state)
{
	struct command_runner *b = state;

	if (!b)
		return;
	command_runner_finish(b, NULL);
	if (b->spools)
		file_remove_tree(b->spools);
	if (b->scratch_lock >= 0)
		file_remove_tree(b->scratch);
	auto_close(&b->scratch_lock);
	auto_close(&b->spools_lock);
	recorded_command_release(&b->command);
	batch_job_release(&b->job);
	identity_release(&b->identity);
	access_profile_release(&b->profile);
	lockstep_release(&b->lockstep);
	free(b->scratch);
	free(b->spool);
	free(b->spools);
	free(b->sluice);
	free(b->trace);
	free(b->parts);
	free(b->params);
	free(b->output);
	free(b->errors);
	free(b->verified);
	data_check_release(&b->check);
	free(b->journal);
	free(b->home);
	free(b->copy);
	free(b->restore);
	free(b);
}

static const struct trial_runner_ops command_runner_ops = { .run = command_runner_run,
							    .finish = command_runner_finish,
							    .close = command_runner_close,
							    .can_skip_recording = true };

/* What Slurm takes to start and end tasks varies more than what recording takes. */
static const struct trial_runner_ops slurm_runner_ops = { .run = command_runner_run,
							  .finish = command_runner_finish,
							  .close = command_runner_close };

static int make_scratch(struct command_runner *b, struct err *err)
{
	const char *temporary = getenv("TMPDIR"), *given = b->options.scratch;
	AUTO_FREE char *full = NULL;

	if (given) {
		int r = place_make_dir(given, 0700, err);

		if (r < 0)
			return r;
		full = realpath(given, NULL);
		if (!full)
			return err_set(err, errno, "%s: %s", given, strerror(errno));
		b->scratch = xstrdup(full);
	} else {
		full = realpath(temporary && *temporary ? temporary : "/tmp", NULL);
		b->scratch = cleanup_make_directory(full ? full : "/tmp", &b->scratch_lock, err);
	}
	return b->scratch ? 0 : -err->code;
}

/* Spools are where `sluice run` would put them, but in one directory that close() removes. */
static int make_spools(struct command_runner *b, struct err *err)
{
	if (b->is_elsewhere)
		return 0;
	b->spools = cleanup_make_directory(collector_base(NULL, SPOOL_BYTES), &b->spools_lock, err);
	if (!b->spools)
		return -err->code;
	b->spool = place_join(b->spools, "records");
	mkdir(b->spool, 0700);
	return 0;
}

static int make_directories(struct command_runner *b, struct err *err)
{
	AUTO_FREE char *binaries = place_binary_dir();
	int r = make_scratch(b, err);

	if (r >= 0)
		r = make_spools(b, err);
	if (r < 0)
		return r;
	b->sluice = b->options.sluice ? xstrdup(b->options.sluice)
				      : place_join(binaries ? binaries : ".", "sluice");
	b->verified = place_join(b->scratch, "verify.log");
	return 0;
}

/* Names the files that trials read and write. Other nodes find them in the journal. */
static int name_files(struct command_runner *b, struct err *err)
{
	AUTO_FREE char *shared = b->is_elsewhere && b->snapshot.journal
					 ? place_join(b->snapshot.journal, "files")
					 : xstrdup(b->scratch);
	int r = place_make_dir(shared, 0700, err);

	b->trace = place_join(shared, "trial.sluice");
	b->parts = place_join(shared, "trial.sluice.parts");
	b->params = place_join(shared, "params.json");
	b->output = place_join(shared, "trial.log");
	b->errors = place_join(shared, "trial.err");
	if (b->options.launcher)
		batch_job_init(&b->job, b->options.launcher, shared);
	return r;
}

/* The copy of the work directory is beside it, so that "../" leads to the same directory. */
static int name_copy(struct command_runner *b, char **base, struct err *err)
{
	AUTO_FREE char *full = b->options.workdir ? realpath(b->options.workdir, NULL) : NULL;

	if (!b->options.workdir)
		return 0;
	if (!full || strcmp(full, "/") == 0)
		return err_set(err, full ? EINVAL : errno, "--workdir %s: %s", b->options.workdir,
			       strerror(full ? EINVAL : errno));
	*base = xstrndup(full, (size_t)(path_base_name(full) - full));
	b->copy = xprintf("%s.sluice-tune-%d", full, (int)getpid());
	return 0;
}

static int open_snapshot(struct command_runner *b, struct err *err)
{
	AUTO_FREE char *base = NULL;
	struct snapshot_options options = { .state = b->options.state,
					    .limit = b->options.copy_limit,
					    .permit = b->options.restore };
	int r;

	b->home = getcwd(NULL, 0);
	if (b->options.keep)
		return 0;
	r = name_copy(b, &base, err);
	options.base = base;
	if (r >= 0)
		r = snapshot_open(&b->snapshot, &options, err);
	if (r >= 0)
		b->journal = xprintf(JOURNAL_VARIABLE "=%s", b->snapshot.journal);
	return r >= 0 && b->copy ? snapshot_exempt(&b->snapshot, b->copy, err) : r;
}

int command_runner_open(struct trial_runner *runner, const struct command_runner_options *options,
			struct err *err)
{
	struct command_runner *b = xcalloc(1, sizeof(*b));
	static const struct param_set no_defaults;
	struct launch_step step;
	struct err why = { 0 };
	char **command;
	int r;

	b->runner = runner;
	b->options = *options;
	/* A tuning that cannot begin releases its plan, and with it this text. */
	b->restore = xstrdup(options->restore);
	if (!b->options.defaults)
		b->options.defaults = &no_defaults;
	b->scratch_lock = b->spools_lock = b->snapshot.lock = -1;
	launch_find_step(&step, options->argv);
	b->is_elsewhere = options->launcher || step.command;
	r = make_directories(b, &why);
	if (r >= 0)
		r = open_snapshot(b, &why);
	if (r >= 0)
		r = name_files(b, &why);
	if (r < 0) {
		command_runner_close(b);
		return err_set(err, -r, "%s", why.text);
	}
	recorded_command_init(&b->command, b->sluice, b->spool, b->trace, b->params);
	command = command_template_fill(options->argv, &no_defaults, b->options.defaults);
	identity_init(&b->identity, command, options->platform);
	command_template_free(command);
	*runner = (struct trial_runner){
		.ops = b->is_elsewhere ? &slurm_runner_ops : &command_runner_ops,
		.state = b,
		.context = { .filesystem = b->identity.filesystem, .ranks = b->identity.ranks },
		.program = b->identity.program,
		.platform = b->identity.platform,
		.fingerprint = b->identity.fingerprint,
		.ranks = b->identity.ranks,
		.cores = b->is_elsewhere ? 0 : conditions_cores(),
	};
	return 0;
}

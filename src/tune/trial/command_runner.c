/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/command_runner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "observe/collect/collector.h"
#include "tune/program/identity.h"
#include "tune/trial/cleanup.h"
#include "tune/trial/digest.h"
#include "tune/trial/reading.h"

/* Room that the place of the spools should have: the setting's default. */
#define SPOOL_BYTES (UINT64_C(1) << 30)
#define REASON_LINES 3
#define OUTPUT_LINES 40 /* that they are looked for in */
/* Comparing data may take as long as writing it has, many times over; but not for ever. */
#define DIGEST_S 3600.0

struct command_runner {
	struct trial_runner *runner;
	struct command_runner_options options;
	struct identity identity;
	struct access_profile profile; /* by the run that learn_place() learnt from */
	char *scratch, *spools, *sluice;
	int scratch_lock, spools_lock;		  /* of directories of our own; -1: none */
	char *spool;				  /* in spools, emptied after each trial */
	char *trace, *params, *output, *verified; /* files in scratch */
	char **argv;				  /* of a trial */
	size_t argc, argv_cap;
	unsigned trials;
	bool is_known;	 /* a run was good: context and uses are filled */
	bool is_legible; /* there was a checksum */
	char *note;
};

/* ---- a trial's command line ---- */

static void argv_add(struct command_runner *b, const char *word)
{
	b->argv = xgrow(b->argv, &b->argv_cap, b->argc + 2, sizeof(*b->argv));
	b->argv[b->argc++] = xstrdup(word);
	b->argv[b->argc] = NULL;
}

static void argv_set(struct command_runner *b, const char *assignment)
{
	argv_add(b, "--set");
	argv_add(b, assignment);
}

/*
 * Whatever the user's settings are: every call is recorded, nothing but the parameters of the trial
 * is applied, and the machine is not looked at meanwhile.
 */
static void argv_make(struct command_runner *b)
{
	static const char *const settings[] = {
		"plugins.load=",	  "params.allow=semantics", "params.authority=parameters",
		"overhead.budget=0",	  "stats.period=0",	    "run.summary=no",
#define LAYER_SETTING(name, text) "plugins." text ".load=",
		LAYER_LIST(LAYER_SETTING)
#undef LAYER_SETTING
	};
	const char *const words[] = { "run",	"--mode",      "trace",	  "--tune",
				      "off",	"--spool-dir", b->spool,  "-o",
				      b->trace, "--params",    b->params, "--" };

	argv_add(b, b->sluice);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		argv_set(b, settings[i]);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		argv_add(b, words[i]);
	for (char *const *word = b->options.argv; *word; word++)
		argv_add(b, *word);
}

static int params_write(const struct command_runner *b, const struct param_set *set,
			struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	FILE *f;
	int r = param_json.write(set, &text, err);

	if (r < 0)
		return r;
	f = fopen(b->params, "we");
	if (!f)
		return err_set(err, errno, "%s: %s", b->params, strerror(errno));
	fwrite(text.data, 1, text.len, f);
	if (ferror(f) | (fclose(f) != 0))
		return err_set(err, ENOSPC, "%s: %s", b->params, strerror(errno));
	return 0;
}

/* ---- what came out ---- */

/* A line of dashes, between which Open MPI says at length that a rank has failed. */
static bool is_rule(const char *line, size_t n)
{
	return n >= 20 && strspn(line, "-") >= n;
}

/* What the program itself has said last: lines of text without those of its launcher. */
static char *last_words(const char *output)
{
	AUTO_FREE char *text = child_last_lines(output, OUTPUT_LINES);
	const char *lines[REASON_LINES] = { 0 };
	struct buf words = { 0 };
	bool boxed = false;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t n = strcspn(at, "\n");

		if (is_rule(at, n)) {
			boxed = !boxed;
		} else if (n && !boxed) {
			memmove(lines, lines + 1, sizeof(lines) - sizeof(lines[0]));
			lines[REASON_LINES - 1] = at;
		}
	}
	for (size_t i = 0; i < REASON_LINES; i++) {
		if (!lines[i])
			continue;
		if (words.len)
			buf_putc(&words, '\n');
		buf_add(&words, lines[i], strcspn(lines[i], "\n"));
	}
	return buf_take(&words);
}

/* The state with a sentence; what the program said last is part of it. */
static void conclude(struct trial *trial, enum trial_state state, const char *output, char *text)
{
	AUTO_FREE char *last = output ? last_words(output) : xstrdup("");

	trial->state = state;
	free(trial->reason);
	trial->reason = *last ? xprintf("%s: %s", text, last) : xstrdup(text);
	free(text);
}

static void judge_end(const struct command_runner *b, const struct child_end *end, double limit_s,
		      struct trial *trial)
{
	int code = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : 128 + WTERMSIG(end->status);

	if (end->is_late)
		conclude(trial, TRIAL_SLOW, NULL, xprintf("ended after %.3g s", limit_s));
	else if (code > 128 && code < 128 + NSIG)
		conclude(trial, TRIAL_CRASHED, b->output,
			 xprintf("signal %d (%s)", code - 128, strsignal(code - 128)));
	else if (code)
		conclude(trial, TRIAL_FAILED, b->output, xprintf("exit code %d", code));
	if (end->left)
		conclude(trial, trial->state == TRIAL_GOOD ? TRIAL_FAILED : trial->state, NULL,
			 xprintf("%zu processes cannot be ended", end->left));
}

static void take_reading(const struct command_runner *b, const struct reading *reading,
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
		conclude(trial, TRIAL_UNSEEN, b->output,
			 xstrdup("no I/O of data was recorded; 'sluice doctor' tells why"));
}

static enum filesystem filesystem_used(const struct command_runner *b,
				       const struct cleanup *cleanup)
{
	return cleanup->file_count ? filesystem_of(cleanup->files[0]) : b->identity.filesystem;
}

/* What is known of the place, from the first run that went well. */
static void learn_place(struct command_runner *b, struct reading *reading,
			const struct cleanup *cleanup)
{
	struct trial_runner *runner = b->runner;

	if (b->is_known)
		return;
	b->is_known = true;
	if (reading->ranks)
		runner->ranks = reading->ranks;
	runner->uses = reading->uses;
	runner->uses.creates = cleanup_has_new(cleanup);
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

/* The user's own opinion. */
static int verify(const struct command_runner *b, struct trial *trial, struct err *err)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)b->options.verify, NULL };
	char *environment[] = { (char *)"SLUICE_DISABLE=1", NULL };
	struct child_options options = {
		.argv = argv,
		.environment = environment,
		.output = b->verified,
		.limit_s = INFINITY,
		.stop = b->options.stop,
	};
	struct child_end end;
	int r = child_run(&options, &end, err);

	if (r < 0)
		return r;
	if (!WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0)
		conclude(trial, TRIAL_WRONG, b->verified,
			 xprintf("the verifying command says no (%s %d)",
				 WIFEXITED(end.status) ? "exit code" : "signal",
				 WIFEXITED(end.status) ? WEXITSTATUS(end.status)
						       : WTERMSIG(end.status)));
	return 0;
}

/* Data that could never be read is a pity; data that no longer can was spoilt. */
static int check(struct command_runner *b, const struct cleanup *cleanup, struct trial *trial,
		 struct err *err)
{
	AUTO_FREE char *directory = getcwd(NULL, 0);
	struct digest_options options = {
		.paths = cleanup->files,
		.count = cleanup->file_count,
		.directory = directory,
		.limit_s = DIGEST_S,
		.stop = b->options.stop,
	};
	struct digest digest;
	struct err why = { 0 };
	int r = digest_files(&digest, &options, &why);

	if (r == -EINTR)
		return err_set(err, EINTR, "%s", why.text);
	free(b->note);
	b->note = xstrdup(r < 0 ? why.text : digest.note);
	if (r == -EBADMSG && b->is_legible)
		conclude(trial, TRIAL_WRONG, NULL, xstrdup(why.text));
	if (r < 0)
		return 0;
	b->is_legible = b->is_legible || *digest.text;
	memcpy(trial->digest, digest.text, sizeof(trial->digest));
	digest_release(&digest);
	return 0;
}

/* The trace, if there is one, and what the trial has left; then the opinions on its data. */
static int inspect(struct command_runner *b, struct cleanup *cleanup, struct trial *trial,
		   struct err *err)
{
	struct reading reading = { 0 };
	struct err why = { 0 };
	int r = reading_take(&reading, b->trace, b->scratch, cleanup, &why);

	if (r >= 0)
		take_reading(b, &reading, trial);
	else if (trial->state == TRIAL_GOOD)
		conclude(trial, TRIAL_UNSEEN, b->output,
			 xprintf("there is no trace (%s)", why.text));
	r = 0;
	if (trial->state == TRIAL_GOOD && b->options.verify)
		r = verify(b, trial, err);
	if (r >= 0 && trial->state == TRIAL_GOOD && b->options.check)
		r = check(b, cleanup, trial, err);
	if (r >= 0 && trial->state == TRIAL_GOOD)
		learn_place(b, &reading, cleanup);
	reading_release(&reading);
	return r;
}

/* ---- the bed ---- */

/* Of a trial that was not good the output is worth keeping, if anybody can find it. */
static void tidy(struct command_runner *b, const struct cleanup *cleanup, const struct trial *trial)
{
	AUTO_FREE char *kept = xprintf("%s/failed-%u.log", b->scratch, b->trials);

	if (!b->options.keep)
		cleanup_remove(cleanup);
	if (b->scratch_lock < 0 && trial->state != TRIAL_GOOD)
		rename(b->output, kept);
	unlink(b->trace);
	cleanup_remove_tree(b->spool);
	mkdir(b->spool, 0700);
}

static int command_runner_run(void *state, const struct param_set *set,
			      const struct trial_limits *limits, struct trial *trial,
			      struct err *err)
{
	struct command_runner *b = state;
	struct child_options options = {
		.argv = b->argv,
		.output = b->output,
		.limit_s = limits->seconds,
		.stop = b->options.stop,
	};
	struct trial result = { .state = TRIAL_GOOD };
	struct cleanup cleanup;
	struct child_end end;
	int r = params_write(b, set, err);

	if (r < 0)
		return r;
	b->trials++;
	cleanup_begin(&cleanup);
	r = child_run(&options, &end, err);
	if (r >= 0) {
		result.run_s = end.seconds;
		judge_end(b, &end, limits->seconds, &result);
		r = inspect(b, &cleanup, &result, err);
	} else if (r == -EINTR) {
		struct reading reading = { 0 };

		/* For what is left of it only. */
		if (reading_take(&reading, b->trace, b->scratch, &cleanup, NULL) >= 0)
			reading_release(&reading);
	}
	tidy(b, &cleanup, &result);
	cleanup_release(&cleanup);
	if (r < 0) {
		trial_release(&result);
		return r;
	}
	*trial = result;
	return 0;
}

static void command_runner_close(void *state)
{
	struct command_runner *b = state;

	if (!b)
		return;
	if (b->spools)
		cleanup_remove_tree(b->spools);
	if (b->scratch_lock >= 0)
		cleanup_remove_tree(b->scratch);
	auto_close(&b->scratch_lock);
	auto_close(&b->spools_lock);
	for (size_t i = 0; i < b->argc; i++)
		free(b->argv[i]);
	free(b->argv);
	identity_release(&b->identity);
	access_profile_release(&b->profile);
	free(b->scratch);
	free(b->spool);
	free(b->spools);
	free(b->sluice);
	free(b->trace);
	free(b->params);
	free(b->output);
	free(b->verified);
	free(b->note);
	free(b);
}

static const struct trial_runner_ops command_runner_ops = { .run = command_runner_run,
							    .close = command_runner_close };

static int scratch_make(struct command_runner *b, struct err *err)
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

/* Spools are where `sluice run` would put them, but in one place, where nothing can be left. */
static int places_make(struct command_runner *b, struct err *err)
{
	AUTO_FREE char *binaries = place_binary_dir();
	int r = scratch_make(b, err);

	if (r < 0)
		return r;
	b->spools = cleanup_make_directory(collector_base(NULL, SPOOL_BYTES), &b->spools_lock, err);
	if (!b->spools)
		return -err->code;
	b->spool = place_join(b->spools, "records");
	mkdir(b->spool, 0700);
	b->sluice = b->options.sluice ? xstrdup(b->options.sluice)
				      : place_join(binaries ? binaries : ".", "sluice");
	b->trace = place_join(b->scratch, "trial.sluice");
	b->params = place_join(b->scratch, "params.json");
	b->output = place_join(b->scratch, "trial.log");
	b->verified = place_join(b->scratch, "verify.log");
	return 0;
}

int command_runner_open(struct trial_runner *runner, const struct command_runner_options *options,
			struct err *err)
{
	struct command_runner *b = xcalloc(1, sizeof(*b));
	struct err why = { 0 };
	int r;

	b->runner = runner;
	b->options = *options;
	b->scratch_lock = b->spools_lock = -1;
	r = places_make(b, &why);
	if (r < 0) {
		command_runner_close(b);
		return err_set(err, -r, "%s", why.text);
	}
	argv_make(b);
	identity_of(&b->identity, options->argv, options->platform);
	*runner = (struct trial_runner){
		.ops = &command_runner_ops,
		.state = b,
		.context = { .filesystem = b->identity.filesystem, .ranks = b->identity.ranks },
		.program = b->identity.program,
		.platform = b->identity.platform,
		.fingerprint = b->identity.fingerprint,
		.ranks = b->identity.ranks,
	};
	return 0;
}

const char *command_runner_note(const struct trial_runner *runner)
{
	return ((const struct command_runner *)runner->state)->note;
}

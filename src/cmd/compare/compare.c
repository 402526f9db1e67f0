/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice compare: the differences between two runs, two groups of runs, or two commands.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "cli/command.h"
#include "cmd/compare/commands.h"
#include "cmd/run_argument.h"
#include "observe/compare/contrast.h"
#include "observe/compare/render_compare.h"
#include "observe/profile/profile.h"

#define RUNS_MAX 1000 /* of each side */

/* The order is that of metric_measures[]. */
#define METRIC_WORDS "run-time|io-time|calls|read|written|size"
static const enum contrast_measure metric_measures[] = {
	CONTRAST_RUN_TIME, CONTRAST_IO_TIME, CONTRAST_CALLS,
	CONTRAST_READ,	   CONTRAST_WRITTEN, CONTRAST_SIZE,
};

struct compare_args {
	uint64_t runs, warmup, top;
	const char *prepare, *fail_above;
	int metric;
	bool no_record, ignore_failure, all, json, csv, hyperfine;
};

#define FIELD(name) offsetof(struct compare_args, name)

static const struct option compare_options[] = {
	{ 0, "versus", NULL, NULL, "divide the runs or words of A from those of B", OPTION_DIVIDER,
	  0 },
	{ 0, "runs", "N", "10", "run each command N times", OPTION_COUNT, FIELD(runs) },
	{ 0, "warmup", "N", "0", "run each command N times before, without measuring it",
	  OPTION_COUNT, FIELD(warmup) },
	{ 0, "prepare", "CMD", NULL, "run a shell command before each run of a command",
	  OPTION_TEXT, FIELD(prepare) },
	{ 0, "no-record", NULL, NULL, "measure run times only, without recording the commands",
	  OPTION_FLAG, FIELD(no_record) },
	{ 0, "ignore-failure", NULL, NULL, "also measure runs whose exit code is not 0",
	  OPTION_FLAG, FIELD(ignore_failure) },
	{ 0, "metric", METRIC_WORDS, "run-time",
	  "state the verdict on this figure and apply --fail-above to it", OPTION_CHOICE,
	  FIELD(metric) },
	{ 0, "fail-above", "PERCENT", NULL,
	  "exit with 4 if it is proven that B exceeds A by more than PERCENT", OPTION_TEXT,
	  FIELD(fail_above) },
	{ 't', "top", "N", "15", "compare the N rows of each table with the most time",
	  OPTION_COUNT, FIELD(top) },
	{ 0, "all", NULL, NULL,
	  "compare system files, and functions on sockets and pipes, one by one", OPTION_FLAG,
	  FIELD(all) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.compare/1", OPTION_FLAG,
	  FIELD(json) },
	{ 0, "csv", NULL, NULL, "print one line of CSV per row and figure", OPTION_FLAG,
	  FIELD(csv) },
	{ 0, "hyperfine", NULL, NULL, "print the run times in the JSON format of hyperfine",
	  OPTION_FLAG, FIELD(hyperfine) },
	{ 0 }
};

#undef FIELD

static int read_run(const struct command *command, const char *path, struct account *account)
{
	const struct compare_args *args = command->args;
	struct profile profile;
	struct trace trace;
	struct err err = { 0 };
	int ret;

	if (trace_open(&trace, path, NULL, &err) < 0)
		return command_fail(command, "%s", err.text);
	ret = run_argument_read(command, &profile, &trace);
	if (!ret) {
		account_init(account, path, &profile, args->all);
		run_argument_warn_losses(command, &trace.head);
		profile_release(&profile);
	}
	trace_close(&trace);
	return ret;
}

/* Reads runs that operands name. */
static int read_runs(const struct command *command, char **names, size_t count,
		     struct run_list *list)
{
	for (size_t i = 0; i < count; i++) {
		AUTO_FREE char *path = NULL;
		struct account account;
		int ret = run_argument_path(command, names[i], &path);

		if (!ret)
			ret = read_run(command, path, &account);
		if (ret)
			return ret;
		*run_list_add(list) = account;
	}
	return COMMAND_GOOD;
}

/* The position of a word, or count. */
static size_t find_word(char **words, size_t count, const char *word)
{
	size_t i = 0;

	while (i < count && strcmp(words[i], word) != 0)
		i++;
	return i;
}

struct groups {
	char **words[SIDES];
	size_t count[SIDES];
};

/* Divides words at the first --versus. False: a side has no words. */
static bool divide_words(struct groups *groups, char **words, size_t count)
{
	size_t at = find_word(words, count, "--versus");

	if (!at || at + 1 >= count)
		return false;
	*groups = (struct groups){ { words, words + at + 1 }, { at, count - at - 1 } };
	return true;
}

static int measure_commands(const struct command *command, char **words, size_t count,
			    struct run_list lists[SIDES])
{
	const struct compare_args *args = command->args;
	struct groups groups;
	struct commands_options options = {
		.runs = args->runs,
		.warmup = args->warmup,
		.prepare = args->prepare,
		.record = !args->no_record,
		.ignore_failure = args->ignore_failure,
	};

	if (!divide_words(&groups, words, count))
		return command_misuse(command, "missing command; usage: sluice compare [OPTION]... "
					       "-- COMMAND_A --versus COMMAND_B");
	if (!args->runs || args->runs > RUNS_MAX || args->warmup > RUNS_MAX)
		return command_misuse(command, "--runs must be from 1 to %d, --warmup at most %d",
				      RUNS_MAX, RUNS_MAX);
	if (args->no_record && metric_measures[args->metric] != CONTRAST_RUN_TIME)
		return command_misuse(command, "--no-record measures run times only");
	groups.words[SIDE_A][groups.count[SIDE_A]] = NULL;
	options.argv[SIDE_A] = groups.words[SIDE_A];
	options.argv[SIDE_B] = groups.words[SIDE_B];
	/* --prepare may build the programs. */
	for (int side = 0; side < SIDES && !args->prepare; side++) {
		int ret = command_check_program(command, options.argv[side][0]);

		if (ret)
			return ret;
	}
	return commands_run(command, &options, read_run, lists);
}

/* Reads the runs that operands name: two, or two groups. */
static int read_groups(const struct command *command, struct run_list lists[SIDES])
{
	char **words = command->argv;
	size_t count = (size_t)command->argc;
	struct groups groups = { { words, words + 1 }, { 1, 1 } };
	int ret;

	if ((count != 2 || find_word(words, count, "--versus") < count) &&
	    !divide_words(&groups, words, count))
		return command_misuse(command, "expected two runs, or two groups of runs that "
					       "--versus divides");
	if (groups.count[SIDE_A] > RUNS_MAX || groups.count[SIDE_B] > RUNS_MAX)
		return command_misuse(command, "at most %d runs can be compared with others",
				      RUNS_MAX);
	ret = read_runs(command, groups.words[SIDE_A], groups.count[SIDE_A], &lists[SIDE_A]);
	return ret ? ret
		   : read_runs(command, groups.words[SIDE_B], groups.count[SIDE_B], &lists[SIDE_B]);
}

static int gather_runs(const struct command *command, struct run_list lists[SIDES])
{
	size_t count = (size_t)command->argc, dashes = find_word(command->argv, count, "--");

	if (dashes == count)
		return read_groups(command, lists);
	if (dashes)
		return command_misuse(command, "unexpected argument \"%s\" before the commands",
				      command->argv[0]);
	return measure_commands(command, command->argv + 1, count - 1, lists);
}

/* "10%" or "10" */
static int parse_threshold(const struct command *command, double *factor)
{
	const struct compare_args *args = command->args;
	size_t n = args->fail_above ? strlen(args->fail_above) : 0;
	double percent;

	*factor = INFINITY;
	if (!args->fail_above)
		return COMMAND_GOOD;
	if (n && args->fail_above[n - 1] == '%')
		n--;
	if (!number_parse(args->fail_above, n, &percent) || !(percent >= 0) || isinf(percent))
		return command_misuse(command, "--fail-above: \"%s\" is not a percentage",
				      args->fail_above);
	*factor = 1 + percent / 100;
	return COMMAND_GOOD;
}

static int show_contrast(const struct command *command, const struct run_list lists[SIDES],
			 double factor)
{
	const struct compare_args *args = command->args;
	const struct account *accounts[SIDES] = { lists[SIDE_A].accounts, lists[SIDE_B].accounts };
	const size_t runs[SIDES] = { lists[SIDE_A].count, lists[SIDE_B].count };
	struct contrast contrast;
	bool exceeds;
	int ret;

	contrast_init(&contrast, accounts, runs, metric_measures[args->metric], args->top);
	if (args->json)
		render_compare_json(stdout, &contrast);
	else if (args->csv)
		render_compare_csv(stdout, &contrast);
	else if (args->hyperfine)
		render_compare_hyperfine(stdout, &contrast);
	else
		render_compare_text(stdout, &contrast);
	exceeds = difference_exceeds(contrast_primary(&contrast), factor);
	contrast_release(&contrast);
	ret = command_finish(command);
	return ret ? ret : exceeds ? COMMAND_THRESHOLD : COMMAND_GOOD;
}

static int compare_run(struct command *command)
{
	const struct compare_args *args = command->args;
	struct run_list lists[SIDES] = { 0 };
	double factor;
	int ret, shown;

	if (args->json + args->csv + args->hyperfine > 1)
		return command_misuse(command, "--json, --csv and --hyperfine exclude each other");
	ret = parse_threshold(command, &factor);
	if (!ret)
		ret = gather_runs(command, lists);
	/* After an interrupt, the runs up to then are compared. */
	if ((!ret || ret > COMMAND_SIGNAL) && lists[SIDE_A].count && lists[SIDE_B].count) {
		shown = show_contrast(command, lists, factor);
		ret = ret ? ret : shown;
	}
	run_list_release(&lists[SIDE_A]);
	run_list_release(&lists[SIDE_B]);
	return ret;
}

const struct command_ops command_compare = {
	.name = "compare",
	.help = "compare two runs, two groups of runs, or two commands",
	.operands = "RUN RUN | RUN... --versus RUN... | -- COMMAND --versus COMMAND",
	.operands_min = 2,
	.operands_max = -1,
	.about = "States whether B, the second of both, differs from A, and what changed: calls, "
		 "sizes, order of "
		 "access, time per call, and the load of the nodes. RUN is a path, a run id or "
		 "a prefix of one, as in 'sluice report'.\n\n"
		 "  sluice compare 3f2a1 91c04\n"
		 "  sluice compare old-*.sluice --versus new-*.sluice\n"
		 "  sluice compare --runs 10 --warmup 1 -- ./old in --versus ./new in\n\n"
		 "Commands run by turns, in alternating order, so that a drift of the machine "
		 "affects both. Each run is recorded in trace.dir; with --no-record only run times "
		 "are measured, without the overhead of recording. Standard input of the commands "
		 "is empty, "
		 "and their output is discarded. --prepare may restore input files or drop "
		 "caches. Sluice removes nothing that the commands create. Ctrl-C ends the "
		 "measurement; the runs up to then are compared.\n\n"
		 "Run times vary. A difference of times is claimed only if chance rarely causes "
		 "it: by the Mann-Whitney test at 5%, for which four runs of each side are enough. "
		 "The rows of the tables are tested together, so that at most 5% of the "
		 "differences that are found are expected to be chance (Benjamini and Hochberg). "
		 "With one run of each side, times cannot be judged. Counts of calls and bytes "
		 "that are the same in all runs of a side are compared exactly.\n\n"
		 "Files are compared by name. Names that differ from run to run, because they "
		 "contain process ids, random parts or another working directory, are compared by "
		 "their pattern: /tmp/part.{pid}.\n\n"
		 "--fail-above fails only if the whole 95% interval of the increase is above "
		 "PERCENT, or if a count that does not vary exceeds it. An increase within the "
		 "noise never fails.",
	.exit_status =
		"0 if the comparison was made; 4 if --fail-above was exceeded; 1 if a run cannot "
		"be read or a command failed; 2 for incorrect usage; 127 if a command was not "
		"found and 126 if it could not be executed; 128 plus N after signal N.",
	.options = compare_options,
	.args_bytes = sizeof(struct compare_args),
	.order = OPTION_KEEP_DASHES,
	.run = compare_run,
	.complete = run_argument_complete,
};

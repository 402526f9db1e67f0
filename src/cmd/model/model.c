/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model: what a collective access costs on a machine that was benchmarked, and under which
 * settings it costs least. Here are the options and what the verbs share.
 */
#include "cmd/model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/verb.h"
#include "lab/model/studies.h"
#include "lab/replica/replica.h"
#include "params/set.h"
#include "predict/model/access.h"

#define FIELD(name) offsetof(struct model_args, name)

static const struct option model_options[] = {
	{ 'n', "ranks", "N", NULL, "of the access: how many processes take part", OPTION_COUNT,
	  FIELD(ranks) },
	{ 'N', "nodes", "N", NULL, "of the access: nodes they run on; else as few as hold them",
	  OPTION_COUNT, FIELD(nodes) },
	{ 's', "size", "SIZE", NULL, "of the access: bytes that each rank moves in one call",
	  OPTION_SIZE, FIELD(size) },
	{ 'r', "read", NULL, NULL, "the access reads; else it writes", OPTION_FLAG, FIELD(read) },
	{ 0, "pattern", ACCESS_WORDS, "contiguous",
	  "one piece per rank, or pieces of all ranks in turn", OPTION_CHOICE, FIELD(pattern) },
	{ 0, "block", "SIZE", NULL, "strided: bytes of a piece", OPTION_SIZE, FIELD(block) },
	{ 0, "stride", "SIZE", NULL, "strided: from piece to piece; else as the block", OPTION_SIZE,
	  FIELD(stride) },
	{ 0, "offset", "SIZE", "0", "of the access: where in the file it begins", OPTION_SIZE,
	  FIELD(offset) },
	{ 0, "run", "TRACE|last", NULL,
	  "the access of a recorded run that moves most; export: all collective ones", OPTION_TEXT,
	  FIELD(run) },
	{ 'p', "param", "NAME=VALUE", NULL,
	  "a setting of the access, such as cb_nodes=4; recommend: what counts now", OPTION_LIST,
	  FIELD(params) },
	{ 'm', "model", "MODEL", NULL, "the model; else that of the setting model.path",
	  OPTION_TEXT, FIELD(model) },
	{ 0, "rows", "CSV", NULL,
	  "fit, evaluate: rows of elemental benchmarks; else those in the store", OPTION_TEXT,
	  FIELD(rows) },
	{ 0, "platform", "NAME", NULL, "fit: whose rows; else those of this machine", OPTION_TEXT,
	  FIELD(platform) },
	{ 0, "machine", "NAME|FILE", NULL,
	  "fit, counts: description of the machine; else by the platform's name, or this machine",
	  OPTION_TEXT, FIELD(machine) },
	{ 0, "learners", "METHODS", NULL, "fit: methods to choose from, such as linear,svm",
	  OPTION_TEXT, FIELD(learners) },
	{ 'b', "budget", "N", "30", "fit: candidates per method", OPTION_COUNT, FIELD(budget) },
	{ 'k', "folds", "N", "10", "fit: folds to judge candidates by", OPTION_COUNT,
	  FIELD(folds) },
	{ 0, "plain", NULL, NULL, "fit: learn seconds, not their logarithm", OPTION_FLAG,
	  FIELD(plain) },
	{ 0, "alone", NULL, NULL,
	  "fit: go by what was learnt alone, even where the very same was measured", OPTION_FLAG,
	  FIELD(alone) },
	{ 0, "rank", "N", NULL, "counts: the calls of this rank in the library", OPTION_COUNT,
	  FIELD(rank) },
	{ 0, "message", RULE_MESSAGE_WORDS, "literal",
	  "Blue Gene: size of a message, by the paper's text or by a process", OPTION_CHOICE,
	  FIELD(message) },
	{ 0, "incomplete", RULE_INCOMPLETE_WORDS, "partial",
	  "Blue Gene: what the last, incomplete round costs", OPTION_CHOICE, FIELD(incomplete) },
	{ 0, "single", RULE_SINGLE_WORDS, "published",
	  "Blue Gene: what an access of a single round costs", OPTION_CHOICE, FIELD(single) },
	{ 0, "rounds", RULE_ROUNDS_WORDS, "published",
	  "Blue Gene: rounds by the paper, or as ROMIO and GPFS make them", OPTION_CHOICE,
	  FIELD(rounds) },
	{ 0, "seed", "N", "1", "fit: the same seed gives the same model", OPTION_COUNT,
	  FIELD(seed) },
	{ 'T', "threads", "N", NULL, "threads to work with; else as many as there are cores",
	  OPTION_COUNT, FIELD(threads) },
	{ 0, "space", "FILE", NULL, "recommend: settings to choose from (see 'sluice tune')",
	  OPTION_TEXT, FIELD(space) },
	{ 't', "top", "N", "5", "recommend: show so many of the best", OPTION_COUNT, FIELD(top) },
	{ 0, "coverage", "SHARE", "0.9", "share of truths inside intervals", OPTION_TEXT,
	  FIELD(coverage) },
	{ 0, "on", "MACHINE", "vesta", "evaluate: the modelled machine to measure on", OPTION_TEXT,
	  FIELD(on) },
	{ 0, "law", REPLICA_LAW_WORDS, "queue", "evaluate: how that machine's storage is contended",
	  OPTION_CHOICE, FIELD(law) },
	{ 0, "times", "CSV", NULL,
	  "evaluate: measured runs to judge by, instead of a modelled machine", OPTION_TEXT,
	  FIELD(times) },
	{ 0, "repetitions", "N", "10", "evaluate: repetitions of each study", OPTION_COUNT,
	  FIELD(repetitions) },
	{ 0, "policy", NOISE_POLICY_WORDS, "allow",
	  "evaluate: what becomes of times that noise made negative", OPTION_CHOICE,
	  FIELD(policy) },
	{ 0, "full", NULL, NULL, "evaluate: select methods anew in each repetition; takes hours",
	  OPTION_FLAG, FIELD(full) },
	{ 'a', "all", NULL, NULL, "fit, describe: show every candidate of each operation",
	  OPTION_FLAG, FIELD(all) },
	{ 'o', "output", "FILE", NULL,
	  "fit: the model; recommend: settings for run --params; export: start of names",
	  OPTION_TEXT, FIELD(output) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " MODEL_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

int model_fail(const struct command *command, int r, const struct err *err)
{
	command_fail(command, "%s", err->text);
	return r == -ENODATA || r == -ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
}

int model_coverage(const struct command *command, const struct model_args *args, double *coverage)
{
	char *end;

	*coverage = strtod(args->coverage, &end);
	if (end == args->coverage || *end || !(*coverage > 0 && *coverage < 1))
		return command_misuse(command, "--coverage: \"%s\" is not a share such as 0.9",
				      args->coverage);
	return COMMAND_GOOD;
}

struct bluegene_rules model_rules(const struct model_args *args)
{
	return (struct bluegene_rules){ (enum rule_message)args->message,
					(enum rule_incomplete)args->incomplete,
					(enum rule_single)args->single,
					(enum rule_rounds)args->rounds };
}

/* ---- the model ---- */

char *model_path(const struct command *command, const struct model_args *args)
{
	return xstrdup(args->model ? args->model
				   : config_text(command->config, SETTING_MODEL_PATH));
}

int model_open(const struct command *command, const struct model_args *args, struct hybrid *hybrid)
{
	AUTO_FREE char *path = model_path(command, args);
	struct err err = { 0 };
	int r = hybrid_load(hybrid, path, &err);

	if (r == -ENOENT && !args->model) {
		command_fail(command,
			     "there is no model of this machine yet (%s): benchmark it once with "
			     "'sluice bench comm' and 'sluice bench storage', then 'sluice model "
			     "fit'",
			     path);
		return COMMAND_NO_DATA;
	}
	return r < 0 ? model_fail(command, r, &err) : COMMAND_GOOD;
}

int model_machine(const struct model_args *args, const char *platform, struct machine *machine,
		  struct err *err)
{
	if (args->machine)
		return machine_open(machine, args->machine, err);
	if (platform && *platform && !strchr(platform, '/') &&
	    machine_open(machine, platform, NULL) >= 0)
		return 0;
	return machine_here(machine, ".", err);
}

/* ---- the access ---- */

/* What the most nodes are that any operation was benchmarked on; 0: nobody knows. */
static uint64_t nodes_known(const struct hybrid *hybrid)
{
	double most = 0;

	for (int i = 0; hybrid && i < OPERATIONS; i++)
		if (hybrid->costs.of[i].is_fitted && hybrid->costs.of[i].most.nodes > most)
			most = hybrid->costs.of[i].most.nodes;
	return (uint64_t)most;
}

static uint64_t nodes_for(uint64_t ranks, const struct machine *machine,
			  const struct hybrid *hybrid)
{
	uint64_t nodes = (ranks + machine->cores - 1) / machine->cores, known = nodes_known(hybrid);

	while (nodes && ranks % nodes)
		nodes++;
	return known && nodes > known && ranks % known == 0 ? known : nodes;
}

int model_access(const struct command *command, const struct model_args *args,
		 const struct machine *machine, const struct hybrid *hybrid, struct access *access)
{
	struct err err = { 0 };

	if (args->run)
		return model_run_access(command, args, access);
	if (args->ranks == OPTION_NONE || args->size == OPTION_NONE)
		return command_misuse(command,
				      "--ranks and --size: how many processes take part, and how "
				      "many bytes does each move in one call? Or --run: a recorded "
				      "run that does it");
	*access = (struct access){
		.is_read = args->read,
		.pattern = (enum access_pattern)args->pattern,
		.nodes = args->nodes,
		.ranks = args->ranks,
		.rank_bytes = args->size,
		.offset = args->offset,
	};
	if (args->nodes == OPTION_NONE)
		access->nodes = nodes_for(args->ranks, machine, hybrid);
	if (access->pattern == ACCESS_STRIDED) {
		if (args->block == OPTION_NONE)
			return command_misuse(command, "--block: how large is a piece?");
		access->block_bytes = args->block;
		access->stride_bytes = args->stride == OPTION_NONE ? args->block : args->stride;
	}
	if (access_check(access, &err) < 0)
		return command_misuse(command, "%s", err.text);
	return COMMAND_GOOD;
}

static int param_add(struct param_set *set, const char *text, struct err *err)
{
	size_t n = strcspn(text, "=");
	AUTO_FREE char *name = xstrndup(text, n);
	const struct tunable *tunable = tunable_by_name(name);

	if (!text[n])
		return err_set(err, EINVAL, "\"%s\" is not NAME=VALUE", text);
	if (!tunable)
		return err_set(err, EINVAL,
			       "there is no parameter \"%s\": see 'sluice params list'", name);
	return param_set_put(set, tunable, text + n + 1, NULL, NULL, 0, err);
}

int model_settings(const struct command *command, const struct model_args *args,
		   const struct machine *machine, const struct access *access,
		   struct settings *chosen, struct param_set *set)
{
	struct param_set made = { 0 };
	struct err err = { 0 };
	int r = 0;

	if (args->run && model_run_hints(command, args, &made))
		return COMMAND_NO_DATA;
	for (size_t i = 0; r >= 0 && i < args->params.count; i++)
		r = param_add(&made, args->params.items[i], &err);
	if (r >= 0)
		r = settings_of(chosen, machine, access, &made, &err);
	if (r < 0 || !set) {
		param_set_release(&made);
		return r < 0 ? command_misuse(command, "--param: %s", err.text) : COMMAND_GOOD;
	}
	*set = made;
	return COMMAND_GOOD;
}

/* ---- verbs ---- */

static const struct {
	struct verb verb;
	int (*run)(struct command *command, const struct model_args *args);
} verbs[] = {
	{ { "fit", "", 0, 0 }, model_fit_costs },
	{ { "describe", "[MODEL]", 0, 1 }, model_describe_file },
	{ { "counts", "", 0, 0 }, model_count_access },
	{ { "predict", "", 0, 0 }, model_predict_access },
	{ { "recommend", "", 0, 0 }, model_recommend_settings },
	{ { "evaluate", "", 0, 0 }, model_evaluate_choices },
	{ { "export", "", 0, 0 }, model_export_settings },
	{ .verb = { 0 } },
};

static int model_run(struct command *command)
{
	const struct model_args *args = command->args;
	int row = verb_choose(command, command->argv[0], &verbs[0].verb, sizeof(verbs[0]));

	if (row < 0)
		return COMMAND_MISUSE;
	if (!args->threads)
		return command_misuse(command, "--threads: there must be one at least");
	return verbs[row].run(command, args);
}

const struct command_ops command_model = {
	.name = "model",
	.help = "predict collective I/O from benchmarks of the machine, and recommend settings",
	.operands = "fit|describe|counts|predict|recommend|evaluate|export [MODEL]",
	.operands_min = 1,
	.operands_max = 2,
	.about = "A collective read or write is made of elemental operations: messages between "
		 "ranks, and rounds in which some ranks, the aggregators, access the file for "
		 "all. How many there are follows from the settings; what one costs is learnt from "
		 "benchmarks that are run once per machine. So an access can be predicted that "
		 "was never run, and no program is run to recommend settings.\n\n"
		 "  sluice bench comm && sluice bench storage   benchmark this machine, once\n"
		 "  sluice model fit                            learn what operations cost\n"
		 "  sluice model recommend -n 64 -s 16M         best settings: 64 ranks, 16 MiB "
		 "each\n"
		 "  sluice model predict -n 64 -s 16M -p cb_nodes=4   what takes how long\n"
		 "  sluice model counts -n 64 -s 16M            what the access is made of\n"
		 "  sluice model describe                       how well each cost was learnt\n\n"
		 "recommend prints the settings of least predicted time and the gain over those "
		 "that count now (the machine's defaults, or --param) with its interval. Where the "
		 "interval does not exclude a loss it says to keep what counts now. With --output "
		 "the settings are written as a file of hints, for 'sluice run --params FILE' or "
		 "for ROMIO_HINTS.\n\n"
		 "export writes the best settings (--top of them) as files for 'sluice run "
		 "--params' "
		 "and 'sluice tune', and the values that they have as a space for --space. With "
		 "--run it is about all collective accesses of a recorded run.\n\n"
		 "Costs of rows with the same arguments are averaged. Methods and preparations "
		 "compete for each operation, judged on arguments that they had not seen; the "
		 "board of the race is kept with the model (describe --all).\n\n"
		 "evaluate lets the model compete with a black box that learns from runs of the "
		 "program, with random and default settings and with the best of all, and adds "
		 "noise to what they learn from or takes rows away. It does so on a modelled "
		 "machine (--on, --law), or judges by runs that were measured: --times names a CSV "
		 "with columns nodes, rank_bytes, aggregators, buffer_bytes, seconds (and ranks), "
		 "a row per run, --rows the benchmarks of that machine, --machine its "
		 "description.",
	.options = model_options,
	.args_bytes = sizeof(struct model_args),
	.run = model_run,
};

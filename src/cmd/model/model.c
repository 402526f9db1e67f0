/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model: predicts collective I/O from measurements of the machine. This file has the options
 * and functions that the subcommands share.
 * Papers: HYB-58.
 */
#include "cmd/model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/launcher.h"
#include "base/mem.h"
#include "params/set.h"
#include "predict/model/hybrid/claim.h"

#define FIELD(name) offsetof(struct model_job, name)

const struct option model_job_options[] = {
	{ 0, "mpi", MPI_WORDS, "auto", "MPI library to use", OPTION_CHOICE, FIELD(mpi) },
	{ 0, "hosts", "NAME,...", NULL, "hosts to distribute the ranks over", OPTION_TEXT,
	  FIELD(hosts) },
	{ 0, "launcher", "COMMAND", NULL,
	  "command that starts the ranks, such as \"srun -n {ranks}\" (default: mpiexec)",
	  OPTION_TEXT, FIELD(launcher) },
	{ 0 },
};

#undef FIELD
#define FIELD(name) offsetof(struct model_args, name)

const struct option model_access_options[] = {
	{ 'n', "ranks", "N", NULL, "number of MPI ranks", OPTION_COUNT, FIELD(ranks) },
	{ 'N', "nodes", "N", NULL, "number of nodes (default: the fewest that hold the ranks)",
	  OPTION_COUNT, FIELD(nodes) },
	{ 's', "size", "SIZE", NULL, "size of one access: bytes that each rank transfers",
	  OPTION_SIZE, FIELD(size) },
	{ 0, "read", NULL, NULL, "describe a read (default: a write)", OPTION_FLAG, FIELD(read) },
	{ 0, "pattern", ACCESS_WORDS, "contiguous",
	  "access pattern: one block per rank, or interleaved blocks of all ranks", OPTION_CHOICE,
	  FIELD(pattern) },
	{ 0, "block", "SIZE", NULL, "with --pattern strided: size of a block", OPTION_SIZE,
	  FIELD(block) },
	{ 0, "stride", "SIZE", NULL,
	  "with --pattern strided: distance between blocks (default: the block size)", OPTION_SIZE,
	  FIELD(stride) },
	{ 0, "offset", "SIZE", "0", "offset of the access in the file", OPTION_SIZE,
	  FIELD(offset) },
	{ 0, "run", "RUN", NULL,
	  "take the access from a recorded run instead of --ranks and --size", OPTION_TEXT,
	  FIELD(run) },
	{ 0, "param", "NAME=VALUE", NULL, "set a parameter, such as cb_nodes=4; may be repeated",
	  OPTION_LIST, FIELD(params) },
	{ 0 }
};

const struct option model_file_options[] = {
	{ 'm', "model", "FILE", NULL, "fitted model (default: setting model.path)", OPTION_TEXT,
	  FIELD(model) },
	{ 0 },
};

const struct option model_coverage_options[] = {
	{ 0, "coverage", "SHARE", "0.9", "coverage of the prediction interval", OPTION_TEXT,
	  FIELD(coverage) },
	{ 0 },
};

const struct option model_space_options[] = {
	{ 0, "space", "FILE", NULL,
	  "choose from this search space (default: all settings that the model knows)", OPTION_TEXT,
	  FIELD(space) },
	{ 0 }
};

const struct option model_json_options[] = {
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " MODEL_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 },
};

#undef FIELD

int model_coverage(const struct command *command, const struct model_args *args, double *coverage)
{
	char *end;

	*coverage = strtod(args->coverage, &end);
	if (end == args->coverage || *end || !(*coverage > 0 && *coverage < 1))
		return command_misuse(command,
				      "--coverage: expected a number between 0 and 1, got \"%s\"",
				      args->coverage);
	return COMMAND_GOOD;
}

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
			     "no model of this machine yet (%s): run 'sluice model measure' and "
			     "'sluice model fit' once",
			     path);
		return COMMAND_NO_DATA;
	}
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

int model_machine(const struct model_args *args, const char *platform, struct machine *machine,
		  struct err *err)
{
	if (args->machine)
		return machine_open(machine, args->machine, err);
	if (platform && *platform && !strchr(platform, '/') &&
	    machine_open(machine, platform, NULL) >= 0)
		return 0;
	return machine_detect(machine, args->dir, err);
}

int model_access(const struct command *command, const struct model_args *args,
		 const struct machine *machine, const struct hybrid *hybrid, struct access *access)
{
	struct err err = { 0 };

	if (args->run)
		return model_run_access(command, args, access);
	if (args->ranks == OPTION_NONE || args->size == OPTION_NONE)
		return command_misuse(
			command, "describe the access with --ranks and --size, or name a recorded "
				 "run with --run");
	*access = (struct access){
		.is_read = args->read,
		.pattern = (enum access_pattern)args->pattern,
		.nodes = args->nodes,
		.ranks = args->ranks,
		.rank_bytes = args->size,
		.offset = args->offset,
	};
	if (args->nodes == OPTION_NONE)
		access->nodes = hybrid_choose_nodes(hybrid, machine, args->ranks);
	if (access->pattern == ACCESS_STRIDED) {
		if (args->block == OPTION_NONE)
			return command_misuse(command, "--pattern strided requires --block");
		access->block_bytes = args->block;
		access->stride_bytes = args->stride == OPTION_NONE ? args->block : args->stride;
	}
	if (access_check(access, &err) < 0)
		return command_misuse(command, "%s", err.text);
	return COMMAND_GOOD;
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
		r = param_set_put_text(&made, args->params.items[i], &err);
	if (r >= 0)
		r = settings_from_params(chosen, machine, access, &made, &err);
	if (r < 0 || !set) {
		param_set_release(&made);
		return r < 0 ? command_misuse(command, "--param: %s", err.text) : COMMAND_GOOD;
	}
	*set = made;
	return COMMAND_GOOD;
}

void model_warn(const struct command *command, const struct hybrid *hybrid)
{
	AUTO_BUF struct buf doubts = { 0 };
	char *rest, *line;

	claim_doubts(hybrid, &doubts);
	rest = doubts.len ? doubts.data : NULL;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			command_warn(command, "%s", line);
	if (!hybrid->validation.count)
		command_warn(command, "the model is not calibrated, so the accuracy of its "
				      "predictions is unknown; run 'sluice model calibrate'");
}

extern const struct command_ops command_model_calibrate, command_model_counts, command_model_data,
	command_model_export, command_model_fit, command_model_measure, command_model_predict,
	command_model_recommend, command_model_show;

static const struct command_ops *const subcommands[] = {
	&command_model_measure,	  &command_model_fit,
	&command_model_calibrate, &command_model_show,
	&command_model_recommend, &command_model_predict,
	&command_model_counts,	  &command_model_export,
	&command_model_data,	  NULL,
};

const struct command_ops command_model = {
	.name = "model",
	.help = "predict collective I/O from measurements of the machine, and recommend settings",
	.about = "A collective read or write consists of elemental operations: messages between "
		 "ranks, and rounds in which some ranks, the aggregators, access the file for "
		 "all. Their number follows from the settings; their cost is learned from "
		 "benchmarks that are run once per machine. Therefore Sluice can predict accesses "
		 "that were never run, and recommend settings without running the program.\n\n"
		 "  sluice model measure                        measure this machine, once\n"
		 "  sluice model fit                            learn the cost of operations\n"
		 "  sluice model calibrate                      measure the accuracy of "
		 "predictions\n"
		 "  sluice model recommend -n 64 -s 16M         best settings for 64 ranks, 16 "
		 "MiB each\n"
		 "  sluice model predict -n 64 -s 16M --param cb_nodes=4",
	.subcommands = subcommands,
};

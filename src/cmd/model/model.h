/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the subcommands of `sluice model`: the struct that their options fill, and the
 * functions that make an access, settings and a model of it. A subcommand uses only the fields that
 * its own option table contains.
 */
#ifndef SLUICE_CMD_MODEL_MODEL_H
#define SLUICE_CMD_MODEL_MODEL_H

#include "base/unit.h"
#include "cli/command.h"
#include "predict/model/hybrid/hybrid.h"

struct access_profile;
struct param_set;

#define MODEL_SCHEMA "sluice.model/1"

struct model_args {
	/* The access. */
	uint64_t ranks, nodes, size, block, stride, offset;
	int pattern;
	bool read;
	const char *run;
	struct option_list
		params; /* NAME=VALUE: the settings to predict for, or the current ones */
	const char *model, *rows, *platform, *machine, *dir, *learners, *output, *space, *coverage;
	uint64_t candidates, folds, seed, threads, top, rank, object;
	bool no_log, no_lookup, all, json;
};

/* How jobs are started. */
struct model_job {
	int mpi; /* enum mpi */
	const char *hosts, *launcher;
};

/* Option table that fills a struct model_job. */
extern const struct option model_job_options[];

/* Option tables that subcommands include; their rows fill a struct model_args. */
extern const struct option model_access_options[], model_file_options[], model_coverage_options[],
	model_space_options[], model_json_options[];

/*
 * The accesses of --run; the caller releases them. Returns COMMAND_GOOD; else the error was
 * printed.
 */
int model_run_accessed(const struct command *command, const struct model_args *args,
		       struct access_profile *accessed);
/* The access of --run that transfers the most bytes, and the hints that the program passes. */
int model_run_access(const struct command *command, const struct model_args *args,
		     struct access *access);
int model_run_hints(const struct command *command, const struct model_args *args,
		    struct param_set *set);

/* The path from --model, else from the setting model.path. The caller frees it. */
char *model_path(const struct command *command, const struct model_args *args);

/* Returns COMMAND_GOOD; else the error was printed. The caller releases the model. */
int model_open(const struct command *command, const struct model_args *args, struct hybrid *hybrid);

/* The machine of --machine, else of the platform (may be NULL), else this one with files in --dir.
 */
int model_machine(const struct model_args *args, const char *platform, struct machine *machine,
		  struct err *err);

/*
 * If --nodes is not given, the smallest number of nodes that hold the ranks is used, but no more
 * than were measured if those suffice. hybrid may be NULL. Returns COMMAND_GOOD; else the error was
 * printed.
 */
int model_access(const struct command *command, const struct model_args *args,
		 const struct machine *machine, const struct hybrid *hybrid, struct access *access);

/* The settings of --param, also as a set that the caller releases; set may be NULL. */
int model_settings(const struct command *command, const struct model_args *args,
		   const struct machine *machine, const struct access *access,
		   struct settings *chosen, struct param_set *set);

int model_coverage(const struct command *command, const struct model_args *args, double *coverage);

/* Warns if the model is not calibrated, or if it is old, or measured under another load or with
 * other libraries. */
void model_warn(const struct command *command, const struct hybrid *hybrid);

/* "12.3 ms"; "-" if unknown, "unlimited" if infinite. Returns out. */
const char *model_show_seconds(char out[UNIT_TEXT], double seconds);
/* Prints how well each cost was learned; all: every candidate model. */
void model_show_costs(const struct hybrid *hybrid, bool all);

#endif

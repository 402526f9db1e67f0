/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the verbs of `sluice model` share: their options, and how these become an access, settings
 * and a model. A verb is a file model_VERB.c and a row of verbs[] in model.c.
 */
#ifndef SLUICE_CMD_MODEL_MODEL_H
#define SLUICE_CMD_MODEL_MODEL_H

#include "cli/command.h"
#include "lab/model/bluegene.h"
#include "predict/model/hybrid/hybrid.h"

struct json;
struct param_set;

#define MODEL_SCHEMA "sluice.model/1"

struct model_args {
	/* the access */
	uint64_t ranks, nodes, size, block, stride, offset;
	int pattern;
	bool read;
	/* what counts now, or what is asked about: NAME=VALUE each */
	struct option_list params;
	/* the model, and what it is made of */
	const char *run, *model, *rows, *platform, *machine, *learners, *output, *space, *coverage;
	uint64_t budget, folds, seed, threads, top, rank;
	int message, incomplete, single, rounds;
	bool plain, alone, all, json;
	/* evaluate */
	const char *on, *times;
	uint64_t repetitions;
	int law, policy;
	bool full;
};

/* Verbs. They return exit codes. */
int model_fit_costs(struct command *command, const struct model_args *args);
int model_describe_file(struct command *command, const struct model_args *args);
int model_count_access(struct command *command, const struct model_args *args);
int model_predict_access(struct command *command, const struct model_args *args);
int model_recommend_settings(struct command *command, const struct model_args *args);
int model_evaluate_choices(struct command *command, const struct model_args *args);

int model_export_settings(struct command *command, const struct model_args *args);

/* ---- model_run.c: --run ---- */

/* All accesses of the run; the caller releases them. COMMAND_GOOD, or what is wrong was said. */
struct accessed;
int model_run_accessed(const struct command *command, const struct model_args *args,
		       struct accessed *accessed);
/* The one that moves most, and the hints that the program passes there. */
int model_run_access(const struct command *command, const struct model_args *args,
		     struct access *access);
int model_run_hints(const struct command *command, const struct model_args *args,
		    struct param_set *set);

/* Says what is wrong. COMMAND_NO_DATA where there are no rows or no model, else COMMAND_FAILED. */
int model_fail(const struct command *command, int r, const struct err *err);

/* --model, else setting model.path; the caller's to free. */
char *model_path(const struct command *command, const struct model_args *args);

/* COMMAND_GOOD, or what is wrong has been said. The caller releases the model. */
int model_open(const struct command *command, const struct model_args *args, struct hybrid *hybrid);

/* --machine, else the machine of that platform, else this one. platform may be NULL. */
int model_machine(const struct model_args *args, const char *platform, struct machine *machine,
		  struct err *err);

/*
 * Nodes that are not named are as few as hold the ranks, and no more than were benchmarked where
 * these do; hybrid may be NULL. COMMAND_GOOD, or what is wrong has been said.
 */
int model_access(const struct command *command, const struct model_args *args,
		 const struct machine *machine, const struct hybrid *hybrid, struct access *access);

/* --param; as settings, and as a set that the caller releases (NULL: not wanted). */
int model_settings(const struct command *command, const struct model_args *args,
		   const struct machine *machine, const struct access *access,
		   struct settings *chosen, struct param_set *set);

int model_coverage(const struct command *command, const struct model_args *args, double *coverage);
struct bluegene_rules model_rules(const struct model_args *args);

/* ---- model_show.c ---- */

/* "64 ranks on 4 nodes write 16 MiB each, one after the other (1.00 GiB in all)" */
void model_show_access(const struct access *access, char out[256]);
/* "cb_nodes=4 cb_buffer_size=33554432"; "the default" where nothing is set. Caller frees. */
char *model_show_settings(const struct settings *chosen, const struct machine *machine,
			  const struct access *access);
/* "12.3 ms"; "?" where it is not known. */
const char *model_show_seconds(char out[32], double seconds);
void model_json_access(struct json *json, const struct access *access);
void model_json_settings(struct json *json, const struct settings *chosen,
			 const struct machine *machine, const struct access *access);
/* What the model learnt of each operation; all: every candidate. */
void model_show_costs(const struct hybrid *hybrid, bool all);
void model_json_costs(struct json *json, const struct hybrid *hybrid);

#endif

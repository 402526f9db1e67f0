/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the verbs of `sluice probe` share: their options and how rows are named. A verb is a file
 * probe_VERB.c with a function probe_VERB(), and a row of verbs[] in probe.c.
 */
#ifndef SLUICE_CMD_FORECAST_PROBE_H
#define SLUICE_CMD_FORECAST_PROBE_H

#include "cli/command.h"
#include "predict/forecast/jobs/owner.h"

#define PROBE_SCHEMA "sluice.probe/1"

struct probe_args {
	/* whose rows */
	const char *system, *site;
	bool json;
	/* run: what is written, where and when */
	struct option_list targets;
	int64_t every_ns, truth_every_ns, jobs_every_ns, timeout_ns, for_ns;
	const char *sizes, *spool;
	uint64_t budget, target_budget, rate, core;
	int method;
	bool together, beside, per_rank, all_to_all;
	/* import, export, forget: which rows, and where they go */
	const char *output, *from, *to, *on, *days;
	uint64_t seed, count;
	/* submit */
	const char *name;
	uint64_t times, failures;
	int64_t shortest_ns;
	bool cancel;
};

/* Verbs. They return exit codes; command->argv[0] is the verb, its operands follow. */
int probe_run(struct command *command, const struct probe_args *args);
int probe_import(struct command *command, const struct probe_args *args);
int probe_export(struct command *command, const struct probe_args *args);
int probe_list(struct command *command, const struct probe_args *args);
int probe_forget(struct command *command, const struct probe_args *args);
int probe_submit(struct command *command, const struct probe_args *args);

/* --system, else setting probe.system, else the cluster's name or that of this host. Caller frees.
 */
char *probe_system(const struct command *command, const struct probe_args *args);

/* --site, else setting probe.site; "" where neither is given: the defaults count. */
const char *probe_site(const struct command *command, const struct probe_args *args);

/* The key that owners of jobs are hidden by: beside the store, made when it is first needed. */
int probe_owner_key(const struct command *command, uint8_t key[OWNER_KEY_BYTES], struct err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the subcommands of `sluice forecast` that collect and manage probe data: probe, submit,
 * import, export, systems and forget. A subcommand uses only the fields of probe_args that its own
 * option table contains.
 */
#ifndef SLUICE_CMD_FORECAST_PROBE_H
#define SLUICE_CMD_FORECAST_PROBE_H

#include "cli/command.h"
#include "predict/forecast/jobs/owner.h"

struct probing;

#define PROBE_SCHEMA "sluice.probe/1"

struct probe_args {
	const char *system, *site;
	bool json;
	/* probe */
	struct option_list targets;
	int64_t every_ns, reference_every_ns, jobs_every_ns, timeout_ns, duration_ns;
	const char *sizes, *spool_dir;
	uint64_t daily_limit, target_daily_limit, rate, cpu;
	int method;
	bool simultaneous, while_command, per_rank, all_to_all;
	/* import, export, forget */
	const char *output, *since, *until, *simulate, *days, *columns;
	uint64_t seed, max_targets;
	/* submit */
	const char *name;
	uint64_t jobs, max_failures;
	int64_t min_runtime_ns;
	bool cancel;
};

/* Option tables that subcommands include; their rows fill a struct probe_args. */
extern const struct option probe_site_options[], probe_json_options[];

/*
 * The name that rows are stored under: --system, else setting probe.system, else the name of the
 * cluster or of this host. The caller frees.
 */
char *probe_system(const struct command *command, const struct probe_args *args);

/* --site, else setting probe.site; "" if neither is given. */
const char *probe_site(const struct command *command, const struct probe_args *args);

/* The key that hides the owners of jobs. It is stored beside the store and created on first use. */
int probe_owner_key(const struct command *command, uint8_t key[OWNER_KEY_BYTES], struct err *err);

/* Prints the summary of a run, on standard error if standard output belongs to a command. */
void probe_show(const struct probing *probing, const struct probe_args *args);
/* A line for the progress display. The caller frees. */
char *probe_progress_text(const struct probing *probing);

#endif

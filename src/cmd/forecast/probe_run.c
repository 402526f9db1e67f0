/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe run: options, messages and exit codes of predict/forecast/service/probing.h.
 */
#include "cmd/forecast/probe_run.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/term.h"
#include "predict/forecast/site.h"

struct run {
	struct command *command;
	const struct probe_args *args;
	struct progress progress;
};

static void show_warning(void *arg, const char *text)
{
	const struct run *run = arg;

	command_warn(run->command, "%s", text);
}

static void show_progress(void *arg, const struct probing *probing)
{
	struct run *run = arg;
	AUTO_FREE char *line = NULL;

	if (run->args->beside)
		return;
	line = probing_line(probing);
	progress_line(&run->progress, line);
}

static uint64_t limit_of(uint64_t option)
{
	return option == OPTION_NONE ? 0 : option;
}

static int plan_read(const struct probe_args *args, struct prober_plan *plan, struct err *err)
{
	int r;

	prober_plan_init(plan);
	plan->every_ns = args->every_ns;
	plan->reference_every_ns = args->truth_every_ns;
	plan->timeout_ns = args->timeout_ns;
	plan->is_simultaneous = args->together;
	plan->method = (enum sample_method)args->method;
	if (!args->budget || !args->target_budget || !args->rate)
		return err_set(err, EINVAL, "a byte limit of 0 allows no probe");
	plan->budget_bytes = limit_of(args->budget);
	plan->target_bytes = args->target_budget;
	plan->rate_bytes = limit_of(args->rate);
	r = prober_plan_sizes(plan, args->sizes, err);
	return r < 0 ? err_prefix(err, "--sizes") : 0;
}

/* Targets are operands, except where the operands are a command, and values of --target. */
static const char **targets_read(const struct run *run, size_t *count)
{
	const struct option_list *list = &run->args->targets;
	size_t operands = run->args->beside ? 0 : (size_t)run->command->argc - 1;
	const char **targets = xcalloc(operands + list->count + 1, sizeof(*targets));

	*count = operands + list->count;
	for (size_t i = 0; i < operands; i++)
		targets[i] = run->command->argv[1 + i];
	for (size_t i = 0; i < list->count; i++)
		targets[operands + i] = list->items[i];
	return targets;
}

static int args_check(const struct run *run)
{
	const struct probe_args *args = run->args;

	if (args->all_to_all && !args->per_rank)
		return command_misuse(run->command, "--all-to-all requires --per-rank");
	if (args->beside && run->command->argc < 2)
		return command_misuse(run->command, "--beside needs a command: --beside -- ...");
	if (args->core != OPTION_NONE && args->core > INT_MAX)
		return command_misuse(run->command, "--core: no such CPU");
	return COMMAND_GOOD;
}

static int options_read(struct run *run, struct probing_options *options)
{
	const struct probe_args *args = run->args;
	struct err err = { 0 };

	options->store_path = config_text(run->command->config, SETTING_STORE_PATH);
	options->site_name = probe_site(run->command, args);
	options->spool_dir = args->spool;
	options->jobs_every_ns = args->jobs_every_ns;
	options->duration_ns = args->for_ns;
	options->ranks = 1;
	options->is_all_to_all = args->all_to_all;
	options->command = args->beside ? run->command->argv + 1 : NULL;
	options->cpu = args->core == OPTION_NONE ? PROBING_LAST_CPU : (int)args->core;
	options->stop = interrupt_flag();
	options->on_warning = show_warning;
	options->on_step = show_progress;
	options->arg = run;
	if (args->per_rank && !probing_find_rank(&options->rank, &options->ranks))
		return command_misuse(run->command,
				      "--per-rank: no MPI rank found; start it with mpiexec or "
				      "srun");
	if (plan_read(args, &options->plan, &err) < 0)
		return command_misuse(run->command, "%s", err.text);
	return COMMAND_GOOD;
}

/* Prints what the run did. COMMAND_GOOD if it measured, or if this rank had no target. */
static int run_finish(const struct run *run, const struct probing *probing)
{
	probing_show(probing, run->args);
	if (probing->has_unsaved || probing->lost)
		return command_fail(run->command, "not all probe data could be saved");
	if (probing_has_no_data(probing)) {
		command_fail(run->command, "no write succeeded");
		return COMMAND_NO_DATA;
	}
	return run->args->beside ? COMMAND_GOOD : command_finish(run->command);
}

static int run_alone(struct run *run, struct probing *probing)
{
	struct err err = { 0 };
	struct interrupt stop;
	int r, ret;

	progress_start(&run->progress, "probe", 0);
	interrupt_catch(&stop);
	r = probing_run(probing, &err);
	progress_end(&run->progress);
	ret = r < 0 ? command_fail(run->command, "%s", err.text) : run_finish(run, probing);
	interrupt_restore(&stop);
	return ret;
}

/* Returns the command's exit code, whatever the probes did. */
static int run_beside(struct run *run, struct probing *probing)
{
	struct err err = { 0 };

	if (probing_run(probing, &err) < 0)
		command_fail(run->command, "%s", err.text);
	else if (probing->began_ns)
		run_finish(run, probing);
	return probing->command_exit;
}

int probe_run(struct command *command, const struct probe_args *args)
{
	AUTO_FREE char *system = probe_system(command, args);
	AUTO_FREE const char **targets = NULL;
	struct run run = { .command = command, .args = args };
	struct probing_options options = { .system = system };
	struct probing probing = { 0 };
	struct err err = { 0 };
	struct site site;
	int ret = args_check(&run);

	if (ret)
		return ret;
	site_init(&site);
	options.site = &site;
	targets = targets_read(&run, &options.target_count);
	options.targets = targets;
	ret = options_read(&run, &options);
	if (!ret && *options.site_name && site_load(&site, options.site_name, &err) < 0)
		ret = command_fail(command, "%s", err.text);
	if (!ret && probing_init(&probing, &options, &err) < 0)
		ret = command_misuse(command, "%s", err.text);
	if (!ret)
		ret = args->beside ? run_beside(&run, &probing) : run_alone(&run, &probing);
	probing_release(&probing);
	site_release(&site);
	return ret;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast probe: measures storage targets (predict/forecast/service/probing.h).
 * Papers: WAN-13.
 */
#include "cmd/forecast/probe.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/term.h"
#include "predict/forecast/service/probing.h"
#include "predict/forecast/site.h"

#define FIELD(name) offsetof(struct probe_args, name)

static const struct option probe_options[] = {
	{ 0, "target", "[NAME=]PLACE", NULL,
	  "add a target, written like an operand; may be repeated", OPTION_LIST, FIELD(targets) },
	{ 0, "every", "TIME", "30s", "time between probes", OPTION_TIME, FIELD(every_ns) },
	{ 0, "reference-every", "TIME", "5m",
	  "time between reference writes; 0: no reference writes", OPTION_TIME,
	  FIELD(reference_every_ns) },
	{ 0, "sizes", "SIZE,...", "1M,64M,256M,1G",
	  "size of the probe, then sizes of the reference writes", OPTION_TEXT, FIELD(sizes) },
	{ 0, "simultaneous", NULL, NULL,
	  "write the references of all targets at once instead of one after another", OPTION_FLAG,
	  FIELD(simultaneous) },
	{ 0, "daily-limit", "SIZE", NULL, "maximum number of bytes written per day to all targets",
	  OPTION_SIZE, FIELD(daily_limit) },
	{ 0, "target-daily-limit", "SIZE", "400G",
	  "maximum number of bytes written per day to each target", OPTION_SIZE,
	  FIELD(target_daily_limit) },
	{ 0, "rate", "SIZE", NULL,
	  "maximum number of bytes written per second, averaged over a minute", OPTION_SIZE,
	  FIELD(rate) },
	{ 0, "timeout", "TIME", "20s", "abandon a write that takes longer", OPTION_TIME,
	  FIELD(timeout_ns) },
	{ 0, "method", "auto|direct|fsync", "auto",
	  "write with O_DIRECT or with fsync; auto: O_DIRECT where possible", OPTION_CHOICE,
	  FIELD(method) },
	{ 0, "jobs-every", "TIME", "5m", "time between queries of the scheduler; 0: no queries",
	  OPTION_TIME, FIELD(jobs_every_ns) },
	{ 0, "duration", "TIME", NULL, "stop after TIME (default: when interrupted)", OPTION_TIME,
	  FIELD(duration_ns) },
	{ 0, "while", NULL, NULL, "run the operands as a command, and probe while it runs",
	  OPTION_FLAG, FIELD(while_command) },
	{ 0, "cpu", "N", NULL, "with --while: CPU that the probes run on (default: the last one)",
	  OPTION_COUNT, FIELD(cpu) },
	{ 0, "per-rank", NULL, NULL, "under mpiexec or srun: rank i probes target i", OPTION_FLAG,
	  FIELD(per_rank) },
	{ 0, "all-to-all", NULL, NULL, "with --per-rank: every rank probes every target",
	  OPTION_FLAG, FIELD(all_to_all) },
	{ 0, "spool-dir", "DIR", NULL,
	  "write data to one file per process in DIR instead of the store", OPTION_TEXT,
	  FIELD(spool_dir) },
	{ 0, "system", "NAME", NULL,
	  "name that the probe data is stored under (default: setting probe.system)", OPTION_TEXT,
	  FIELD(system) },
	OPTION_INCLUDE(probe_site_options, 0),
	OPTION_INCLUDE(probe_json_options, 0),
	{ 0 }
};

#undef FIELD

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

	if (run->args->while_command)
		return;
	line = probe_progress_text(probing);
	progress_line(&run->progress, line);
}

static uint64_t value_or_zero(uint64_t option)
{
	return option == OPTION_NONE ? 0 : option;
}

static int read_plan(const struct probe_args *args, struct prober_plan *plan, struct err *err)
{
	int r;

	prober_plan_init(plan);
	plan->every_ns = args->every_ns;
	plan->reference_every_ns = args->reference_every_ns;
	plan->timeout_ns = args->timeout_ns;
	plan->is_simultaneous = args->simultaneous;
	plan->method = (enum sample_method)args->method;
	if (!args->daily_limit || !args->target_daily_limit || !args->rate)
		return err_set(err, EINVAL, "a byte limit of 0 allows no probe");
	plan->budget_bytes = value_or_zero(args->daily_limit);
	plan->target_bytes = args->target_daily_limit;
	plan->rate_bytes = value_or_zero(args->rate);
	r = prober_plan_sizes(plan, args->sizes, err);
	return r < 0 ? err_prefix(err, "--sizes") : 0;
}

/* The targets: values of --target and, without --while, the operands. The caller frees the array.
 */
static const char **read_targets(const struct run *run, size_t *count)
{
	const struct option_list *list = &run->args->targets;
	size_t operands = run->args->while_command ? 0 : (size_t)run->command->argc;
	const char **targets = xcalloc(operands + list->count + 1, sizeof(*targets));

	*count = operands + list->count;
	for (size_t i = 0; i < operands; i++)
		targets[i] = run->command->argv[i];
	for (size_t i = 0; i < list->count; i++)
		targets[operands + i] = list->items[i];
	return targets;
}

static int check_args(const struct run *run)
{
	const struct probe_args *args = run->args;

	if (args->all_to_all && !args->per_rank)
		return command_misuse(run->command, "--all-to-all requires --per-rank");
	if (args->while_command && !run->command->argc)
		return command_misuse(run->command,
				      "--while requires a command: --while -- COMMAND");
	if (args->cpu != OPTION_NONE && args->cpu > INT_MAX)
		return command_misuse(run->command, "--cpu: CPU number too large");
	return COMMAND_GOOD;
}

static int read_options(struct run *run, struct probing_options *options)
{
	const struct probe_args *args = run->args;
	struct err err = { 0 };

	options->store_path = config_text(run->command->config, SETTING_STORE_PATH);
	options->site_name = probe_site(run->command, args);
	options->spool_dir = args->spool_dir;
	options->jobs_every_ns = args->jobs_every_ns;
	options->duration_ns = args->duration_ns;
	options->ranks = 1;
	options->is_all_to_all = args->all_to_all;
	options->command = args->while_command ? run->command->argv : NULL;
	options->cpu = args->cpu == OPTION_NONE ? PROBING_LAST_CPU : (int)args->cpu;
	options->stop = interrupt_flag();
	options->on_warning = show_warning;
	options->on_step = show_progress;
	options->arg = run;
	if (args->per_rank && !probing_find_rank(&options->rank, &options->ranks))
		return command_misuse(run->command,
				      "--per-rank: no MPI rank found; start it with mpiexec or "
				      "srun");
	if (read_plan(args, &options->plan, &err) < 0)
		return command_misuse(run->command, "%s", err.text);
	return COMMAND_GOOD;
}

/* Prints a summary. Returns COMMAND_GOOD if a write succeeded or this rank had no target. */
static int finish_run(const struct run *run, const struct probing *probing)
{
	probe_show(probing, run->args);
	if (probing->has_unsaved || probing->lost)
		return command_fail(run->command, "not all probe data could be saved");
	if (probing_has_no_data(probing)) {
		command_fail(run->command, "no write succeeded");
		return COMMAND_NO_DATA;
	}
	return run->args->while_command ? COMMAND_GOOD : command_finish(run->command);
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
	ret = r < 0 ? command_fail(run->command, "%s", err.text) : finish_run(run, probing);
	interrupt_restore(&stop);
	return ret;
}

/* Returns the command's exit code, whatever the probes did. */
static int run_with_command(struct run *run, struct probing *probing)
{
	struct err err = { 0 };

	if (probing_run(probing, &err) < 0)
		command_fail(run->command, "%s", err.text);
	else if (probing->began_ns)
		finish_run(run, probing);
	return probing->command_exit;
}

static int probe_run(struct command *command)
{
	const struct probe_args *args = command->args;
	AUTO_FREE char *system = probe_system(command, args);
	AUTO_FREE const char **targets = NULL;
	struct run run = { .command = command, .args = args };
	struct probing_options options = { .system = system };
	struct probing probing = { 0 };
	struct err err = { 0 };
	struct site site;
	int ret = check_args(&run);

	if (ret)
		return ret;
	site_init(&site);
	options.site = &site;
	targets = read_targets(&run, &options.target_count);
	options.targets = targets;
	ret = read_options(&run, &options);
	if (!ret && *options.site_name && site_load(&site, options.site_name, &err) < 0)
		ret = command_fail(command, "%s", err.text);
	if (!ret && probing_init(&probing, &options, &err) < 0)
		ret = command_misuse(command, "%s", err.text);
	if (!ret)
		ret = args->while_command ? run_with_command(&run, &probing)
					  : run_alone(&run, &probing);
	probing_release(&probing);
	site_release(&site);
	return ret;
}

const struct command_ops command_forecast_probe = {
	.name = "probe",
	.help = "measure writes to storage targets, and record running jobs",
	.operands = "[TARGET]... | --while -- COMMAND [ARGUMENT]...",
	.operands_max = -1,
	.about = "Writes 1 MiB to each target every 30 seconds, and larger reference files every "
		 "5 minutes, and records how long that took. Every 5 minutes it asks the "
		 "scheduler for the running jobs. 'sluice forecast train' learns from these "
		 "rows.\n\n"
		 "  sluice forecast probe a=/mnt/a b=/mnt/b\n"
		 "  sluice forecast probe 'lustre:/scratch/me,ost=3' 'ceph:/mnt/ceph,pool=fast'\n"
		 "  sluice forecast probe --while -- mpiexec -n 64 ./program\n"
		 "  mpiexec -n 288 sluice forecast probe --per-rank --site titan --spool-dir "
		 "rows\n\n"
		 "Writes bypass the page cache (O_DIRECT) or are followed by fsync; each row "
		 "records which. Files are always removed, even if the process is killed. If a "
		 "target does not answer in time, this is recorded, and the target is skipped "
		 "until it answers again; the other targets are not delayed.",
	.options = probe_options,
	.args_bytes = sizeof(struct probe_args),
	.run = probe_run,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe: how long writes to storage targets take, and which jobs run meanwhile. Here are the
 * options and what the verbs share.
 */
#include "cmd/forecast/probe.h"

#include "cli/verb.h"
#include "predict/forecast/service/forecast_data.h"

#define FIELD(name) offsetof(struct probe_args, name)

static const struct option probe_options[] = {
	{ 's', "system", "NAME", NULL, "what rows are kept under; else as probe.system has it",
	  OPTION_TEXT, FIELD(system) },
	{ 0, "site", "NAME|FILE", NULL, "description of the site; else that of probe.site",
	  OPTION_TEXT, FIELD(site) },
	{ 't', "target", "[NAME=]PLACE", NULL,
	  "run: a target, as the operands are; may be repeated", OPTION_LIST, FIELD(targets) },
	{ 'e', "every", "TIME", "30s",
	  "run: from probe to probe; submit: from look to look at the queue", OPTION_TIME,
	  FIELD(every_ns) },
	{ 0, "truth-every", "TIME", "5m", "run: from ground truth to ground truth; 0 for none",
	  OPTION_TIME, FIELD(truth_every_ns) },
	{ 0, "sizes", "SIZE,...", "1M,64M,256M,1G",
	  "run: the first is the probe's, the others are ground truth", OPTION_TEXT, FIELD(sizes) },
	{ 0, "together", NULL, NULL,
	  "run: ground truth of all targets at once; else one target after the other", OPTION_FLAG,
	  FIELD(together) },
	{ 0, "budget", "SIZE", NULL, "run: most bytes a day in all; what does not fit is left out",
	  OPTION_SIZE, FIELD(budget) },
	{ 0, "target-budget", "SIZE", "400G", "run: most bytes a day per target", OPTION_SIZE,
	  FIELD(target_budget) },
	{ 0, "rate", "SIZE", NULL, "run: most bytes a second in all, on the average of a minute",
	  OPTION_SIZE, FIELD(rate) },
	{ 0, "timeout", "TIME", "20s", "run: a write that takes longer is given up", OPTION_TIME,
	  FIELD(timeout_ns) },
	{ 0, "method", "auto|direct|fsync", "auto",
	  "run: O_DIRECT, or with fsync; auto: direct where it can be done", OPTION_CHOICE,
	  FIELD(method) },
	{ 0, "jobs-every", "TIME", "5m", "run: ask the scheduler for running jobs; 0 for never",
	  OPTION_TIME, FIELD(jobs_every_ns) },
	{ 0, "for", "TIME", NULL, "run, submit: end after this time; else when stopped",
	  OPTION_TIME, FIELD(for_ns) },
	{ 0, "beside", NULL, NULL, "run: the operands are a command; probe until it ends",
	  OPTION_FLAG, FIELD(beside) },
	{ 0, "core", "N", NULL, "run --beside: the core to probe on; else the last one",
	  OPTION_COUNT, FIELD(core) },
	{ 0, "per-rank", NULL, NULL, "run, started by mpiexec or srun: rank i takes target i",
	  OPTION_FLAG, FIELD(per_rank) },
	{ 0, "all-to-all", NULL, NULL, "run --per-rank: every rank takes every target", OPTION_FLAG,
	  FIELD(all_to_all) },
	{ 0, "spool", "DIR", NULL, "run: rows go to files in DIR, one per process, not the store",
	  OPTION_TEXT, FIELD(spool) },
	{ 'o', "output", "FILE", NULL,
	  "export: where to; else to standard output, and compressed if it ends in .gz",
	  OPTION_TEXT, FIELD(output) },
	{ 0, "from", "TIME", NULL, "export: the first moment, in seconds since 1970 or as a date",
	  OPTION_TEXT, FIELD(from) },
	{ 0, "to", "TIME", NULL, "export: the end; forget: only what is before", OPTION_TEXT,
	  FIELD(to) },
	{ 0, "on", "modelled:NAME", NULL, "export: a generated system, such as modelled:titan",
	  OPTION_TEXT, FIELD(on) },
	{ 0, "days", "N", NULL, "export --on: so many days; else as the paper's", OPTION_TEXT,
	  FIELD(days) },
	{ 0, "count", "N", NULL, "export --on: the first N targets; else all", OPTION_COUNT,
	  FIELD(count) },
	{ 0, "seed", "N", "1", "export --on: the same seed gives the same system", OPTION_COUNT,
	  FIELD(seed) },
	{ 0, "times", "N", NULL, "submit: end when N jobs have been submitted and have ended",
	  OPTION_COUNT, FIELD(times) },
	{ 0, "name", "NAME", NULL,
	  "submit: what the job is called and found by; else made of the script's path",
	  OPTION_TEXT, FIELD(name) },
	{ 0, "failures", "N", "5",
	  "submit: give up after N jobs in a row that were refused or ended too soon", OPTION_COUNT,
	  FIELD(failures) },
	{ 0, "shortest", "TIME", "1m", "submit: a job that is over sooner has failed", OPTION_TIME,
	  FIELD(shortest_ns) },
	{ 0, "cancel", NULL, NULL,
	  "submit: at the end, take the job out of the queue; else it stays", OPTION_FLAG,
	  FIELD(cancel) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " PROBE_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

char *probe_system(const struct command *command, const struct probe_args *args)
{
	return forecast_system_name(
		args->system ? args->system : config_text(command->config, SETTING_PROBE_SYSTEM));
}

const char *probe_site(const struct command *command, const struct probe_args *args)
{
	return args->site ? args->site : config_text(command->config, SETTING_PROBE_SITE);
}

int probe_owner_key(const struct command *command, uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	return forecast_owner_key(key, config_text(command->config, SETTING_STORE_PATH), err);
}

/* ---- verbs ---- */

static const struct {
	struct verb verb;
	int (*run)(struct command *command, const struct probe_args *args);
} verbs[] = {
	{ { "run", "[TARGET...] | --beside -- COMMAND...", 0, -1 }, probe_run },
	{ { "import", "FILE...", 1, -1 }, probe_import },
	{ { "export", "[--output FILE] [--from TIME] [--to TIME]", 0, 0 }, probe_export },
	{ { "list", "", 0, 0 }, probe_list },
	{ { "forget", "SYSTEM [--to TIME]", 1, 1 }, probe_forget },
	{ { "submit", "SCRIPT [-- OPTION...]", 1, -1 }, probe_submit },
	{ .verb = { 0 } },
};

static int probe(struct command *command)
{
	int row = verb_choose(command, command->argv[0], &verbs[0].verb, sizeof(verbs[0]));

	if (row < 0)
		return COMMAND_MISUSE;
	return verbs[row].run(command, command->args);
}

const struct command_ops command_probe = {
	.name = "probe",
	.help = "watch storage targets by small writes, and the jobs that run meanwhile",
	.operands =
		"run [TARGET...] | import FILE... | export | list | forget SYSTEM | submit SCRIPT",
	.operands_min = 1,
	.operands_max = -1,
	.about =
		"A target is a part of the storage that may be busy while others are idle: a "
		"Lustre OST or OSS, a pool of CephFS, or a directory on a device of its own. run "
		"writes 1 MiB to each every 30 seconds, and larger files every 5 minutes, and "
		"keeps "
		"how long that took; once in 5 minutes it asks the scheduler which jobs run. The "
		"rows are what 'sluice forecast' learns from.\n\n"
		"  sluice probe run a=/mnt/a b=/mnt/b\n"
		"  sluice probe run 'lustre:/scratch/me,ost=3' 'ceph:/mnt/ceph,pool=fast'\n"
		"  sluice probe run --beside -- mpiexec -n 64 ./program\n"
		"  mpiexec -n 288 sluice probe run --per-rank --site titan --spool rows\n\n"
		"Writes go past the cache (O_DIRECT) or are followed by fsync, so that storage is "
		"measured; which of them is kept with each row. Files are removed at every end, "
		"even when the process is killed. A target that does not answer in time is "
		"recorded so, delays no other and is left alone until it is back; a full disk is "
		"recorded and left as it was.\n\n"
		"Rows are kept in the store by system. import takes files of blocks, such as those "
		"that ranks spool, export writes them, list tells what there is and forget removes "
		"it.\n\n"
		"  sluice probe import rows/*\n"
		"  sluice probe export --from 2018-03-10 -o titan.blocks.gz\n"
		"  sluice probe export --on modelled:titan --days 1 | sluice probe import -\n"
		"  sluice probe forget titan --to 2018-01-01\n\n"
		"submit keeps a collection job in the queue of Slurm or PBS, for sites whose jobs "
		"may "
		"not be as long as a campaign: whenever the job has ended it is handed in again. "
		"What "
		"follows -- goes to sbatch or qsub. The job is known by its name, so submit may be "
		"stopped and started again and hands in no second one.\n\n"
		"  sluice probe submit --for 240h collect.sh -- -A project",
	.options = probe_options,
	.args_bytes = sizeof(struct probe_args),
	.run = probe,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model measure: measures the cost of elemental operations on this machine, once for all
 * programs. Rows are stored cell by cell, so that an interrupted campaign can be resumed.
 */
#include "cmd/model/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/launcher.h"
#include "base/mem.h"
#include "cli/format.h"
#include "cmd/model/model.h"
#include "params/striping.h"
#include "predict/model/costs/rows.h"
#include "predict/model/measure/measure.h"
#include "tune/program/identity.h"

/* The words of --cache: this one, and then those of enum campaign_cache. */
#define CACHE_AUTO 0

struct measure_args {
	const char *ranks, *buffers, *writers, *pieces, *stripes, *stripe_units, *dir, *platform,
		*output;
	struct model_job job;
	int placement, cache;
	uint64_t cache_bytes, rounds, repeat;
	int64_t max_time_ns;
	bool writes_only, dense, remeasure, dry_run, json;
};

#define FIELD(name) offsetof(struct measure_args, name)

static const struct option measure_options[] = {
	{ 'n', "ranks", "N,N,...", "2,4", "numbers of MPI ranks", OPTION_TEXT, FIELD(ranks) },
	{ 0, "dir", "PATH", ".", "directory on the file system to measure", OPTION_TEXT,
	  FIELD(dir) },
	{ 0, "buffers", "SIZE,...", "1M,4M,16M", "collective buffer sizes", OPTION_TEXT,
	  FIELD(buffers) },
	{ 0, "writers", "N,N,...", NULL,
	  "numbers of ranks that write at once (default: powers of two, and all)", OPTION_TEXT,
	  FIELD(writers) },
	{ 0, "pieces", "SIZE,...", "64,512,4K,32K",
	  "sizes of the pieces of accesses that are not contiguous; none: do not measure pieces",
	  OPTION_TEXT, FIELD(pieces) },
	{ 0, "stripes", "N,N,...", NULL,
	  "numbers of stripes of the files, on CephFS (default: that of the directory)",
	  OPTION_TEXT, FIELD(stripes) },
	{ 0, "stripe-units", "SIZE,...", NULL,
	  "units of several stripes (default: that of the directory)", OPTION_TEXT,
	  FIELD(stripe_units) },
	{ 0, "placement", CAMPAIGN_PLACEMENT_WORDS, "topology",
	  "choose writers uniformly by rank, or spread them over nodes", OPTION_CHOICE,
	  FIELD(placement) },
	{ 0, "cache", "auto|bypass|exceed|use", "auto",
	  "bypass, exceed or use the page cache; auto: use it on memory file systems, else bypass "
	  "it",
	  OPTION_CHOICE, FIELD(cache) },
	{ 0, "cache-bytes", "SIZE", NULL,
	  "with --cache exceed: total size of all caches (default: memory of this node)",
	  OPTION_SIZE, FIELD(cache_bytes) },
	{ 0, "rounds", "N", "4", "number of rounds in which all writers write", OPTION_COUNT,
	  FIELD(rounds) },
	{ 0, "repeat", "N", "5", "number of repetitions, each with a new file", OPTION_COUNT,
	  FIELD(repeat) },
	{ 0, "writes-only", NULL, NULL, "do not measure reads", OPTION_FLAG, FIELD(writes_only) },
	{ 0, "dense", NULL, NULL, "increase message sizes by powers of two instead of four",
	  OPTION_FLAG, FIELD(dense) },
	{ 0, "max-time", "TIME", NULL, "reduce the campaign until its estimated time is below TIME",
	  OPTION_TIME, FIELD(max_time_ns) },
	{ 0, "platform", "NAME", NULL,
	  "name that the measurements are stored under (default: setting tune.platform)",
	  OPTION_TEXT, FIELD(platform) },
	OPTION_INCLUDE(model_job_options, FIELD(job)),
	{ 0, "remeasure", NULL, NULL, "repeat measurements that are already stored", OPTION_FLAG,
	  FIELD(remeasure) },
	{ 0, "dry-run", NULL, NULL,
	  "show what would be measured and an estimate of the time, but run nothing", OPTION_FLAG,
	  FIELD(dry_run) },
	{ 'o', "output", "FILE", NULL,
	  "also write the platform's rows as CSV; - is standard output", OPTION_TEXT,
	  FIELD(output) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " MEASURE_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

char *measure_platform(const struct command *command, const char *platform)
{
	if (platform)
		return xstrdup(platform);
	return identity_platform(config_text(command->config, SETTING_TUNE_PLATFORM));
}

static enum campaign_cache choose_cache(const struct measure_args *args)
{
	if (args->cache == CACHE_AUTO)
		return measure_cache_choose(args->dir);
	return (enum campaign_cache)(args->cache - 1);
}

/* The stripes of the directory, unless the user names others. */
static int choose_stripes(struct campaign_request *wish, const struct measure_args *args,
			  struct err *err)
{
	struct striping striping = { 0 };
	bool is_known = striping_inherited(&striping, args->dir);
	int r = 0;

	if (!is_known && (args->stripes || args->stripe_units))
		return err_set(err, ENOTSUP,
			       "--stripes: %s is not on CephFS; the stripes of other file systems "
			       "cannot be set",
			       args->dir);
	if (!is_known)
		return 0;
	wish->stripes = (struct campaign_numbers){ { striping.count }, 1 };
	wish->units = (struct campaign_numbers){ { striping.unit }, 1 };
	if (args->stripes)
		r = campaign_numbers(&wish->stripes, "stripes", args->stripes, err);
	if (r >= 0 && args->stripe_units)
		r = campaign_numbers(&wish->units, "stripe-units", args->stripe_units, err);
	return r;
}

static int plan_campaign(struct campaign_run *run, const char *what, struct err *err)
{
	const struct measure_args *args = run->command->args;
	struct campaign_request *wish = &run->wish;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	bool all = strcmp(what, "all") == 0;
	int r;

	*wish = (struct campaign_request){ .comm = all || strcmp(what, "comm") == 0,
					   .storage = all || strcmp(what, "storage") == 0,
					   .is_dense = args->dense,
					   .placement = (enum campaign_placement)args->placement,
					   .cache = choose_cache(args),
					   .cache_bytes = args->cache_bytes,
					   .rounds = args->rounds,
					   .repetitions = args->repeat,
					   .writes_only = args->writes_only,
					   .budget_s = (double)args->max_time_ns / NS_PER_S };
	if (!args->job.hosts && !args->job.launcher)
		wish->cores = cores > 0 ? (uint64_t)cores : 0;
	if (wish->cache_bytes == OPTION_NONE)
		wish->cache_bytes = measure_memory_bytes();
	r = campaign_numbers(&wish->ranks, "ranks", args->ranks, err);
	if (r >= 0)
		r = campaign_numbers(&wish->buffers, "buffers", args->buffers, err);
	if (r >= 0 && args->writers)
		r = campaign_numbers(&wish->writers, "writers", args->writers, err);
	if (r >= 0 && strcmp(args->pieces, "none") != 0)
		r = campaign_numbers(&wish->pieces, "pieces", args->pieces, err);
	if (r >= 0 && wish->storage)
		r = choose_stripes(wish, args, err);
	return r < 0 ? r : campaign_make(&run->campaign, wish, err);
}

/* Prints and exports the platform's rows; `code` is the exit code so far. */
static int finish_rows(struct campaign_run *run, int code)
{
	const struct measure_args *args = run->command->args;
	bool is_stdout = args->output && strcmp(args->output, "-") == 0;
	struct elements rows = { 0 };
	struct err err = { 0 };
	int r = elements_load(run->store, run->platform, NULL, &rows, &err);

	if (r >= 0 && args->output && rows.count)
		r = rows_save(&rows, args->output, &err);
	if (r >= 0 && rows.count && !is_stdout && (!code || run->rows))
		measure_show_rows(run, &rows, args->json);
	elements_release(&rows);
	if (r < 0)
		return command_fail(run->command, "%s", err.text);
	return code ? code : command_finish(run->command);
}

/* "41/170, 4 ranks, Alltoallv, 2 min 3 s left" */
static void show_progress(void *arg, const struct measure_progress *p)
{
	struct campaign_run *run = arg;
	char time[UNIT_TEXT];
	AUTO_FREE char *text =
		xprintf("%zu/%zu, %" PRIu64 " ranks, %s, %s left", p->cells_done, p->cells,
			p->ranks, p->operation, format_seconds(time, p->left_s));

	progress_line(&run->progress, text);
}

static void show_warning(void *arg, const char *sentence)
{
	struct campaign_run *run = arg;

	progress_end(&run->progress);
	command_warn(run->command, "%s", sentence);
	progress_start(&run->progress, "measure", 0);
}

/* Measures the cells that are not stored yet. Returns the exit code. */
static int run_campaign(struct campaign_run *run)
{
	const struct measure_args *args = run->command->args;
	struct measure_options options = { .store = run->store,
					   .platform = run->platform,
					   .wish = &run->wish,
					   .campaign = &run->campaign,
					   .known = run->known,
					   .dir = args->dir,
					   .mpi = (enum mpi)args->job.mpi,
					   .hosts = args->job.hosts,
					   .launcher = args->job.launcher,
					   .stop = interrupt_flag(),
					   .show = show_progress,
					   .warn = show_warning,
					   .arg = run };
	struct measure_result result;
	struct err err = { 0 };
	int r;

	progress_start(&run->progress, "measure", 0);
	r = measure_run(&options, &result, &err);
	progress_end(&run->progress);
	run->measured = result.cells;
	run->rows = result.rows;
	run->seconds = result.seconds;
	if (r == -EINTR && *interrupt_flag())
		return COMMAND_SIGNAL + *interrupt_flag();
	return r < 0 ? command_fail(run->command, "%s", err.text) : COMMAND_GOOD;
}

static int measure_or_show_plan(struct campaign_run *run)
{
	const struct measure_args *args = run->command->args;
	struct err err = { 0 };
	struct interrupt stop;
	int ret;

	if (measure_resume(&run->campaign, &run->wish, run->store, run->platform, args->remeasure,
			   &run->known, &err) < 0)
		return command_fail(run->command, "%s", err.text);
	if (args->dry_run) {
		measure_show_plan(run, args->json);
		return command_finish(run->command);
	}
	interrupt_catch(&stop);
	ret = run_campaign(run);
	interrupt_restore(&stop);
	return finish_rows(run, ret);
}

static int check_args(const struct campaign_run *run, const char *what)
{
	if (strcmp(what, "comm") != 0 && strcmp(what, "storage") != 0 && strcmp(what, "all") != 0)
		return command_misuse(run->command,
				      "unknown benchmark \"%s\" (expected comm, storage or all)",
				      what);
	if (!*run->platform || strlen(run->platform) >= ELEMENT_PLATFORM)
		return command_misuse(run->command,
				      "--platform must have between 1 and %d characters",
				      ELEMENT_PLATFORM - 1);
	return COMMAND_GOOD;
}

static int measure_main(struct command *command)
{
	const struct measure_args *args = command->args;
	const char *what = command->argc ? command->argv[0] : "all";
	struct campaign_run run = { .command = command,
				    .platform = measure_platform(command, args->platform) };
	struct err err = { 0 };
	int ret = check_args(&run, what);

	if (!ret && plan_campaign(&run, what, &err) < 0)
		ret = command_misuse(command, "%s", err.text);
	if (!ret &&
	    store_open(&run.store, config_text(command->config, SETTING_STORE_PATH), &err) < 0)
		ret = command_fail(command, "%s", err.text);
	if (!ret)
		ret = measure_or_show_plan(&run);
	store_close(run.store);
	campaign_release(&run.campaign);
	free(run.platform);
	return ret;
}

const struct command_ops command_model_measure = {
	.name = "measure",
	.help = "measure the cost of communication and storage on this machine",
	.operands = "[comm|storage|all]",
	.operands_max = 1,
	.about = "Measures the operations that collective accesses consist of. comm: Allreduce, "
		 "Alltoall, Allgather, Broadcast, Barrier, and exchanges between subsets of "
		 "ranks. storage: rounds in which some ranks write or read one shared file at "
		 "once, single pieces, and windows of data sieving. The default is all. 'sluice "
		 "model fit' learns from these rows.\n\n"
		 "Every complete cell is stored before the next one starts. The same command "
		 "continues an interrupted campaign and skips stored measurements.\n\n"
		 "Storage times mean little if the page cache absorbs the writes. Therefore the "
		 "cache is bypassed (O_DIRECT), exceeded by twice its size, or used on purpose "
		 "for programs whose files fit into it. The file is always removed.\n\n"
		 "  sluice model measure --ranks 2,4,8 --dir /scratch --dry-run\n"
		 "  sluice model measure storage --ranks 64 --launcher 'srun -N 4 -n {ranks}' "
		 "--dir /scratch",
	.options = measure_options,
	.args_bytes = sizeof(struct measure_args),
	.run = measure_main,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice bench: what elemental operations cost on this machine, once and for all programs. Rows go
 * to the store, cell by cell, so that a benchmark that was cut off goes on where it was.
 */
#include "cmd/model/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/launcher.h"
#include "base/mem.h"
#include "base/unit.h"
#include "cmd/modelled.h"
#include "lab/replica/replica.h"
#include "predict/model/costs/rows.h"
#include "predict/model/measure/measure.h"
#include "tune/program/identity.h"

/* The words of --cache: those of a campaign behind one that is decided here. */
#define CACHE_AUTO 0

static const struct option bench_options[] = {
	{ 'n', "ranks", "N,N,...", "2,4", "numbers of ranks to measure with", OPTION_TEXT,
	  offsetof(struct bench_args, ranks) },
	{ 'd', "dir", "PATH", ".", "where storage is measured: a directory of that file system",
	  OPTION_TEXT, offsetof(struct bench_args, dir) },
	{ 'b', "buffers", "SIZE,...", "1M,4M,16M",
	  "what a writer writes at once: collective buffer sizes", OPTION_TEXT,
	  offsetof(struct bench_args, buffers) },
	{ 'w', "writers", "N,N,...", NULL,
	  "how many ranks write at once (default: powers of two, and all)", OPTION_TEXT,
	  offsetof(struct bench_args, writers) },
	{ 0, "placement", CAMPAIGN_PLACEMENT_WORDS, "topology",
	  "which ranks write: every so many, or spread over nodes", OPTION_CHOICE,
	  offsetof(struct bench_args, placement) },
	{ 0, "cache", "auto|" CAMPAIGN_CACHE_WORDS, "auto",
	  "how it is met; auto: bypassed, in memory within", OPTION_CHOICE,
	  offsetof(struct bench_args, cache) },
	{ 0, "cache-bytes", "SIZE", NULL,
	  "of all caches together, for exceeded (default: memory of this node)", OPTION_SIZE,
	  offsetof(struct bench_args, cache_bytes) },
	{ 0, "rounds", "N", "4", "rounds in which all writers write, with the first", OPTION_COUNT,
	  offsetof(struct bench_args, rounds) },
	{ 'r', "repetitions", "N", "5", "fresh files per cell of storage", OPTION_COUNT,
	  offsetof(struct bench_args, repetitions) },
	{ 0, "writes-only", NULL, NULL, "do not measure reading", OPTION_FLAG,
	  offsetof(struct bench_args, writes_only) },
	{ 0, "dense", NULL, NULL, "messages by powers of two, not of four", OPTION_FLAG,
	  offsetof(struct bench_args, dense) },
	{ 0, "budget", "TIME", NULL, "thin the plan out until it is estimated to take no longer",
	  OPTION_TIME, offsetof(struct bench_args, budget_ns) },
	{ 'P', "platform", "NAME", NULL,
	  "what the rows are kept under (default: as tune.platform has it)", OPTION_TEXT,
	  offsetof(struct bench_args, platform) },
	{ 'm', "mpi", MPI_WORDS, "auto", "whose program to run", OPTION_CHOICE,
	  offsetof(struct bench_args, mpi) },
	{ 0, "hosts", "NAME,...", NULL, "nodes to spread ranks over", OPTION_TEXT,
	  offsetof(struct bench_args, hosts) },
	{ 0, "launch", "COMMAND", NULL,
	  "starts ranks instead of mpiexec: \"srun -n {ranks}\"; split at blanks", OPTION_TEXT,
	  offsetof(struct bench_args, launch) },
	{ 0, "on", MODELLED "NAME", NULL, "take the rows from a modelled machine", OPTION_TEXT,
	  offsetof(struct bench_args, on) },
	{ 0, "law", REPLICA_LAW_WORDS, "queue", "how those share who wait, of a modelled machine",
	  OPTION_CHOICE, offsetof(struct bench_args, law) },
	{ 's', "seed", "N", "1", "of a modelled machine's noise", OPTION_COUNT,
	  offsetof(struct bench_args, seed) },
	{ 'p', "plan", NULL, NULL, "tell what would be measured and how long; nothing runs",
	  OPTION_FLAG, offsetof(struct bench_args, plan) },
	{ 'a', "again", NULL, NULL, "measure also what is there already", OPTION_FLAG,
	  offsetof(struct bench_args, again) },
	{ 'o', "output", "FILE", NULL, "write all rows of the platform as CSV; - is stdout",
	  OPTION_TEXT, offsetof(struct bench_args, output) },
	{ 'i', "import", "FILE", NULL, "take rows from CSV; under --platform if that is given",
	  OPTION_TEXT, offsetof(struct bench_args, import) },
	{ 'l', "list", NULL, NULL, "list platforms and what is known of them", OPTION_FLAG,
	  offsetof(struct bench_args, list) },
	{ 0, "forget", NULL, NULL, "delete the rows of --platform", OPTION_FLAG,
	  offsetof(struct bench_args, forget) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " BENCH_SCHEMA, OPTION_FLAG,
	  offsetof(struct bench_args, json) },
	{ 0 }
};

static enum campaign_cache cache_choose(const struct bench_args *args)
{
	if (args->cache == CACHE_AUTO)
		return measure_cache_choose(args->dir);
	return (enum campaign_cache)(args->cache - 1);
}

static int wish_read(struct bench *bench, const char *what, struct err *err)
{
	const struct bench_args *args = bench->args;
	struct campaign_wish *wish = &bench->wish;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	bool all = strcmp(what, "all") == 0;
	int r;

	*wish = (struct campaign_wish){ .comm = all || strcmp(what, "comm") == 0,
					.storage = all || strcmp(what, "storage") == 0,
					.is_dense = args->dense,
					.placement = (enum campaign_placement)args->placement,
					.cache = cache_choose(args),
					.cache_bytes = args->cache_bytes,
					.rounds = args->rounds,
					.repetitions = args->repetitions,
					.writes_only = args->writes_only,
					.budget_s = (double)args->budget_ns / 1e9 };
	if (!args->hosts && !args->launch)
		wish->cores = cores > 0 ? (uint64_t)cores : 0;
	if (wish->cache_bytes == OPTION_NONE)
		wish->cache_bytes = measure_memory_bytes();
	r = campaign_numbers(&wish->ranks, "ranks", args->ranks, err);
	if (r >= 0)
		r = campaign_numbers(&wish->buffers, "buffers", args->buffers, err);
	if (r >= 0 && args->writers)
		r = campaign_numbers(&wish->writers, "writers", args->writers, err);
	return r < 0 ? r : campaign_make(&bench->campaign, wish, err);
}

static int rows_load(const struct bench *bench, struct elements *rows, struct err *err)
{
	return elements_load(bench->store, bench->platform, NULL, rows, err);
}

static int rows_store(struct bench *bench, struct elements *rows, struct err *err)
{
	int r;

	rows_number(rows);
	r = elements_save(bench->store, rows->rows, rows->count, err);

	if (r >= 0)
		bench->saved += rows->count;
	return r;
}

static int rows_import(struct bench *bench, struct err *err)
{
	struct elements rows = { 0 };
	int r = rows_read(&rows, bench->args->import, err);

	for (size_t i = 0; r >= 0 && bench->args->platform && i < rows.count; i++)
		snprintf(rows.rows[i].platform, ELEMENT_PLATFORM, "%s", bench->platform);
	/* What follows is about the platform that the rows are of. */
	if (r >= 0 && !bench->args->platform && rows.count) {
		free(bench->platform);
		bench->platform = xstrdup(rows.rows[0].platform);
	}
	if (r >= 0)
		r = rows_store(bench, &rows, err);
	elements_release(&rows);
	return r;
}

/* Those of the kinds that were asked for, under our name of the platform. */
static void rows_sift(const struct bench *bench, struct elements *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct element row = rows->rows[i];
		int operation = operation_by_name(row.operation);
		bool is_storage = operation >= 0 && operations[operation].kind == OPERATION_STORAGE;

		if (is_storage ? !bench->wish.storage : !bench->wish.comm)
			continue;
		snprintf(row.platform, sizeof(row.platform), "%s", bench->platform);
		rows->rows[n++] = row;
	}
	rows->count = n;
}

static int rows_model(struct bench *bench, struct err *err)
{
	const char *name = modelled_name(bench->args->on);
	struct elements rows = { 0 };
	struct replica *replica = NULL;
	int r = replica_open(&replica, name, (enum replica_law)bench->args->law, err);

	if (r >= 0)
		r = replica_benchmark(replica, bench->args->seed, &rows, err);
	replica_close(replica);
	if (r >= 0) {
		rows_sift(bench, &rows);
		r = rows_store(bench, &rows, err);
	}
	elements_release(&rows);
	return r;
}

static int rows_tell(struct bench *bench, int code)
{
	struct elements rows = { 0 };
	struct err err = { 0 };
	int r = rows_load(bench, &rows, &err);

	bool is_out = bench->args->output && strcmp(bench->args->output, "-") == 0;

	if (r >= 0 && bench->args->output && rows.count)
		r = rows_save(&rows, bench->args->output, &err);
	if (r >= 0 && rows.count && !is_out && (!code || bench->saved))
		bench_show_rows(bench, &rows);
	elements_release(&rows);
	if (r < 0)
		return command_fail(bench->command, "%s", err.text);
	return code ? code : command_finish(bench->command);
}

static int rows_only(struct bench *bench)
{
	struct elements rows = { 0 };
	struct err err = { 0 };
	int r = rows_load(bench, &rows, &err);
	size_t count = rows.count;

	elements_release(&rows);
	if (r < 0)
		return command_fail(bench->command, "%s", err.text);
	if (count)
		return rows_tell(bench, COMMAND_GOOD);
	command_fail(bench->command, "there are no benchmarks of \"%s\"", bench->platform);
	return COMMAND_NO_DATA;
}

static int bench_forget(struct bench *bench)
{
	struct err err = { 0 };
	int r;

	if (!bench->args->platform)
		return command_misuse(bench->command, "--forget needs --platform");
	r = elements_forget(bench->store, bench->platform, &err);
	if (r == -ENOENT) {
		command_fail(bench->command, "%s", err.text);
		return COMMAND_NO_DATA;
	}
	return r < 0 ? command_fail(bench->command, "%s", err.text) : COMMAND_GOOD;
}

/* "41/170, 4 ranks, Alltoallv, 2 min 3 s left" */
static void show_progress(void *arg, const struct measure_progress *p)
{
	struct bench *bench = arg;
	char time[UNIT_TEXT] = "?";
	AUTO_FREE char *text = NULL;

	if (!isnan(p->left_s))
		unit_ns(time, (int64_t)(p->left_s * 1e9));
	text = xprintf("%zu/%zu, %" PRIu64 " ranks, %s, %s left", p->cells_done, p->cells, p->ranks,
		       p->operation, time);
	progress_line(&bench->progress, text);
}

static void show_warning(void *arg, const char *sentence)
{
	struct bench *bench = arg;

	progress_end(&bench->progress);
	command_warn(bench->command, "%s", sentence);
}

/* Measures what is left of the campaign; returns the exit code. */
static int campaign_run(struct bench *bench)
{
	const struct bench_args *args = bench->args;
	struct measure_options options = { .store = bench->store,
					   .platform = bench->platform,
					   .wish = &bench->wish,
					   .campaign = &bench->campaign,
					   .known = bench->known,
					   .dir = args->dir,
					   .mpi = (enum mpi)args->mpi,
					   .hosts = args->hosts,
					   .launcher = args->launch,
					   .stop = interrupt_flag(),
					   .show = show_progress,
					   .warn = show_warning,
					   .arg = bench };
	struct measure_result result;
	struct err err = { 0 };
	int r;

	progress_start(&bench->progress, "measure", 0);
	r = measure_run(&options, &result, &err);
	progress_end(&bench->progress);
	bench->is_measured = true;
	bench->done = result.cells;
	bench->saved = result.rows;
	bench->seconds = result.seconds;
	if (r == -EINTR && *interrupt_flag())
		return 128 + *interrupt_flag();
	return r < 0 ? command_fail(bench->command, "%s", err.text) : COMMAND_GOOD;
}

static int bench_measure(struct bench *bench)
{
	struct err err = { 0 };
	struct interrupt stop;
	int ret;

	if (measure_resume(&bench->campaign, &bench->wish, bench->store, bench->platform,
			   bench->args->again, &bench->known, &err) < 0)
		return command_fail(bench->command, "%s", err.text);
	if (bench->args->plan) {
		bench_show_plan(bench);
		return command_finish(bench->command);
	}
	interrupt_catch(&stop);
	ret = campaign_run(bench);
	interrupt_restore(&stop);
	return rows_tell(bench, ret);
}

static int bench_take(struct bench *bench, int (*take)(struct bench *, struct err *))
{
	struct err err = { 0 };
	int r = take(bench, &err);

	if (r < 0) {
		command_fail(bench->command, "%s", err.text);
		return r == -ENODATA ? COMMAND_NO_DATA : COMMAND_FAILED;
	}
	return rows_tell(bench, COMMAND_GOOD);
}

static int bench_do(struct bench *bench, const char *what)
{
	const struct bench_args *args = bench->args;

	if (args->list)
		return bench_show_list(bench->command, args, bench->store);
	if (args->forget)
		return bench_forget(bench);
	if (args->import)
		return bench_take(bench, rows_import);
	if (args->on)
		return bench_take(bench, rows_model);
	return what ? bench_measure(bench) : rows_only(bench);
}

static char *platform_name(const struct command *command, const struct bench_args *args)
{
	if (args->platform)
		return xstrdup(args->platform);
	if (args->on && modelled_name(args->on) != args->on)
		return xstrdup(modelled_name(args->on));
	return identity_platform(config_text(command->config, SETTING_TUNE_PLATFORM));
}

static int args_check(const struct bench *bench, const char *what)
{
	const struct bench_args *args = bench->args;
	bool elsewhere = args->list || args->forget || args->import;

	if (what && strcmp(what, "comm") != 0 && strcmp(what, "storage") != 0 &&
	    strcmp(what, "all") != 0)
		return command_misuse(bench->command,
				      "there is no benchmark \"%s\": comm, storage "
				      "or all",
				      what);
	if (!what && !elsewhere && !args->output)
		return command_misuse(bench->command,
				      "what is to be measured: comm, storage or all?");
	if (args->on && modelled_name(args->on) == args->on)
		return command_misuse(bench->command, "--on: \"%s\" does not begin with " MODELLED,
				      args->on);
	if (args->on && !what)
		return command_misuse(bench->command, "--on needs comm, storage or all");
	if (!*bench->platform || strlen(bench->platform) >= ELEMENT_PLATFORM)
		return command_misuse(bench->command, "a platform has a name of 1 to %d characters",
				      ELEMENT_PLATFORM - 1);
	if (args->import && args->platform && args->list)
		return command_misuse(bench->command, "--import and --list do not go together");
	return 0;
}

static int bench(struct command *c)
{
	struct bench b = { .command = c, .args = c->args };
	const char *what = c->argc ? c->argv[0] : NULL;
	struct err err = { 0 };
	int ret;

	b.platform = platform_name(c, b.args);
	ret = args_check(&b, what);
	if (!ret && what && wish_read(&b, what, &err) < 0)
		ret = command_misuse(c, "%s", err.text);
	if (ret) {
		free(b.platform);
		return ret;
	}
	if (store_open(&b.store, config_text(c->config, SETTING_STORE_PATH), &err) < 0)
		ret = command_fail(c, "%s", err.text);
	else
		ret = bench_do(&b, what);
	store_close(b.store);
	campaign_release(&b.campaign);
	free(b.platform);
	return ret;
}

const struct command_ops command_bench = {
	.name = "bench",
	.help = "measure what communication and storage cost, once for all programs",
	.operands = "[comm|storage|all]",
	.operands_max = 1,
	.about =
		"Times the operations that collective accesses are made of: comm is Allreduce, "
		"Alltoall, Allgather, Broadcast, Barrier and exchanges between some ranks and "
		"others; storage is rounds in which some ranks write, or read, one shared file at "
		"once. The rows are what `sluice model fit` learns from.\n\n"
		"Every complete cell is in the store before the next begins. The same command "
		"again goes on where it was cut off, and does nothing that is there already.\n\n"
		"The times of storage are worth little where a cache hides it. It is bypassed "
		"(O_DIRECT), or exceeded by twice its size, or used on purpose, for programs "
		"whose files fit: within. The file is removed at every end.\n\n"
		"--plan shows what would be measured, how much that writes and how long it takes "
		"about; --budget makes it fit.\n\n"
		"  sluice bench all --ranks 2,4,8 --dir /scratch --plan\n"
		"  sluice bench storage --ranks 64 --launch 'srun -N 4 -n {ranks}' --dir /scratch\n"
		"  sluice bench all --on modelled:vesta --output vesta.csv\n"
		"  sluice bench --list",
	.options = bench_options,
	.args_bytes = sizeof(struct bench_args),
	.run = bench,
};

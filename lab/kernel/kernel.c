/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice kernel: the programs to measure with. It tells what they would write, without MPI, and
 * starts the one that was built for the MPI at hand. The command itself never becomes a rank: it
 * is replaced by the kernel or by the launcher.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "cli/command.h"
#include "base/launcher.h"
#include "kernels/kinds.h"
#include "kernels/shapes.h"

#define RANKS_DEFAULT 4
#define GIB 0x1p30

struct kernel_args {
	bool plan, json;
	uint64_t ranks;
	int mpi;
};

static const struct option kernel_options[] = {
	{ 'p', "plan", NULL, NULL, "tell what would be written, exactly; nothing runs", OPTION_FLAG,
	  offsetof(struct kernel_args, plan) },
	{ 'n', "ranks", "N", NULL, "ranks to start (default 4), or to plan for", OPTION_COUNT,
	  offsetof(struct kernel_args, ranks) },
	{ 'm', "mpi", MPI_WORDS, "auto", "whose kernel to run; auto: that of the launcher around",
	  OPTION_CHOICE, offsetof(struct kernel_args, mpi) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.kernel/1", OPTION_FLAG,
	  offsetof(struct kernel_args, json) },
	{ 0 }
};

/* The scales of the papers, for a plan without --ranks. */
static const uint64_t paper_ranks[] = { 128, 2048, 4096 };

#define PAPER_RANKS (sizeof(paper_ranks) / sizeof(paper_ranks[0]))

struct plan {
	struct shape shape;
	struct dataset dataset; /* the first one, and rank 0's part of it */
	uint64_t least, most;	/* bytes of a rank */
	uint64_t bytes;		/* of all */
};

static size_t words_count(const char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

/* The shape that the kernel's options stand for, as the kernel itself would judge them. */
static int shape_read(struct shape *shape, const struct kind *kind, char **words, uint64_t ranks,
		      struct err *err)
{
	size_t n = words_count((const char *const *)words);
	/* Reading them reorders them, and needs room for an end. */
	AUTO_FREE char **copy = xcalloc(n + 1, sizeof(*copy));
	struct kind_args args = { 0 };
	int ret;

	memcpy(copy, words, n * sizeof(*copy));
	ret = option_parse(kind->options, OPTION_ANYWHERE, &args, (int)n, copy, err);
	if (ret < 0)
		return ret;
	if (ret == OPTION_HELP_WANTED)
		ret = err_set(err, EINVAL, "--help and --plan do not go together");
	else if (ret > 0)
		ret = err_set(err, EINVAL, "there is no use for \"%s\": options only", copy[0]);
	else
		ret = kind_shape(kind, &args, ranks, shape, err);
	option_release(kind->options, &args);
	return ret;
}

static int plan_make(struct plan *plan, const struct kind *kind, char **words, uint64_t ranks,
		     struct err *err)
{
	struct shape shape;
	int ret = shape_read(&shape, kind, words, ranks, err);

	if (ret < 0)
		return ret;
	*plan = (struct plan){ .shape = shape, .least = UINT64_MAX, .bytes = shape_bytes(&shape) };
	shape_dataset(&shape, 0, 0, &plan->dataset);
	for (uint64_t rank = 0; rank < ranks; rank++) {
		uint64_t bytes = shape_rank_bytes(&shape, rank);

		plan->least = bytes < plan->least ? bytes : plan->least;
		plan->most = bytes > plan->most ? bytes : plan->most;
	}
	return 0;
}

static const char *extent_text(struct buf *buf, const uint64_t *extent, int dims)
{
	buf_clear(buf);
	for (int i = 0; i < dims; i++)
		buf_printf(buf, "%s%llu", i ? " x " : "", (unsigned long long)extent[i]);
	return buf_text(buf);
}

static void plan_row(struct table *table, const struct plan *plan)
{
	AUTO_BUF struct buf buf = { 0 };
	const struct dataset *set = &plan->dataset;

	table_add(table, "%llu", (unsigned long long)plan->shape.ranks);
	table_add(table, "%llu", (unsigned long long)plan->shape.steps);
	table_add(table, "%llu", (unsigned long long)shape_datasets(&plan->shape));
	table_add(table, "%s", extent_text(&buf, set->size, set->dims));
	table_add(table, "%s", extent_text(&buf, set->count, set->dims));
	table_add(table, "%llu", (unsigned long long)plan->least);
	table_add(table, "%llu", (unsigned long long)plan->most);
	table_add(table, "%llu", (unsigned long long)plan->bytes);
	table_add(table, "%.2f", (double)plan->bytes / GIB);
}

static void plan_json(struct json *json, const struct plan *plan)
{
	const struct dataset *set = &plan->dataset;

	json_open(json, NULL, '{');
	json_count(json, "ranks", plan->shape.ranks);
	json_count(json, "steps", plan->shape.steps);
	json_count(json, "datasets", shape_datasets(&plan->shape));
	json_count(json, "value_bytes", shape_type_bytes(set->type));
	json_open(json, "dataset", '[');
	for (int i = 0; i < set->dims; i++)
		json_count(json, NULL, set->size[i]);
	json_close(json);
	json_open(json, "part_of_rank_0", '[');
	for (int i = 0; i < set->dims; i++)
		json_count(json, NULL, set->count[i]);
	json_close(json);
	json_count(json, "rank_bytes_least", plan->least);
	json_count(json, "rank_bytes_most", plan->most);
	json_count(json, "bytes", plan->bytes);
	json_close(json);
}

static void kind_json(struct json *json, const struct kind *kind, const struct plan *plans,
		      size_t count)
{
	json_open(json, NULL, '{');
	json_text(json, "name", kind->name);
	json_text(json, "program", kind->program);
	json_text(json, "about", kind->about);
	json_open(json, "mpis", '[');
	for (int mpi = MPI_AUTO + 1; mpi < MPIS; mpi++) {
		AUTO_FREE char *path = launcher_program(kind->program, (enum mpi)mpi);

		if (path)
			json_text(json, NULL, mpi_names[mpi]);
	}
	json_close(json);
	json_open(json, "plans", '[');
	for (size_t i = 0; i < count; i++)
		plan_json(json, &plans[i]);
	json_close(json);
	json_close(json);
}

static int kernel_plan(struct command *c, const struct kernel_args *args, const struct kind *kind,
		       char **words)
{
	static const char *const titles[] = {
		">ranks",	    ">steps",	    ">datasets", "each of", "rank 0's part",
		">least of a rank", ">most of one", ">bytes",	 ">GiB",    NULL
	};
	bool all = args->ranks == OPTION_NONE;
	size_t count = all ? PAPER_RANKS : 1;
	struct plan plans[PAPER_RANKS];
	struct table table;
	struct json json;

	if (!kind->shape)
		return command_misuse(c, "%s has no plan: its options say what it writes",
				      kind->name);
	for (size_t i = 0; i < count; i++) {
		struct err err = { 0 };

		if (plan_make(&plans[i], kind, words, all ? paper_ranks[i] : args->ranks, &err) < 0)
			return command_misuse(c, "%s: %s", kind->name, err.text);
	}
	if (args->json) {
		json_start(&json, stdout, "sluice.kernel/1");
		json_open(&json, "kernels", '[');
		kind_json(&json, kind, plans, count);
		json_close(&json);
		json_end(&json);
		return command_finish(c);
	}
	table_init(&table, titles);
	for (size_t i = 0; i < count; i++)
		plan_row(&table, &plans[i]);
	table_print(&table, stdout, 0);
	table_release(&table);
	return command_finish(c);
}

/* What the papers ran; only kernels with a --paper have that. */
static size_t paper_plans(const struct kind *kind, struct plan plans[PAPER_RANKS])
{
	char paper[] = "--paper", *words[] = { paper, NULL };
	size_t count = 0;

	while (kind->shape && count < PAPER_RANKS &&
	       plan_make(&plans[count], kind, words, paper_ranks[count], NULL) == 0)
		count++;
	return count;
}

static void kind_row(struct table *table, const struct kind *kind, const struct plan *plans,
		     size_t count)
{
	AUTO_BUF struct buf built = { 0 };

	for (int mpi = MPI_AUTO + 1; mpi < MPIS; mpi++) {
		AUTO_FREE char *path = launcher_program(kind->program, (enum mpi)mpi);

		if (path)
			buf_printf(&built, "%s%s", built.len ? " " : "", mpi_names[mpi]);
	}
	table_add(table, "%s", kind->name);
	table_add(table, "%s", built.len ? buf_text(&built) : "-");
	for (size_t i = 0; i < PAPER_RANKS; i++) {
		if (i < count)
			table_add(table, "%.2f", (double)plans[i].bytes / GIB);
		else
			table_add(table, "-");
	}
	table_add(table, "%s", kind->about);
}

static int kernel_list(struct command *c, const struct kernel_args *args)
{
	static const char *const titles[] = { "kernel", "built for", ">GiB of 128", ">2048 ranks",
					      ">4096",	"",	     NULL };
	struct plan plans[PAPER_RANKS];
	struct table table;
	struct json json;

	table_init(&table, titles);
	if (args->json) {
		json_start(&json, stdout, "sluice.kernel/1");
		json_open(&json, "kernels", '[');
	}
	for (const struct kind *kind = kinds; kind->name; kind++) {
		size_t count = paper_plans(kind, plans);

		if (args->json)
			kind_json(&json, kind, plans, count);
		else
			kind_row(&table, kind, plans, count);
	}
	if (args->json) {
		json_close(&json);
		json_end(&json);
	} else {
		table_print(&table, stdout, 0);
	}
	table_release(&table);
	return command_finish(c);
}

static int program_missing(const struct command *c, const struct kind *kind, int mpi)
{
	if (mpi == MPI_AUTO)
		mpi = (int)launcher_mpi_around();
	return command_fail(c,
			    "%s is not built%s%s: an MPI with parallel HDF5 must be there when "
			    "Sluice is built; `sluice kernel` lists what there is",
			    kind->program, mpi == MPI_AUTO ? "" : " for ",
			    mpi == MPI_AUTO ? "" : mpi_names[mpi]);
}

/* Replaces this process by the kernel, or by its launcher. */
static int kernel_run(struct command *c, const struct kernel_args *args, const struct kind *kind,
		      char **words)
{
	uint64_t ranks = args->ranks == OPTION_NONE ? RANKS_DEFAULT : args->ranks;
	AUTO_FREE char *program = NULL, *launcher = NULL;
	AUTO_FREE char *count = xprintf("%llu", (unsigned long long)ranks);
	enum mpi mpi = launcher_choose(kind->program, args->mpi, &program);
	size_t given = words_count((const char *const *)words), fixed = words_count(kind->fixed);
	AUTO_FREE const char **argv = xcalloc(given + fixed + 5, sizeof(*argv));
	size_t n = 0;

	if (!program)
		return program_missing(c, kind, args->mpi);
	if (launcher_mpi_around() == MPI_AUTO) {
		launcher = launcher_path(mpi);
		if (!launcher)
			return command_fail(c, "neither mpiexec.%s nor mpiexec is in PATH",
					    mpi_names[mpi]);
		argv[n++] = launcher;
		argv[n++] = "-n";
		argv[n++] = count;
	} else if (args->ranks != OPTION_NONE) {
		command_warn(c, "--ranks is left to the launcher that has started this");
	}
	argv[n++] = program;
	for (size_t i = 0; i < fixed; i++)
		argv[n++] = kind->fixed[i];
	for (size_t i = 0; i < given; i++)
		argv[n++] = words[i];
	execv(argv[0], (char *const *)argv);
	return command_fail(c, "%s: %s", argv[0], strerror(errno));
}

/* The row of ours that a word such as "--ranks" or "--ranks=4" names. */
static const struct option *own_row(const char *word)
{
	size_t n;

	if (strncmp(word, "--", 2) != 0)
		return NULL;
	n = strcspn(word + 2, "=");
	for (const struct option *row = kernel_options; row->name; row++)
		if (strlen(row->name) == n && memcmp(row->name, word + 2, n) == 0)
			return row;
	return NULL;
}

/*
 * Takes our own long options out of what follows the name: they may stand on either side of it.
 * The words left are the kernel's.
 */
static int take_own(struct kernel_args *args, char **words, struct err *err)
{
	char **to = words;

	for (char **from = words; *from; from++) {
		const struct option *row = own_row(*from);
		const char *value = row ? strchr(*from, '=') : NULL;
		int ret;

		if (!row) {
			*to++ = *from;
			continue;
		}
		value = value ? value + 1 : NULL;
		if (!value && row->kind != OPTION_FLAG)
			value = *++from;
		if (!value && row->kind != OPTION_FLAG)
			return err_set(err, EINVAL, "--%s needs a value: %s", row->name,
				       row->value);
		ret = option_value(row->kind, row->value, row->name, value,
				   (char *)args + row->offset, err);
		if (ret < 0)
			return ret;
	}
	*to = NULL;
	return 0;
}

static int kernel(struct command *c)
{
	struct kernel_args args = *(const struct kernel_args *)c->args;
	const struct kind *kind;
	struct err err = { 0 };

	if (!c->argc)
		return kernel_list(c, &args);
	kind = kind_find(c->argv[0]);
	if (!kind)
		return command_misuse(c, "there is no kernel \"%s\"; `sluice kernel` lists them",
				      c->argv[0]);
	if (take_own(&args, c->argv + 1, &err) < 0)
		return command_misuse(c, "%s", err.text);
	if (!args.ranks)
		return command_misuse(c, "--ranks: 1 at least");
	if (args.plan)
		return kernel_plan(c, &args, kind, c->argv + 1);
	if (args.json)
		return command_misuse(c, "--json goes with --plan, or without a name");
	return kernel_run(c, &args, kind, c->argv + 1);
}

const struct command_ops command_kernel = {
	.name = "kernel",
	.help = "run a parallel I/O kernel, or tell what it would write",
	.operands = "[NAME [OPTION]...]",
	.operands_max = -1,
	.about =
		"Small parallel programs with the I/O of larger ones, built once per MPI. Without "
		"a "
		"name they are listed, with the volumes that the papers wrote.\n\n"
		"What follows the name goes to the kernel, but for the long options below, which "
		"may stand there as well; `sluice kernel NAME --help` lists its own. With --plan "
		"nothing runs: shapes and exact volumes are printed for any number of ranks.\n\n"
		"Inside of mpiexec the kernel of that MPI takes the place of this command; outside "
		"it is started with mpiexec.\n\n"
		"  sluice kernel vpic --plan --paper --ranks 2048\n"
		"  sluice kernel vorpal --mpi mpich --ranks 4 --scale 0.01 --verify\n"
		"  mpiexec -n 4 sluice kernel small --transfer independent",
	.options = kernel_options,
	.args_bytes = sizeof(struct kernel_args),
	.order = OPTION_STOP_FIRST,
	.run = kernel,
};

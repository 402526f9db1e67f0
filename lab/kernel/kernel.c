/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab kernel: runs small parallel programs with the I/O of larger ones, or computes what
 * they would write without MPI. The command itself never becomes a rank: the kernel or its launcher
 * replaces the process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/launcher.h"
#include "base/mem.h"
#include "base/table.h"
#include "cli/command.h"
#include "kernels/kinds.h"
#include "kernels/shapes.h"

#define RANKS_DEFAULT 4
#define GIB 0x1p30

struct kernel_args {
	bool dry_run, json;
	uint64_t ranks;
	int mpi;
};

static const struct option kernel_options[] = {
	{ 'n', "ranks", "N", NULL,
	  "start N MPI ranks (default 4; with --dry-run: 128, 2048 and 4096)", OPTION_COUNT,
	  offsetof(struct kernel_args, ranks) },
	{ 0, "mpi", MPI_WORDS, "auto",
	  "use the kernel built for this MPI; auto: that of the launcher, or the first found",
	  OPTION_CHOICE, offsetof(struct kernel_args, mpi) },
	{ 0, "dry-run", NULL, NULL, "print what the kernel would write and run nothing",
	  OPTION_FLAG, offsetof(struct kernel_args, dry_run) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.kernel/1", OPTION_FLAG,
	  offsetof(struct kernel_args, json) },
	{ 0 }
};

/* The scales of the papers; a dry run without --ranks covers all of them. */
static const uint64_t paper_ranks[] = { 128, 2048, 4096 };

#define PAPER_RANKS (sizeof(paper_ranks) / sizeof(paper_ranks[0]))

/* What a kernel writes at one scale. */
struct plan {
	struct shape shape;
	struct dataset dataset; /* the first dataset, with the part of rank 0 */
	uint64_t least, most;	/* smallest and largest number of bytes of a rank */
	uint64_t bytes;		/* of all ranks */
};

static size_t count_words(const char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

/* Parses the options of the kernel, as the kernel itself would, and computes the shape. */
static int parse_shape(struct shape *shape, const struct kind *kind, char **words, uint64_t ranks,
		       struct err *err)
{
	size_t n = count_words((const char *const *)words);
	/* option_parse() reorders the words and needs room for a NULL. */
	AUTO_FREE char **copy = xcalloc(n + 1, sizeof(*copy));
	struct kind_args args = { 0 };
	int ret;

	memcpy(copy, words, n * sizeof(*copy));
	ret = option_parse(kind->options, OPTION_ANYWHERE, &args, (int)n, copy, err);
	if (ret < 0)
		return ret;
	if (ret == OPTION_HELP_WANTED)
		ret = err_set(err, EINVAL, "--help cannot be combined with --dry-run");
	else if (ret > 0)
		ret = err_set(err, EINVAL,
			      "unexpected argument \"%s\"; a kernel accepts options only", copy[0]);
	else
		ret = kind_shape(kind, &args, ranks, shape, err);
	option_release(kind->options, &args);
	return ret;
}

static int make_plan(struct plan *plan, const struct kind *kind, char **words, uint64_t ranks,
		     struct err *err)
{
	struct shape shape;
	int ret = parse_shape(&shape, kind, words, ranks, err);

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

static const char *format_extent(struct buf *buf, const uint64_t *extent, int dims)
{
	buf_clear(buf);
	for (int i = 0; i < dims; i++)
		buf_printf(buf, "%s%llu", i ? " x " : "", (unsigned long long)extent[i]);
	return buf_text(buf);
}

static void add_plan(struct table *table, const struct plan *plan)
{
	AUTO_BUF struct buf buf = { 0 };
	const struct dataset *set = &plan->dataset;

	table_add(table, "%llu", (unsigned long long)plan->shape.ranks);
	table_add(table, "%llu", (unsigned long long)plan->shape.steps);
	table_add(table, "%llu", (unsigned long long)shape_datasets(&plan->shape));
	table_add(table, "%s", format_extent(&buf, set->size, set->dims));
	table_add(table, "%s", format_extent(&buf, set->count, set->dims));
	table_add(table, "%llu", (unsigned long long)plan->least);
	table_add(table, "%llu", (unsigned long long)plan->most);
	table_add(table, "%llu", (unsigned long long)plan->bytes);
	table_add(table, "%.2f", (double)plan->bytes / GIB);
}

static void print_plan_json(struct json *json, const struct plan *plan)
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

static void print_kernel_json(struct json *json, const struct kind *kind, const struct plan *plans,
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
		print_plan_json(json, &plans[i]);
	json_close(json);
	json_close(json);
}

static int print_plans(struct command *c, const struct kernel_args *args, const struct kind *kind,
		       char **words)
{
	static const char *const titles[] = { ">ranks",
					      ">steps",
					      ">datasets",
					      "dataset size",
					      "part of rank 0",
					      ">minimum per rank",
					      ">maximum per rank",
					      ">total bytes",
					      ">GiB",
					      NULL };
	bool all = args->ranks == OPTION_NONE;
	size_t count = all ? PAPER_RANKS : 1;
	struct plan plans[PAPER_RANKS];
	struct table table;
	struct json json;

	if (!kind->shape)
		return command_misuse(
			c, "%s does not support --dry-run: its options state what it writes",
			kind->name);
	for (size_t i = 0; i < count; i++) {
		struct err err = { 0 };

		if (make_plan(&plans[i], kind, words, all ? paper_ranks[i] : args->ranks, &err) < 0)
			return command_misuse(c, "%s: %s", kind->name, err.text);
	}
	if (args->json) {
		json_start(&json, stdout, "sluice.kernel/1");
		json_open(&json, "kernels", '[');
		print_kernel_json(&json, kind, plans, count);
		json_close(&json);
		json_end(&json);
		return command_finish(c);
	}
	table_init(&table, titles);
	for (size_t i = 0; i < count; i++)
		add_plan(&table, &plans[i]);
	table_print(&table, stdout, 0);
	table_release(&table);
	return command_finish(c);
}

/* Makes plans of the runs in the papers. Returns 0 for kernels without an option --paper. */
static size_t make_paper_plans(const struct kind *kind, struct plan plans[PAPER_RANKS])
{
	char paper[] = "--paper", *words[] = { paper, NULL };
	size_t count = 0;

	while (kind->shape && count < PAPER_RANKS &&
	       make_plan(&plans[count], kind, words, paper_ranks[count], NULL) == 0)
		count++;
	return count;
}

static void add_kernel(struct table *table, const struct kind *kind, const struct plan *plans,
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

static int list_kernels(struct command *c, const struct kernel_args *args)
{
	static const char *const titles[] = { "kernel",	     "built for",   ">GiB: 128 ranks",
					      ">2048 ranks", ">4096 ranks", "description",
					      NULL };
	struct plan plans[PAPER_RANKS];
	struct table table;
	struct json json;

	table_init(&table, titles);
	if (args->json) {
		json_start(&json, stdout, "sluice.kernel/1");
		json_open(&json, "kernels", '[');
	}
	for (const struct kind *kind = kinds; kind->name; kind++) {
		size_t count = make_paper_plans(kind, plans);

		if (args->json)
			print_kernel_json(&json, kind, plans, count);
		else
			add_kernel(&table, kind, plans, count);
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

static int fail_not_built(const struct command *c, const struct kind *kind, int mpi)
{
	if (mpi == MPI_AUTO)
		mpi = (int)launcher_current_mpi();
	return command_fail(c,
			    "%s was not built%s%s; building it requires an MPI with parallel HDF5. "
			    "'sluice lab kernel' lists the kernels that were built",
			    kind->program, mpi == MPI_AUTO ? "" : " for ",
			    mpi == MPI_AUTO ? "" : mpi_names[mpi]);
}

/* Replaces this process by the kernel, or by its launcher. Returns only on failure. */
static int exec_kernel(struct command *c, const struct kernel_args *args, const struct kind *kind,
		       char **words)
{
	uint64_t ranks = args->ranks == OPTION_NONE ? RANKS_DEFAULT : args->ranks;
	AUTO_FREE char *program = NULL, *launcher = NULL;
	AUTO_FREE char *count = xprintf("%llu", (unsigned long long)ranks);
	enum mpi mpi = launcher_choose(kind->program, args->mpi, &program);
	size_t given = count_words((const char *const *)words), fixed = count_words(kind->fixed);
	AUTO_FREE const char **argv = xcalloc(given + fixed + 5, sizeof(*argv));
	size_t n = 0;

	if (!program)
		return fail_not_built(c, kind, args->mpi);
	if (launcher_current_mpi() == MPI_AUTO) {
		launcher = launcher_path(mpi);
		if (!launcher)
			return command_fail(c, "cannot find mpiexec.%s or mpiexec in PATH",
					    mpi_names[mpi]);
		argv[n++] = launcher;
		argv[n++] = "-n";
		argv[n++] = count;
	} else if (args->ranks != OPTION_NONE) {
		command_warn(c, "ignored --ranks: the launcher that started this command has set "
				"the number of ranks");
	}
	argv[n++] = program;
	for (size_t i = 0; i < fixed; i++)
		argv[n++] = kind->fixed[i];
	for (size_t i = 0; i < given; i++)
		argv[n++] = words[i];
	execv(argv[0], (char *const *)argv);
	return command_fail(c, "%s: %s", argv[0], strerror(errno));
}

/* The row of kernel_options that a word such as "--ranks" or "--ranks=4" names, or NULL. */
static const struct option *find_own_option(const char *word)
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
 * Removes the long options of this command from the words after the name of the kernel, because
 * they may stand on either side of it. The remaining words are options of the kernel.
 */
static int extract_own_options(struct kernel_args *args, char **words, struct err *err)
{
	char **to = words;

	for (char **from = words; *from; from++) {
		const struct option *row = find_own_option(*from);
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
			return err_set(err, EINVAL, "--%s requires a value: %s", row->name,
				       row->value);
		ret = option_value(row->kind, row->value, row->name, value,
				   (char *)args + row->offset, err);
		if (ret < 0)
			return ret;
	}
	*to = NULL;
	return 0;
}

static int kernel_run(struct command *c)
{
	struct kernel_args args = *(const struct kernel_args *)c->args;
	const struct kind *kind;
	struct err err = { 0 };

	if (!c->argc)
		return list_kernels(c, &args);
	kind = kind_find(c->argv[0]);
	if (!kind)
		return command_misuse(c, "unknown kernel \"%s\"; 'sluice lab kernel' lists them",
				      c->argv[0]);
	if (extract_own_options(&args, c->argv + 1, &err) < 0)
		return command_misuse(c, "%s", err.text);
	if (!args.ranks)
		return command_misuse(c, "--ranks must be at least 1");
	if (args.dry_run)
		return print_plans(c, &args, kind, c->argv + 1);
	if (args.json)
		return command_misuse(c, "--json requires --dry-run, or no NAME");
	return exec_kernel(c, &args, kind, c->argv + 1);
}

const struct command_ops command_kernel = {
	.name = "kernel",
	.help = "run a parallel I/O kernel",
	.operands = "[NAME [KERNEL-OPTION]...]",
	.operands_max = -1,
	.about = "Kernels are small parallel programs with the I/O of larger ones. Each is built "
		 "once per MPI. Without NAME, lists the kernels and the volumes that the papers "
		 "wrote.\n\n"
		 "The options of a kernel follow its name; 'sluice lab kernel NAME --help' lists "
		 "them. The long options below may follow the name as well. --dry-run prints the "
		 "shapes and exact volumes for any number of ranks.\n\n"
		 "Inside mpiexec, the kernel built for that MPI replaces this command. Otherwise "
		 "the "
		 "command starts mpiexec.\n\n"
		 "  sluice lab kernel vpic --dry-run --paper --ranks 2048\n"
		 "  sluice lab kernel vorpal --mpi mpich --ranks 4 --scale 0.01 --verify\n"
		 "  mpiexec -n 4 sluice lab kernel small --transfer independent",
	.options = kernel_options,
	.args_bytes = sizeof(struct kernel_args),
	.order = OPTION_STOP_FIRST,
	.run = kernel_run,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab reproduce siox: Table 1, Figures 7 to 9 and the application of the SIOX paper, as
 * measured on this machine, beside the published numbers.
 * Papers: SIOX-54, SIOX-57, SIOX-59 to SIOX-61, SIOX-63.
 */
#include "lab/reproduce/siox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/place.h"
#include "chart/chart.h"

#define SECONDS_MAX 100000
#define BLOCKS_MAX 10240 /* those of the paper: 1000 MiB per rank */

#define FIELD(name) offsetof(struct siox_args, name)

static const struct option siox_options[] = {
	{ 0, "dir", "DIR", ".", "put the files of the experiments into a new directory in DIR",
	  OPTION_TEXT, FIELD(dir) },
	{ 0, "results", "DIR", NULL,
	  "keep the output of each run in DIR, and do not repeat runs whose output is there",
	  OPTION_TEXT, FIELD(results) },
	{ 0, "repeat", "N", NULL, "run each program N times (default 3; 1 or 10)", OPTION_COUNT,
	  FIELD(repeat) },
	{ 0, "seconds", "N", NULL,
	  "CPU seconds of each process of the application (default 5; less or 100)", OPTION_COUNT,
	  FIELD(seconds) },
	{ 0, "blocks", "N", NULL,
	  "blocks of 100 KiB per rank at the four levels (default 256; 4 or 10240)", OPTION_COUNT,
	  FIELD(blocks) },
	{ 0, "mpi", MPI_WORDS, "auto", "use this MPI; auto: the first one that has the programs",
	  OPTION_CHOICE, FIELD(mpi) },
	{ 0, "quick", NULL, NULL, "use small sizes; the numbers are not meaningful", OPTION_FLAG,
	  FIELD(quick) },
	{ 0, "full", NULL, NULL, "use the sizes of the paper; takes hours and 10 GiB", OPTION_FLAG,
	  FIELD(full) },
	REPRODUCE_PLOTS(siox_args),
	REPRODUCE_JSON(siox_args),
	{ 0 }
};

#undef FIELD

static const struct experiment {
	const char *name;
	int (*make)(struct siox *siox, struct err *err);
} experiments[] = {
	{ "table1", siox_table1 },	     { "figure7", siox_figure7 },
	{ "figure8", siox_figure8 },	     { "figure9", siox_figure9 },
	{ "application", siox_application }, { 0 },
};

static const struct siox_scale scales[] = {
	{ .repeat = 3,
	  .calls = 200000,
	  .threads_max = 24,
	  .ranks = 10,
	  .blocks = 256,
	  .seconds = 5,
	  .strides = { 2000, 200 } },
	{ .repeat = 1,
	  .calls = 1000,
	  .threads_max = 2,
	  .ranks = 2,
	  .blocks = 4,
	  .seconds = 0.05,
	  .strides = { 40, 24 } },
	{ .repeat = 10,
	  .calls = 1000000,
	  .threads_max = 24,
	  .ranks = 10,
	  .blocks = BLOCKS_MAX,
	  .seconds = 100,
	  .strides = { 524288, 10485 } },
};

static struct siox_scale choose_scale(const struct siox_args *args)
{
	struct siox_scale scale = scales[args->full ? 2 : args->quick];

	if (args->repeat != OPTION_NONE)
		scale.repeat = args->repeat;
	if (args->seconds != OPTION_NONE)
		scale.seconds = (double)args->seconds;
	if (args->blocks != OPTION_NONE)
		scale.blocks = args->blocks;
	return scale;
}

/* `sluice`: beside this binary in a build tree, else below ../../bin, else in PATH. */
static char *find_sluice(const char *directory)
{
	static const char *const places[] = { "sluice", "../../bin/sluice" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = place_join(directory, places[i]);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return place_program("sluice");
}

/* Finds the programs. Those for MPI may be missing. */
static int find_programs(struct siox *siox, struct err *err)
{
	AUTO_FREE char *directory = place_binary_dir();
	enum mpi mpi = launcher_choose("levels", siox->args->mpi, &siox->levels);

	siox->sluice = directory ? find_sluice(directory) : NULL;
	siox->lab = directory ? place_join(directory, "sluice-lab") : NULL;
	if (!siox->sluice)
		return err_set(err, ENOENT, "cannot find sluice");
	if (mpi == MPI_AUTO)
		return 0;
	siox->climate = launcher_program("climate", mpi);
	siox->levels_linked = launcher_program("levels_linked", mpi);
	siox->climate_linked = launcher_program("climate_linked", mpi);
	siox->mpiexec = launcher_path(mpi);
	return 0;
}

/* Makes the directory and returns its absolute path, or NULL. */
static char *make_directory(const char *path, struct err *err)
{
	char *real = NULL;

	if (place_make_dir(path, 0777, err) < 0)
		return NULL;
	real = realpath(path, NULL);
	if (!real)
		err_set(err, errno, "%s: %s", path, strerror(errno));
	return real;
}

static int make_directories(struct siox *siox, struct err *err)
{
	const struct siox_args *args = siox->args;
	AUTO_FREE char *dir = realpath(args->dir, NULL);
	AUTO_FREE char *name = dir ? place_join(dir, "sluice-siox.XXXXXX") : NULL;

	if (!dir || !mkdtemp(name))
		return err_set(err, errno, "%s: %s", args->dir, strerror(errno));
	siox->work = name;
	name = NULL;
	siox->results = args->results ? make_directory(args->results, err)
				      : siox_work_path(siox, "results");
	if (!siox->results)
		return -err->code;
	return args->results ? 0 : place_make_dir(siox->results, 0777, err);
}

static int siox_open(struct siox *siox, const struct siox_args *args, struct err *err)
{
	int r;

	*siox = (struct siox){ .args = args, .scale = choose_scale(args) };
	r = find_programs(siox, err);
	if (r >= 0)
		r = make_directories(siox, err);
	/* Programs write into the current directory. */
	if (r >= 0 && chdir(siox->work) != 0)
		r = err_set(err, errno, "%s: %s", siox->work, strerror(errno));
	return r;
}

static void siox_close(struct siox *siox)
{
	if (siox->work)
		file_remove_tree(siox->work);
	for (size_t i = 0; i < siox->check_count; i++)
		free(siox->checks[i].value);
	free(siox->sluice);
	free(siox->lab);
	free(siox->levels);
	free(siox->climate);
	free(siox->levels_linked);
	free(siox->climate_linked);
	free(siox->mpiexec);
	free(siox->work);
	free(siox->results);
}

bool siox_has_mpi(const struct siox *siox)
{
	return siox->levels && siox->climate && siox->mpiexec;
}

void siox_note_mpi(const struct siox *siox, struct sheet *sheet)
{
	if (!siox_has_mpi(siox))
		sheet_note(sheet, "Not measured here: the kernels were not built for an MPI, or it "
				  "has no launcher.");
	else if (!siox->levels_linked || !siox->climate_linked)
		sheet_note(sheet, "Not measured here with --wrap: the linked kernels are missing.");
}

void siox_check_add(struct siox *siox, const char *id, bool holds, const char *bound, char *value)
{
	if (siox->check_count == SIOX_CHECKS) {
		free(value);
		return;
	}
	siox->checks[siox->check_count++] =
		(struct siox_check){ .id = id, .bound = bound, .value = value, .holds = holds };
}

static void add_checks(struct siox *siox)
{
	static const struct sheet_column columns[] = { { "check", "check", 0 },
						       { "bound", "bound", 0 },
						       { "here", "value", 0 },
						       { "verdict", "verdict", 0 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "checks", "Acceptance checks on this machine", columns);
	for (size_t i = 0; i < siox->check_count; i++) {
		const struct siox_check *check = &siox->checks[i];

		sheet_text(&sheet, "%s", check->id);
		sheet_text(&sheet, "%s", check->bound);
		sheet_text(&sheet, "%s", check->value);
		sheet_text(&sheet, "%s", check->holds ? "holds" : "does not hold");
	}
	if (siox->args->quick)
		sheet_note(&sheet, "--quick: the sizes are too small for a verdict.");
	reproduce_add_sheet(&siox->output, &sheet);
}

int siox_save_chart(const struct siox *siox, struct chart *chart, const char *name, struct err *err)
{
	AUTO_FREE char *file = xprintf("siox-%s.svg", name);
	AUTO_FREE char *path = siox->args->plots ? place_join(siox->args->plots, file) : NULL;
	int r = path ? chart_write(chart, path, err) : 0;

	chart_release(chart);
	return r;
}

static bool is_wanted(const struct command *command, const char *name)
{
	for (int i = 0; i < command->argc; i++)
		if (strcmp(command->argv[i], name) == 0 || strcmp(command->argv[i], "all") == 0)
			return true;
	return !command->argc;
}

static const char *find_unknown(const struct command *command)
{
	for (int i = 0; i < command->argc; i++) {
		const struct experiment *e = experiments;

		while (e->name && strcmp(e->name, command->argv[i]) != 0)
			e++;
		if (!e->name && strcmp(command->argv[i], "all") != 0)
			return command->argv[i];
	}
	return NULL;
}

static int reproduce_all(const struct command *command, const struct siox_args *args)
{
	struct interrupt stop;
	struct siox siox;
	struct err err = { 0 };
	int r, code;

	interrupt_catch(&stop);
	r = siox_open(&siox, args, &err);
	if (r < 0) {
		siox_close(&siox);
		interrupt_restore(&stop);
		return command_fail(command, "%s", err.text);
	}
	reproduce_start_measured(&siox.output, args->json);
	progress_start(&siox.progress, "siox", 0);
	for (const struct experiment *e = experiments; r >= 0 && e->name; e++)
		if (is_wanted(command, e->name))
			r = e->make(&siox, &err);
	progress_end(&siox.progress);
	if (r >= 0)
		add_checks(&siox);
	code = reproduce_finish(command, &siox.output, r, &err);
	siox_close(&siox);
	interrupt_restore(&stop);
	return code;
}

static int siox_command_run(struct command *command)
{
	struct siox_args args = *(const struct siox_args *)command->args;
	const char *unknown = find_unknown(command);
	AUTO_FREE char *plots = NULL;
	struct err err = { 0 };

	if (unknown)
		return command_misuse(command,
				      "unknown experiment \"%s\" (expected table1, figure7 to "
				      "figure9, application or all)",
				      unknown);
	if (args.quick && args.full)
		return command_misuse(command, "--quick cannot be combined with --full");
	if (args.repeat != OPTION_NONE && (!args.repeat || args.repeat > SIOX_REPEAT_MAX))
		return command_misuse(command, "--repeat must be from 1 to %d", SIOX_REPEAT_MAX);
	if (args.seconds != OPTION_NONE && (!args.seconds || args.seconds > SECONDS_MAX))
		return command_misuse(command, "--seconds must be from 1 to %d", SECONDS_MAX);
	if (args.blocks != OPTION_NONE && (!args.blocks || args.blocks > BLOCKS_MAX))
		return command_misuse(command, "--blocks must be from 1 to %d", BLOCKS_MAX);
	if (args.plots) {
		plots = make_directory(args.plots, &err);
		if (!plots)
			return command_fail(command, "%s", err.text);
		args.plots = plots;
	}
	return reproduce_all(command, &args);
}

const struct command_ops command_siox = {
	.name = "siox",
	.help = "reproduce the measurements of the SIOX paper (Kunkel et al., 2014)",
	.about =
		"Runs the experiments of the paper on this machine and prints the results beside "
		"the published ones: strided reads without advice, with advice in the source and "
		"with the plug-in read_ahead (table1); the report on 10 processes that access one "
		"file (figure7); the overhead per call of threads that call fwrite (figure8); the "
		"four levels of access of MPI-IO without and with hints, linked wrappers and the "
		"preloaded library (figure9); and the run time of an application with one and with "
		"two recorded layers, also for twice the work (application).\n\n"
		"Table 1 is also measured on a simulated slow disk, which requires root. Figures 7 "
		"and 9 and two thirds of the application require an MPI. The last table judges the "
		"acceptance checks. By default the experiments take a few minutes, with --full "
		"hours; with --results, an interrupted command can be repeated and continues.\n\n"
		"  sluice lab reproduce siox --plots figures\n"
		"  sluice lab reproduce siox figure9 --dir /scratch --full --results siox",
	.operands = "[EXPERIMENT]...",
	.operands_max = -1,
	.options = siox_options,
	.args_bytes = sizeof(struct siox_args),
	.run = siox_command_run,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice plot: draws a run, or what Sluice has learned, as SVG or PNG, or writes the numbers as
 * CSV.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/spelling.h"
#include "base/table.h"
#include "base/term.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cmd/plot_output.h"
#include "cmd/run_argument.h"
#include "observe/profile/profile.h"
#include "plot/plot.h"
#include "plot/stored/stored.h"

enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_CSV, PLOT_FORMATS };
#define PLOT_FORMAT_WORDS "svg|png|csv"

struct plot_args {
	const char *output, *file;
	int format, theme;
	bool list, force, all;
};

static const struct option plot_options[] = {
	{ 'o', "output", "FILE", NULL,
	  "file to write; \"-\" is standard output (default: KIND.svg in the current directory)",
	  OPTION_TEXT, offsetof(struct plot_args, output) },
	{ 'f', "format", PLOT_FORMAT_WORDS, NULL,
	  "what to write (default: by the suffix of FILE, else svg)", OPTION_CHOICE,
	  offsetof(struct plot_args, format) },
	{ 0, "theme", STYLE_THEMES, "auto",
	  "colors for a light or a dark background; auto: as the viewer prefers, light in PNG",
	  OPTION_CHOICE, offsetof(struct plot_args, theme) },
	{ 0, "file", "GLOB", NULL,
	  "only files of the run whose path or base name matches (offsets, sizes, causes)",
	  OPTION_TEXT, offsetof(struct plot_args, file) },
	{ 0, "all", NULL, NULL,
	  "include system files, libraries, sockets and pipes, which are left out by default",
	  OPTION_FLAG, offsetof(struct plot_args, all) },
	{ 0, "force", NULL, NULL, "replace FILE if it exists", OPTION_FLAG,
	  offsetof(struct plot_args, force) },
	{ 0, "list", NULL, NULL, "list the kinds of plots", OPTION_FLAG,
	  offsetof(struct plot_args, list) },
	{ 0 }
};

/* Calls visit() for each kind until it returns true. Returns that kind, or NULL. */
static const struct plot_kind *visit_kinds(bool (*visit)(const struct plot_kind *kind, void *arg),
					   void *arg)
{
	static const struct plot_kind *const *const lists[] = { plot_run_kinds, plot_stored_kinds };

	for (int i = 0; i < 2; i++)
		for (const struct plot_kind *const *kind = lists[i]; *kind; kind++)
			if (visit(*kind, arg))
				return *kind;
	return NULL;
}

static const char *const subject_operands[] = { [PLOT_RUN] = "[RUN]",
						[PLOT_TUNING] = "[TUNING]",
						[PLOT_MODEL] = "[MODEL]",
						[PLOT_PROBES] = "[SYSTEM]" };

static bool add_row(const struct plot_kind *kind, void *arg)
{
	table_add(arg, "%s", kind->name);
	table_add(arg, "%s", subject_operands[kind->subject]);
	table_add(arg, "%s", kind->help);
	return false;
}

static int list_kinds(const struct command *command)
{
	static const char *const titles[] = { "kind", "of", "shows", NULL };
	struct table table;

	table_init(&table, titles);
	visit_kinds(add_row, &table);
	table_print(&table, stdout, 0);
	table_release(&table);
	return command_finish(command);
}

static bool has_name(const struct plot_kind *kind, void *arg)
{
	return strcmp(kind->name, arg) == 0;
}

/* By --format, else by the suffix, else SVG. -1: the suffix is unknown. */
static int choose_format(const struct plot_args *args)
{
	const char *base = args->output ? path_base_name(args->output) : "";
	const char *dot = strrchr(base, '.');

	if (args->format >= 0)
		return args->format;
	if (!dot || strcmp(base, "-") == 0)
		return PLOT_SVG;
	return option_choice(PLOT_FORMAT_WORDS, dot + 1, strlen(dot + 1));
}

static int make_plot(const struct plot_kind *kind, const struct plot_source *source,
		     enum plot_format format, struct buf *out, struct err *err)
{
	AUTO_BUF struct buf svg = { 0 };
	int r;

	if (format == PLOT_CSV)
		return plot_table(kind, source, out, err);
	if (format == PLOT_SVG)
		return plot_draw(kind, source, out, err);
	r = plot_draw(kind, source, &svg, err);
	return r < 0 ? r : plot_output_png(&svg, out, err);
}

static int write_plot(const struct command *command, const char *path, const struct buf *bytes)
{
	const struct plot_args *args = command->args;
	struct err err = { 0 };
	int r;

	if (strcmp(path, "-") == 0) {
		fwrite(bytes->data, 1, bytes->len, stdout);
		return command_finish(command);
	}
	r = args->force ? file_write_all(path, bytes->data, bytes->len, &err)
			: file_write_new(path, bytes->data, bytes->len, &err);
	if (r == -EEXIST)
		return command_fail(command,
				    "%s exists; replace it with --force, or name another "
				    "file with --output",
				    path);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	term_printf(stdout, "%s\n", path);
	return command_finish(command);
}

static int draw_and_write(const struct command *command, const struct plot_kind *kind,
			  struct plot_source *source, enum plot_format format)
{
	const struct plot_args *args = command->args;
	char suffix[8];
	AUTO_FREE char *path = NULL;
	AUTO_BUF struct buf bytes = { 0 };
	struct err err = { 0 };
	int r;

	option_choice_name(PLOT_FORMAT_WORDS, format, suffix, sizeof(suffix));
	path = args->output ? xstrdup(args->output) : xprintf("%s.%s", kind->name, suffix);
	source->theme = (enum style_theme)args->theme;
	/* A picture of points cannot follow its viewer. */
	if (format == PLOT_PNG && source->theme == STYLE_AUTO)
		source->theme = STYLE_LIGHT;
	r = make_plot(kind, source, format, &bytes, &err);
	return r < 0 ? command_fail_err(command, r, &err) : write_plot(command, path, &bytes);
}

static void show_progress(void *arg, uint64_t done)
{
	progress_show(arg, done);
}

static int plot_run_of(struct command *command, const struct plot_kind *kind,
		       enum plot_format format)
{
	const struct plot_args *args = command->args;
	struct plot_source source = { .file = args->file, .all = args->all };
	struct command operands = *command;
	struct progress progress;
	struct profile profile;
	struct trace trace;
	struct err err = { 0 };
	int ret;

	operands.argc--;
	operands.argv++;
	ret = run_argument_open(&operands, &trace, NULL);
	if (ret)
		return ret;
	profile_init(&profile, &trace.head, NULL);
	progress_start(&progress, "reading", trace.head.activities);
	if (profile_read(&profile, &trace, parallel_cores(), show_progress, &progress, &err) < 0)
		ret = command_fail(command, "%s", err.text);
	progress_end(&progress);
	source.profile = &profile;
	if (!ret)
		ret = draw_and_write(command, kind, &source, format);
	run_argument_warn_losses(command, &trace.head);
	profile_release(&profile);
	trace_close(&trace);
	return ret;
}

static int plot_run(struct command *command)
{
	const struct plot_args *args = command->args;
	const struct plot_kind *kind;
	struct plot_source source = { .config = command->config };
	int format = choose_format(args);

	if (args->list)
		return list_kinds(command);
	if (!command->argc)
		return command_misuse(command,
				      "missing KIND; 'sluice plot --list' shows all kinds");
	kind = visit_kinds(has_name, command->argv[0]);
	if (!kind)
		return command_misuse(command,
				      "unknown kind \"%s\"; 'sluice plot --list' shows all kinds",
				      command->argv[0]);
	if (format < 0)
		return command_misuse(command,
				      "%s: unknown suffix; use .svg, .png or .csv, or --format",
				      args->output);
	if (kind->subject == PLOT_RUN)
		return plot_run_of(command, kind, (enum plot_format)format);
	if (args->file || args->all)
		return command_misuse(command, "--file and --all apply to plots of a run only");
	source.name = command->argc > 1 ? command->argv[1] : NULL;
	return draw_and_write(command, kind, &source, (enum plot_format)format);
}

/* Names of kinds that begin with the prefix. */
struct offer {
	FILE *out;
	const char *prefix;
};

static bool offer_kind(const struct plot_kind *kind, void *arg)
{
	const struct offer *offer = arg;

	completion_offer(offer->out, offer->prefix, kind->name, kind->help);
	return false;
}

static bool complete_operand(FILE *out, const char *placeholder, const char *prefix)
{
	struct offer offer = { out, prefix };

	if (!strstr(placeholder, "KIND"))
		return run_argument_complete(out, placeholder, prefix);
	visit_kinds(offer_kind, &offer);
	return true;
}

const struct command_ops command_plot = {
	.name = "plot",
	.help = "draw a run, a tuning, the model or storage targets as SVG, PNG or CSV",
	.operands = "KIND [RUN]",
	.operands_max = 2,
	.flags = COMMAND_NO_JSON,
	.about = "KIND is one of the kinds that --list shows. Plots of a run are of the latest "
		 "run unless RUN is given. For the other kinds, the second operand is the number "
		 "of a tuning, the file of a model, or the name of a system with probe data; "
		 "without it, the latest tuning, or the model and system of the settings are "
		 "drawn. The name of the written file is printed.\n\n"
		 "  sluice plot heatmap                        heatmap.svg of the latest run\n"
		 "  sluice plot offsets 3f9a1 -o offsets.png   where a run accessed its files\n"
		 "  sluice plot bandwidth -o bandwidth.csv     the numbers of the picture\n"
		 "  sluice plot tuning 4                       history of tuning 4\n\n"
		 "Pictures have no scripts and refer to no other file, and follow the light or "
		 "dark preference of their viewer. PNG needs the program rsvg-convert. Files that "
		 "exist are kept unless --force is given.",
	.options = plot_options,
	.args_bytes = sizeof(struct plot_args),
	.run = plot_run,
	.complete = complete_operand,
};

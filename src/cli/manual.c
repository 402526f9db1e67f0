/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/manual.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/call.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/main_options.h"

#define HELP_COLUMNS 96
#define USAGE_HANG 4
#define HELP_INDENT 32 /* column of the descriptions of options */
#define NAME_WIDTH 10  /* of commands and subcommands in a list */
#define NAME_INDENT (2 + NAME_WIDTH + 2)
#define LAYER_WORD(name, text) " " text

static const char usage_of_groups[] = "SUBCOMMAND [ARGUMENT]...";

/* Every command accepts this option, although no table contains it. */
static const struct option help_row = {
	.letter = 'h', .name = "help", .help = "print this help", .kind = OPTION_FLAG
};

/* Visits the rows of a table and then help_row. */
static const struct option *next_row(struct option_walk *walk, const struct option *last)
{
	const struct option *row = option_walk_next(walk);

	return row || last == &help_row ? row : &help_row;
}

/* "-n, --ranks N" */
static void append_syntax(struct buf *out, const struct option *row)
{
	if (row->letter)
		buf_printf(out, "-%c, ", row->letter);
	buf_printf(out, "--%s", row->name);
	if (row->value)
		buf_printf(out, " %s", row->value);
}

/* Prints text in columns from `indent` on; the cursor is at `column` of the first line. */
static void print_wrapped(FILE *out, const char *text, size_t indent, size_t column)
{
	size_t width = (size_t)term_width(out), columns;
	bool is_first = true;

	columns = width && width < HELP_COLUMNS ? width : HELP_COLUMNS;
	while (*text) {
		size_t n = strcspn(text, " \n");

		if (n && !is_first && column + 1 + n > columns) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			is_first = true;
		}
		if (n) {
			fprintf(out, "%s%.*s", is_first ? "" : " ", (int)n, text);
			column += n + !is_first;
			is_first = false;
		}
		text += n + strspn(text + n, " \n");
	}
	putc('\n', out);
}

static void print_help_row(FILE *out, const struct option *row)
{
	AUTO_BUF struct buf syntax = { 0 }, help = { 0 };
	int width;

	append_syntax(&syntax, row);
	buf_printf(&help, "%s", row->help);
	if (row->fallback && *row->fallback)
		buf_printf(&help, " (default %s)", row->fallback);
	width = fprintf(out, "  %s%s", row->letter ? "" : "    ", buf_text(&syntax));
	if (width + 2 > HELP_INDENT) {
		putc('\n', out);
		width = 0;
	}
	fprintf(out, "%*s", HELP_INDENT - width, "");
	print_wrapped(out, buf_text(&help), HELP_INDENT, HELP_INDENT);
}

static void print_help_rows(FILE *out, const struct option *rows)
{
	const struct option *row = NULL;
	struct option_walk walk;

	fputs("\nOptions:\n", out);
	option_walk_start(&walk, rows);
	while ((row = next_row(&walk, row)))
		print_help_row(out, row);
}

/* `before` precedes the usage. */
static void print_usage(FILE *out, const char *before, const char *path,
			const struct command_ops *ops)
{
	const char *operands = ops->subcommands ? usage_of_groups : text_or_empty(ops->operands);
	AUTO_FREE char *text =
		xprintf("%s%s %s%s%s%s", before, cli_program.name, path,
			ops->subcommands ? "" : " [OPTION]...", *operands ? " " : "", operands);

	term_paragraph(out, USAGE_HANG, text);
	putc('\n', out);
}

/* Returns the next paragraph and advances *about; NULL at the end. The caller frees. */
static char *next_paragraph(const char **about)
{
	const char *from = *about, *end;

	if (!from || !*from)
		return NULL;
	end = strstr(from, "\n\n");
	*about = end ? end + 2 : NULL;
	return end ? xstrndup(from, (size_t)(end - from)) : xstrdup(from);
}

/* A paragraph that begins with two blanks is an example and is printed as it is. */
static bool is_example(const char *paragraph)
{
	return text_starts_with(paragraph, "  ");
}

static void print_about(FILE *out, const char *about)
{
	char *paragraph;

	while ((paragraph = next_paragraph(&about))) {
		putc('\n', out);
		if (is_example(paragraph))
			fprintf(out, "%s\n", paragraph);
		else
			print_wrapped(out, paragraph, 0, 0);
		free(paragraph);
	}
}

/* Prints the one-line help of a table as a sentence. */
static void print_sentence(FILE *out, const char *help)
{
	AUTO_FREE char *text = xprintf("%c%s.", toupper((unsigned char)help[0]), help + 1);

	print_wrapped(out, text, 0, 0);
}

static void print_subcommands(FILE *out, const struct command_ops *ops)
{
	fputs("\nSubcommands:\n", out);
	for (const struct command_ops *const *list = ops->subcommands; *list; list++) {
		AUTO_BUF struct buf help = { 0 };

		if ((*list)->flags & COMMAND_HIDDEN)
			continue;
		buf_printf(&help, "%s", (*list)->help);
		if (ops->fallback && strcmp((*list)->name, ops->fallback) == 0)
			buf_puts(&help, " (default)");
		fprintf(out, "  %-*s  ", NAME_WIDTH, (*list)->name);
		print_wrapped(out, buf_text(&help), NAME_INDENT, NAME_INDENT);
	}
}

void manual_help(FILE *out, const char *path, const struct command_ops *ops)
{
	print_usage(out, "Usage: ", path, ops);
	print_sentence(out, ops->help);
	print_about(out, ops->about);
	if (ops->subcommands) {
		print_subcommands(out, ops);
		fprintf(out, "\n'%s %s SUBCOMMAND --help' explains one of them.\n",
			cli_program.name, path);
	} else {
		print_help_rows(out, ops->options);
	}
}

static void print_section(FILE *out, const struct command_section *section)
{
	AUTO_FREE char *names = xstrdup(section->names);
	char *rest = NULL;

	fprintf(out, "\n%s\n", section->title);
	for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		fprintf(out, "  %-*s  ", NAME_WIDTH, name);
		print_wrapped(out, command_find(cli_program.commands, name)->help, NAME_INDENT,
			      NAME_INDENT);
	}
}

static const char *program_usage(void)
{
	return cli_program.fallback ? "[OPTION]... [COMMAND [ARGUMENT]...]"
				    : "[OPTION]... COMMAND [ARGUMENT]...";
}

void manual_overview(FILE *out)
{
	fprintf(out, "Usage: %s %s\n\n", cli_program.name, program_usage());
	print_sentence(out, cli_program.summary);
	if (cli_program.fallback)
		fprintf(out, "Without a command, it runs '%s'.\n", cli_program.fallback);
	for (const struct command_section *section = cli_program.sections; section->title;
	     section++)
		print_section(out, section);
	print_help_rows(out, main_options);
	fprintf(out, "\n'%s help COMMAND' explains a command.\n", cli_program.name);
}

/*
 * Escapes text for roff: a dash is a minus sign, a backslash is spelled out, and no line begins
 * with a control character.
 */
static void roff_text(FILE *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			putc(*text, out);
		line_start = *text == '\n';
	}
}

static void roff_about(FILE *out, const char *about)
{
	char *paragraph;

	while ((paragraph = next_paragraph(&about))) {
		bool example = is_example(paragraph);

		fputs(example ? ".PP\n.nf\n" : ".PP\n", out);
		roff_text(out, paragraph);
		fputs(example ? "\n.fi\n" : "\n", out);
		free(paragraph);
	}
}

static void roff_rows(FILE *out, const struct option *rows)
{
	const struct option *row = NULL;
	struct option_walk walk;

	fputs(".SH OPTIONS\n", out);
	option_walk_start(&walk, rows);
	while ((row = next_row(&walk, row))) {
		AUTO_BUF struct buf syntax = { 0 };

		append_syntax(&syntax, row);
		fputs(".TP\n.B ", out);
		roff_text(out, buf_text(&syntax));
		putc('\n', out);
		roff_text(out, row->help);
		if (row->fallback && *row->fallback) {
			fputs(" (default ", out);
			roff_text(out, row->fallback);
			putc(')', out);
		}
		putc('\n', out);
	}
}

static void roff_head(FILE *out, const char *page, const char *help)
{
	fputs(".TH ", out);
	for (const char *c = page; *c; c++)
		putc(toupper((unsigned char)*c), out);
	/* Since groff 1.23, each paragraph sets the adjustment to the string AD. */
	fprintf(out, " 1 \"\" \"Sluice %s\" \"Sluice\"\n.ad l\n.ds AD l\n.SH NAME\n",
		SLUICE_VERSION);
	roff_text(out, page);
	fputs(" \\- ", out);
	roff_text(out, help);
	fputs("\n.SH SYNOPSIS\n.B ", out);
}

static void roff_exit(FILE *out, const char *exit_status)
{
	fputs(".SH EXIT STATUS\n", out);
	roff_text(out, exit_status ? exit_status
				   : "0: success. 1: failure. 2: incorrect usage. 3: no data. 4: "
				     "a threshold was exceeded.");
	putc('\n', out);
}

static void roff_settings(FILE *out)
{
	fputs(".SH SETTINGS\n"
	      "A later source wins: the default, /etc/sluice.conf, "
	      "$XDG_CONFIG_HOME/sluice/config, the file that $SLUICE_CONFIG names, the "
	      "environment, the command line.\n"
	      "Files have [section] headings and key = value lines.\n",
	      out);
	for (int id = 0; id < SETTING_COUNT; id++) {
		const struct setting *row = &settings[id];

		fprintf(out, ".TP\n.B %s.%s ", row->section, row->key);
		roff_text(out, row->value);
		putc('\n', out);
		roff_text(out, row->help);
		fputs(" (default ", out);
		roff_text(out, *row->fallback ? row->fallback : "none");
		fprintf(out, "; $%s)\n", row->environment);
	}
	fputs(".PP\n"
	      "Plug\\-ins have sections of their own, without an environment form:\n"
	      ".TP\n"
	      ".B plugins.LAYER.load NAMES\n"
	      "plug\\-ins for one layer:",
	      out);
	fputs(LAYER_LIST(LAYER_WORD), out);
	fputs("\n.TP\n.B plugin.NAME.KEY TEXT\nan option of the plug\\-in NAME\n", out);
}

char *manual_page_name(const char *path)
{
	char *name = path ? xprintf("%s-%s", cli_program.page, path) : xstrdup(cli_program.page);

	for (char *c = name; *c; c++) {
		if (*c == ' ')
			*c = '-';
	}
	return name;
}

/* The entries of a list of commands, as references to their pages. */
static void roff_commands(FILE *out, const char *parent, const struct command_ops *const *list)
{
	for (; *list; list++) {
		AUTO_FREE char *path = xprintf("%s%s%s", parent, *parent ? " " : "", (*list)->name);
		AUTO_FREE char *page = manual_page_name(path);

		if ((*list)->flags & COMMAND_HIDDEN)
			continue;
		fputs(".TP\n.BR ", out);
		roff_text(out, page);
		fputs(" (1)\n", out);
		roff_text(out, (*list)->help);
		putc('\n', out);
	}
}

static void program_page(FILE *out)
{
	roff_head(out, cli_program.page, cli_program.summary);
	fprintf(out, "%s\n%s\n.SH COMMANDS\n", cli_program.name, program_usage());
	if (cli_program.fallback)
		fprintf(out, "Without a command, it runs\n.BR %s .\n", cli_program.fallback);
	roff_commands(out, "", cli_program.commands);
	roff_rows(out, main_options);
	roff_settings(out);
	roff_exit(out, NULL);
}

void manual_page(FILE *out, const char *path, const struct command_ops *ops)
{
	AUTO_FREE char *page = manual_page_name(path);

	if (!ops) {
		program_page(out);
		return;
	}
	roff_head(out, page, ops->help);
	fprintf(out, "%s %s\n", cli_program.name, path);
	roff_text(out, ops->subcommands ? usage_of_groups : "[OPTION]... ");
	if (!ops->subcommands)
		roff_text(out, text_or_empty(ops->operands));
	fputs("\n.SH DESCRIPTION\n", out);
	putc(toupper((unsigned char)ops->help[0]), out);
	roff_text(out, ops->help + 1);
	fputs(".\n", out);
	roff_about(out, ops->about);
	if (ops->subcommands) {
		fputs(".SH SUBCOMMANDS\n", out);
		roff_commands(out, path, ops->subcommands);
	} else {
		roff_rows(out, ops->options);
		roff_exit(out, ops->exit_status);
	}
	fprintf(out, ".SH SEE ALSO\n.BR %s (1)\n", cli_program.page);
}

static void markdown_rows(FILE *out, const struct option *rows)
{
	const struct option *row = NULL;
	struct option_walk walk;

	fputs("\n| option | meaning | default |\n|---|---|---|\n", out);
	option_walk_start(&walk, rows);
	while ((row = next_row(&walk, row))) {
		AUTO_BUF struct buf syntax = { 0 };

		append_syntax(&syntax, row);
		fputs("| `", out);
		for (const char *c = buf_text(&syntax); *c; c++)
			fprintf(out, *c == '|' ? "\\%c" : "%c", *c);
		fprintf(out, "` | %s | %s |\n", row->help, row->fallback ? row->fallback : "");
	}
}

static void markdown_command(const char *path, const struct command_ops *ops, void *arg)
{
	FILE *out = arg;

	fprintf(out, "\n## %s %s\n\n", cli_program.name, path);
	print_usage(out, "    ", path, ops);
	print_sentence(out, ops->help);
	print_about(out, ops->about);
	if (!ops->subcommands)
		markdown_rows(out, ops->options);
}

void manual_markdown(FILE *out)
{
	fprintf(out, "# %s\n\n", cli_program.name);
	print_sentence(out, cli_program.summary);
	command_visit(markdown_command, out);
	fputs("\n## Settings\n\n| setting | environment | meaning | default |\n|---|---|---|---|\n",
	      out);
	for (int id = 0; id < SETTING_COUNT; id++)
		fprintf(out, "| `%s.%s` | `%s` | %s | `%s` |\n", settings[id].section,
			settings[id].key, settings[id].environment, settings[id].help,
			settings[id].fallback);
	fputs("| `plugins.LAYER.load` | | plug-ins for one layer | |\n"
	      "| `plugin.NAME.KEY` | | an option of the plug-in NAME | |\n",
	      out);
}

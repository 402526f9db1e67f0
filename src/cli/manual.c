/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/manual.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/call.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/command.h"

#define HELP_COLUMNS 96
#define LAYER_WORD(name, text) " " text
#define SUMMARY "see, explain and report what a program does to its storage"

/* Every command has it; it is no row of any. */
static const struct option help_row = {
	'h', "help", NULL, NULL, "print this text", OPTION_FLAG, 0
};

/* Walks over a command's rows and then help_row. Start with NULL. */
static const struct option *next_row(const struct option *rows, const struct option *row)
{
	if (row == &help_row)
		return NULL;
	row = row ? row + 1 : rows;
	return row && row->name ? row : &help_row;
}

static bool is_hidden(const struct command_ops *ops)
{
	return ops->flags & COMMAND_HIDDEN;
}

/* "-n, --top N" */
static void row_syntax(struct buf *out, const struct option *row)
{
	if (row->letter)
		buf_printf(out, "-%c, ", row->letter);
	buf_printf(out, "--%s", row->name);
	if (row->value)
		buf_printf(out, " %s", row->value);
}

static void help_rows(FILE *out, const struct option *rows)
{
	for (const struct option *row = next_row(rows, NULL); row; row = next_row(rows, row)) {
		AUTO_BUF struct buf syntax = { 0 };

		row_syntax(&syntax, row);
		fprintf(out, "  %s%-*s  %s", row->letter ? "" : "    ", row->letter ? 28 : 24,
			buf_text(&syntax), row->help);
		if (row->fallback && *row->fallback)
			fprintf(out, " (default %s)", row->fallback);
		putc('\n', out);
	}
}

static void put_usage(FILE *out, const struct command_ops *ops)
{
	fprintf(out, "sluice %s [OPTION]...%s%s", ops->name, *ops->operands ? " " : "",
		ops->operands);
}

/* Takes the next paragraph off *about; NULL at the end. The caller frees. */
static char *next_paragraph(const char **about)
{
	const char *from = *about, *end;

	if (!from || !*from)
		return NULL;
	end = strstr(from, "\n\n");
	*about = end ? end + 2 : NULL;
	return end ? xstrndup(from, (size_t)(end - from)) : xstrdup(from);
}

/* A paragraph that begins with two blanks is an example, kept as it stands. */
static bool is_example(const char *paragraph)
{
	return strncmp(paragraph, "  ", 2) == 0;
}

static void put_wrapped(FILE *out, char *paragraph)
{
	size_t column = 0;
	char *rest = NULL;

	for (char *word = strtok_r(paragraph, " \n", &rest); word;
	     word = strtok_r(NULL, " \n", &rest)) {
		size_t n = strlen(word);
		bool fits = column + 1 + n <= HELP_COLUMNS;

		fprintf(out, "%s%s", !column ? "" : fits ? " " : "\n", word);
		column = column && fits ? column + 1 + n : n;
	}
	putc('\n', out);
}

static void help_about(FILE *out, const char *about)
{
	char *paragraph;

	while ((paragraph = next_paragraph(&about))) {
		putc('\n', out);
		if (is_example(paragraph))
			fprintf(out, "%s\n", paragraph);
		else
			put_wrapped(out, paragraph);
		free(paragraph);
	}
}

/* A row's help begins in lower case and has no full stop; here it is a sentence. */
static void put_sentence(FILE *out, const char *help)
{
	fprintf(out, "%c%s.\n", toupper((unsigned char)help[0]), help + 1);
}

void manual_help(FILE *out, const struct command_ops *ops)
{
	fputs("Usage: ", out);
	put_usage(out, ops);
	fputs("\n\n", out);
	put_sentence(out, ops->help);
	help_about(out, ops->about);
	fputs("\nOptions:\n", out);
	help_rows(out, ops->options);
}

void manual_overview(FILE *out)
{
	fputs("Usage: sluice [OPTION]... COMMAND [ARGUMENT]...\n\nsluice: " SUMMARY
	      ".\n\nCommands:\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		if (!is_hidden(commands[i]))
			fprintf(out, "  %-10s  %s\n", commands[i]->name, commands[i]->help);
	}
	fputs("\nOptions:\n", out);
	help_rows(out, command_main_options());
	fputs("\n`sluice help COMMAND` tells more.\n", out);
}

/*
 * Text for roff: a dash is a minus, a backslash is spelt out, no line begins with a control
 * character.
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
	fputs(".SH OPTIONS\n", out);
	for (const struct option *row = next_row(rows, NULL); row; row = next_row(rows, row)) {
		AUTO_BUF struct buf syntax = { 0 };

		row_syntax(&syntax, row);
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
	fprintf(out, " 1 \"\" \"Sluice %s\" \"Sluice\"\n.SH NAME\n", SLUICE_VERSION);
	roff_text(out, page);
	fputs(" \\- ", out);
	roff_text(out, help);
	fputs("\n.SH SYNOPSIS\n.B ", out);
}

static void roff_exit(FILE *out)
{
	fputs(".SH EXIT STATUS\n0 good, 1 failed, 2 misuse, 3 no data, 4 a threshold was hit.\n",
	      out);
}

static void roff_settings(FILE *out)
{
	fputs(".SH SETTINGS\nA later source wins: the default, /etc/sluice.conf, "
	      "$XDG_CONFIG_HOME/sluice/config, the file that $SLUICE_CONFIG names, the "
	      "environment, "
	      "the command line.\nFiles have [section] headings and key = value lines.\n",
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
	fputs(".PP\nWhat one plug\\-in is told, or plug\\-ins of one layer, has sections of its "
	      "own, which have no environment form:\n"
	      ".TP\n.B plugins.LAYER.load NAMES\n"
	      "plug\\-ins for one layer only:" LAYER_LIST(LAYER_WORD) "\n"
	      ".TP\n.B plugin.NAME.KEY TEXT\nan option of the plug\\-in NAME\n",
	      out);
}

static void main_page(FILE *out)
{
	roff_head(out, "sluice", SUMMARY);
	fputs("sluice\n[OPTION]... COMMAND [ARGUMENT]...\n.SH COMMANDS\n", out);
	for (size_t i = 0; commands[i]; i++) {
		if (is_hidden(commands[i]))
			continue;
		fprintf(out, ".TP\n.BR sluice\\-%s (1)\n", commands[i]->name);
		roff_text(out, commands[i]->help);
		putc('\n', out);
	}
	roff_rows(out, command_main_options());
	roff_settings(out);
	roff_exit(out);
}

void manual_page(FILE *out, const struct command_ops *ops)
{
	AUTO_FREE char *page = NULL;

	if (!ops) {
		main_page(out);
		return;
	}
	page = xprintf("sluice-%s", ops->name);
	roff_head(out, page, ops->help);
	fprintf(out, "sluice %s\n[OPTION]... ", ops->name);
	roff_text(out, ops->operands);
	fputs("\n.SH DESCRIPTION\n", out);
	putc(toupper((unsigned char)ops->help[0]), out);
	roff_text(out, ops->help + 1);
	fputs(".\n", out);
	roff_about(out, ops->about);
	roff_rows(out, ops->options);
	roff_exit(out);
	fputs(".SH SEE ALSO\n.BR sluice (1)\n", out);
}

static void markdown_rows(FILE *out, const struct option *rows)
{
	fputs("\n| option | meaning | default |\n|---|---|---|\n", out);
	for (const struct option *row = next_row(rows, NULL); row; row = next_row(rows, row)) {
		AUTO_BUF struct buf syntax = { 0 };

		row_syntax(&syntax, row);
		fputs("| `", out);
		for (const char *c = buf_text(&syntax); *c; c++)
			fprintf(out, *c == '|' ? "\\%c" : "%c", *c);
		fprintf(out, "` | %s | %s |\n", row->help, row->fallback ? row->fallback : "");
	}
}

void manual_markdown(FILE *out)
{
	fputs("# sluice\n\n" SUMMARY "\n", out);
	for (size_t i = 0; commands[i]; i++) {
		if (is_hidden(commands[i]))
			continue;
		fprintf(out, "\n## sluice %s\n\n    ", commands[i]->name);
		put_usage(out, commands[i]);
		fputs("\n\n", out);
		put_sentence(out, commands[i]->help);
		help_about(out, commands[i]->about);
		markdown_rows(out, commands[i]->options);
	}
	fputs("\n## Settings\n\n| setting | environment | meaning | default |\n|---|---|---|---|\n",
	      out);
	for (int id = 0; id < SETTING_COUNT; id++)
		fprintf(out, "| `%s.%s` | `%s` | %s | `%s` |\n", settings[id].section,
			settings[id].key, settings[id].environment, settings[id].help,
			settings[id].fallback);
	fputs("| `plugins.LAYER.load` | | plug-ins for this layer only | |\n"
	      "| `plugin.NAME.KEY` | | an option of the plug-in NAME | |\n",
	      out);
}

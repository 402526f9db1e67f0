/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion scripts for bash and zsh, from the same rows as the manual.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/manual.h"

static void put_command_names(FILE *out)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!(commands[i]->flags & COMMAND_HIDDEN))
			fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
	}
}

static void bash_option_names(FILE *out, const struct option *rows)
{
	for (const struct option *row = rows; row && row->name; row++)
		fprintf(out, "--%s ", row->name);
	fputs("--help", out);
}

/* The words of a choice, for the option that stands before the cursor. */
static void bash_choices(FILE *out, const struct command_ops *ops)
{
	for (const struct option *row = ops->options; row && row->name; row++) {
		if (row->kind != OPTION_CHOICE)
			continue;
		fprintf(out, "\t%s:--%s) words=\"", ops->name, row->name);
		for (const char *c = row->value; *c; c++)
			putc(*c == '|' ? ' ' : *c, out);
		fputs("\" ;;\n", out);
	}
}

void manual_bash(FILE *out)
{
	fputs("# Completion of sluice for bash; written by `sluice internal completion bash`.\n"
	      "_sluice()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal command='' i words\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n"
	      "\t\t-c | --set) i=$((i + 1)) ;;\n"
	      "\t\t-*) ;;\n"
	      "\t\t*) command=${COMP_WORDS[i]}; break ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\tcase $command:$previous in\n", out);
	for (size_t i = 0; commands[i]; i++)
		bash_choices(out, commands[i]);
	fputs("\thelp:help) words=\"", out);
	put_command_names(out);
	fputs("\" ;;\n\t*)\n\t\tcase $command in\n\t\t'') words=\"", out);
	put_command_names(out);
	putc(' ', out);
	bash_option_names(out, command_main_options());
	fputs("\" ;;\n", out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "\t\t%s) words=\"", commands[i]->name);
		bash_option_names(out, commands[i]->options);
		fputs("\" ;;\n", out);
	}
	fputs("\t\tesac ;;\n\tesac\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	      "}\ncomplete -o default -F _sluice sluice\n", out);
}

/* Inside a zsh specification brackets and colons have a meaning, inside quotes the quote has. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:", *text))
			fprintf(out, "\\%c", *text);
		else
			putc(*text, out);
	}
}

static void zsh_row(FILE *out, const struct option *row)
{
	fprintf(out, "'--%s%s[", row->name, row->kind == OPTION_FLAG ? "" : "=");
	zsh_text(out, row->help);
	putc(']', out);
	if (row->kind == OPTION_CHOICE) {
		fprintf(out, ":%s:(", row->name);
		for (const char *c = row->value; *c; c++)
			putc(*c == '|' ? ' ' : *c, out);
		putc(')', out);
	} else if (row->kind != OPTION_FLAG) {
		putc(':', out);
		zsh_text(out, row->value);
		fputs(":_files", out);
	}
	fputs("' ", out);
}

static void zsh_command(FILE *out, const struct command_ops *ops)
{
	fprintf(out, "\t%s) _arguments ", ops->name);
	for (const struct option *row = ops->options; row && row->name; row++)
		zsh_row(out, row);
	fprintf(out, "'--help[print this text]' '%s' ;;\n",
		ops->order == OPTION_STOP_FIRST ? "*::program:_normal" : "*:file:_files");
}

void manual_zsh(FILE *out)
{
	fputs("#compdef sluice\n"
	      "# Completion of sluice for zsh; written by `sluice internal completion zsh`.\n"
	      "_sluice()\n{\n\tlocal context state line\n\tlocal -a names\n\tnames=(\n", out);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->flags & COMMAND_HIDDEN)
			continue;
		fprintf(out, "\t\t'%s:", commands[i]->name);
		zsh_text(out, commands[i]->help);
		fputs("'\n", out);
	}
	fputs("\t)\n\t_arguments -C ", out);
	for (const struct option *row = command_main_options(); row->name; row++)
		zsh_row(out, row);
	fputs("'--help[print this text]' '1:command:->command' '*::argument:->argument'\n"
	      "\tif [[ $state == command ]]; then\n\t\t_describe command names\n\t\treturn\n\tfi\n"
	      "\t[[ $state == argument ]] || return\n\tcase $words[1] in\n", out);
	for (size_t i = 0; commands[i]; i++) {
		if (!(commands[i]->flags & COMMAND_HIDDEN))
			zsh_command(out, commands[i]);
	}
	fputs("\tesac\n}\n_sluice \"$@\"\n", out);
}

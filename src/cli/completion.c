/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/completion.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/main_options.h"

/* The words that precede the word to complete, and that word itself. */
struct request {
	FILE *out;
	char **words;
	int count;	    /* number of words */
	const char *prefix; /* the part of the word that the user has typed */
};

void completion_offer(FILE *out, const char *prefix, const char *candidate, const char *description)
{
	if (strncmp(candidate, prefix, strlen(prefix)) != 0)
		return;
	fprintf(out, "%s%s%s\n", candidate, description ? "\t" : "",
		description ? description : "");
}

static void offer_commands(const struct request *request, const struct command_ops *const *list)
{
	for (; *list; list++) {
		if (!((*list)->flags & COMMAND_HIDDEN))
			completion_offer(request->out, request->prefix, (*list)->name,
					 (*list)->help);
	}
}

static void offer_options(const struct request *request, const struct option *rows)
{
	struct option_walk walk;
	const struct option *row;

	option_walk_start(&walk, rows);
	while ((row = option_walk_next(&walk))) {
		AUTO_FREE char *name = xprintf("--%s", row->name);

		completion_offer(request->out, request->prefix, name, row->help);
	}
	completion_offer(request->out, request->prefix, "--help", "print this help");
}

static void offer_words(const struct request *request, const char *words)
{
	char word[64];

	for (int i = 0; option_choice_name(words, i, word, sizeof(word)), *word; i++)
		completion_offer(request->out, request->prefix, word, NULL);
}

/* The option that a word such as "-o" or "--output" names; NULL unless it takes a value. */
static const struct option *find_option(const struct option *rows, const char *word)
{
	struct option_walk walk;
	const struct option *row;

	option_walk_start(&walk, rows);
	while ((row = option_walk_next(&walk))) {
		bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, row->name) == 0;
		bool is_short = row->letter && word[0] == '-' && word[1] == row->letter && !word[2];

		if ((is_long || is_short) && option_takes_value(row))
			return row;
	}
	return NULL;
}

/* Offers values for a placeholder such as "RUN" or "FILE"; `leaf` may know some of them. */
static void offer_placeholder(const struct request *request, const struct command_ops *leaf,
			      const char *placeholder)
{
	if (leaf && leaf->complete && leaf->complete(request->out, placeholder, request->prefix))
		return;
	fputs(":files\n", request->out);
}

static void offer_values(const struct request *request, const struct command_ops *leaf,
			 const struct option *row)
{
	if (row->kind == OPTION_CHOICE)
		offer_words(request, row->value);
	else
		offer_placeholder(request, leaf, row->value);
}

/*
 * The option whose value is completed; NULL if the word is not a value. Handles "--format te" and
 * "--format=te", which bash splits at "=".
 */
static const struct option *pending_option(const struct request *request, const struct option *rows)
{
	int last = request->count - 1;

	if (last >= 1 && strcmp(request->words[last], "=") == 0)
		last--;
	return last >= 0 ? find_option(rows, request->words[last]) : NULL;
}

static void complete_leaf(struct request *request, const struct command_ops *leaf)
{
	const struct option *row = pending_option(request, leaf->options);

	if (row)
		offer_values(request, leaf, row);
	else if (request->prefix[0] == '-')
		offer_options(request, leaf->options);
	else if (leaf->complete_words)
		leaf->complete_words(request->out, request->count, request->words, request->prefix);
	else if (leaf->order == OPTION_STOP_FIRST)
		fputs(":commands\n", request->out);
	else if (leaf->operands && *leaf->operands)
		offer_placeholder(request, leaf, leaf->operands);
}

/* The number of words that belong to options before the command. */
static int skip_main_options(const struct request *request)
{
	int i = 0;

	while (i < request->count && request->words[i][0] == '-')
		i += find_option(main_options, request->words[i]) ? 2 : 1;
	return i;
}

static void complete_group(struct request *request, const struct command_ops *group)
{
	if (request->prefix[0] != '-')
		offer_commands(request, group->subcommands);
	if (group->fallback)
		complete_leaf(request, command_find(group->subcommands, group->fallback));
}

void completion_print(FILE *out, int index, int count, char **words)
{
	const char *current = index < count ? words[index] : "";
	struct request request = { .out = out,
				   .words = words,
				   .count = index < count ? index : count,
				   .prefix = strcmp(current, "=") == 0 ? "" : current };
	const struct command_ops *ops;
	int skipped = skip_main_options(&request), used;

	if (skipped > request.count) {
		offer_values(&request, NULL, find_option(main_options, words[request.count - 1]));
		return;
	}
	request.words += skipped;
	request.count -= skipped;
	/* The operands of `help` are completed like commands that are run. */
	if (request.count && strcmp(request.words[0], "help") == 0 && request.prefix[0] != '-') {
		request.words++;
		request.count--;
	}
	ops = command_descend(request.words, request.count, &used);
	request.words += used;
	request.count -= used;
	if (!ops && !request.count && request.prefix[0] == '-')
		offer_options(&request, main_options);
	else if (!ops && !request.count)
		offer_commands(&request, cli_program.commands);
	else if (ops && ops->subcommands)
		complete_group(&request, ops);
	else if (ops)
		complete_leaf(&request, ops);
}

void completion_bash(FILE *out)
{
	fputs("# Completion of sluice for bash; written by `sluice internal completion bash`.\n"
	      "_sluice()\n"
	      "{\n"
	      "\tlocal line current=${COMP_WORDS[COMP_CWORD]}\n"
	      "\tCOMPREPLY=()\n"
	      "\twhile IFS= read -r line; do\n"
	      "\t\tcase $line in\n"
	      "\t\t:files) compopt -o default 2>/dev/null ;;\n"
	      "\t\t:commands) mapfile -t COMPREPLY < <(compgen -c -- \"$current\") ;;\n"
	      "\t\t*) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
	      "\t\tesac\n"
	      "\tdone < <(\"${COMP_WORDS[0]}\" internal complete $((COMP_CWORD - 1)) "
	      "\"${COMP_WORDS[@]:1}\" 2>/dev/null)\n"
	      "}\n"
	      "complete -F _sluice sluice\n",
	      out);
}

void completion_zsh(FILE *out)
{
	fputs("#compdef sluice\n"
	      "# Completion of sluice for zsh; written by `sluice internal completion zsh`.\n"
	      "_sluice()\n"
	      "{\n"
	      "\tlocal line name\n"
	      "\tlocal -a candidates\n"
	      "\tfor line in \"${(@f)$(\"${words[1]}\" internal complete $((CURRENT - 2)) "
	      "\"${(@)words[2,-1]}\" 2>/dev/null)}\"; do\n"
	      "\t\tcase $line in\n"
	      "\t\t'') ;;\n"
	      "\t\t:files) _files ;;\n"
	      "\t\t:commands) _command_names -e ;;\n"
	      "\t\t*$'\\t'*)\n"
	      "\t\t\tname=${line%%$'\\t'*}\n"
	      "\t\t\tcandidates+=(\"${name//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
	      "\t\t*) candidates+=(\"${line//:/\\\\:}\") ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\t(( $#candidates )) && _describe sluice candidates\n"
	      "}\n"
	      "_sluice \"$@\"\n",
	      out);
}

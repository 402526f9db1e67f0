/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/filter_option.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "observe/tally/names.h"

#define LAYER_WORD(name, text) " " text

const struct option filter_options[] = {
	{ 'r', "rank", "N", NULL, "select only calls of this MPI rank", OPTION_COUNT,
	  offsetof(struct filter_args, rank) },
	{ 0, "layer", "NAME,...", NULL, "select only these layers:" LAYER_LIST(LAYER_WORD),
	  OPTION_TEXT, offsetof(struct filter_args, layers) },
	{ 0, "file", "PATTERN", NULL, "select only calls on files whose path or base name matches",
	  OPTION_TEXT, offsetof(struct filter_args, file) },
	{ 0, "between", "FROM:TO", NULL,
	  "select only calls that start in this part of the run; either end may be omitted",
	  OPTION_SPAN, offsetof(struct filter_args, between) },
	{ 0, "min-duration", "TIME", NULL, "select only calls that took at least this long",
	  OPTION_TIME, offsetof(struct filter_args, min_duration_ns) },
	{ 0, "collective", "HEX", NULL,
	  "select only this collective call on all its ranks, and the calls it caused", OPTION_TEXT,
	  offsetof(struct filter_args, collective) },
	{ 0 }
};

/* Sets a bit for each layer of a list such as "POSIX,STDIO"; 0 for all. */
static int parse_layers(const struct command *command, const char *list, uint64_t *layers)
{
	*layers = 0;
	while (list && *list) {
		size_t n = strcspn(list, ",");
		int layer = names_find_layer(list, n);

		if (layer < 0)
			return command_misuse(command, "--layer: unknown layer \"%.*s\"", (int)n,
					      list);
		*layers |= UINT64_C(1) << layer;
		list += n + (list[n] == ',');
	}
	return COMMAND_GOOD;
}

/* Parses the number that a line shows after group/collective=. */
static int parse_collective(const struct command *command, const char *text, uint64_t *collective)
{
	size_t digits = text ? strspn(text, "0123456789abcdefABCDEF") : 0;

	*collective = text ? strtoull(text, NULL, 16) : 0;
	if (text && (!digits || digits > 16 || text[digits] || !*collective))
		return command_misuse(command,
				      "--collective: \"%s\" is not the number of a collective "
				      "call (up to 16 hexadecimal digits, not 0)",
				      text);
	return COMMAND_GOOD;
}

int filter_option_parse(const struct command *command, const struct filter_args *args,
			struct trace_filter *filter)
{
	int ret;

	*filter = (struct trace_filter){
		.from_ns = args->between.from_ns,
		.to_ns = args->between.to_ns,
		.rank = args->rank < INT32_MAX ? (int32_t)args->rank + 1 : 0,
		.file = args->file,
		.min_duration_ns = args->min_duration_ns,
	};
	ret = parse_layers(command, args->layers, &filter->layers);
	return ret ? ret : parse_collective(command, args->collective, &filter->collective);
}

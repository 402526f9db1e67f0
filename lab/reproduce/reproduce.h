/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of the subcommands of `sluice lab reproduce`: sheets as text, or as one JSON object of
 * schema sluice.reproduce/1.
 */
#ifndef SLUICE_LAB_REPRODUCE_REPRODUCE_H
#define SLUICE_LAB_REPRODUCE_REPRODUCE_H

#include "base/json.h"
#include "cli/command.h"
#include "cli/sheet.h"

#define REPRODUCE_SCHEMA "sluice.reproduce/1"
#define REPRODUCE_MB 1e6

/* Rows of an option table for args structs with these members. */
#define REPRODUCE_SEED(args)                                                               \
	{                                                                                  \
		0, "seed", "N", "1", "set the seed; the same seed gives the same results", \
			OPTION_COUNT, offsetof(struct args, seed)                          \
	}
#define REPRODUCE_JSON(args)                                                                  \
	{                                                                                     \
		'j', "json", NULL, NULL, "print one JSON object of schema " REPRODUCE_SCHEMA, \
			OPTION_FLAG, offsetof(struct args, json)                              \
	}
#define REPRODUCE_PLOTS(args)                                                                      \
	{                                                                                          \
		0, "plots", "DIR", NULL, "also draw the figures as SVG files in DIR", OPTION_TEXT, \
			offsetof(struct args, plots)                                               \
	}

struct reproduce_output {
	bool is_json;
	const char *headline; /* printed before the first sheet */
	struct json json;
	size_t sheets; /* number of sheets printed so far */
};

/* `search` NULL: the subcommand does not search. */
void reproduce_start(struct reproduce_output *output, bool json, uint64_t seed, const char *search);

/* The same for a paper whose programs are run on this machine; it has no seed. */
void reproduce_start_measured(struct reproduce_output *output, bool json);

/* Prints the sheet, the first one after the headline, and releases it. */
void reproduce_add_sheet(struct reproduce_output *output, struct sheet *sheet);

/* The same for results of a simulated machine; see cli/sheet.h. */
void reproduce_add_modelled(struct reproduce_output *output, struct sheet *sheet);

/* Ends the output. Prints the error if r is negative. Returns the exit code. */
int reproduce_finish(const struct command *command, struct reproduce_output *output, int r,
		     const struct err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The group `sluice lab reproduce`, with one subcommand per paper, and the output that they share.
 */
#include "lab/reproduce/reproduce.h"

void reproduce_start(struct reproduce_output *output, bool json, uint64_t seed, const char *search)
{
	*output = (struct reproduce_output){
		.is_json = json,
		.headline = "Modelled results: the machines are simulated; no program was run.",
	};
	if (!json)
		return;
	json_start(&output->json, stdout, REPRODUCE_SCHEMA);
	json_bool(&output->json, "modelled", true);
	json_count(&output->json, "seed", seed);
	if (search)
		json_text(&output->json, "search", search);
	json_open(&output->json, "sheets", '[');
}

void reproduce_start_measured(struct reproduce_output *output, bool json)
{
	*output = (struct reproduce_output){
		.is_json = json,
		.headline = "Measured results: the programs were run on this machine.",
	};
	if (!json)
		return;
	json_start(&output->json, stdout, REPRODUCE_SCHEMA);
	json_bool(&output->json, "modelled", false);
	json_open(&output->json, "sheets", '[');
}

void reproduce_add_sheet(struct reproduce_output *output, struct sheet *sheet)
{
	if (output->is_json) {
		sheet_json(sheet, &output->json);
	} else {
		if (!output->sheets)
			puts(output->headline);
		putchar('\n');
		sheet_print(sheet, stdout);
	}
	output->sheets++;
	sheet_release(sheet);
}

void reproduce_add_modelled(struct reproduce_output *output, struct sheet *sheet)
{
	sheet->is_modelled = true;
	reproduce_add_sheet(output, sheet);
}

int reproduce_finish(const struct command *command, struct reproduce_output *output, int r,
		     const struct err *err)
{
	if (output->is_json)
		json_end(&output->json);
	if (r < 0)
		return command_fail(command, "%s", err->text);
	return command_finish(command);
}

extern const struct command_ops command_behzad, command_isaila, command_siox, command_wan;

static const struct command_ops *const subcommands[] = { &command_behzad, &command_isaila,
							 &command_siox, &command_wan, NULL };

const struct command_ops command_reproduce = {
	.name = "reproduce",
	.help = "reproduce tables and figures of published papers",
	.about = "Prints the tables and figures of four papers beside the published numbers. Three "
		 "of them are computed on simulated platforms: no program is run, and nothing is "
		 "written to storage. For the fourth, siox, programs are run on this machine.\n\n"
		 "  sluice lab reproduce behzad table4\n"
		 "  sluice lab reproduce isaila --plots figures\n"
		 "  sluice lab reproduce siox --quick\n"
		 "  sluice lab reproduce wan --plots figures",
	.subcommands = subcommands,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figure 12: what placement gains, by rule, by what is known, and by metric.
 */
#include <math.h>

#include "base/option.h"
#include "lab/reproduce/wan.h"

static void put_gains(struct reproduce_output *output, const struct wan *titan)
{
	static const struct sheet_column columns[] = { { "rule", "rule", 0 },
						       { "what is known", "source", 0 },
						       { ">slower group %", "slower_group", 1 },
						       { ">from", "low", 1 },
						       { ">to", "high", 1 },
						       { ">steps won", "won", 2 },
						       { ">95 % server %", "late", 1 },
						       { ">slowest %", "slowest", 1 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure12", "Figure 12: gain of throughput over equal shares, Titan",
		   columns);
	for (size_t i = 0; i < titan->row_count; i++) {
		const struct steps_row *row = &titan->rows[i];
		char rule[16];

		option_choice_name(PLACEMENT_WORDS, row->rule, rule, sizeof(rule));
		sheet_text(&sheet, "%s", rule);
		sheet_text(&sheet, "%s", steps_sources[row->source]);
		sheet_number(&sheet, 100 * row->gains[0].mean);
		sheet_number(&sheet, 100 * row->gains[0].low);
		sheet_number(&sheet, 100 * row->gains[0].high);
		sheet_number(&sheet, row->gains[0].won);
		sheet_number(&sheet, 100 * row->gains[1].mean);
		sheet_number(&sheet, 100 * row->gains[2].mean);
	}
	sheet_note(&sheet, "The paper: more than 9 %% with its two shares (\"classes\"), faster in "
			   "most steps; by what metric it does not say.");
	sheet_note(
		&sheet,
		"100 repetitions of 100 steps of %zu GB, of %zu moments of the days after "
		"training; 95 %% of the repetitions are in between. Forecasts said %.1f %% of the "
		"true states.",
		titan->steps.targets, titan->steps.points,
		100 * steps_accuracy(&titan->steps, titan->steps.truth));
	reproduce_put(output, &sheet);
}

/* GB in all, by what the step took. */
static double speed(const struct wan *titan, size_t step, enum placement_rule rule, size_t metric)
{
	return (double)titan->steps.targets / titan->run.seconds[step][rule][metric];
}

static void put_run(struct reproduce_output *output, const struct wan *titan)
{
	static const struct sheet_column columns[] = { { ">step", "step", 0 },
						       { ">equal GB/s", "equal", 2 },
						       { ">classes", "classes", 2 },
						       { ">expected", "expected", 2 },
						       { ">hedged", "hedged", 2 },
						       { ">slowest: equal", "slowest_equal", 2 },
						       { ">hedged", "slowest_hedged", 2 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure12_run", "Figure 12: one run, by the slower group", columns);
	for (size_t i = 0; i < titan->run.count; i++) {
		sheet_number(&sheet, (double)i + 1);
		for (int rule = 0; rule < PLACEMENT_RULES; rule++)
			sheet_number(&sheet, speed(titan, i, (enum placement_rule)rule, 0));
		sheet_number(&sheet, speed(titan, i, PLACEMENT_EQUAL, 2));
		sheet_number(&sheet, speed(titan, i, PLACEMENT_HEDGED, 2));
	}
	reproduce_put(output, &sheet);
}

void wan_put_steps(struct reproduce_output *output, const struct wan *titan)
{
	put_gains(output, titan);
	/* A hundred lines are for programs; people have the picture. */
	if (output->json)
		put_run(output, titan);
}

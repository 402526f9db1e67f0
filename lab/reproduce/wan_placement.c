/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figure 12 of Wan et al.: the gain of placement by rule, by available knowledge and by metric.
 */
#include <math.h>

#include "base/option.h"
#include "lab/reproduce/wan.h"

static void add_gains(struct reproduce_output *output, const struct wan *titan)
{
	static const struct sheet_column columns[] = { { "rule", "rule", 0 },
						       { "knowledge", "source", 0 },
						       { ">~slower group %", "slower_group", 1 },
						       { ">low %", "low", 1 },
						       { ">high %", "high", 1 },
						       { ">faster steps", "won", 2 },
						       { ">95th percentile %", "late", 1 },
						       { ">slowest %", "slowest", 1 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure12", "Figure 12: throughput gain over equal shares, Titan",
		   columns);
	for (size_t i = 0; i < titan->row_count; i++) {
		const struct steps_row *row = &titan->rows[i];

		sheet_text(&sheet, "%s", placement_names[row->rule]);
		sheet_text(&sheet, "%s", steps_sources[row->source]);
		sheet_number(&sheet, 100 * row->gains[0].mean);
		sheet_number(&sheet, 100 * row->gains[0].low);
		sheet_number(&sheet, 100 * row->gains[0].high);
		sheet_number(&sheet, row->gains[0].won);
		sheet_number(&sheet, 100 * row->gains[1].mean);
		sheet_number(&sheet, 100 * row->gains[2].mean);
	}
	sheet_note(&sheet,
		   "Paper: more than 9 %% with two shares (\"classes\"), and faster in most "
		   "steps; the metric is not stated.");
	sheet_note(&sheet,
		   "100 repetitions of 100 steps of %zu GB, drawn from %zu points in time of the "
		   "test days; 95 %% of the repetitions are between low and high. The forecasts "
		   "predicted %.1f %% of the true states.",
		   titan->steps.targets, titan->steps.points,
		   100 * steps_accuracy(&titan->steps, titan->steps.truth));
	reproduce_add_modelled(output, &sheet);
}

/* GB/s of a step. */
static double throughput(const struct wan *titan, size_t step, enum placement_rule rule,
			 size_t metric)
{
	return (double)titan->steps.targets / titan->run.seconds[step][rule][metric];
}

static void add_run(struct reproduce_output *output, const struct wan *titan)
{
	static const struct sheet_column columns[] = { { ">step", "step", 0 },
						       { ">~equal GB/s", "equal", 2 },
						       { ">classes", "classes", 2 },
						       { ">expected", "expected", 2 },
						       { ">hedged", "hedged", 2 },
						       { ">slowest: equal", "slowest_equal", 2 },
						       { ">hedged", "slowest_hedged", 2 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure12_run", "Figure 12: one run, throughput of the slower group",
		   columns);
	for (size_t i = 0; i < titan->run.count; i++) {
		sheet_number(&sheet, (double)i + 1);
		for (int rule = 0; rule < PLACEMENT_RULES; rule++)
			sheet_number(&sheet, throughput(titan, i, (enum placement_rule)rule, 0));
		sheet_number(&sheet, throughput(titan, i, PLACEMENT_EQUAL, 2));
		sheet_number(&sheet, throughput(titan, i, PLACEMENT_HEDGED, 2));
	}
	reproduce_add_modelled(output, &sheet);
}

void wan_add_placement(struct reproduce_output *output, const struct wan *titan)
{
	add_gains(output, titan);
	/* The plot shows these hundred rows; the text leaves them out. */
	if (output->is_json)
		add_run(output, titan);
}

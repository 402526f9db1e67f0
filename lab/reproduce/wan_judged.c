/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures 7 to 11: how well forecasts do, beside what needs no learning.
 */
#include <math.h>
#include <stddef.h>

#include "lab/reproduce/wan.h"

#define CELL(member) offsetof(struct judgement_cell, member)
#define CASE(member) offsetof(struct judgement_case, member)

static void put_sum(struct sheet *sheet, const struct judgement_sum *sum)
{
	sheet_number(sheet, sum->mean);
	sheet_number(sheet, sum->least);
	sheet_number(sheet, sum->quartile);
	sheet_number(sheet, sum->median);
	sheet_number(sheet, sum->upper_quartile);
	sheet_number(sheet, sum->most);
	sheet_number(sheet, sum->above);
}

/* ---- figure 7 ---- */

static void put_method(struct sheet *sheet, const struct wan *wan, size_t size, size_t method)
{
	struct judgement_sum accuracy, auc, latent;

	judgement_sum(&wan->judged, size, method, CELL(accuracy), wan->paper->bound, &accuracy);
	judgement_sum(&wan->judged, size, method, CELL(auc), 0, &auc);
	judgement_sum(&wan->judged, size, method, CELL(latent), 0, &latent);
	sheet_text(sheet, "%s", wan->paper->title);
	sheet_text(sheet, "%s", wan_sizes[size]);
	sheet_text(sheet, "%s", judgement_method(method));
	put_sum(sheet, &accuracy);
	sheet_number(sheet, auc.mean);
	sheet_number(sheet, latent.mean);
}

static void put_ceiling(struct sheet *sheet, const struct wan *wan, size_t size)
{
	struct judgement_sum ceiling;

	judgement_sum_cases(&wan->judged, size, CASE(ceiling), wan->paper->bound, &ceiling);
	sheet_text(sheet, "%s", wan->paper->title);
	sheet_text(sheet, "%s", wan_sizes[size]);
	sheet_text(sheet, "(ceiling)");
	put_sum(sheet, &ceiling);
	sheet_number(sheet, NAN);
	sheet_number(sheet, NAN);
}

static void put_accuracies(struct reproduce_output *output, const struct wan *wan, const char *name,
			   const char *title)
{
	static const struct sheet_column columns[] = { { "system", "system", 0 },
						       { "size", "size", 0 },
						       { "method", "method", 0 },
						       { ">mean", "mean", 3 },
						       { ">least", "least", 3 },
						       { ">25 %", "q25", 3 },
						       { ">median", "q50", 3 },
						       { ">75 %", "q75", 3 },
						       { ">most", "most", 3 },
						       { ">above", "above", 2 },
						       { ">AUC", "auc", 3 },
						       { ">state", "state", 3 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, name, title, columns);
	for (size_t size = WAN_64M; size < WAN_SIZES; size++) {
		for (size_t m = 0; m < JUDGEMENT_METHODS; m++)
			put_method(&sheet, wan, size, m);
		put_ceiling(&sheet, wan, size);
	}
	sheet_note(&sheet,
		   "%zu targets; trained on the first %.0f %% of %g days, judged on the rest. "
		   "\"above\": share of targets above %.0f %%. \"state\": share of the true states "
		   "that were said.",
		   wan->few.target_count, 100 * wan->paper->train_share, wan->days,
		   100 * wan->paper->bound);
	sheet_note(&sheet, "The paper, 1 GB: %s.", wan->paper->accuracy);
	reproduce_put(output, &sheet);
}

/* ---- folds ---- */

static void put_folds(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	static const struct sheet_column columns[] = { { "system", "system", 0 },
						       { "method", "method", 0 },
						       { ">shuffled", "shuffled", 3 },
						       { ">AUC", "shuffled_auc", 3 },
						       { ">blocks of time", "blocked", 3 },
						       { ">AUC", "blocked_auc", 3 },
						       { ">days after", "after", 3 },
						       { ">AUC", "after_auc", 3 },
						       { 0 } };
	static const size_t offsets[] = { CELL(shuffled_accuracy), CELL(shuffled_auc),
					  CELL(blocked_accuracy),  CELL(blocked_auc),
					  CELL(accuracy),	   CELL(auc) };
	struct sheet sheet;

	sheet_init(&sheet, "folds", "Eight folds of the training days: accuracy for 1 GB", columns);
	for (size_t k = 0; k < WAN_SYSTEMS; k++)
		for (size_t m = 0; m < JUDGEMENT_METHODS; m++) {
			const struct judgement *judged = &systems[k].folds;

			if (!judged->methods[m])
				continue;
			sheet_text(&sheet, "%s", systems[k].paper->title);
			sheet_text(&sheet, "%s", judgement_method(m));
			for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
				struct judgement_sum sum;

				judgement_sum(judged, WAN_1G, m, offsets[i], 0, &sum);
				sheet_number(&sheet, sum.mean);
			}
		}
	sheet_note(&sheet, "Shuffled folds, as in the paper, flatter: neighbours in time are much "
			   "alike. Blocks of time and later days do not.");
	reproduce_put(output, &sheet);
}

/* ---- figure 8 ---- */

static void put_split(struct reproduce_output *output, const struct wan *titan)
{
	static const struct sheet_column columns[] = {
		{ "number", "number", 0 }, { "paper", "paper", 0 }, { ">ours", "ours", 3 }, { 0 }
	};
	struct wan_split split;
	struct sheet sheet;

	wan_split(titan, 2.1, &split);
	const struct {
		const char *name, *paper;
		double ours;
	} rows[] = {
		{ "predicted idle, writes", "", split.idle },
		{ "predicted busy, writes", "", split.busy },
		{ "predicted idle and below 2.1 s", "most", split.idle_below },
		{ "predicted busy and below 2.1 s", "a small part", split.busy_below },
		{ "95 % of all within, s", "", split.tail_s },
		{ "of the others, predicted busy", "nearly all", split.tail_recall },
	};

	sheet_init(&sheet, "figure8", "Figure 8: Titan, 1 GB writes by the state that SVM predicts",
		   columns);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sheet_text(&sheet, "%s", rows[i].name);
		sheet_text(&sheet, "%s", rows[i].paper);
		sheet_number(&sheet, rows[i].ours);
	}
	sheet_note(&sheet, "All writes to %zu targets on the days after training.",
		   titan->steps.targets);
	reproduce_put(output, &sheet);
}

/* ---- figures 9 and 10 ---- */

static void put_rocs(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	static const struct sheet_column columns[] = {
		{ "method", "method", 0 },  { ">Titan 1", "titan_1", 3 },
		{ ">2", "titan_2", 3 },	    { ">3", "titan_3", 3 },
		{ ">Cori 1", "cori_1", 3 }, { ">2", "cori_2", 3 },
		{ ">3", "cori_3", 3 },	    { 0 }
	};
	struct sheet sheet;

	sheet_init(&sheet, "figure9_10", "Figures 9 and 10: area under the ROC of three targets",
		   columns);
	for (size_t m = 0; m < JUDGEMENT_METHODS; m++) {
		sheet_text(&sheet, "%s", judgement_method(m));
		for (size_t k = 0; k < WAN_SYSTEMS; k++)
			for (size_t i = 0; i < WAN_ROCS; i++) {
				const struct judgement_case *judged = wan_roc(&systems[k], i);

				sheet_number(&sheet, judged ? judged->cells[m].auc : NAN);
			}
	}
	sheet_note(&sheet, "The paper: on Titan, SVM and forest have the largest; on Cori, "
			   "differences are small, boosting is slightly ahead.");
	reproduce_put(output, &sheet);
}

/* ---- figure 11 ---- */

static void put_days(struct reproduce_output *output, const struct wan *titan)
{
	static const struct sheet_column columns[] = { { "days", "days", 0 },
						       { "size", "size", 0 },
						       { "paper", "paper", 0 },
						       { ">mean", "mean", 3 },
						       { ">least", "least", 3 },
						       { ">25 %", "q25", 3 },
						       { ">median", "q50", 3 },
						       { ">75 %", "q75", 3 },
						       { ">most", "most", 3 },
						       { ">above", "above", 2 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure11", "Figure 11: Titan, SVM, fewer days to train on", columns);
	for (size_t i = 0; i < WAN_SPLITS; i++)
		for (size_t size = WAN_64M; size < WAN_SIZES; size++) {
			double days = titan->days * wan_train_shares[i];
			struct judgement_sum sum;

			judgement_sum(&titan->splits[i], size, WAN_SVM, CELL(accuracy),
				      titan->paper->bound, &sum);
			sheet_text(&sheet, "%g/%g", days, titan->days - days);
			sheet_text(&sheet, "%s", wan_sizes[size]);
			sheet_text(&sheet, "%s", size == WAN_1G ? "about 0.75" : "");
			put_sum(&sheet, &sum);
		}
	sheet_note(&sheet, "The paper: 1 GB hardly drops; 64 MB and 256 MB do.");
	reproduce_put(output, &sheet);
}

void wan_put_judged(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	put_accuracies(output, &systems[WAN_TITAN], "figure7a", "Figure 7 (a): Titan, accuracy");
	put_accuracies(output, &systems[WAN_CORI], "figure7b", "Figure 7 (b): Cori, accuracy");
	put_folds(output, systems);
	put_split(output, &systems[WAN_TITAN]);
	put_rocs(output, systems);
	put_days(output, &systems[WAN_TITAN]);
}

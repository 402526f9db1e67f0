/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures 7 to 11 of Wan et al.: the accuracy of forecasts, compared with baselines.
 * Papers: WAN-31, WAN-33, WAN-34.
 */
#include <math.h>
#include <stddef.h>

#include "lab/reproduce/wan.h"

#define IDLE_BELOW_S 2.1 /* of Figure 8 */
#define CELL(member) offsetof(struct judgment_cell, member)
#define CASE(member) offsetof(struct judgment_case, member)

static void add_summary(struct sheet *sheet, const struct judgment_sum *sum)
{
	sheet_number(sheet, sum->mean);
	sheet_number(sheet, sum->least);
	sheet_number(sheet, sum->quartile);
	sheet_number(sheet, sum->median);
	sheet_number(sheet, sum->upper_quartile);
	sheet_number(sheet, sum->most);
	sheet_number(sheet, sum->above);
}

static void add_method(struct sheet *sheet, const struct wan *wan, size_t size, size_t method)
{
	struct judgment_sum accuracy, auc, latent;

	judgment_sum(&wan->judged, size, method, CELL(accuracy), wan->paper->bound, &accuracy);
	judgment_sum(&wan->judged, size, method, CELL(auc), 0, &auc);
	judgment_sum(&wan->judged, size, method, CELL(latent), 0, &latent);
	sheet_text(sheet, "%s", wan->paper->title);
	sheet_text(sheet, "%s", wan_sizes[size]);
	sheet_text(sheet, "%s", judgment_method(method));
	add_summary(sheet, &accuracy);
	sheet_number(sheet, auc.mean);
	sheet_number(sheet, latent.mean);
}

static void add_ceiling(struct sheet *sheet, const struct wan *wan, size_t size)
{
	struct judgment_sum ceiling;

	judgment_sum_cases(&wan->judged, size, CASE(ceiling), wan->paper->bound, &ceiling);
	sheet_text(sheet, "%s", wan->paper->title);
	sheet_text(sheet, "%s", wan_sizes[size]);
	sheet_text(sheet, "(ceiling)");
	add_summary(sheet, &ceiling);
	sheet_number(sheet, NAN);
	sheet_number(sheet, NAN);
}

static void add_accuracies(struct reproduce_output *output, const struct wan *wan, const char *name,
			   const char *title)
{
	static const struct sheet_column columns[] = { { "system", "system", 0 },
						       { "size", "size", 0 },
						       { "method", "method", 0 },
						       { ">~mean", "mean", 3 },
						       { ">minimum", "least", 3 },
						       { ">25 %", "q25", 3 },
						       { ">median", "q50", 3 },
						       { ">75 %", "q75", 3 },
						       { ">maximum", "most", 3 },
						       { ">above", "above", 2 },
						       { ">AUC", "auc", 3 },
						       { ">state", "state", 3 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, name, title, columns);
	for (size_t size = WAN_64M; size < WAN_SIZES; size++) {
		for (size_t m = 0; m < JUDGMENT_METHODS; m++)
			if (wan->judged.methods[m])
				add_method(&sheet, wan, size, m);
		add_ceiling(&sheet, wan, size);
	}
	sheet_note(&sheet,
		   "%zu targets; trained on the first %.0f %% of %g days, tested on the rest. "
		   "\"above\": share of targets with an accuracy above %.0f %%. \"state\": share "
		   "of the true states that were predicted. (ceiling): accuracy that is possible "
		   "with random labels.",
		   wan->few.target_count, 100 * wan->paper->train_share, wan->days,
		   100 * wan->paper->bound);
	sheet_note(&sheet, "Paper, 1 GB: %s.", wan->paper->accuracy);
	reproduce_add_modelled(output, &sheet);
}

static void add_folds(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	static const struct sheet_column columns[] = { { "system", "system", 0 },
						       { "method", "method", 0 },
						       { ">~shuffled", "shuffled", 3 },
						       { ">AUC", "shuffled_auc", 3 },
						       { ">time blocks", "blocked", 3 },
						       { ">AUC", "blocked_auc", 3 },
						       { ">later days", "after", 3 },
						       { ">AUC", "after_auc", 3 },
						       { 0 } };
	static const size_t offsets[] = { CELL(shuffled_accuracy), CELL(shuffled_auc),
					  CELL(blocked_accuracy),  CELL(blocked_auc),
					  CELL(accuracy),	   CELL(auc) };
	struct sheet sheet;

	sheet_init(&sheet, "folds",
		   "Eight-fold cross-validation on the training days: accuracy for 1 GB", columns);
	for (size_t k = 0; k < WAN_SYSTEMS; k++)
		for (size_t m = 0; m < JUDGMENT_METHODS; m++) {
			const struct judgment *judged = &systems[k].folds;

			if (!judged->methods[m])
				continue;
			sheet_text(&sheet, "%s", systems[k].paper->title);
			sheet_text(&sheet, "%s", judgment_method(m));
			for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
				struct judgment_sum sum;

				judgment_sum(judged, WAN_1G, m, offsets[i], 0, &sum);
				sheet_number(&sheet, sum.mean);
			}
		}
	sheet_note(&sheet,
		   "Shuffled folds, as in the paper, overestimate the accuracy, because writes "
		   "that are close in time are similar. Time blocks and later days do not.");
	reproduce_add_modelled(output, &sheet);
}

static void add_split(struct reproduce_output *output, const struct wan *titan)
{
	static const struct sheet_column columns[] = { { "quantity", "number", 0 },
						       { "paper", "paper", 0 },
						       { ">~Sluice", "ours", 3 },
						       { 0 } };
	struct wan_split split;
	struct sheet sheet;

	wan_split(titan, IDLE_BELOW_S, &split);
	const struct {
		const char *name, *paper;
		double ours;
	} rows[] = {
		{ "writes predicted as idle", "", split.idle },
		{ "writes predicted as busy", "", split.busy },
		{ "share of idle below 2.1 s", "most", split.idle_below },
		{ "share of busy below 2.1 s", "a small part", split.busy_below },
		{ "95 % quantile, s", "", split.tail_s },
		{ "share of slower writes predicted as busy", "nearly all", split.tail_recall },
	};

	sheet_init(&sheet, "figure8",
		   "Figure 8: Titan, 1 GB writes by the state that the SVM predicts", columns);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sheet_text(&sheet, "%s", rows[i].name);
		sheet_text(&sheet, "%s", rows[i].paper);
		sheet_number(&sheet, rows[i].ours);
	}
	sheet_note(&sheet, "All writes to %zu targets on the test days.", titan->steps.targets);
	reproduce_add_modelled(output, &sheet);
}

static void add_rocs(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	static const struct sheet_column columns[] = {
		{ "method", "method", 0 },  { ">~Titan 1", "titan_1", 3 },
		{ ">2", "titan_2", 3 },	    { ">3", "titan_3", 3 },
		{ ">Cori 1", "cori_1", 3 }, { ">2", "cori_2", 3 },
		{ ">3", "cori_3", 3 },	    { 0 }
	};
	struct sheet sheet;

	sheet_init(&sheet, "figure9_10",
		   "Figures 9 and 10: area under the ROC curve of three targets", columns);
	for (size_t m = 0; m < JUDGMENT_METHODS; m++) {
		if (!systems[0].judged.methods[m])
			continue;
		sheet_text(&sheet, "%s", judgment_method(m));
		for (size_t k = 0; k < WAN_SYSTEMS; k++)
			for (size_t i = 0; i < WAN_ROCS; i++) {
				const struct judgment_case *judged = wan_roc(&systems[k], i);

				sheet_number(&sheet, judged ? judged->cells[m].auc : NAN);
			}
	}
	sheet_note(&sheet, "Paper: on Titan, SVM and random forest have the largest area; on Cori, "
			   "the differences are small and boosting is slightly ahead.");
	reproduce_add_modelled(output, &sheet);
}

static void add_days(struct reproduce_output *output, const struct wan *titan)
{
	static const struct sheet_column columns[] = { { "days", "days", 0 },
						       { "size", "size", 0 },
						       { "paper", "paper", 0 },
						       { ">~mean", "mean", 3 },
						       { ">minimum", "least", 3 },
						       { ">25 %", "q25", 3 },
						       { ">median", "q50", 3 },
						       { ">75 %", "q75", 3 },
						       { ">maximum", "most", 3 },
						       { ">above", "above", 2 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure11", "Figure 11: Titan, SVM, fewer training days", columns);
	for (size_t i = 0; i < WAN_SPLITS; i++)
		for (size_t size = WAN_64M; size < WAN_SIZES; size++) {
			double days = titan->days * wan_train_shares[i];
			struct judgment_sum sum;

			judgment_sum(&titan->splits[i], size, WAN_SVM, CELL(accuracy),
				     titan->paper->bound, &sum);
			sheet_text(&sheet, "%g/%g", days, titan->days - days);
			sheet_text(&sheet, "%s", wan_sizes[size]);
			sheet_text(&sheet, "%s", size == WAN_1G ? "about 0.75" : "");
			add_summary(&sheet, &sum);
		}
	sheet_note(&sheet,
		   "Paper: the accuracy for 1 GB hardly drops; for 64 MB and 256 MB it does.");
	reproduce_add_modelled(output, &sheet);
}

void wan_add_accuracy(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	add_accuracies(output, &systems[WAN_TITAN], "figure7a", "Figure 7 (a): Titan, accuracy");
	add_accuracies(output, &systems[WAN_CORI], "figure7b", "Figure 7 (b): Cori, accuracy");
	add_folds(output, systems);
	add_split(output, &systems[WAN_TITAN]);
	add_rocs(output, systems);
	add_days(output, &systems[WAN_TITAN]);
}

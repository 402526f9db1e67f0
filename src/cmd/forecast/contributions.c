/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast evaluate --contributions: how much worse the forecast gets without each group of
 * features.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "cli/sheet.h"
#include "cmd/forecast/forecast_internal.h"

static size_t find_classifier(const struct judgment *judgment)
{
	size_t method = 0;

	while (method < JUDGMENT_AUTO && !judgment->methods[method])
		method++;
	return method;
}

int contributions_evaluate(struct evaluated *evaluated, const struct site *site,
			   const struct judgment_plan *plan, struct err *err)
{
	size_t method = find_classifier(&evaluated->judgment);
	struct judgment_plan part = *plan;
	int r = 0;

	if (method == JUDGMENT_AUTO)
		return err_set(err, EINVAL,
			       "--contributions needs a classifier, such as forest; auto and "
			       "baselines have features of their own");
	if (!(plan->features.groups & (plan->features.groups - 1)))
		return err_set(err, EINVAL, "--contributions needs at least two feature groups");
	part.methods = judgment_method(method);
	evaluated->without = xcalloc(FEATURE_GROUPS, sizeof(*evaluated->without));
	for (size_t i = 0; r >= 0 && i < FEATURE_GROUPS; i++) {
		part.features.groups = plan->features.groups & ~(1u << i);
		if (part.features.groups != plan->features.groups)
			r = judgment_run(&evaluated->without[i], evaluated->chronicle, site, &part,
					 err);
	}
	return r;
}

void contributions_release(struct evaluated *evaluated)
{
	for (size_t i = 0; evaluated->without && i < FEATURE_GROUPS; i++)
		judgment_release(&evaluated->without[i]);
	free(evaluated->without);
	evaluated->without = NULL;
}

static const struct sheet_column columns[] = {
	{ "size", "bytes", 0 },
	{ "without", "group", 0 },
	{ ">~test", "accuracy", 3 },
	{ ">gain of group", "accuracy_gain", 3 },
	{ ">log loss", "log_loss", 3 },
	{ ">gain of group", "log_loss_gain", 3 },
	{ 0 },
};

static double mean_of(const struct judgment *judgment, size_t size, size_t method, size_t offset)
{
	struct judgment_sum sum;

	judgment_sum(judgment, size, method, offset, 0, &sum);
	return sum.mean;
}

static void add_group(struct sheet *sheet, const struct evaluated *evaluated, size_t size,
		      size_t method, size_t group)
{
	const size_t accuracy = offsetof(struct judgment_cell, accuracy);
	const size_t log_loss = offsetof(struct judgment_cell, log_loss);
	const struct judgment *all = &evaluated->judgment, *part = &evaluated->without[group];
	double right = mean_of(part, size, method, accuracy);
	double loss = mean_of(part, size, method, log_loss);
	char text[UNIT_TEXT];

	sheet_text(sheet, "%s", unit_bytes(text, (double)evaluated->chronicle->sizes[size]));
	sheet_text(sheet, "%s", features_group(group));
	sheet_number(sheet, right);
	sheet_number(sheet, mean_of(all, size, method, accuracy) - right);
	sheet_number(sheet, loss);
	sheet_number(sheet, loss - mean_of(all, size, method, log_loss));
}

void contributions_fill(struct sheet *sheet, const struct evaluated *evaluated)
{
	size_t method = find_classifier(&evaluated->judgment);

	sheet_init(sheet, "contributions", "contribution of each group of features", columns);
	for (size_t size = 1; size < evaluated->chronicle->size_count; size++)
		for (size_t i = 0; i < FEATURE_GROUPS; i++)
			if (evaluated->without[i].case_count)
				add_group(sheet, evaluated, size, method, i);
	sheet_note(sheet,
		   "%s without one group of features, mean over targets, on the days after the "
		   "training; a gain above 0 means that the group helps",
		   judgment_method(method));
	sheet_note(sheet, "groups that contain the same information replace each other");
}

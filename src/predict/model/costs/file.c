/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Saves costs to a model file and loads them. Loading validates everything, so prices can be
 * computed from accepted costs without reading out of bounds.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "predict/model/costs/costs_internal.h"

static void write_arguments(struct buf *buf, const struct elemental *at)
{
	double values[COST_ARGUMENTS];

	cost_arguments(at, values);
	blob_put_reals(buf, values, COST_ARGUMENTS);
}

static void write_entries(struct buf *buf, const struct cost *cost)
{
	blob_put_u64(buf, cost->entry_count);
	for (size_t i = 0; i < cost->entry_count; i++) {
		const struct cost_entry *entry = &cost->entries[i];

		blob_put_text(buf, entry->learner);
		blob_put_text(buf, entry->settings);
		blob_put_text(buf, entry->recipe);
		blob_put_real(buf, entry->rmse);
		blob_put_real(buf, entry->r2);
		blob_put_text(buf, entry->failure);
	}
}

static void write_cost(struct buf *buf, const struct cost *cost)
{
	blob_put_u32(buf, cost->alone);
	blob_put_u32(buf, cost->is_cached);
	blob_put_u64(buf, cost->rows);
	blob_put_u64(buf, cost->left_out);
	blob_put_u64(buf, cost->cell_count);
	for (size_t i = 0; i < cost->cell_count; i++) {
		write_arguments(buf, &cost->cells[i].at);
		blob_put_real(buf, cost->cells[i].seconds);
		blob_put_u64(buf, cost->cells[i].repetitions);
		blob_put_real(buf, cost->cells[i].smooth);
		blob_put_real(buf, cost->cells[i].deviation);
	}
	write_arguments(buf, &cost->least);
	write_arguments(buf, &cost->most);
	blob_put_u64(buf, cost->input_count);
	for (size_t i = 0; i < cost->input_count; i++)
		blob_put_u32(buf, (uint32_t)cost->inputs[i]);
	blob_put_u32(buf, cost->pipeline.learner != NULL);
	if (cost->pipeline.learner)
		pipeline_save(&cost->pipeline, buf);
	blob_put_real(buf, cost->floor);
	conformal_save(&cost->conformal, buf);
	blob_put_real(buf, cost->spread);
	blob_put_real(buf, cost->noise);
	blob_put_real(buf, cost->score.rmse);
	blob_put_real(buf, cost->score.r2);
	blob_put_real(buf, cost->score.log_rmse);
	blob_put_real(buf, cost->score.log_r2);
	blob_put_real(buf, cost->score.median_error);
	write_entries(buf, cost);
}

void costs_save(const struct costs *costs, struct buf *buf)
{
	blob_put_u32(buf, OPERATIONS);
	for (int i = 0; i < OPERATIONS; i++) {
		blob_put_text(buf, operations[i].name);
		blob_put_u32(buf, costs->of[i].is_fitted);
		if (costs->of[i].is_fitted)
			write_cost(buf, &costs->of[i]);
	}
}

static void read_arguments(struct elemental *at, struct blob *blob)
{
	double values[COST_ARGUMENTS];

	blob_take_finite(blob, values, COST_ARGUMENTS);
	*at = (struct elemental){
		values[0], values[1], values[2], values[3], values[4], values[5]
	};
}

/* cost_find() relies on the order of cells. */
static void read_cells(struct cost *cost, struct blob *blob)
{
	cost->cell_count = blob_take_count(blob, (COST_ARGUMENTS + 4) * sizeof(double));
	cost->cells = xcalloc(cost->cell_count + 1, sizeof(*cost->cells));
	for (size_t i = 0; i < cost->cell_count; i++) {
		struct cost_cell *cell = &cost->cells[i];

		read_arguments(&cell->at, blob);
		blob_take_finite(blob, &cell->seconds, 1);
		cell->repetitions = blob_take_u64(blob);
		blob_take_finite(blob, &cell->smooth, 1);
		cell->deviation = blob_take_real(blob);
		blob_expect(blob, cell->repetitions > 0);
		blob_expect(blob,
			    isnan(cell->deviation) || (cell->smooth > 0 && cell->deviation >= 0));
		blob_expect(blob, !i || cost_compare(&cell[-1].at, &cell->at) < 0);
	}
}

static void read_entries(struct cost *cost, struct blob *blob)
{
	size_t count = blob_take_count(blob, 6 * sizeof(double));

	cost->entries = xcalloc(count + 1, sizeof(*cost->entries));
	for (size_t i = 0; i < count; i++) {
		struct cost_entry *entry = &cost->entries[cost->entry_count++];

		entry->learner = blob_take_text(blob);
		entry->settings = blob_take_text(blob);
		entry->recipe = blob_take_text(blob);
		entry->rmse = blob_take_real(blob);
		entry->r2 = blob_take_real(blob);
		entry->failure = blob_take_text(blob);
		if (!*entry->failure) {
			free(entry->failure);
			entry->failure = NULL;
		}
	}
}

static void read_inputs(struct cost *cost, struct blob *blob, size_t features)
{
	size_t count = blob_take_count(blob, sizeof(uint32_t));

	blob_expect(blob, count <= features);
	for (size_t i = 0; blob_ok(blob) && i < count; i++) {
		cost->inputs[i] = blob_take_u32(blob);
		blob_expect(blob, cost->inputs[i] < features);
		cost->input_count = i + 1;
	}
}

static int read_pipeline(struct cost *cost, struct blob *blob, struct err *err)
{
	int r;

	if (!blob_take_u32(blob))
		return 0;
	r = pipeline_load(&cost->pipeline, blob, err);
	if (r < 0)
		return r;
	if (cost->pipeline.width != cost->input_count || cost->pipeline.classes ||
	    !(cost->pipeline.learner->tasks & LEARNER_REGRESSES))
		return err_set(err, EBADMSG, "a surrogate does not match its inputs");
	return 0;
}

static int read_cost(struct cost *cost, enum operation operation, struct blob *blob,
		     struct err *err)
{
	int r;

	cost->alone = blob_take_u32(blob) != 0;
	cost->is_cached = blob_take_u32(blob) != 0;
	cost->rows = blob_take_u64(blob);
	cost->left_out = blob_take_u64(blob);
	read_cells(cost, blob);
	read_arguments(&cost->least, blob);
	read_arguments(&cost->most, blob);
	read_inputs(cost, blob, operation_features(operation, NULL, NULL, NULL));
	r = blob_ok(blob) ? read_pipeline(cost, blob, err) : 0;
	if (r < 0)
		return r;
	blob_take_finite(blob, &cost->floor, 1);
	r = conformal_load(&cost->conformal, blob, err);
	if (r < 0)
		return r;
	blob_take_finite(blob, &cost->spread, 1);
	cost->noise = blob_take_real(blob);
	cost->score.rmse = blob_take_real(blob);
	cost->score.r2 = blob_take_real(blob);
	cost->score.log_rmse = blob_take_real(blob);
	cost->score.log_r2 = blob_take_real(blob);
	cost->score.median_error = blob_take_real(blob);
	read_entries(cost, blob);
	blob_expect(blob, cost->floor > 0 && cost->spread >= 0 && !(cost->noise < 0));
	cost->is_fitted = true;
	return blob_ok(blob) ? 0 : err_set(err, EBADMSG, "its costs are damaged");
}

int costs_load(struct costs *costs, struct blob *blob, struct err *err)
{
	size_t count = blob_take_u32(blob);
	struct costs made = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && blob_ok(blob) && i < count; i++) {
		AUTO_FREE char *name = blob_take_text(blob);
		int operation = operation_by_name(name);

		if (!blob_take_u32(blob))
			continue;
		if (operation < 0 || made.of[operation].is_fitted)
			r = err_set(err, EBADMSG, "it has costs of the unknown operation \"%.32s\"",
				    name);
		else
			r = read_cost(&made.of[operation], (enum operation)operation, blob, err);
	}
	if (r >= 0 && !blob_ok(blob))
		r = err_set(err, EBADMSG, "its costs are damaged");
	if (r < 0) {
		costs_release(&made);
		return r;
	}
	*costs = made;
	return 0;
}

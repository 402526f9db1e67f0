/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads and writes fitted models: a line of JSON for people, the numbers, and a checksum.
 */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/file/checked_file.h"
#include "predict/model/hybrid/hybrid.h"

static int read_parts(void *made, struct blob *blob, struct err *err);

static void release_parts(void *made)
{
	hybrid_release(made);
}

static const struct checked_file_kind kind = {
	.schema = HYBRID_SCHEMA,
	.version = 2, /* 1 has no calibration */
	.what = "model of `sluice model fit`",
	.again = "fit it again (sluice model fit)",
	.bytes = sizeof(struct hybrid),
	.take = read_parts,
	.release = release_parts,
};

static void candidates_json(struct json *json, const struct cost *cost)
{
	json_open(json, "candidates", '[');
	for (size_t i = 0; i < cost->entry_count; i++) {
		const struct cost_entry *entry = &cost->entries[i];

		json_open(json, NULL, '{');
		json_text(json, "learner", entry->learner);
		json_text(json, "settings", entry->settings);
		json_text(json, "recipe", entry->recipe);
		json_double(json, "rmse", entry->rmse);
		json_double(json, "r2", entry->r2);
		json_text(json, "failure", entry->failure);
		json_close(json);
	}
	json_close(json);
}

static void operation_json(struct json *json, enum operation operation, const struct cost *cost,
			   enum hybrid_detail detail)
{
	const struct learner_ops *learner = cost->pipeline.learner;
	bool has_scores = detail != HYBRID_BRIEF;

	json_open(json, NULL, '{');
	json_text(json, "operation", operations[operation].name);
	json_count(json, "rows", cost->rows);
	json_count(json, "cells", cost->cell_count);
	if (has_scores)
		json_count(json, "left_out", cost->left_out);
	json_text(json, "learner", learner ? learner->name : NULL);
	if (has_scores) {
		json_double(json, "rmse_seconds", cost->score.rmse);
		json_double(json, "r2_seconds", cost->score.r2);
		json_double(json, "rmse", cost->score.log_rmse);
	}
	json_double(json, "r2", cost->score.log_r2);
	if (has_scores) {
		json_double(json, "median_error", cost->score.median_error);
		json_double(json, "noise", cost->noise);
	}
	if (detail == HYBRID_CANDIDATES)
		candidates_json(json, cost);
	json_close(json);
}

void hybrid_json(const struct hybrid *hybrid, struct json *json, enum hybrid_detail detail)
{
	json_text(json, "machine", hybrid->machine.name);
	json_number(json, "made", hybrid->made);
	json_count(json, "seed", hybrid->seed);
	json_open(json, "operations", '[');
	for (int i = 0; i < OPERATIONS; i++)
		if (hybrid->costs.of[i].is_fitted)
			operation_json(json, (enum operation)i, &hybrid->costs.of[i], detail);
	json_close(json);
}

static void write_head(const void *arg, struct json *json)
{
	hybrid_json(arg, json, HYBRID_BRIEF);
}

/* The options of the form are not together because the last one came later. */
int hybrid_save(const struct hybrid *hybrid, const char *path, struct err *err)
{
	const uint32_t *options = hybrid->machine.form_options;
	AUTO_BUF struct buf buf = { 0 }, machine = { 0 };

	checked_file_begin(&buf, &kind, write_head, hybrid);
	machine_write(&hybrid->machine, &machine);
	blob_put_text(&buf, buf_text(&machine));
	for (int i = 0; i < MACHINE_FORM_OPTIONS - 1; i++)
		blob_put_u32(&buf, options[i]);
	blob_put_u64(&buf, hybrid->seed);
	blob_put_u64(&buf, (uint64_t)hybrid->made);
	costs_save(&hybrid->costs, &buf);
	blob_put_u32(&buf, options[MACHINE_FORM_OPTIONS - 1]);
	blob_put_u64(&buf, (uint64_t)hybrid->measured);
	validation_save(&hybrid->validation, &buf);
	checked_file_end(&buf);
	return checked_file_write(&buf, path, err);
}

static int read_parts(void *made, struct blob *blob, struct err *err)
{
	struct hybrid *hybrid = made;
	AUTO_FREE char *machine = blob_take_text(blob);
	uint32_t options[MACHINE_FORM_OPTIONS] = { 0 };
	bool is_good = true;
	int r = machine_read_text(&hybrid->machine, "its machine", machine, strlen(machine), err);

	if (r < 0)
		return r;
	for (int i = 0; i < MACHINE_FORM_OPTIONS - 1; i++) {
		options[i] = blob_take_u32(blob);
		is_good &= options[i] < MACHINE_FORM_OPTION_VALUES;
	}
	if (!blob_expect(blob, is_good))
		return err_set(err, EBADMSG, "its options of the form of ROMIO are damaged");
	hybrid->seed = blob_take_u64(blob);
	hybrid->made = (int64_t)blob_take_u64(blob);
	r = costs_load(&hybrid->costs, blob, err);
	/* Models of older versions end here or after the last option. */
	if (r >= 0 && blob_ok(blob) && blob->at != blob->end) {
		uint32_t last = blob_take_u32(blob);

		if (blob_expect(blob, last < MACHINE_FORM_OPTION_VALUES))
			options[MACHINE_FORM_OPTIONS - 1] = last;
	}
	memcpy(hybrid->machine.form_options, options, sizeof(options));
	if (r >= 0 && blob_ok(blob) && blob->at != blob->end) {
		hybrid->measured = (int64_t)blob_take_u64(blob);
		r = validation_load(&hybrid->validation, blob, err);
	}
	return r;
}

int hybrid_parse(struct hybrid *hybrid, const char *name, const void *bytes, size_t n,
		 struct err *err)
{
	return checked_file_parse(&kind, name, bytes, n, hybrid, err);
}

int hybrid_load(struct hybrid *hybrid, const char *path, struct err *err)
{
	return checked_file_load(&kind, path, hybrid, err);
}

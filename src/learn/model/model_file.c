/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stores a model in a checked file (learn/file/checked_file.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/file/checked_file.h"
#include "learn/model/model.h"

static int take_parts(void *made, struct blob *blob, struct err *err);

static void release_parts(void *made)
{
	model_release(made);
}

static const struct checked_file_kind kind = {
	.schema = "sluice.model",
	.version = MODEL_VERSION,
	.what = "model of Sluice",
	.again = "fit it again (sluice lab learn fit)",
	.bytes = sizeof(struct model),
	.take = take_parts,
	.release = release_parts,
};

void model_tell(const struct model *model, struct json *json)
{
	const struct model_origin *origin = &model->origin;

	json_text(json, "learner", model->pipeline.learner->name);
	json_text(json, "settings", origin->settings);
	json_text(json, "recipe", origin->recipe);
	json_bool(json, "log_target", model->pipeline.log_target);
	json_text(json, "target", origin->target);
	json_text(json, "time", origin->time);
	json_double(json, "from", origin->from);
	json_double(json, "to", origin->to);
	json_count(json, "rows", origin->rows);
	json_count(json, "refreshed", origin->refreshed);
	json_count(json, "seed", origin->seed);
	json_number(json, "made", origin->made);
	json_text(json, "version", origin->version);
	json_double(json, model->classes ? "accuracy" : "r2", origin->score);
	json_double(json, model->classes ? "auc" : "median_error", origin->second);
	if (!model->classes)
		json_double(json, "rmse", origin->rmse);
}

static void write_header_json(const void *arg, struct json *json)
{
	const struct model *model = arg;

	model_tell(model, json);
	json_open(json, "features", '[');
	for (size_t i = 0; i < model->schema.count; i++)
		json_text(json, NULL, model->schema.features[i].name);
	json_close(json);
	json_open(json, "classes", '[');
	for (size_t i = 0; i < model->pipeline.classes; i++)
		json_text(json, NULL, model->classes[i]);
	json_close(json);
}

static void put_origin(struct buf *buf, const struct model_origin *origin)
{
	blob_put_text(buf, origin->version);
	blob_put_text(buf, origin->target);
	blob_put_u32(buf, origin->time != NULL);
	blob_put_text(buf, origin->time);
	blob_put_text(buf, origin->settings);
	blob_put_text(buf, origin->recipe);
	blob_put_real(buf, origin->from);
	blob_put_real(buf, origin->to);
	blob_put_u64(buf, origin->rows);
	blob_put_u64(buf, origin->refreshed);
	blob_put_u64(buf, origin->seed);
	blob_put_u64(buf, (uint64_t)origin->made);
	blob_put_real(buf, origin->score);
	blob_put_real(buf, origin->second);
}

static void put_model(struct buf *buf, const struct model *model)
{
	checked_file_begin(buf, &kind, write_header_json, model);
	put_origin(buf, &model->origin);
	schema_save(&model->schema, buf);
	pipeline_save(&model->pipeline, buf);
	for (size_t i = 0; i < model->pipeline.classes; i++)
		blob_put_text(buf, model->classes[i]);
	calibration_save(&model->calibration, buf);
	conformal_save(&model->conformal, buf);
	blob_put_real(buf, model->softening);
	checked_file_end(buf);
}

int model_save(const struct model *model, const char *path, struct err *err)
{
	AUTO_BUF struct buf buf = { 0 };

	put_model(&buf, model);
	return checked_file_write(&buf, path, err);
}

static void take_origin(struct model_origin *origin, struct blob *blob)
{
	bool has_time;

	origin->version = blob_take_text(blob);
	origin->target = blob_take_text(blob);
	has_time = blob_take_u32(blob) != 0;
	origin->time = blob_take_text(blob);
	if (!has_time) {
		free(origin->time);
		origin->time = NULL;
	}
	origin->settings = blob_take_text(blob);
	origin->recipe = blob_take_text(blob);
	origin->from = blob_take_real(blob);
	origin->to = blob_take_real(blob);
	origin->rows = blob_take_u64(blob);
	origin->refreshed = blob_take_u64(blob);
	origin->seed = blob_take_u64(blob);
	origin->made = (int64_t)blob_take_u64(blob);
	origin->score = blob_take_real(blob);
	origin->second = blob_take_real(blob);
	origin->rmse = NAN;
}

static void take_classes(struct model *model, struct blob *blob)
{
	if (!model->pipeline.classes)
		return;
	model->classes = xcalloc(model->pipeline.classes, sizeof(*model->classes));
	for (size_t i = 0; i < model->pipeline.classes; i++)
		model->classes[i] = blob_take_text(blob);
}

/* Checks that the parts belong together; predicting relies on it. */
static bool parts_match(const struct model *model)
{
	const struct pipeline *pipeline = &model->pipeline;
	unsigned task = pipeline->classes ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;

	return model->schema.width == pipeline->width && pipeline->classes != 1 &&
	       (pipeline->learner->tasks & task) && !(pipeline->log_target && pipeline->classes) &&
	       (model->calibration.kind == CALIBRATION_NONE || pipeline->classes == 2) &&
	       (model->softening == 0 ||
		(isfinite(model->softening) && model->softening > 0 && pipeline->learner->spread));
}

static int take_parts(void *made, struct blob *blob, struct err *err)
{
	struct model *model = made;
	int r;

	take_origin(&model->origin, blob);
	r = schema_load(&model->schema, blob, err);
	if (r >= 0)
		r = pipeline_load(&model->pipeline, blob, err);
	if (r < 0)
		return r;
	take_classes(model, blob);
	r = calibration_load(&model->calibration, blob, err);
	if (r >= 0)
		r = conformal_load(&model->conformal, blob, err);
	if (r < 0)
		return r;
	model->softening = blob_take_real(blob);
	if (!parts_match(model))
		return err_set(err, EBADMSG, "its parts do not match");
	return 0;
}

int model_parse(struct model *model, const char *name, const void *bytes, size_t n, struct err *err)
{
	return checked_file_parse(&kind, name, bytes, n, model, err);
}

int model_load(struct model *model, const char *path, struct err *err)
{
	return checked_file_load(&kind, path, model, err);
}

bool model_probe(const char *path)
{
	return checked_file_probe(&kind, path);
}

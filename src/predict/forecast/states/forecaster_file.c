/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Saves and loads a forecaster. Loading checks all values: an accepted forecaster can be used with
 * any target, size and row without access outside its memory.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/file/checked_file.h"
#include "predict/forecast/states/forecaster.h"

#define MODEL_BYTES_MIN 80 /* in the file, per target */

static int read_parts(void *made, struct blob *blob, struct err *err);

static void release_parts(void *made)
{
	forecaster_release(made);
}

static const struct checked_file_kind kind = {
	.schema = "sluice.forecaster",
	.version = FORECASTER_VERSION,
	.what = "forecaster of Sluice",
	.again = "train it again (sluice forecast train)",
	.bytes = sizeof(struct forecaster),
	.take = read_parts,
	.release = release_parts,
};

static size_t count_known_models(const struct forecaster *forecaster)
{
	size_t known = 0;

	for (size_t i = 0; i < forecaster->target_count * forecaster->size_count; i++)
		known += forecaster->models[i].is_known;
	return known;
}

static void write_head(const void *arg, struct json *json)
{
	const struct forecaster *forecaster = arg;

	json_text(json, "system", forecaster->system);
	json_text(json, "method", forecaster->method);
	json_text(json, "settings", forecaster->settings);
	json_count(json, "targets", forecaster->target_count);
	json_count(json, "models", count_known_models(forecaster));
	json_open(json, "sizes", '[');
	for (size_t i = 0; i < forecaster->size_count; i++)
		json_count(json, NULL, forecaster->sizes[i]);
	json_close(json);
	json_double(json, "from", forecaster->from_s);
	json_double(json, "to", forecaster->to_s);
	json_count(json, "generation", forecaster->generation);
	json_number(json, "made", forecaster->made_s);
}

static void write_model(struct buf *buf, const struct forecaster_model *model)
{
	const double numbers[] = { model->busy_share,	     model->accuracy,	  model->auc,
				   model->shuffled_accuracy, model->shuffled_auc, model->ceiling,
				   model->majority };

	blob_put_u64(buf, model->rows);
	blob_put_reals(buf, numbers, sizeof(numbers) / sizeof(numbers[0]));
	blob_put_u32(buf, model->is_known);
	if (!model->is_known)
		return;
	pipeline_save(&model->members->pipeline, buf);
	calibration_save(&model->members->calibration, buf);
}

static unsigned model_groups(const struct forecaster_model *model)
{
	return model->member_count ? model->members->groups : 0;
}

/* What version 5 added: all members. The pipeline of the first one is where version 1 has it. */
static void write_members(struct buf *buf, const struct forecaster_model *model)
{
	blob_put_u32(buf, (uint32_t)model->member_count);
	for (size_t i = 0; i < model->member_count; i++) {
		const struct choice_model *member = &model->members[i];

		blob_put_u32(buf, member->groups);
		blob_put_u32(buf, member->recent);
		if (!i)
			continue;
		pipeline_save(&member->pipeline, buf);
		calibration_save(&member->calibration, buf);
	}
}

/* What versions 2 to 5 added, after all that version 1 has. */
static void write_choices(struct buf *buf, const struct forecaster *forecaster)
{
	chains_save(forecaster->chains, buf);
	for (size_t i = 0; i < forecaster->target_count * forecaster->size_count; i++) {
		const struct forecaster_model *model = &forecaster->models[i];

		blob_put_text(buf, model->method);
		blob_put_u32(buf, model_groups(model));
		blob_put_real(buf, model->log_loss);
		blob_put_real(buf, model->share_log_loss);
	}
	/* Version 3: */
	blob_put_u32(buf, forecaster->features.ignores_programs);
	blob_put_u64(buf, forecaster->program_rows);
	/* Version 4: */
	for (size_t i = 0; i < forecaster->target_count * forecaster->size_count; i++)
		blob_put_u32(buf, forecaster->models[i].recent);
	/* Version 5: */
	for (size_t i = 0; i < forecaster->target_count * forecaster->size_count; i++)
		write_members(buf, &forecaster->models[i]);
}

static void write_forecaster(struct buf *buf, const struct forecaster *forecaster)
{
	blob_put_text(buf, forecaster->system);
	blob_put_text(buf, forecaster->method);
	blob_put_text(buf, forecaster->settings);
	blob_put_u64(buf, forecaster->seed);
	blob_put_u64(buf, forecaster->generation);
	blob_put_u64(buf, (uint64_t)forecaster->made_s);
	blob_put_real(buf, forecaster->from_s);
	blob_put_real(buf, forecaster->to_s);
	blob_put_u32(buf, forecaster->features.groups);
	blob_put_real(buf, forecaster->features.window_s);
	blob_put_real(buf, forecaster->features.horizon_s);
	blob_put_u64(buf, forecaster->size_count);
	for (size_t i = 0; i < forecaster->size_count; i++)
		blob_put_u64(buf, forecaster->sizes[i]);
	blob_put_u64(buf, forecaster->target_count);
	for (size_t i = 0; i < forecaster->target_count; i++)
		blob_put_text(buf, forecaster->targets[i]);
	states_save(&forecaster->states, buf);
	for (size_t i = 0; i < forecaster->target_count * forecaster->size_count; i++)
		write_model(buf, &forecaster->models[i]);
	write_choices(buf, forecaster);
}

/* A hard link keeps the old file under its second name when the new one replaces it. */
static void keep_previous_file(const char *path)
{
	AUTO_FREE char *previous = xprintf("%s" FORECASTER_PREVIOUS, path);
	AUTO_FREE char *fresh = xprintf("%s.%d", previous, (int)getpid());

	unlink(fresh);
	if (link(path, fresh) == 0 && rename(fresh, previous) != 0)
		unlink(fresh);
}

int forecaster_save(const struct forecaster *forecaster, const char *path, struct err *err)
{
	AUTO_BUF struct buf buf = { 0 };

	checked_file_begin(&buf, &kind, write_head, forecaster);
	write_forecaster(&buf, forecaster);
	checked_file_end(&buf);
	keep_previous_file(path);
	return checked_file_write(&buf, path, err);
}

static void read_text(char *out, size_t cap, struct blob *blob)
{
	AUTO_FREE char *text = blob_take_text(blob);

	blob_expect(blob, strlen(text) < cap);
	snprintf(out, cap, "%.*s", (int)(cap - 1), text);
}

static void read_features(struct features_plan *plan, struct blob *blob)
{
	plan->groups = blob_take_u32(blob);
	blob_take_finite(blob, &plan->window_s, 1);
	blob_take_finite(blob, &plan->horizon_s, 1);
	blob_expect(blob, plan->groups && !(plan->groups & ~(unsigned)FEATURE_ALL));
	blob_expect(blob, plan->window_s > 0 && plan->horizon_s >= 0);
}

/* Reads names and sizes. */
static void read_lists(struct forecaster *forecaster, struct blob *blob)
{
	forecaster->size_count = blob_take_count(blob, sizeof(uint64_t));
	if (!blob_expect(blob, forecaster->size_count >= 1 &&
				       forecaster->size_count <= CHRONICLE_SIZES)) {
		forecaster->size_count = 0;
		return;
	}
	for (size_t i = 0; i < forecaster->size_count; i++)
		forecaster->sizes[i] = blob_take_u64(blob);
	forecaster->target_count = blob_take_count(blob, MODEL_BYTES_MIN);
	forecaster->targets = xcalloc(forecaster->target_count + 1, sizeof(*forecaster->targets));
	for (size_t i = 0; i < forecaster->target_count; i++)
		read_text(forecaster->targets[i], CHRONICLE_NAME, blob);
}

static bool is_share(double value)
{
	return isnan(value) || (value >= 0 && value <= 1);
}

/* Appends a member with its pipeline and calibration. */
static int read_member(struct forecaster_model *model, struct blob *blob, struct err *err)
{
	struct choice_model member = { 0 };
	int r = pipeline_load(&member.pipeline, blob, err);

	if (r >= 0)
		r = calibration_load(&member.calibration, blob, err);
	if (r < 0) {
		pipeline_release(&member.pipeline);
		return r;
	}
	if (!model->members)
		model->members = xcalloc(CHOICE_MEMBERS, sizeof(*model->members));
	model->members[model->member_count++] = member;
	return 0;
}

static int read_model(struct forecaster_model *model, struct blob *blob, struct err *err)
{
	double *const numbers[] = { &model->busy_share,	  &model->accuracy,
				    &model->auc,	  &model->shuffled_accuracy,
				    &model->shuffled_auc, &model->ceiling,
				    &model->majority };
	int r;

	model->seconds = NAN;
	model->rows = blob_take_u64(blob);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		*numbers[i] = blob_take_real(blob);
		blob_expect(blob, is_share(*numbers[i]));
	}
	if (!blob_take_u32(blob) || !blob_ok(blob))
		return 0;
	r = read_member(model, blob, err);
	model->is_known = r >= 0;
	return r;
}

/* A file of version 1 has no choices: all models have the same method and features. */
static void read_choice(const struct forecaster *forecaster, struct forecaster_model *model,
			bool has_choices, struct blob *blob)
{
	unsigned groups = forecaster->features.groups;

	model->log_loss = model->share_log_loss = NAN;
	snprintf(model->method, sizeof(model->method), "%.*s", (int)sizeof(model->method) - 1,
		 forecaster->method);
	if (has_choices) {
		read_text(model->method, sizeof(model->method), blob);
		groups = blob_take_u32(blob);
		model->log_loss = blob_take_real(blob);
		model->share_log_loss = blob_take_real(blob);
		model->is_chosen = model->is_known && !isnan(model->share_log_loss);
		blob_expect(blob, !(model->log_loss < 0) && !(model->share_log_loss < 0));
	}
	if (model->members)
		model->members->groups = groups;
}

/* In a file of version 3, no forecast uses recent shares. */
static void read_recent(struct forecaster_model *model, bool has_recent, struct blob *blob)
{
	uint32_t recent = has_recent ? blob_take_u32(blob) : 0;

	blob_expect(blob, recent <= 1);
	model->recent = recent;
	if (model->members)
		model->members->recent = recent;
}

static int read_members(struct forecaster_model *model, struct blob *blob, struct err *err)
{
	uint32_t count = blob_take_u32(blob);
	int r = 0;

	if (!blob_expect(blob, model->is_known == (count > 0) && count <= CHOICE_MEMBERS))
		return 0;
	for (size_t i = 0; r >= 0 && blob_ok(blob) && i < count; i++) {
		uint32_t groups = blob_take_u32(blob), recent = blob_take_u32(blob);

		if (i && blob_expect(blob, recent <= 1))
			r = read_member(model, blob, err);
		if (r < 0 || i >= model->member_count)
			break;
		model->members[i].groups = groups;
		model->members[i].recent = recent;
	}
	return r;
}

static int check_member(const struct forecaster *forecaster, const struct choice_model *member,
			struct err *err)
{
	struct features_plan part = forecaster->features;

	part.groups = member->groups;
	if (!part.groups || part.groups & ~forecaster->features.groups ||
	    member->pipeline.classes != 2 || member->pipeline.width != features_width(&part) ||
	    !(member->pipeline.learner->tasks & LEARNER_CLASSIFIES))
		return err_set(err, EBADMSG, "a model does not match the features of the file");
	return 0;
}

static int read_choices(struct forecaster *forecaster, struct blob *blob, struct err *err)
{
	size_t count = forecaster->target_count * forecaster->size_count;
	bool has_choices = blob->at < blob->end, has_recent, has_members;
	int r = 0;

	if (has_choices)
		forecaster->chains = chains_load(blob);
	forecaster->features.chains = forecaster->chains;
	for (size_t i = 0; i < count; i++)
		read_choice(forecaster, &forecaster->models[i], has_choices, blob);
	if (has_choices && blob_ok(blob) && blob->at < blob->end) {
		forecaster->features.ignores_programs = blob_take_u32(blob) != 0;
		forecaster->program_rows = blob_take_u64(blob);
	}
	has_recent = has_choices && blob_ok(blob) && blob->at < blob->end;
	for (size_t i = 0; i < count; i++)
		read_recent(&forecaster->models[i], has_recent, blob);
	has_members = has_recent && blob_ok(blob) && blob->at < blob->end;
	for (size_t i = 0; r >= 0 && has_members && blob_ok(blob) && i < count; i++)
		r = read_members(&forecaster->models[i], blob, err);
	for (size_t i = 0; r >= 0 && blob_ok(blob) && i < count; i++)
		for (size_t k = 0; r >= 0 && k < forecaster->models[i].member_count; k++)
			r = check_member(forecaster, &forecaster->models[i].members[k], err);
	return r;
}

static int read_models(struct forecaster *forecaster, struct blob *blob, struct err *err)
{
	size_t count = forecaster->target_count * forecaster->size_count;
	int r;

	r = states_load(&forecaster->states, blob, forecaster->target_count, forecaster->size_count,
			err);
	if (r < 0)
		return r;
	forecaster->models = xcalloc(count + 1, sizeof(*forecaster->models));
	for (size_t i = 0; r >= 0 && blob_ok(blob) && i < count; i++)
		r = read_model(&forecaster->models[i], blob, err);
	return r < 0 || !blob_ok(blob) ? r : read_choices(forecaster, blob, err);
}

static int read_parts(void *made, struct blob *blob, struct err *err)
{
	struct forecaster *forecaster = made;
	int r = 0;

	read_text(forecaster->system, sizeof(forecaster->system), blob);
	read_text(forecaster->method, sizeof(forecaster->method), blob);
	read_text(forecaster->settings, sizeof(forecaster->settings), blob);
	forecaster->seed = blob_take_u64(blob);
	forecaster->generation = blob_take_u64(blob);
	forecaster->made_s = (int64_t)blob_take_u64(blob);
	blob_take_finite(blob, &forecaster->from_s, 1);
	blob_take_finite(blob, &forecaster->to_s, 1);
	read_features(&forecaster->features, blob);
	read_lists(forecaster, blob);
	if (blob_ok(blob))
		r = read_models(forecaster, blob, err);
	if (r >= 0 && blob_ok(blob))
		forecaster_set_borders(forecaster);
	return r;
}

int forecaster_parse(struct forecaster *forecaster, const char *name, const void *bytes, size_t n,
		     struct err *err)
{
	return checked_file_parse(&kind, name, bytes, n, forecaster, err);
}

int forecaster_load(struct forecaster *forecaster, const char *path, struct err *err)
{
	return checked_file_load(&kind, path, forecaster, err);
}

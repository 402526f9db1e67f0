/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A model as bytes: a line of JSON, the numbers, a checksum. We never read the JSON but for its
 * beginning, which tells the version: what we need is among the numbers as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "learn/data/blob.h"
#include "learn/model.h"

#define MAGIC "{\"schema\": \"sluice.model/"
#define CHECKSUM_BYTES 8
#define FIT_AGAIN "fit it again (sluice learn fit)"

/* ---- writing ---- */

void model_tell(const struct model *model, struct json *json)
{
	const struct model_origin *origin = &model->origin;

	json_text(json, "learner", model->pipeline.learner->name);
	json_text(json, "settings", origin->settings);
	json_text(json, "recipe", origin->recipe);
	json_bool(json, "log_target", model->pipeline.log_target);
	json_text(json, "target", origin->target);
	json_text(json, "time", origin->time);
	json_real(json, "from", origin->from);
	json_real(json, "to", origin->to);
	json_count(json, "rows", origin->rows);
	json_count(json, "refreshed", origin->refreshed);
	json_count(json, "seed", origin->seed);
	json_number(json, "made", origin->made);
	json_text(json, "version", origin->version);
	json_real(json, model->classes ? "accuracy" : "r2", origin->score);
	json_real(json, model->classes ? "auc" : "median_error", origin->second);
}

static void head_put(struct buf *buf, const struct model *model)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	struct json json;
	char schema[32];

	if (!out)
		abort(); /* out of memory, as in base/mem.c */
	snprintf(schema, sizeof(schema), "sluice.model/%d", MODEL_VERSION);
	json_start(&json, out, schema);
	model_tell(model, &json);
	json_open(&json, "features", '[');
	for (size_t i = 0; i < model->schema.count; i++)
		json_text(&json, NULL, model->schema.features[i].name);
	json_close(&json);
	json_open(&json, "classes", '[');
	for (size_t i = 0; i < model->pipeline.classes; i++)
		json_text(&json, NULL, model->classes[i]);
	json_end(&json);
	fclose(out);
	buf_add(buf, text, n);
	free(text);
}

static void origin_put(struct buf *buf, const struct model_origin *origin)
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

static void model_put(struct buf *buf, const struct model *model)
{
	head_put(buf, model);
	origin_put(buf, &model->origin);
	schema_save(&model->schema, buf);
	pipeline_save(&model->pipeline, buf);
	for (size_t i = 0; i < model->pipeline.classes; i++)
		blob_put_text(buf, model->classes[i]);
	calibration_save(&model->calibration, buf);
	conformal_save(&model->conformal, buf);
	blob_put_real(buf, model->softening);
	blob_put_u64(buf, XXH64(buf->data, buf->len, 0));
}

static int bytes_write(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

static int draft_write(const char *draft, const struct buf *buf)
{
	int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int r = fd < 0 ? -errno : bytes_write(fd, buf->data, buf->len);

	if (fd >= 0 && close(fd) != 0 && r >= 0)
		r = -errno;
	return r;
}

int model_save(const struct model *model, const char *path, struct err *err)
{
	AUTO_FREE char *draft = xprintf("%s.new-%d", path, (int)getpid());
	AUTO_BUF struct buf buf = { 0 };
	int r;

	model_put(&buf, model);
	r = draft_write(draft, &buf);
	if (r >= 0 && rename(draft, path) != 0)
		r = -errno;
	if (r < 0) {
		if (r != -EEXIST)
			unlink(draft);
		return err_set(err, -r, "%s: %s", path, strerror(-r));
	}
	return 0;
}

/* ---- reading ---- */

static void origin_take(struct model_origin *origin, struct blob *blob)
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
}

static void classes_take(struct model *model, struct blob *blob)
{
	if (!model->pipeline.classes)
		return;
	model->classes = xcalloc(model->pipeline.classes, sizeof(*model->classes));
	for (size_t i = 0; i < model->pipeline.classes; i++)
		model->classes[i] = blob_take_text(blob);
}

/* Do the parts belong together? Predicting relies on it. */
static bool parts_fit(const struct model *model)
{
	const struct pipeline *pipeline = &model->pipeline;
	unsigned task = pipeline->classes ? LEARNER_CLASSIFIES : LEARNER_REGRESSES;

	return model->schema.width == pipeline->width && pipeline->classes != 1 &&
	       (pipeline->learner->tasks & task) && !(pipeline->log_target && pipeline->classes) &&
	       (model->calibration.kind == CALIBRATION_NONE || pipeline->classes == 2) &&
	       (model->softening == 0 ||
		(isfinite(model->softening) && model->softening > 0 && pipeline->learner->spread));
}

static int parts_take(struct model *model, struct blob *blob, struct err *err)
{
	int r;

	origin_take(&model->origin, blob);
	r = schema_load(&model->schema, blob, err);
	if (r >= 0)
		r = pipeline_load(&model->pipeline, blob, err);
	if (r < 0)
		return r;
	classes_take(model, blob);
	r = calibration_load(&model->calibration, blob, err);
	if (r >= 0)
		r = conformal_load(&model->conformal, blob, err);
	if (r < 0)
		return r;
	model->softening = blob_take_real(blob);
	if (!blob_ok(blob) || blob->at != blob->end || !parts_fit(model))
		return err_set(err, EBADMSG, "its parts do not fit");
	return 0;
}

/* Offset of the numbers. */
static ssize_t head_check(const char *name, const char *bytes, size_t n, struct err *err)
{
	size_t magic = strlen(MAGIC);
	const char *end = memchr(bytes, '\n', n);
	struct blob tail;
	unsigned long version = 0;

	if (n < magic || memcmp(bytes, MAGIC, magic) != 0)
		return err_set(err, EBADMSG, "%s is no model of Sluice", name);
	for (size_t i = magic; i < n && bytes[i] >= '0' && bytes[i] <= '9' && version < 1000000;
	     i++)
		version = 10 * version + (unsigned long)(bytes[i] - '0');
	if (version > MODEL_VERSION)
		return err_set(err, EPROTONOSUPPORT,
			       "%s was made by a later version of Sluice (model version %lu, this "
			       "one reads %d): update Sluice, or " FIT_AGAIN,
			       name, version, MODEL_VERSION);
	blob_init(&tail, n < CHECKSUM_BYTES ? bytes : bytes + n - CHECKSUM_BYTES,
		  n < CHECKSUM_BYTES ? 0 : CHECKSUM_BYTES);
	if (!end || version < 1 || blob_take_u64(&tail) != XXH64(bytes, n - CHECKSUM_BYTES, 0))
		return err_set(err, EBADMSG,
			       "%s is damaged or incomplete (its checksum is wrong): copy it "
			       "again, or " FIT_AGAIN,
			       name);
	return end + 1 - bytes;
}

int model_parse(struct model *model, const char *name, const void *bytes, size_t n, struct err *err)
{
	ssize_t start = head_check(name, bytes, n, err);
	struct model made = { 0 };
	struct err inner = { 0 };
	struct blob blob;
	int r;

	if (start < 0)
		return (int)start;
	if ((size_t)start + CHECKSUM_BYTES > n)
		return err_set(err, EBADMSG, "%s is damaged: " FIT_AGAIN, name);
	blob_init(&blob, (const char *)bytes + start, n - CHECKSUM_BYTES - (size_t)start);
	r = parts_take(&made, &blob, &inner);
	if (r < 0) {
		model_release(&made);
		return err_set(err, -r, "%s cannot be used (%s): " FIT_AGAIN, name,
			       inner.code ? inner.text : "it is damaged");
	}
	*model = made;
	return 0;
}

/* All of a file. */
#define FILE_BYTES_MAX ((size_t)1 << 32)

static int file_read(struct buf *buf, const char *path, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	while (n > 0) {
		buf_reserve(buf, 1 << 16);
		n = read(fd, buf->data + buf->len, buf->cap - buf->len - 1);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			buf->len += (size_t)n;
		if (buf->len > FILE_BYTES_MAX)
			return err_set(err, EFBIG, "%s is no model of Sluice: it is too large",
				       path);
	}
	if (n < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

int model_load(struct model *model, const char *path, struct err *err)
{
	AUTO_BUF struct buf buf = { 0 };
	int r = file_read(&buf, path, err);

	return r < 0 ? r : model_parse(model, path, buf_text(&buf), buf.len, err);
}

bool model_probe(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char start[sizeof(MAGIC) - 1];

	return fd >= 0 && read(fd, start, sizeof(start)) == (ssize_t)sizeof(start) &&
	       memcmp(start, MAGIC, sizeof(start)) == 0;
}

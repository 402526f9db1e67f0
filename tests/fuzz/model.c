/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a model. An accepted model must make predictions.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/model/model.h"
#include "sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void model_ask(const struct model *model)
{
	AUTO_FREE double *row = xcalloc(model->schema.width, sizeof(*row));
	double out[LEARNER_CLASSES_MAX], low, high;

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < model->schema.width; i++)
			row[i] = round * (1e3 * (double)(i % 3) - 7);
		model_predict_row(model, row, out);
		if (!model->classes && model_interval(model, row, 1, 0.9, &low, &high) &&
		    !(low <= high))
			abort();
	}
}

static void model_describe(const struct model *model)
{
	const struct learner_ops *learner = model->pipeline.learner;
	size_t width = model->pipeline.preparation.width_out;
	AUTO_FREE double *share = xcalloc(width, sizeof(*share));
	AUTO_FREE const char **names = xcalloc(width, sizeof(*names));
	AUTO_BUF struct buf text = { 0 };

	for (size_t i = 0; i < width; i++)
		names[i] = "input";
	if (learner->importance)
		learner->importance(model->pipeline.fitted, share);
	if (learner->describe)
		learner->describe(model->pipeline.fitted, names, &text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf file = { 0 };
	struct model model = { 0 };
	struct err err = { 0 };
	int r;

	sealed_make(&file, data, size);
	r = model_parse(&model, "fuzz", buf_text(&file), file.len, &err);
	if (r < 0) {
		if (!err.code)
			abort();
		return 0;
	}
	model_ask(&model);
	model_describe(&model);
	model_release(&model);
	return 0;
}

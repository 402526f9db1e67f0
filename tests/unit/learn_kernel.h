/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of single learners share: a small set of rows that every language can make, and
 * the checks that every learner must pass. The rows come from a linear congruential generator,
 * so that the Python call behind a golden number can make the same:
 *
 *	def rows(n, p, seed):
 *	    s, v = seed, []
 *	    for _ in range(n * p):
 *	        s = (s * 1103515245 + 12345) % 2**31
 *	        v.append(s / 2**31)
 *	    return numpy.array(v).reshape(n, p)
 */
#ifndef SLUICE_TESTS_LEARN_KERNEL_H
#define SLUICE_TESTS_LEARN_KERNEL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/learner.h"
#include "learn/math/random.h"

/* numpy's rows(n, p, seed) above. */
static inline double *rows_make(size_t n, size_t p, uint32_t seed)
{
	double *values = xmalloc(n * p * sizeof(*values));

	for (size_t i = 0; i < n * p; i++) {
		seed = (seed * 1103515245u + 12345u) & 0x7fffffffu;
		values[i] = seed / 0x1p31;
	}
	return values;
}

static inline void *fit_text(const struct learner_ops *ops, const struct samples *samples,
			     const char *text, unsigned threads)
{
	double settings[LEARNER_SETTINGS_MAX];
	struct effort effort = { .seed = 1, .threads = threads };
	struct err err = { 0 };
	void *model = NULL;

	learner_defaults(ops, settings);
	REQUIRE(learner_parse(ops, text, settings, &err) == 0);
	if (ops->fit(&model, samples, settings, &effort, &err) < 0) {
		printf("fit: %s\n", err.text);
		REQUIRE(false);
	}
	return model;
}

static inline void same_predictions(const struct learner_ops *ops, const void *a, const void *b,
				    const struct samples *samples)
{
	size_t answers = samples->classes ? samples->classes : 1;
	double x[LEARNER_CLASSES_MAX] = { 0 }, y[LEARNER_CLASSES_MAX] = { 0 };

	for (size_t i = 0; i < samples->rows; i++) {
		ops->predict(a, samples->x + i * samples->width, x);
		ops->predict(b, samples->x + i * samples->width, y);
		CHECK(memcmp(x, y, answers * sizeof(*x)) == 0);
		if (ops->spread && !samples->classes)
			CHECK(ops->spread(a, samples->x + i * samples->width) ==
			      ops->spread(b, samples->x + i * samples->width));
	}
}

/* A model that was saved and loaded gives bitwise equal predictions. */
static inline void check_round_trip(const struct learner_ops *ops, const void *model,
				    const struct samples *samples)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct err err = { 0 };
	struct blob blob;
	void *copy = NULL;

	ops->save(model, &bytes);
	blob_init(&blob, bytes.data, bytes.len);
	CHECK_INT(ops->load(&copy, &blob, samples->width, samples->classes, &err), 0);
	REQUIRE(copy);
	CHECK(blob.at == blob.end);
	same_predictions(ops, model, copy, samples);
	ops->free(copy);
}

/* Does everything that a caller may do with a model that load() accepted. */
static inline void exercise(const struct learner_ops *ops, const void *model,
			    const struct samples *samples)
{
	AUTO_FREE double *share = xcalloc(samples->width, sizeof(*share));
	AUTO_FREE const char **names = xcalloc(samples->width, sizeof(*names));
	AUTO_BUF struct buf text = { 0 };
	double out[LEARNER_CLASSES_MAX];

	for (size_t j = 0; j < samples->width; j++)
		names[j] = "x";
	ops->predict(model, samples->x, out);
	if (ops->spread && !samples->classes)
		ops->spread(model, samples->x);
	if (ops->importance)
		ops->importance(model, share);
	if (ops->describe)
		ops->describe(model, names, &text);
}

static inline void load_damaged(const struct learner_ops *ops, const char *bytes, size_t n,
				const struct samples *samples)
{
	/*
	 * A copy of the exact size, so that the sanitizer detects every byte that is read beyond
	 * it.
	 */
	AUTO_FREE char *copy = xmalloc(n ? n : 1);
	struct err err = { 0 };
	struct blob blob;
	void *model = NULL;
	int r;

	memcpy(copy, bytes, n);
	blob_init(&blob, copy, n);
	r = ops->load(&model, &blob, samples->width, samples->classes, &err);
	CHECK((r >= 0) == (model != NULL));
	if (r < 0) {
		CHECK(err.text[0]);
		return;
	}
	exercise(ops, model, samples);
	ops->free(model);
}

/* Truncated bytes are rejected; flipped bits never cause a read outside of the model. */
static inline void check_damage(const struct learner_ops *ops, const void *model,
				const struct samples *samples)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct random random;

	ops->save(model, &bytes);
	for (size_t n = 0; n < bytes.len; n += 1 + bytes.len / 500) {
		struct blob blob;
		struct err err = { 0 };
		void *none = NULL;

		blob_init(&blob, bytes.data, n);
		CHECK(ops->load(&none, &blob, samples->width, samples->classes, &err) < 0);
		CHECK(!none);
	}
	random_init(&random, 5);
	for (int i = 0; i < 2000; i++) {
		/* Counts are at the beginning, so these bytes are damaged more often. */
		size_t at = random_below(&random, i % 2 && bytes.len > 64 ? 64 : bytes.len);
		char kept = bytes.data[at];

		bytes.data[at] ^= (char)(1 + random_below(&random, 255));
		load_damaged(ops, bytes.data, bytes.len, samples);
		bytes.data[at] = kept;
	}
}

#endif

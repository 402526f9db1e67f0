/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the tests of the tree-based methods: rows that the reference used, too, and checks that
 * each method must pass. In Python: h(i) = i * 2654435761 mod 2**32, ^= h >> 16, * 0x45d9f3b mod
 * 2**32, ^= h >> 16; / 2**32.
 */
#ifndef SLUICE_TESTS_LEARN_GROWN_H
#define SLUICE_TESTS_LEARN_GROWN_H

#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/learner.h"
#include "learn/math/random.h"

enum { GROWN_ROWS = 300, GROWN_WIDTH = 5 };

struct grown {
	double x[GROWN_ROWS * GROWN_WIDTH], y[GROWN_ROWS];
	struct samples samples;
};

static inline double grown_hash(uint32_t i)
{
	uint32_t h = i * 2654435761u;

	h ^= h >> 16;
	h *= 0x45d9f3bu;
	h ^= h >> 16;
	return h / 4294967296.0;
}

/* A step, a slope, a curve and noise. classes 0: a number, else divided into that many classes. */
static inline void grown_init(struct grown *grown, size_t classes)
{
	for (uint32_t i = 0; i < GROWN_ROWS; i++) {
		double *x = grown->x + i * GROWN_WIDTH, y;

		for (uint32_t j = 0; j < GROWN_WIDTH; j++)
			x[j] = grown_hash(i * GROWN_WIDTH + j);
		y = (x[0] > 0.4) + x[1] + 2 * x[2] * x[2] + 0.5 * grown_hash(100000 + i);
		grown->y[i] =
			classes ? fmin(floor(y / 4.5 * (double)classes), (double)classes - 1) : y;
	}
	grown->samples = (struct samples){ .x = grown->x,
					   .y = grown->y,
					   .rows = GROWN_ROWS,
					   .width = GROWN_WIDTH,
					   .classes = classes };
}

static inline void *grown_fit(const struct learner_ops *learner, const struct samples *samples,
			      const char *settings, uint64_t seed, unsigned threads)
{
	double values[LEARNER_SETTINGS_MAX] = { 0 };
	void *model = NULL;
	struct err err = { 0 };

	learner_defaults(learner, values);
	REQUIRE(learner_parse(learner, settings, values, &err) == 0);
	REQUIRE(learner->fit(&model, samples, values,
			     &(struct effort){ .seed = seed, .threads = threads }, &err) == 0);
	return model;
}

/*
 * Compares the mean of prediction number `which` over all rows, and of its square, with the
 * reference.
 */
static inline void grown_check(const struct learner_ops *learner, const void *model,
			       const struct samples *samples, size_t which, double mean,
			       double square, double tolerance)
{
	double out[LEARNER_CLASSES_MAX], sum = 0, squares = 0;

	for (size_t i = 0; i < samples->rows; i++) {
		learner->predict(model, samples->x + i * samples->width, out);
		sum += out[which] / (double)samples->rows;
		squares += out[which] * out[which] / (double)samples->rows;
	}
	CHECK(fabs(sum - mean) < tolerance);
	CHECK(fabs(squares - square) < tolerance);
	if (fabs(sum - mean) >= tolerance || fabs(squares - square) >= tolerance)
		printf("mean %.12g square %.12g\n", sum, squares);
}

/* True if two models give bitwise equal predictions for all rows. */
static inline bool grown_same(const struct learner_ops *learner, const void *a, const void *b,
			      const struct samples *samples)
{
	size_t answers = samples->classes ? samples->classes : 1;

	for (size_t i = 0; i < samples->rows; i++) {
		double first[LEARNER_CLASSES_MAX], second[LEARNER_CLASSES_MAX];

		learner->predict(a, samples->x + i * samples->width, first);
		learner->predict(b, samples->x + i * samples->width, second);
		if (memcmp(first, second, answers * sizeof(*first)) != 0)
			return false;
	}
	return true;
}

static inline int grown_load(const struct learner_ops *learner, void **model, const void *bytes,
			     size_t n, const struct samples *samples)
{
	struct blob blob;
	struct err err = { 0 };

	blob_init(&blob, bytes, n);
	return learner->load(model, &blob, samples->width, samples->classes, &err);
}

static inline void grown_round_trip(const struct learner_ops *learner, const void *model,
				    const struct samples *samples)
{
	AUTO_BUF struct buf saved = { 0 }, again = { 0 };
	double share[GROWN_WIDTH], share2[GROWN_WIDTH];
	void *loaded = NULL;

	learner->save(model, &saved);
	REQUIRE(grown_load(learner, &loaded, saved.data, saved.len, samples) == 0);
	CHECK(grown_same(learner, model, loaded, samples));
	learner->importance(model, share);
	learner->importance(loaded, share2);
	CHECK(memcmp(share, share2, sizeof(share)) == 0);
	learner->save(loaded, &again);
	CHECK(again.len == saved.len);
	CHECK(memcmp(again.data, saved.data, saved.len) == 0);
	learner->free(loaded);
}

/* Whatever load() accepts must be safe to use; the sanitizers check it. */
static inline void grown_damage(const struct learner_ops *learner, const void *model,
				const struct samples *samples)
{
	AUTO_BUF struct buf saved = { 0 };
	double out[LEARNER_CLASSES_MAX];
	struct random random;
	void *loaded = NULL;

	learner->save(model, &saved);
	for (size_t n = 0; n < saved.len; n += 1 + n / 16) {
		AUTO_FREE char *cut = xmalloc(n);

		memcpy(cut, saved.data, n);
		CHECK(grown_load(learner, &loaded, cut, n, samples) < 0);
	}
	random_init(&random, 5);
	for (int i = 0; i < 2000; i++) {
		size_t at = random_below(&random, saved.len);
		char kept = saved.data[at];

		saved.data[at] ^= (char)(1 << random_below(&random, 8));
		if (grown_load(learner, &loaded, saved.data, saved.len, samples) == 0) {
			for (size_t row = 0; row < 20; row++)
				learner->predict(loaded, samples->x + row * samples->width, out);
			learner->free(loaded);
		}
		saved.data[at] = kept;
	}
}

#endif

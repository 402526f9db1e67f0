/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The states idle and busy (WAN-17 to WAN-20). A mixture of two log-normal distributions is fitted
 * to the durations of the training days, per write size, for all targets together or for each
 * target. Labels are drawn at random from its posterior, which is kept with them.
 *
 * The duration of a write that timed out is unknown. It is not used to fit the mixture, and its
 * posterior of busy is 1. The number of states is two, as in the paper, although mixture.h could
 * fit more. The times of programs (SAMPLE_PROGRAM) define states only if probes are too few.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_LABELS_H
#define SLUICE_PREDICT_FORECAST_STATES_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "learn/states/mixture.h"
#include "predict/forecast/chronicle/chronicle.h"

struct err;

enum labels_scope { LABELS_SYSTEM, LABELS_TARGET };
#define LABELS_SCOPES "system|target"

struct labels_plan {
	enum labels_scope scope;
	double from_s, to_s; /* time range of the writes that the mixtures are fitted to */
	uint64_t seed;
	bool ignores_programs; /* rows of programs (SAMPLE_PROGRAM) never define the states */
};

/* The mixtures of a system. */
struct states {
	enum labels_scope scope;
	size_t target_count, size_count;
	struct mixture *mixtures; /* targets (or one) x sizes; unused for the probe size */
	bool *known;		  /* false: there were too few writes to fit a mixture */
	uint8_t *preferred;	  /* number of states by BIC; 0: unknown, as after loading */
};

/*
 * Fits the mixtures. A target or size with too few writes gets none (known is false); -ENODATA if
 * there is no mixture at all. Of more than LABELS_MOST writes, every n-th one is used, which is
 * enough for a mixture of five parameters. If the faster state has less than LABELS_FEW of the
 * writes, these are discarded and the rest is fitted again: a few writes that a cache absorbed, or
 * that a throttle allowed as a burst, are not a state.
 */
#define LABELS_MOST 262144
#define LABELS_FEW 0.05
int states_fit(struct states *states, const struct chronicle *chronicle,
	       const struct labels_plan *plan, struct err *err);
void states_release(struct states *states);

/* The mixture of a target and size, or NULL. */
const struct mixture *states_mixture(const struct states *states, size_t target, size_t size);

/*
 * The number of states that BIC prefers for a target and size, from 1 to LABELS_STATES_MOST; 0 if
 * it is not known. With one state, idle and busy only divide its variation.
 */
#define LABELS_STATES_MOST 4
size_t states_preferred(const struct states *states, size_t target, size_t size);

/* Writes to label, one array entry each. The caller owns the arrays. */
struct labels_writes {
	const double *time_s, *seconds;
	const bool *late; /* true if the write timed out; NULL: none did */
	size_t count;
};

/*
 * Draws a label per write, 0 for idle and 1 for busy, and sets the posterior probability of busy. A
 * draw depends only on the seed, the target, the size and the time of the write, so a write has the
 * same label in every time range. Returns the accuracy ceiling of WAN-18. Without a mixture,
 * returns NAN and sets everything to 0.
 */
double labels_draw(const struct states *states, size_t target, size_t size, uint64_t seed,
		   const struct labels_writes *writes, double *labels, double *posterior);

/*
 * The same for feature rows of a series; labels and posterior have rows->rows entries. target and
 * size are indices of the states, which may differ from those of the chronicle.
 */
struct feature_rows;
double labels_draw_rows(const struct states *states, size_t target, size_t size, uint64_t seed,
			const struct chronicle_series *series, const struct feature_rows *rows,
			double *labels, double *posterior);

/* The mixture of each target and size that has one, by name, so that chronicles may order them in
 * another way. */
struct borders {
	struct border {
		char target[CHRONICLE_NAME];
		uint64_t bytes;
		struct mixture mixture;
	} * list;
	size_t count;
};

/* Copies the mixtures; targets and sizes are those of the states. */
struct borders *borders_new(const struct states *states, const char (*targets)[CHRONICLE_NAME],
			    const uint64_t *sizes);
void borders_free(struct borders *borders);

/* The mixture of a target and size, or NULL. */
const struct mixture *borders_find(const struct borders *borders, const char *target,
				   uint64_t bytes);

/* The probability that a write was busy; 1 if it timed out. */
double labels_posterior(const struct mixture *mixture, double seconds, bool is_late);

/* The states as part of a model file. Loading accepts any bytes and rejects damaged ones. */
struct blob;
struct buf;
void states_save(const struct states *states, struct buf *buf);
int states_load(struct states *states, struct blob *blob, size_t target_count, size_t size_count,
		struct err *err);

#endif

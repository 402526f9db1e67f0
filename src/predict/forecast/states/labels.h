/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Idle or busy (WAN-17 to WAN-20): a mixture of two log-normal distributions per size of write,
 * over all targets or for each by itself, fitted to training days only; and the labels, drawn at
 * random from its posterior, which is kept beside them.
 *
 * A write that timed out took longer than is known. It does not count for the mixture, and it is
 * busy for sure: its posterior is 1. Two states are the paper's; mixture.h finds more where BIC
 * asks for them, which nothing here can make use of.
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
	double from_s, to_s; /* of the writes that the mixtures are fitted to */
	uint64_t seed;
};

/* The mixtures of a system. */
struct states {
	enum labels_scope scope;
	size_t target_count, size_count;
	struct mixture *mixtures; /* targets (or one) x sizes; the probes' are empty */
	bool *known;		  /* false: there was too little to fit one */
};

/*
 * A target or size without enough writes has none (known is false); no mixture at all is -ENODATA.
 * Of more than LABELS_MOST writes every n-th counts: a mixture of five numbers is as good then.
 * Where the faster state has less than LABELS_FEW of the writes these are left out, and the others
 * are fitted again: a few that a cache took in, or a throttle on credit, are no state.
 */
#define LABELS_MOST 262144
#define LABELS_FEW 0.05
int states_fit(struct states *states, const struct chronicle *chronicle,
	       const struct labels_plan *plan, struct err *err);
void states_release(struct states *states);

/* NULL where there is none. */
const struct mixture *states_mixture(const struct states *states, size_t target, size_t size);

/* Writes to label; arrays of the caller's, one entry per write. */
struct labels_writes {
	const double *time_s, *seconds;
	const bool *late; /* it timed out; NULL: none did */
	size_t count;
};

/*
 * A label per write: 0 idle, 1 busy. posterior: chance of busy. A draw depends on the seed, the
 * target, the size and the time of the write, and not on what else is asked for: a write has the
 * same label in every window. Returns the ceiling of WAN-18; NAN, and all are 0, where there is no
 * mixture.
 */
double labels_draw(const struct states *states, size_t target, size_t size, uint64_t seed,
		   const struct labels_writes *writes, double *labels, double *posterior);

/*
 * The same for rows of features, which were made of a series; labels and posterior have room for
 * rows->rows. target and size are those of the states: a chronicle may number them otherwise.
 */
struct feature_rows;
double labels_draw_rows(const struct states *states, size_t target, size_t size, uint64_t seed,
			const struct chronicle_series *series, const struct feature_rows *rows,
			double *labels, double *posterior);

/* As parts of a model file; loading survives any bytes. */
struct blob;
struct buf;
void states_save(const struct states *states, struct buf *buf);
int states_load(struct states *states, struct blob *blob, size_t target_count, size_t size_count,
		struct err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Idle or busy (WAN-17 to WAN-20): a mixture of two log-normal distributions per size of write,
 * over all targets or for each by itself, fitted to training days only; and the labels, drawn at
 * random from its posterior, which is kept beside them.
 */
#ifndef SLUICE_PREDICT_FORECAST_LABELS_H
#define SLUICE_PREDICT_FORECAST_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "learn/states/mixture.h"
#include "predict/forecast/chronicle.h"

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
	struct mixture *mixtures; /* targets (or one) x sizes; that of the probes, too */
	bool *known;		  /* false: there was too little to fit one */
};

/* A target or size without enough writes has none (known is false); no mixture at all is -ENODATA.
 */
int states_fit(struct states *states, const struct chronicle *chronicle,
	       const struct labels_plan *plan, struct err *err);
void states_release(struct states *states);

/* NULL where there is none. */
const struct mixture *states_mixture(const struct states *states, size_t target, size_t size);

/*
 * A label per write time: 0 idle, 1 busy. posterior: chance of busy. The draws depend on the seed,
 * the target and the size, and not on who asks first. Returns the ceiling of WAN-18.
 */
double labels_draw(const struct states *states, size_t target, size_t size, uint64_t seed,
		   const double *seconds, size_t count, double *labels, double *posterior);

#endif

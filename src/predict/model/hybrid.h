/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hybrid model (Isaila et al. 2015): operation counts times learned costs. It predicts accesses
 * of programs that were never run, with a term by term account and an interval, and recommends
 * settings: those of least predicted time, or the default where a loss cannot be excluded
 * (HYB-L-13). It runs nothing (HYB-AC-18).
 *
 * As a file: one line of JSON for people, then the numbers, then a checksum, as learn/model.h.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_H
#define SLUICE_PREDICT_MODEL_HYBRID_H

#include "predict/model/costs.h"
#include "predict/model/counts.h"

struct hybrid {
	struct machine machine;
	struct costs costs;
	struct rules rules;
	uint64_t seed;
	int64_t made; /* seconds since 1970 */
};

int hybrid_fit(struct hybrid *hybrid, const struct machine *machine, const struct elements *rows,
	       const struct costs_plan *plan, struct err *err);
void hybrid_release(struct hybrid *hybrid);
int hybrid_save(const struct hybrid *hybrid, const char *path, struct err *err);
int hybrid_load(struct hybrid *hybrid, const char *path, struct err *err);
int hybrid_parse(struct hybrid *hybrid, const char *name, const void *bytes, size_t n,
		 struct err *err);

struct prediction {
	struct counts counts;
	double each[COUNTS_TERMS], terms[COUNTS_TERMS]; /* of one operation; times count */
	double seconds, low, high;
	bool is_outside; /* some argument lies beyond what was benchmarked */
};

/* -ENODATA where a term's operation was not benchmarked, with its name in err. */
int hybrid_predict(const struct hybrid *hybrid, const struct access *access,
		   const struct settings *settings, double coverage, struct prediction *prediction,
		   struct err *err);

/* The times alone, of many settings at once; NAN where one makes no sense. For who is in a hurry.
 */
int hybrid_times(const struct hybrid *hybrid, const struct access *access,
		 const struct settings *settings, size_t count, double *seconds, struct err *err);

struct recommendation {
	size_t best;			  /* index of the settings of least predicted time */
	double gain, gain_low, gain_high; /* predicted time of the default over that of the best */
	bool keep; /* the interval of the gain does not exclude a loss: keep the default */
};

/* Among count settings; initial: what counts now. */
int hybrid_recommend(const struct hybrid *hybrid, const struct access *access,
		     const struct settings *settings, size_t count, const struct settings *initial,
		     double coverage, struct recommendation *recommendation, struct err *err);

#endif

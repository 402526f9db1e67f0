/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of studies share. Work is cut into pieces, one repetition under one condition
 * each; what a piece leaves depends on its number alone, so threads may take them in any order.
 */
#ifndef SLUICE_LAB_MODEL_STUDIES_INTERNAL_H
#define SLUICE_LAB_MODEL_STUDIES_INTERNAL_H

#include <pthread.h>

#include "base/err.h"
#include "lab/model/studies.h"

/* Streams of random numbers that must not meet. */
enum { SEED_DESIGN = 1000, SEED_RANDOM = 2000, SEED_NOISE = 3000, SEED_THIN = 4000 };

struct pieces {
	const struct study *study;
	const char *stage;
	int (*work)(struct pieces *pieces, size_t piece, struct err *err);
	void *arg;
	size_t count, done;
	pthread_mutex_t lock; /* guards done, failed, err and who tells progress */
	size_t failed;	      /* the first piece that did; SIZE_MAX: none */
	struct err err;
};
int pieces_run(struct pieces *pieces, struct err *err);

/* Campaigns of one seed; those of the next are others. */
enum { SEED_DRAWS = 1000 };

/* One repetition: learns from these rows, with the methods that were selected. */
int study_learn(struct hybrid *hybrid, const struct study *study, const struct elements *rows,
		size_t repetition, struct err *err);

/*
 * What the hybrid model chooses, by each rule of rounds, without and with the rule to keep the
 * default. predicted: rules of rounds x instances x choices.
 */
int study_hybrid_choose(struct hybrid *hybrid, const struct study *study, size_t repetition,
			struct outcome outcomes[HYBRID_OUTCOMES], double *predicted,
			struct err *err);

/* Times of all instances x choices, as the black box has them. */
int study_ml_say(const struct study *study, const struct training *training, bool logarithm,
		 size_t repetition, double *predicted, struct err *err);

void study_training(struct training *training, const struct study *study, size_t repetition);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of studies share. The work of a study is divided into pieces: one repetition under
 * one condition. The result of a piece depends on its number only, so threads may process pieces in
 * any order.
 */
#ifndef SLUICE_LAB_MODEL_STUDIES_INTERNAL_H
#define SLUICE_LAB_MODEL_STUDIES_INTERNAL_H

#include <pthread.h>

#include "base/err.h"
#include "lab/model/studies.h"

/* Offsets of seeds, so that streams of random numbers do not overlap. */
enum { SEED_DESIGN = 1000, SEED_RANDOM = 2000, SEED_NOISE = 3000, SEED_THIN = 4000 };

struct pieces {
	const struct study *study;
	const char *stage;
	int (*work)(struct pieces *pieces, size_t piece, struct err *err);
	void *arg;
	size_t count, done;
	pthread_mutex_t lock; /* guards done, failed, err and the progress callback */
	size_t failed;	      /* the first piece that failed; SIZE_MAX: none */
	struct err err;
};

/* Runs all pieces on the threads of the plan. Returns the error of the first piece that failed. */
int pieces_run(struct pieces *pieces, struct err *err);

/* Benchmark campaigns reserved for one seed. */
enum { SEED_DRAWS = 1000 };

/* Fits the hybrid model to the rows, with the methods that study_init() selected. */
int study_learn(struct hybrid *hybrid, const struct study *study, const struct elements *rows,
		size_t repetition, struct err *err);

/*
 * Lets the hybrid model choose settings: by each rule of rounds, and for each of them with and
 * without keeping the default. predicted: rules of rounds x instances x choices.
 */
int study_hybrid_choose(struct hybrid *hybrid, const struct study *study, size_t repetition,
			struct outcome outcomes[HYBRID_OUTCOMES], double *predicted,
			struct err *err);

/* Predicts the times of all instances x choices with the black box. */
int study_ml_predict(const struct study *study, const struct training *training, bool logarithm,
		     size_t repetition, double *predicted, struct err *err);

/* The training runs of a repetition. The caller releases them. */
void study_training(struct training *training, const struct study *study, size_t repetition);

#endif

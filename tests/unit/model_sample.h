/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fits a hybrid model of a small machine to synthetic benchmarks of writes, saves it to a file, and
 * calibrates it with simulated accesses.
 */
#ifndef SLUICE_TESTS_MODEL_SAMPLE_H
#define SLUICE_TESTS_MODEL_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "check.h"
#include "learn/math/random.h"
#include "predict/model/environment.h"
#include "predict/model/hybrid/hybrid.h"
#include "store/elements.h"

/* Adds a row of a machine with two nodes of four cores. */
static inline void model_row(struct elements *rows, enum operation operation, double a,
			     double bytes)
{
	struct element e = { .platform = "small", .nodes = 2, .cores = 4, .bytes = bytes };
	bool is_storage = operations[operation].kind == OPERATION_STORAGE;

	snprintf(e.operation, sizeof(e.operation), "%s", operations[operation].name);
	if (operations[operation].kind == OPERATION_EXCHANGE) {
		e.senders = a;
		e.receivers = a / 2;
	}
	if (operation_has_writers(operation))
		e.writers = a;
	/* A latency, and a rate that writers or senders share. */
	e.seconds = (operations[operation].kind == OPERATION_PIECES ? 1e-7 : 1e-4) +
		    bytes / (is_storage ? 1e8 : 1e9) * (1 + 0.1 * e.writers + 0.01 * e.senders);
	elements_add(rows, &e);
}

static inline void model_rows(struct elements *rows)
{
	static const enum operation list[] = { OPERATION_ALLREDUCE,   OPERATION_ALLTOALL,
					       OPERATION_ALLTOALLV,   OPERATION_ALLGATHER,
					       OPERATION_BROADCAST,   OPERATION_WRITE_FIRST,
					       OPERATION_WRITE_FULL,  OPERATION_WRITE_PARTIAL,
					       OPERATION_PIECE_WRITE, OPERATION_SIEVE,
					       OPERATION_PIECE_COPY,  OPERATION_PIECE_EXCHANGE };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		for (double a = 1; a <= 8; a *= 2)
			for (double bytes = 4; bytes <= 4194304; bytes *= 16)
				model_row(rows, list[i], a, bytes);
}

/* Saves the model to a new temporary file and returns its name in path. */
static inline void model_save(struct hybrid *hybrid, const char *machine, uint64_t seed,
			      char path[32])
{
	const struct learner_ops *const linear[] = {
		learner_find("linear", LEARNER_REGRESSES, NULL), NULL
	};
	struct costs_plan plan = {
		.learners = linear, .budget = 1, .folds = 3, .seed = seed, .threads = 1
	};
	struct elements rows = { 0 };
	struct machine small;
	int fd;

	strcpy(path, "/tmp/sluice-model-XXXXXX");
	fd = mkstemp(path);
	REQUIRE(fd >= 0);
	close(fd);
	REQUIRE(machine_read_text(&small, "small.ini", machine, strlen(machine), NULL) == 0);
	model_rows(&rows);
	REQUIRE(hybrid_fit(hybrid, &small, &rows, &plan, NULL) >= 0);
	REQUIRE(hybrid_save(hybrid, path, NULL) >= 0);
	elements_release(&rows);
}

/* Settings with which an access moves its data in this way. */
static inline struct settings model_settings(enum transfer transfer)
{
	struct settings settings = { 0 };

	settings.buffering =
		transfer == TRANSFER_COLLECTIVE ? BUFFERING_ENABLED : BUFFERING_DISABLED;
	if (transfer == TRANSFER_PIECES)
		settings.sieving = BUFFERING_DISABLED;
	return settings;
}

/*
 * Calibrates the model with accesses like this one, in 40 groups: they take seconds[t] with
 * transfer t, with errors of this standard deviation of the logarithm; 0: that transfer was not
 * measured. host: where that was, NULL: here.
 */
static inline void model_calibrate(struct hybrid *hybrid, const struct access *access,
				   const double seconds[TRANSFERS], double error, const char *host)
{
	enum { GROUPS = 40 };
	struct validation_case cases[GROUPS * TRANSFERS];
	struct settings usual = { 0 };
	struct prediction prediction;
	enum transfer initial;
	struct environment now;
	struct random random;
	size_t count = 0;

	random_init(&random, 1);
	REQUIRE(hybrid_predict(hybrid, access, &usual, HYBRID_COVERAGE, &prediction, NULL) >= 0);
	initial = prediction.counts.transfer;
	for (int t = 0; t < TRANSFERS; t++) {
		struct settings settings =
			t == (int)initial ? usual : model_settings((enum transfer)t);

		if (seconds[t] <= 0)
			continue;
		REQUIRE(hybrid_predict(hybrid, access, &settings, HYBRID_COVERAGE, &prediction,
				       NULL) >= 0);
		REQUIRE((int)prediction.counts.transfer == t);
		for (size_t i = 0; i < GROUPS; i++)
			cases[count++] = (struct validation_case){
				.group = i,
				.transfer = (enum transfer)t,
				.is_default = t == (int)initial,
				.ranks = (double)access->ranks,
				.bytes = (double)access->rank_bytes,
				.predicted = prediction.seconds,
				.measured = seconds[t] * exp(error * random_normal(&random)),
			};
	}
	environment_detect(&now, "", "");
	if (host)
		snprintf(now.host, sizeof(now.host), "%s", host);
	REQUIRE(validation_make(&hybrid->validation, cases, count, 1, &now, NULL) == 0);
}

#endif

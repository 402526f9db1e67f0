/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small generated system with known states, for tests of the forecast. Each target has a state
 * that lasts about an hour, probes every 30 s that reflect it imperfectly, and reference writes of
 * two sizes every 5 minutes with some overlap. The number of large jobs rises with the number of
 * busy targets.
 */
#ifndef SLUICE_TESTS_FORECAST_SAMPLE_H
#define SLUICE_TESTS_FORECAST_SAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "learn/math/random.h"
#include "predict/forecast/chronicle/chronicle.h"

#define SAMPLE_START 1520708400.0
#define SAMPLE_TARGETS 4
#define SAMPLE_SMALL (64ull << 20)
#define SAMPLE_LARGE (1ull << 30)

struct sample {
	struct chronicle chronicle;
	uint8_t *busy[SAMPLE_TARGETS * CHRONICLE_SIZES];
};

static inline void sample_jobs(struct chronicle *chronicle, double time_s, size_t busy)
{
	struct jobs jobs = { .time_s = time_s };

	for (size_t i = 0; i < 5 + busy; i++) {
		struct job *job = jobs_add(&jobs);

		job->nodes = i < 5 ? 8 : 4000;
		job->used_s = 60;
		job->allocated_s = 3600;
		job->memory_bytes = job->virtual_bytes = 1e9;
	}
	chronicle_add_jobs(chronicle, &jobs);
}

/* Adds a write whose duration depends on the state, and records the true state. */
static inline void sample_write(struct sample *sample, struct random *random, size_t target,
				size_t size, double time_s, int busy, const double mean[2],
				const double deviation[2])
{
	struct chronicle_series *series = chronicle_series(&sample->chronicle, target, size);
	uint8_t **states = &sample->busy[target * CHRONICLE_SIZES + size];
	double seconds = exp(log(mean[busy]) + deviation[busy] * random_normal(random));

	*states = xrealloc(*states, series->count + 1, 1);
	(*states)[series->count] = (uint8_t)busy;
	chronicle_add(&sample->chronicle, target, size, time_s, seconds, SAMPLE_DONE,
		      SAMPLE_DIRECT);
}

/* fade: share of probes in the second half of the time that do not depend on the state. */
static inline void sample_make(struct sample *sample, double days, uint64_t seed, double fade)
{
	static const uint64_t sizes[] = { 1 << 20, SAMPLE_SMALL, SAMPLE_LARGE };
	static const double means[3][2] = { { .008, .016 }, { .11, .17 }, { 1.85, 2.7 } };
	static const double deviations[3][2] = { { .30, .40 }, { .10, .20 }, { .06, .20 } };
	int state[SAMPLE_TARGETS] = { 0 };
	struct random random;
	size_t steps = (size_t)(days * 2880);

	*sample = (struct sample){ 0 };
	random_init(&random, seed);
	chronicle_init(&sample->chronicle, "little", sizes, 3);
	for (int t = 0; t < SAMPLE_TARGETS; t++) {
		char name[16];

		snprintf(name, sizeof(name), "oss%d", t);
		chronicle_add_target(&sample->chronicle, name);
	}
	for (size_t i = 0; i < steps; i++) {
		double now = SAMPLE_START + 30 * (double)i;
		size_t busy = 0;

		for (size_t t = 0; t < SAMPLE_TARGETS; t++) {
			int shown;

			if (random_real(&random) < (state[t] ? 1 / 80. : 1 / 160.))
				state[t] = !state[t];
			busy += (size_t)state[t];
			shown = i > steps / 2 && random_real(&random) < fade
					? random_real(&random) < 0.5
					: state[t];
			sample_write(sample, &random, t, 0, now, shown, means[0], deviations[0]);
			sample->busy[t * CHRONICLE_SIZES][i] = (uint8_t)state[t];
			for (size_t s = 1; s < 3 && i % 10 == 9; s++)
				sample_write(sample, &random, t, s, now, state[t], means[s],
					     deviations[s]);
		}
		if (i % 10 == 0)
			sample_jobs(&sample->chronicle, now, busy);
	}
}

static inline void sample_release(struct sample *sample)
{
	for (size_t i = 0; i < SAMPLE_TARGETS * CHRONICLE_SIZES; i++)
		free(sample->busy[i]);
	chronicle_release(&sample->chronicle);
}

#endif

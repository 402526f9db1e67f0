/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates a storage target: when it is busy, and the times of writes to it. An idle phase ends
 * with a hazard that depends on the pressure. A busy phase is a short or a long burst of log-normal
 * length, so the state is not a Markov chain. Probes, but not large writes, may also be slow
 * because of their path.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "learn/math/exponential.h"
#include "predict/simulate/system_internal.h"

#define PRESSURE_MAX 3.0

void toggles_release(struct toggles *toggles)
{
	free(toggles->at_s);
	*toggles = (struct toggles){ 0 };
}

static void append_toggle(struct toggles *toggles, double at_s)
{
	toggles->at_s =
		xgrow(toggles->at_s, &toggles->cap, toggles->count + 1, sizeof(*toggles->at_s));
	toggles->at_s[toggles->count++] = at_s;
}

static double draw_exponential(struct random *random)
{
	return -log1p(-random_real(random));
}

static double clip(double value, double most)
{
	return fmax(-most, fmin(most, value));
}

/* Draws a log-normal duration with the given mean. */
static double draw_dwell(struct random *random, double mean_s, double sigma)
{
	return mean_s * exp(sigma * random_normal(random) - sigma * sigma / 2);
}

/* The properties in which targets differ. */
struct temper {
	double coupling, hazard; /* per step, at mean pressure */
};

static void draw_temper(const struct system *system, struct random *random, struct temper *temper)
{
	double gamma = 0;

	/* Gamma distribution of shape 4 and mean 1: the mix hardly affects some targets, and others
	 * twice as much. */
	for (int i = 0; i < 4; i++)
		gamma += draw_exponential(random) / 4;
	temper->coupling = system->coupling * gamma;
	temper->hazard =
		SYSTEM_STEP_S / system->idle_s * exp(system->hazard_sigma * random_normal(random));
}

/* Adds up the hazard until it reaches the budget. Returns the step at which idle ends, or the last.
 */
static double walk_idle(const struct temper *temper, const double *pressure, double step,
			double last, double budget)
{
	while (step < last) {
		double next = floor(step) + 1;
		double felt = clip(temper->coupling * pressure[(size_t)step], PRESSURE_MAX);
		double rate = temper->hazard * exponential(felt);
		double most = rate * (next - step);

		if (budget < most)
			return step + budget / rate;
		budget -= most;
		step = next;
	}
	return last;
}

void system_states(const struct system *system, uint64_t seed, size_t target,
		   const double *pressure, size_t lead, size_t count, struct toggles *toggles)
{
	double step = 0, last = (double)(lead + count);
	struct random random;
	struct temper temper;

	target_stream(&random, seed, target, STREAM_STATES);
	draw_temper(system, &random, &temper);
	for (;;) {
		bool is_long;
		double felt;

		step = walk_idle(&temper, pressure, step, last, draw_exponential(&random));
		if (step >= last)
			return;
		append_toggle(toggles, (step - (double)lead) * SYSTEM_STEP_S);
		is_long = random_real(&random) < system->long_share;
		felt = clip(pressure[(size_t)step], 2);
		step += exp(system->dwell_pressure * felt) / SYSTEM_STEP_S *
			draw_dwell(&random, is_long ? system->long_s : system->short_s,
				   system->dwell_sigma);
		append_toggle(toggles, (step - (double)lead) * SYSTEM_STEP_S);
	}
}

/* Draws the times at which the path of the probes is slow. */
static void draw_path(const struct system *system, struct random *random, double seconds,
		      struct toggles *path)
{
	double share = system->path_share, quick_s, now_s;

	if (!(share > 0))
		return;
	quick_s = system->path_s * (1 - share) / share;
	for (now_s = -quick_s; now_s < seconds;) {
		now_s += quick_s * draw_exponential(random);
		append_toggle(path, now_s);
		now_s += draw_dwell(random, system->path_s, system->dwell_sigma);
		append_toggle(path, now_s);
	}
}

/* Evaluates a state at nondecreasing times. */
struct follower {
	const struct toggles *toggles;
	size_t next;
};

static bool state_at(struct follower *follower, double at_s)
{
	const struct toggles *toggles = follower->toggles;

	while (follower->next < toggles->count && toggles->at_s[follower->next] <= at_s)
		follower->next++;
	return follower->next & 1;
}

/* The distribution of write times, in logarithms of seconds: [0] idle, [1] busy. */
struct law {
	double center[2], sigma[2], tail[2];
	double exposure, power, longest_s;
};

static void init_law(struct law *law, const struct system *system, const struct write_times *times,
		     double shift)
{
	const double mode[2] = { times->idle_s, times->busy_s };
	const double sigma[2] = { times->idle_sigma, times->busy_sigma };

	for (int k = 0; k < 2; k++) {
		/* From the mode to the median. */
		law->center[k] = log(mode[k]) + sigma[k] * sigma[k] + shift;
		law->sigma[k] = sigma[k];
	}
	law->tail[0] = system->tail_share;
	law->tail[1] = system->tail_share * system->tail_busy;
	law->exposure = times->exposure;
	law->power = -1 / system->tail_power;
	law->longest_s = system->longest_s;
}

static double draw_seconds(struct random *random, const struct law *law, bool is_busy,
			   bool is_blocked)
{
	bool is_slow = (is_busy && random_real(random) < law->exposure) || is_blocked;
	double seconds =
		exponential(law->center[is_slow] + law->sigma[is_slow] * random_normal(random));

	if (random_real(random) < law->tail[is_slow])
		seconds *= pow(1 - random_real(random), law->power);
	return fmin(seconds, law->longest_s);
}

static void series_new(struct chronicle_series *series, size_t count)
{
	series->time_s = xcalloc(count, sizeof(*series->time_s));
	series->seconds = xcalloc(count, sizeof(*series->seconds));
	series->outcome = xcalloc(count, sizeof(*series->outcome));
	series->count = series->cap = count;
}

void system_times(const struct system *system, uint64_t seed, size_t target,
		  const struct toggles *toggles, const struct sampling *sampling,
		  struct chronicle_series *series, uint8_t **busy)
{
	struct toggles path = { 0 };
	struct random random;
	double shift;

	target_stream(&random, seed, target, STREAM_PATH);
	shift = system->shift * random_normal(&random);
	draw_path(system, &random, (double)sampling->rounds[0] * sampling->every_s[0], &path);
	for (size_t size = 0; size < SYSTEM_SIZES; size++) {
		struct follower state = { .toggles = toggles }, way = { .toggles = &path };
		size_t count = sampling->rounds[size > 0];
		struct law law;

		target_stream(&random, seed, target, STREAM_SIZES + size);
		init_law(&law, system, &system->times[size], shift);
		series_new(&series[size], count);
		busy[size] = xcalloc(count, 1);
		for (size_t i = 0; i < count; i++) {
			double at_s = (double)i * sampling->every_s[size > 0];
			bool is_busy = state_at(&state, at_s);
			bool is_blocked = size == 0 && state_at(&way, at_s);

			series[size].time_s[i] = sampling->start_s + at_s;
			series[size].seconds[i] =
				(float)draw_seconds(&random, &law, is_busy, is_blocked);
			series[size].outcome[i] = SAMPLE_DONE | SAMPLE_DIRECT << 4;
			busy[size][i] = is_busy;
		}
	}
	toggles_release(&path);
}

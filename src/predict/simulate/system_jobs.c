/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Generates jobs, schedules them, and computes their load on storage. The scheduler is first come,
 * first served, with EASY backfill: no job may delay the first one in the queue.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "predict/simulate/system_internal.h"

#define HOUR_S 3600.0
#define DAY_S 86400.0
#define GB 1e9

/* Interpolates the quantile; share is from 0 to 1. */
static double quantiles_at(const struct quantiles *quantiles, double share)
{
	const double *shares = quantiles->share, *values = quantiles->value;
	size_t i = 1;
	double part;

	while (i + 1 < quantiles->count && shares[i] < share)
		i++;
	part = (share - shares[i - 1]) / (shares[i] - shares[i - 1]);
	return values[i - 1] * pow(values[i] / values[i - 1], part);
}

struct arrivals {
	const struct system *system;
	struct random random;
	double now_s, peak_s; /* since the start; peak_s: the busiest time of a day */
};

static double normal_share(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Draws a quantile that is correlated with z. */
static double draw_correlated(struct random *random, double z, double correlation)
{
	double own = sqrt(1 - correlation * correlation);

	return normal_share(correlation * z + own * random_normal(random));
}

/* Thinning: draws from a Poisson process of the peak rate and discards a part at night. */
static double next_arrival(struct arrivals *arrivals)
{
	const struct system *system = arrivals->system;
	double most = system->per_day * (1 + system->night) / DAY_S, rate;

	do {
		arrivals->now_s -= log1p(-random_real(&arrivals->random)) / most;
		rate = 1 +
		       system->night * cos(2 * M_PI * (arrivals->now_s - arrivals->peak_s) / DAY_S);
	} while (random_real(&arrivals->random) * (1 + system->night) >= rate);
	return arrivals->now_s;
}

/* Some jobs use their whole request, because the scheduler kills them; others use less. */
static void draw_times(const struct system *system, struct random *random, double z,
		       struct system_job *job)
{
	double hours =
		quantiles_at(&system->job_hours, draw_correlated(random, z, system->hours_rank));
	double used = system->least_used + (1 - system->least_used) * random_real(random);

	job->end_s = hours * HOUR_S; /* the duration; start_job() turns it into a time */
	job->requested_s = random_real(random) < system->killed ? job->end_s : job->end_s / used;
	job->requested_s = ceil(job->requested_s / system->quantum_s) * system->quantum_s;
}

static void draw_load(const struct system *system, struct random *random, struct system_job *job)
{
	static const double periods_s[] = { 900, 1800, 3600 };
	double chance =
		job->nodes >= system->large_nodes ? system->writers_large : system->writers_small;
	double period = periods_s[random_below(random, 3)];

	job->phase_s = random_real(random) * period;
	job->burst_s = 60 + 360 * random_real(random);
	job->period_s = random_real(random) < chance ? period : 0;
}

static void draw_job(struct arrivals *arrivals, struct system_job *job)
{
	const struct system *system = arrivals->system;
	struct random *random = &arrivals->random;
	double z = random_normal(random), bytes, user = random_real(random);
	bool may_debug;

	*job = (struct system_job){ .submit_s = next_arrival(arrivals) };
	job->nodes = round(quantiles_at(&system->job_nodes, normal_share(z)));
	bytes = GB *
		quantiles_at(&system->job_memory, draw_correlated(random, z, system->memory_rank));
	job->memory_bytes = bytes;
	job->virtual_bytes = bytes * system->virtual_ratio + system->virtual_bytes * job->nodes;
	draw_times(system, random, z, job);
	draw_load(system, random, job);
	/* A few users own most of the jobs. */
	job->user = (uint32_t)(system->users * user * user);
	may_debug = job->nodes <= system->debug_nodes &&
		    job->requested_s <= system->debug_hours * HOUR_S;
	job->queue = may_debug && random_real(random) < system->debug_share;
}

struct scheduler {
	const struct system *system;
	double free_nodes;
	struct system_job *queue; /* in the order of submission */
	size_t queued, queue_cap;
	struct running {
		double end_s, must_end_s, nodes;
	} * running; /* ordered by must_end_s */
	size_t count, cap;
	struct system_job *started;
	size_t started_count, started_cap;
};

static void start_job(struct scheduler *scheduler, size_t at, double now_s)
{
	struct system_job job = scheduler->queue[at];
	struct running run = { now_s + job.end_s, now_s + job.requested_s, job.nodes };
	size_t place = scheduler->count;

	scheduler->queued--;
	memmove(scheduler->queue + at, scheduler->queue + at + 1,
		(scheduler->queued - at) * sizeof(job));
	scheduler->running =
		xgrow(scheduler->running, &scheduler->cap, scheduler->count + 1, sizeof(run));
	for (; place && scheduler->running[place - 1].must_end_s > run.must_end_s; place--)
		scheduler->running[place] = scheduler->running[place - 1];
	scheduler->running[place] = run;
	scheduler->count++;
	scheduler->free_nodes -= job.nodes;
	job.start_s = now_s;
	job.end_s = run.end_s;
	scheduler->started = xgrow(scheduler->started, &scheduler->started_cap,
				   scheduler->started_count + 1, sizeof(job));
	scheduler->started[scheduler->started_count++] = job;
}

/* Returns the latest start of the first job in the queue, and the nodes that are free next to it
 * then. */
static double reserve_first(const struct scheduler *scheduler, double *spare_nodes)
{
	double free_nodes = scheduler->free_nodes, need = scheduler->queue[0].nodes;
	size_t i = 0;

	while (i < scheduler->count && free_nodes < need)
		free_nodes += scheduler->running[i++].nodes;
	*spare_nodes = free_nodes - need;
	return i ? scheduler->running[i - 1].must_end_s : 0;
}

static void start_jobs(struct scheduler *scheduler, double now_s)
{
	double until_s, spare;

	while (scheduler->queued && scheduler->queue[0].nodes <= scheduler->free_nodes)
		start_job(scheduler, 0, now_s);
	if (!scheduler->queued || scheduler->free_nodes < 1)
		return;
	until_s = reserve_first(scheduler, &spare);
	for (size_t i = 1; i < scheduler->queued && i <= (size_t)scheduler->system->backfill;) {
		const struct system_job *job = &scheduler->queue[i];
		bool is_brief = now_s + job->requested_s <= until_s;

		if (job->nodes > scheduler->free_nodes || (!is_brief && job->nodes > spare)) {
			i++;
			continue;
		}
		spare -= is_brief ? 0 : job->nodes;
		start_job(scheduler, i, now_s);
	}
}

static size_t first_end(const struct scheduler *scheduler)
{
	size_t first = 0;

	for (size_t i = 1; i < scheduler->count; i++)
		if (scheduler->running[i].end_s < scheduler->running[first].end_s)
			first = i;
	return first;
}

/* Ends jobs one by one until a time, because each may let others start. */
static void finish_until(struct scheduler *scheduler, double until_s)
{
	while (scheduler->count) {
		size_t first = first_end(scheduler);
		struct running gone = scheduler->running[first];

		if (gone.end_s > until_s)
			return;
		scheduler->count--;
		memmove(scheduler->running + first, scheduler->running + first + 1,
			(scheduler->count - first) * sizeof(gone));
		scheduler->free_nodes += gone.nodes;
		start_jobs(scheduler, gone.end_s);
	}
}

struct system_job *system_jobs(const struct system *system, uint64_t seed, double seconds,
			       double peak_s, size_t *count)
{
	struct scheduler scheduler = { .system = system, .free_nodes = system->nodes };
	struct arrivals arrivals = { .system = system,
				     .now_s = -system->warm_days * DAY_S,
				     .peak_s = peak_s };
	struct system_job job;

	random_stream(&arrivals.random, seed, STREAM_JOBS);
	for (draw_job(&arrivals, &job); job.submit_s < seconds; draw_job(&arrivals, &job)) {
		finish_until(&scheduler, job.submit_s);
		scheduler.queue = xgrow(scheduler.queue, &scheduler.queue_cap, scheduler.queued + 1,
					sizeof(job));
		scheduler.queue[scheduler.queued++] = job;
		start_jobs(&scheduler, job.submit_s);
	}
	finish_until(&scheduler, seconds);
	free(scheduler.queue);
	free(scheduler.running);
	*count = scheduler.started_count;
	return scheduler.started;
}

static void add_pressure(const struct system *system, const struct system_job *job, double *steps,
			 size_t lead, size_t count)
{
	double weight = pow(job->nodes / system->nodes, system->power);
	double from = fmax(ceil(job->start_s / SYSTEM_STEP_S) + (double)lead, 0);
	double to = fmin(ceil(job->end_s / SYSTEM_STEP_S) + (double)lead, (double)(lead + count));

	if (!(from < to))
		return;
	for (size_t k = (size_t)from; (double)k < to; k++) {
		double age_s = ((double)k - (double)lead) * SYSTEM_STEP_S - job->start_s;
		double level = system->running;

		if (age_s < job->requested_s / 3)
			level += system->fresh;
		if (fmod(age_s + job->phase_s, job->period_s) < job->burst_s)
			level += system->burst;
		steps[k] += weight * level;
	}
}

static void standardize(double *values, size_t count)
{
	double sum = 0, squares = 0, deviation;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	sum /= (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - sum) * (values[i] - sum);
	deviation = sqrt(squares / (double)count);
	for (size_t i = 0; i < count; i++)
		values[i] = deviation > 0 ? (values[i] - sum) / deviation : 0;
}

double *system_pressure(const struct system *system, const struct system_job *jobs,
			size_t job_count, size_t lead, size_t count)
{
	double *steps = xcalloc(lead + count, sizeof(*steps));

	for (size_t i = 0; i < job_count; i++)
		if (jobs[i].period_s > 0)
			add_pressure(system, &jobs[i], steps, lead, count);
	standardize(steps, lead + count);
	return steps;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/service/probing.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "predict/forecast/service/probing_internal.h"
#include "predict/forecast/site.h"

#define OTHER_DESCRIPTORS 64 /* descriptors needed besides those of the targets */
/* Bounds the delay of a signal that arrives between two checks. */
#define MAX_WAIT_NS NS_PER_S
#define WARNING_BYTES 1024

void probing_warn(const struct probing *probing, const char *format, ...)
{
	char text[WARNING_BYTES];
	va_list args;

	if (!probing->options.on_warning)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	probing->options.on_warning(probing->options.arg, text);
}

/* True if a limit would become 0, which means no limit, when it is divided. */
static bool is_too_low(uint64_t limit, uint64_t divisor)
{
	return limit && limit < divisor;
}

static int plan_init(struct probing_options *options, struct err *err)
{
	struct prober_plan *plan = &options->plan;
	uint64_t writers = options->is_all_to_all ? options->ranks : 1;

	if (is_too_low(plan->budget_bytes, options->ranks) ||
	    is_too_low(plan->rate_bytes, options->ranks) || is_too_low(plan->target_bytes, writers))
		return err_set(err, EINVAL, "the byte limit is too low for %llu ranks",
			       (unsigned long long)options->ranks);
	plan->budget_bytes /= options->ranks;
	plan->rate_bytes /= options->ranks;
	plan->target_bytes /= writers;
	plan->first_target = options->is_all_to_all ? 0 : options->rank;
	plan->target_step = options->is_all_to_all ? 1 : options->ranks;
	return prober_plan_check(plan, err);
}

static int add_target(struct probing *probing, const char *name, const char *place, struct err *err)
{
	struct target target = { 0 };
	int r = name ? target_init(&target, name, place, err) : target_parse(&target, place, err);

	return r < 0 ? r : targets_add(&probing->targets, &target, err);
}

static int add_site_targets(struct probing *probing, struct err *err)
{
	const struct site *site = probing->options.site;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < site->target_count; i++)
		r = add_target(probing, site->targets[i].name, site->targets[i].place, err);
	if (r < 0)
		err_prefix(err, "[targets] of site %s", probing->options.site_name);
	return r;
}

/* With --all-to-all, the samples of each rank form a series of their own. */
static int add_rank_to_names(struct probing *probing, struct err *err)
{
	for (size_t i = 0; i < probing->targets.count; i++) {
		char *name = probing->targets.rows[i].name;
		AUTO_FREE char *longer =
			xprintf("%s-r%llu", name, (unsigned long long)probing->options.rank);

		if (strlen(longer) >= CHRONICLE_NAME)
			return err_set(err, EINVAL,
				       "the name of target \"%s\" is too long for --all-to-all; "
				       "choose a shorter one",
				       name);
		strcpy(name, longer);
	}
	return 0;
}

static int targets_init(struct probing *probing, struct err *err)
{
	const struct probing_options *options = &probing->options;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < options->target_count; i++)
		r = add_target(probing, NULL, options->targets[i], err);
	if (r >= 0 && !probing->targets.count)
		r = add_site_targets(probing, err);
	if (r >= 0 && !probing->targets.count)
		r = err_set(err, EINVAL,
			    "missing TARGET: name one, such as a=/mnt/a, or a --site that "
			    "lists targets");
	if (r >= 0 && options->is_all_to_all)
		r = add_rank_to_names(probing, err);
	return r;
}

int probing_init(struct probing *probing, const struct probing_options *options, struct err *err)
{
	int r = 0;

	*probing = (struct probing){ .options = *options };
	if (!*options->system || strlen(options->system) >= CHRONICLE_NAME)
		return err_set(err, EINVAL, "the name of a system must have 1 to %d characters",
			       CHRONICLE_NAME - 1);
	r = plan_init(&probing->options, err);
	if (r >= 0)
		r = targets_init(probing, err);
	if (r >= 0 && options->command)
		r = probing_command_check(options, err);
	if (r < 0)
		return r;
	probing->times = xcalloc(probing->targets.count, sizeof(*probing->times));
	chronicle_init(&probing->rows, options->system, options->plan.sizes,
		       options->plan.size_count);
	return 0;
}

void probing_release(struct probing *probing)
{
	prober_close(&probing->prober);
	chronicle_release(&probing->rows);
	targets_release(&probing->targets);
	free(probing->times);
	free(probing->spool);
	*probing = (struct probing){ 0 };
}

static void on_sample(void *arg, const struct prober_sample *sample)
{
	probing_rows_add(arg, sample);
}

static void warn_of_shared_device(const struct probing *probing)
{
	size_t one, other;

	if (prober_shared_device(&probing->prober, &one, &other))
		probing_warn(probing,
			     "targets \"%s\" and \"%s\" are on the same device, so load on one "
			     "also slows the other",
			     probing->targets.rows[one].name, probing->targets.rows[other].name);
}

/* Each target needs two descriptors. If the hard limit is too low, opening a target fails later. */
static void raise_descriptor_limit(const struct probing *probing)
{
	rlim_t wanted = 2 * probing->targets.count + OTHER_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int probing_open(struct probing *probing, struct err *err)
{
	int r = probing_rows_open(probing, err);

	raise_descriptor_limit(probing);
	if (r >= 0)
		r = probing_jobs_init(probing, err);
	if (r >= 0)
		r = prober_open(&probing->prober, &probing->targets, &probing->options.plan,
				on_sample, probing, err);
	if (r < 0)
		return r;
	probing->began_ns = prober_now().monotonic_ns;
	if (!probing->spool)
		probing_rows_count_today(probing);
	warn_of_shared_device(probing);
	return 0;
}

/* Nanoseconds that may pass until the next check; 0 when the run is over. */
static int64_t time_left(const struct probing *probing, struct prober_now now)
{
	int64_t left_ns = MAX_WAIT_NS, duration_ns = probing->options.duration_ns;

	if (probing->options.stop && *probing->options.stop)
		return 0;
	if (duration_ns && probing->began_ns + duration_ns - now.monotonic_ns < left_ns)
		left_ns = probing->began_ns + duration_ns - now.monotonic_ns;
	return left_ns > 0 ? left_ns : 0;
}

/* pidfd: that of the command, or -1. */
static void run_rounds(struct probing *probing, int pidfd)
{
	struct prober_now now = prober_now();

	while (time_left(probing, now) && !probing_command_has_ended(pidfd)) {
		prober_step(&probing->prober, now);
		probing_jobs_step(probing, now.wall_ns);
		if (prober_has_probed(&probing->prober))
			probing_rows_save(probing);
		if (probing->options.on_step)
			probing->options.on_step(probing->options.arg, probing);
		now = prober_now();
		prober_wait(&probing->prober, now, pidfd, time_left(probing, now));
		now = prober_now();
	}
	prober_stop(&probing->prober);
	probing_jobs_stop(probing);
	probing_rows_save(probing);
}

static int run_with_command(struct probing *probing, struct err *err)
{
	AUTO_CLOSE int pidfd = -1;
	struct err trouble = { 0 };
	int r = probing_command_start(probing, &pidfd, err);

	if (r < 0)
		return r;
	if (pidfd < 0)
		probing_warn(probing, "no probes: this kernel does not support pidfd_open()");
	else if (probing_open(probing, &trouble) < 0)
		probing_warn(probing, "no probes: %s", trouble.text);
	else
		run_rounds(probing, pidfd);
	probing_command_wait(probing);
	return 0;
}

int probing_run(struct probing *probing, struct err *err)
{
	int r;

	if (probing->options.command)
		return run_with_command(probing, err);
	r = probing_open(probing, err);
	if (r >= 0)
		run_rounds(probing, -1);
	return r;
}

double probing_cpu_s(const struct probing *probing)
{
	struct rusage self;

	getrusage(RUSAGE_SELF, &self);
	return prober_cpu(&probing->prober) + probing->jobs.cpu_s +
	       (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec) +
	       (double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec) * 1e-6;
}

int64_t probing_elapsed_ns(const struct probing *probing)
{
	return prober_now().monotonic_ns - probing->began_ns;
}

bool probing_has_no_data(const struct probing *probing)
{
	struct prober_counts sum;

	prober_sum(&probing->prober, &sum);
	return probing->prober.rounds && probing->prober.count && !sum.probes &&
	       !sum.reference_writes;
}

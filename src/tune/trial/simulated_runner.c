/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/simulated_runner.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "predict/simulate/knobs.h"
#include "predict/simulate/workload.h"

struct simulation {
	struct platform *platform;
	struct workload workload;
	char *program, *platform_name, *fingerprint; /* the runner points to them */
};

/* The parameters that the model used, in the form in which a real run reads them back. */
static char *effective_parameters(const struct simulation *s, const struct knobs *k)
{
	struct tunable_context context;
	struct buf out = { 0 };

	platform_context(s->platform, &context);
	if (context.filesystem == FILESYSTEM_LUSTRE)
		buf_printf(&out, "striping_factor=%.0f;striping_unit=%.0f;", k->stripes, k->unit);
	if (s->workload.collective)
		buf_printf(&out, "%s=%.0f;cb_buffer_size=%.0f;",
			   context.filesystem == FILESYSTEM_LUSTRE ? "cb_nodes" : "bgl_nodes_pset",
			   k->aggregators, k->buffer);
	if (k->chunk > 0)
		buf_printf(&out, "chunk_size=%.0f;", k->chunk);
	buf_printf(&out, "alignment=%.0f,%.0f", k->threshold, k->boundary);
	return buf_take(&out);
}

/* A run that exceeds the limit takes exactly the limit. */
static void fill_trial(const struct simulation *s, const struct trial_limits *limits,
		       double seconds, struct trial *trial)
{
	trial->state = TRIAL_GOOD;
	trial->foreign = trial->frequency = NAN;
	if (limits && seconds > limits->seconds) {
		trial->state = TRIAL_SLOW;
		trial->reason = xprintf("aborted: it would have taken %.1f s", seconds);
		trial->run_s = trial->io_s = trial->write_s = limits->seconds;
		return;
	}
	trial->run_s = trial->io_s = trial->write_s = seconds;
	trial->write_bytes = (double)workload_bytes(&s->workload);
	trial->compared = xstrdup("not compared: a simulated run writes no data");
}

static int simulation_run(void *runner, const struct param_set *set,
			  const struct trial_limits *limits, struct trial *trial, struct err *err)
{
	struct simulation *s = runner;
	struct simulated simulated;
	struct err told = { 0 };
	struct knobs knobs;

	(void)err;
	*trial = (struct trial){ 0 };
	if (knobs_from_params(&knobs, &s->workload, s->platform, set, &told) < 0 ||
	    workload_simulate(&s->workload, s->platform, set, &simulated, &told) < 0) {
		trial->state = TRIAL_FAILED;
		trial->reason = xstrdup(told.text);
		return 0;
	}
	fill_trial(s, limits, simulated.total, trial);
	trial->effective = effective_parameters(s, &knobs);
	return 0;
}

static void simulation_close(void *runner)
{
	struct simulation *s = runner;

	if (!s)
		return;
	platform_close(s->platform);
	free(s->program);
	free(s->platform_name);
	free(s->fingerprint);
	free(s);
}

static const struct trial_runner_ops simulated_ops = {
	.run = simulation_run,
	.close = simulation_close,
	.is_exact = true,
};

static void fill_runner(struct trial_runner *runner, struct simulation *s)
{
	const struct workload *w = &s->workload;

	s->program = xprintf("%s_io", w->name);
	s->platform_name = xprintf("simulated:%s", platform_name(s->platform));
	/* The kernel and its bytes per rank identify the program. */
	s->fingerprint = xprintf("model:%s-%" PRIu64, w->name, w->rank_bytes);
	*runner = (struct trial_runner){ .ops = &simulated_ops,
					 .state = s,
					 .program = s->program,
					 .platform = s->platform_name,
					 .fingerprint = s->fingerprint,
					 .ranks = (uint32_t)w->ranks };
	platform_context(s->platform, &runner->context);
	runner->context.ranks = (uint32_t)w->ranks;
	runner->uses = (struct space_uses){ .hdf5 = true,
					    .hdf5_parallel = w->collective,
					    .mpi = true,
					    .collective = w->collective,
					    .creates = true,
					    .collective_hdf5 = w->collective };
}

int simulated_runner_open(struct trial_runner *runner, const char *platform, const char *kernel,
			  uint64_t ranks, struct err *err)
{
	struct simulation *s;
	struct workload workload;
	int r = workload_find(&workload, kernel, ranks, err);

	if (r < 0)
		return r;
	s = xcalloc(1, sizeof(*s));
	r = platform_open(&s->platform, platform, err);
	if (r < 0) {
		simulation_close(s);
		return r;
	}
	s->workload = workload;
	fill_runner(runner, s);
	return 0;
}

int simulated_runner_space(const struct trial_runner *runner, struct space *space, struct err *err)
{
	const struct simulation *s = runner->state;

	return workload_space(&s->workload, s->platform, space, err);
}

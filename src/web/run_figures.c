/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/run_figures.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/profile/profile.h"
#include "observe/profile/saved.h"
#include "observe/tally/summary.h"
#include "trace/format.h"

#define BATCH 1024

static void take_figures(struct run_figures *figures, const struct summary *summary)
{
	const struct sums *all = &summary->all;

	*figures = (struct run_figures){ .io_ns = summary_io_time_ns(summary),
					 .calls = all->io.calls,
					 .bytes_read = all->io.bytes_read,
					 .bytes_written = all->io.bytes_written,
					 .storage_calls = all->storage.calls };
}

static int read_activities(struct summary *summary, struct trace *trace, const atomic_bool *stop,
			   struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	ssize_t n;

	while ((n = trace_next(trace, batch, BATCH, err)) > 0) {
		if (atomic_load(stop))
			return -EINTR;
		for (ssize_t i = 0; i < n; i++)
			summary_add(summary, &batch[i]);
	}
	return (int)n;
}

static int read_trace(struct run_figures *figures, struct trace *trace, const atomic_bool *stop,
		      struct err *err)
{
	struct profile profile;
	struct summary summary;
	int r = saved_read(&profile, trace, err);

	if (r > 0) {
		take_figures(figures, &profile.summary);
		profile_release(&profile);
	}
	if (r)
		return r < 0 ? r : 0;
	summary_init(&summary, &trace->head);
	r = read_activities(&summary, trace, stop, err);
	if (r >= 0)
		take_figures(figures, &summary);
	summary_release(&summary);
	return r;
}

int run_figures_read(struct run_figures *figures, const char *path, const atomic_bool *stop,
		     struct err *err)
{
	struct trace trace;
	int r = trace_open(&trace, path, NULL, err);

	if (r < 0)
		return r;
	r = read_trace(figures, &trace, stop, err);
	trace_close(&trace);
	return r;
}

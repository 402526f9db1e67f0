/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The conditions of the runs of a tuning: load of other processes, more ranks than cores, and
 * changes of the frequency. A gain that was proved under them may not exist without them.
 */
#include "tune/loop/tuning_internal.h"

#include <math.h>

#include "base/buf.h"
#include "base/mem.h"
#include "learn/math/vector.h"

/* A run is disturbed if other processes use this much more of the processors than usual. */
#define DISTURBED 0.25
/* If they usually use this much, the result says so. */
#define FOREIGN_LEAST 0.25
/* A change of the frequency by this factor is reported. */
#define FREQUENCY_LEAST 1.1

/* The share of the processors that other processes usually use, up to the last run; in all phases,
 * or in the proof only. */
static double usual_foreign(const struct tuning *t, bool in_proof)
{
	AUTO_FREE double *shares = xcalloc(t->history.next + 1, sizeof(*shares));
	size_t n = 0;

	for (size_t i = 0; i < t->history.next; i++)
		if (!isnan(t->history.runs[i].foreign) &&
		    (!in_proof || t->history.runs[i].phase == PHASE_PROOF))
			shares[n++] = t->history.runs[i].foreign;
	return n ? vector_median(shares, n) : 0;
}

bool tuning_is_disturbed(const struct tuning *t, const struct history_run *run)
{
	return run->foreign > usual_foreign(t, false) + DISTURBED;
}

/* Ranks are spread over the nodes evenly. */
static void append_oversubscription(const struct tuning *t, struct buf *out)
{
	uint32_t ranks = t->plan.context.ranks, cores = t->runner->cores;
	uint32_t nodes = t->plan.context.nodes ? t->plan.context.nodes : 1;

	if (cores && ranks > cores * nodes)
		buf_printf(out, "the cores are oversubscribed (%u ranks on %u)", ranks,
			   cores * nodes);
}

static void append_foreign_load(const struct tuning *t, struct buf *out)
{
	double usual = fmax(usual_foreign(t, false), usual_foreign(t, true));

	if (usual >= FOREIGN_LEAST)
		buf_printf(out, "%sother processes used %.0f %% of the processors",
			   out->len ? "; " : "", 100 * usual);
}

static void append_frequency(const struct tuning *t, struct buf *out)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < t->history.next; i++) {
		double frequency = t->history.runs[i].frequency;

		if (!(frequency > 0))
			continue;
		least = fmin(least, frequency);
		most = fmax(most, frequency);
	}
	if (most > FREQUENCY_LEAST * least)
		buf_printf(out, "%sthe processors ran at %.2f to %.2f GHz", out->len ? "; " : "",
			   least * 1e-9, most * 1e-9);
}

char *tuning_conditions(const struct tuning *t)
{
	struct buf out = { 0 };

	append_oversubscription(t, &out);
	append_foreign_load(t, &out);
	append_frequency(t, &out);
	return out.len ? buf_take(&out) : NULL;
}

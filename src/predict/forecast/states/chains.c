/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probes are placed on a grid of their median spacing to fit a chain. The filter works at the times
 * of the probes, so that no probe is used before it was measured.
 */
#include "predict/forecast/states/chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/judge/metrics.h"

#define MAX_STEPS 1e9
#define MAX_GRID_PER_PROBE 8
#define MIN_GRID 1024
#define CHAIN_BYTES_MIN 8 /* in a file */

static double median_spacing(const struct chronicle_series *probes, size_t from, size_t to)
{
	AUTO_FREE double *gaps = xmalloc((to - from + 1) * sizeof(*gaps));

	for (size_t i = from + 1; i < to; i++)
		gaps[i - from - 1] = probes->time_s[i] - probes->time_s[i - 1];
	return to - from > 1 ? metrics_quantile(gaps, to - from - 1, 0.5) : 0;
}

/* The duration of a probe, at least, or NAN if it has none. */
static double probe_seconds(const struct chronicle_series *probes, size_t i)
{
	enum sample_outcome outcome = sample_outcome(probes, i);

	return outcome == SAMPLE_DONE || outcome == SAMPLE_TIMEOUT ? (double)probes->seconds[i]
								   : NAN;
}

size_t chain_first_probe(const struct chronicle_series *probes, double time_s)
{
	return chronicle_count_until(probes, nextafter(time_s, -INFINITY));
}

/* Converts a time to steps of the chain, at least one. */
static size_t count_steps(const struct chain *chain, double seconds)
{
	double steps = round(seconds / chain->step_s);

	return steps > 1 ? (size_t)fmin(steps, MAX_STEPS) : 1;
}

/* The grid of probes with long gaps is coarser than their spacing, to limit its memory. */
bool chain_fit(struct chain *chain, const struct chronicle_series *probes, size_t first, size_t end)
{
	AUTO_FREE double *grid = NULL;
	double start, span, steps;

	chain->is_known = false;
	if (end < first + 2)
		return false;
	start = probes->time_s[first];
	span = probes->time_s[end - 1] - start;
	chain->step_s = fmax(median_spacing(probes, first, end),
			     span / (MAX_GRID_PER_PROBE * (double)(end - first) + MIN_GRID));
	if (!(chain->step_s > 0))
		return false;
	steps = round(span / chain->step_s) + 1;
	grid = xmalloc((size_t)steps * sizeof(*grid));
	for (size_t i = 0; i < (size_t)steps; i++)
		grid[i] = NAN;
	for (size_t i = first; i < end; i++) {
		size_t at = (size_t)llround((probes->time_s[i] - start) / chain->step_s);

		grid[at] = probe_seconds(probes, i);
	}
	chain->is_known = hidden_fit(&chain->hidden, grid, (size_t)steps, NULL) >= 0;
	return chain->is_known;
}

double chain_step(const struct chain *chain, const struct chronicle_series *probes, size_t i,
		  double chance)
{
	double passed = i ? probes->time_s[i] - probes->time_s[i - 1] : 0;

	chance = hidden_ahead(&chain->hidden, chance, count_steps(chain, passed) - 1);
	return hidden_step(&chain->hidden, chance, probe_seconds(probes, i));
}

double chain_ahead(const struct chain *chain, double chance, double seconds)
{
	return hidden_ahead(&chain->hidden, chance,
			    seconds < chain->step_s / 2 ? 0 : count_steps(chain, seconds));
}

double chain_state(const struct chain *chain, const struct chronicle_series *probes, double time_s,
		   double ahead_s)
{
	size_t until = chronicle_count_until(probes, time_s);
	size_t first = until > CHAIN_PROBES ? until - CHAIN_PROBES : 0;
	double chance = chain->hidden.start;

	if (!until)
		return NAN;
	for (size_t i = first; i < until; i++)
		chance = chain_step(chain, probes, i, chance);
	return chain_ahead(chain, chance, time_s + ahead_s - probes->time_s[until - 1]);
}

struct chains *chains_new(const struct chronicle *chronicle, double from_s, double to_s)
{
	struct chains *chains = xcalloc(1, sizeof(*chains));

	chains->count = chronicle->target_count;
	chains->list = xcalloc(chains->count + 1, sizeof(*chains->list));
	for (size_t i = 0; i < chains->count; i++) {
		const struct chronicle_series *probes = chronicle_series(chronicle, i, 0);

		memcpy(chains->list[i].target, chronicle->targets[i], CHRONICLE_NAME);
		chain_fit(&chains->list[i], probes, chain_first_probe(probes, from_s),
			  chain_first_probe(probes, to_s));
	}
	return chains;
}

void chains_free(struct chains *chains)
{
	if (chains)
		free(chains->list);
	free(chains);
}

const struct chain *chains_find(const struct chains *chains, const char *target)
{
	for (size_t i = 0; chains && i < chains->count; i++)
		if (chains->list[i].is_known && strcmp(chains->list[i].target, target) == 0)
			return &chains->list[i];
	return NULL;
}

void chains_save(const struct chains *chains, struct buf *buf)
{
	blob_put_u64(buf, chains ? chains->count : 0);
	for (size_t i = 0; chains && i < chains->count; i++) {
		const struct chain *chain = &chains->list[i];
		const struct hidden *h = &chain->hidden;
		const double numbers[] = { chain->step_s,   h->start,	    h->up,
					   h->down,	    h->mean[0],	    h->mean[1],
					   h->deviation[0], h->deviation[1] };

		blob_put_text(buf, chain->target);
		blob_put_u32(buf, chain->is_known);
		if (chain->is_known)
			blob_put_reals(buf, numbers, sizeof(numbers) / sizeof(numbers[0]));
	}
}

static void read_chain(struct chain *chain, struct blob *blob)
{
	AUTO_FREE char *target = blob_take_text(blob);
	struct hidden *h = &chain->hidden;
	double *const numbers[] = {
		&chain->step_s, &h->start,   &h->up,	       &h->down,
		&h->mean[0],	&h->mean[1], &h->deviation[0], &h->deviation[1]
	};

	if (!blob_expect(blob, strlen(target) < CHRONICLE_NAME))
		return;
	memcpy(chain->target, target, strlen(target) + 1);
	chain->is_known = blob_take_u32(blob) != 0;
	for (size_t i = 0; chain->is_known && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		blob_take_finite(blob, numbers[i], 1);
	blob_expect(blob, !chain->is_known ||
				  (chain->step_s > 0 && h->up > 0 && h->up < 1 && h->down > 0 &&
				   h->down < 1 && h->start > 0 && h->start < 1 &&
				   h->deviation[0] > 0 && h->deviation[1] > 0));
}

struct chains *chains_load(struct blob *blob)
{
	struct chains *chains = xcalloc(1, sizeof(*chains));

	chains->count = blob_take_count(blob, CHAIN_BYTES_MIN);
	chains->list = xcalloc(chains->count + 1, sizeof(*chains->list));
	for (size_t i = 0; i < chains->count && blob_ok(blob); i++)
		read_chain(&chains->list[i], blob);
	return chains;
}

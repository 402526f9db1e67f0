/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-18.
 */
#include "predict/forecast/states/labels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"
#include "predict/forecast/states/features.h"

#define MAX_REFITS 3

/* The durations of one size, of all targets or of one. */
struct writes {
	double *seconds;
	size_t count, seen, stride;
	bool has_programs; /* the rows of programs, too */
};

static size_t count_writes(const struct chronicle *chronicle, size_t from, size_t to, size_t size,
			   const struct labels_plan *plan)
{
	size_t count = 0;

	for (size_t t = from; t < to; t++) {
		const struct chronicle_series *series = chronicle_series(chronicle, t, size);

		for (size_t i = 0; i < series->count; i++)
			count +=
				series->time_s[i] >= plan->from_s && series->time_s[i] < plan->to_s;
	}
	return count;
}

static void append_writes(struct writes *writes, const struct chronicle_series *series,
			  const struct labels_plan *plan)
{
	for (size_t i = 0; i < series->count; i++) {
		if (!(series->time_s[i] >= plan->from_s && series->time_s[i] < plan->to_s))
			continue;
		if (sample_is_program(series, i) && !writes->has_programs)
			continue;
		if (writes->seen++ % writes->stride || sample_outcome(series, i) != SAMPLE_DONE ||
		    !(series->seconds[i] > 0) || !isfinite(series->seconds[i]))
			continue;
		writes->seconds[writes->count++] = (double)series->seconds[i];
	}
}

/* Removes the writes that belong to the faster state more likely than to the other. */
static size_t drop_fast_writes(const struct mixture *mixture, double *seconds, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		double posterior[MIXTURE_MAX];

		mixture_posterior(mixture, seconds[i], posterior);
		if (posterior[0] < 0.5)
			seconds[kept++] = seconds[i];
	}
	return kept;
}

/* Fits again without the faster state while that has too few writes; see labels.h. */
static int fit_without_few(struct mixture *mixture, const struct mixture_plan *plan,
			   double *seconds, size_t count, struct err *err)
{
	int r = mixture_fit(mixture, plan, seconds, count, err);

	for (int i = 0; r >= 0 && i < MAX_REFITS && mixture->components[0].weight < LABELS_FEW;
	     i++) {
		size_t kept = drop_fast_writes(mixture, seconds, count);

		if (kept == count || mixture_fit(mixture, plan, seconds, kept, NULL) < 0)
			break;
		count = kept;
	}
	return r;
}

/* Values that decide on the number of states; more would only cost time. */
#define PREFERENCE_MOST 10000

/* The number of states that BIC prefers; 0 if there are too few values. Reorders them. */
static uint8_t find_preferred(double *seconds, size_t count, uint64_t seed)
{
	struct mixture_plan any = { .family = MIXTURE_LOGNORMAL,
				    .most = LABELS_STATES_MOST,
				    .seed = seed };
	size_t step = 1 + count / PREFERENCE_MOST, kept = 0;
	struct mixture mixture;

	for (size_t i = 0; i < count; i += step)
		seconds[kept++] = seconds[i];
	return mixture_fit(&mixture, &any, seconds, kept, NULL) < 0 ? 0 : (uint8_t)mixture.count;
}

/* The series of one target or of all, of one size. */
struct range {
	size_t from, to, size;
};

static int fit_range(struct mixture *mixture, uint8_t *preferred, const struct chronicle *chronicle,
		     const struct range *range, bool has_programs, const struct labels_plan *plan,
		     struct err *err)
{
	struct mixture_plan wanted = { .family = MIXTURE_LOGNORMAL,
				       .count = 2,
				       .seed = plan->seed };
	size_t all = count_writes(chronicle, range->from, range->to, range->size, plan);
	struct writes writes = { .stride = 1 + all / LABELS_MOST, .has_programs = has_programs };
	AUTO_FREE double *seconds = xmalloc((all / writes.stride + 1) * sizeof(*seconds));
	int r;

	writes.seconds = seconds;
	for (size_t t = range->from; t < range->to; t++)
		append_writes(&writes, chronicle_series(chronicle, t, range->size), plan);
	r = fit_without_few(mixture, &wanted, seconds, writes.count, err);
	*preferred = r < 0 ? 0 : find_preferred(seconds, writes.count, plan->seed);
	return r;
}

/* Programs write in other ways than probes, so their times do not define the states, unless there
 * are too few probes. */
static int fit_mixture(struct mixture *mixture, uint8_t *preferred,
		       const struct chronicle *chronicle, const struct range *range,
		       const struct labels_plan *plan, struct err *err)
{
	int r = fit_range(mixture, preferred, chronicle, range, false, plan, err);

	if (r >= 0 || plan->ignores_programs)
		return r;
	return fit_range(mixture, preferred, chronicle, range, true, plan, err);
}

static size_t count_state_rows(const struct states *states)
{
	return states->scope == LABELS_SYSTEM ? 1 : states->target_count;
}

static void states_init(struct states *states, enum labels_scope scope, size_t target_count,
			size_t size_count)
{
	*states = (struct states){ .scope = scope,
				   .target_count = target_count,
				   .size_count = size_count };
	states->mixtures =
		xcalloc(count_state_rows(states) * size_count + 1, sizeof(*states->mixtures));
	states->known = xcalloc(count_state_rows(states) * size_count + 1, sizeof(*states->known));
	states->preferred = xcalloc(count_state_rows(states) * size_count + 1, 1);
}

int states_fit(struct states *states, const struct chronicle *chronicle,
	       const struct labels_plan *plan, struct err *err)
{
	struct states made;
	struct err why = { 0 };
	size_t known_count = 0;

	states_init(&made, plan->scope, chronicle->target_count, chronicle->size_count);
	for (size_t t = 0; t < count_state_rows(&made); t++) {
		bool all = plan->scope == LABELS_SYSTEM;

		for (size_t s = 1; s < made.size_count; s++) {
			size_t at = t * made.size_count + s;
			struct range range = { t, all ? chronicle->target_count : t + 1, s };

			made.known[at] = fit_mixture(&made.mixtures[at], &made.preferred[at],
						     chronicle, &range, plan, &why) >= 0;
			known_count += made.known[at];
		}
	}
	if (!known_count) {
		states_release(&made);
		return err_set(err, ENODATA,
			       "too few reference writes of %s to distinguish busy from idle%s%s",
			       *chronicle->system ? chronicle->system : "this system",
			       *why.text ? ": " : "", why.text);
	}
	*states = made;
	return 0;
}

void states_release(struct states *states)
{
	free(states->mixtures);
	free(states->known);
	free(states->preferred);
	*states = (struct states){ 0 };
}

const struct mixture *states_mixture(const struct states *states, size_t target, size_t size)
{
	size_t at = (states->scope == LABELS_SYSTEM ? 0 : target) * states->size_count + size;

	return states->known[at] ? &states->mixtures[at] : NULL;
}

size_t states_preferred(const struct states *states, size_t target, size_t size)
{
	return states
		->preferred[(states->scope == LABELS_SYSTEM ? 0 : target) * states->size_count +
			    size];
}

/* A uniform random number that depends on the four arguments only. */
static double draw_uniform(uint64_t seed, size_t target, size_t size, double time_s)
{
	struct random random;
	uint64_t moment;

	memcpy(&moment, &time_s, sizeof(moment));
	random_stream(&random, seed, target * CHRONICLE_SIZES + size);
	random_stream(&random, random_u64(&random), moment);
	return random_real(&random);
}

struct borders *borders_new(const struct states *states, const char (*targets)[CHRONICLE_NAME],
			    const uint64_t *sizes)
{
	struct borders *borders = xcalloc(1, sizeof(*borders));

	borders->list =
		xcalloc(states->target_count * states->size_count + 1, sizeof(*borders->list));
	for (size_t t = 0; t < states->target_count; t++)
		for (size_t s = 1; s < states->size_count; s++) {
			const struct mixture *mixture = states_mixture(states, t, s);
			struct border *border = &borders->list[borders->count];

			if (!mixture)
				continue;
			memcpy(border->target, targets[t], CHRONICLE_NAME);
			border->bytes = sizes[s];
			border->mixture = *mixture;
			borders->count++;
		}
	return borders;
}

void borders_free(struct borders *borders)
{
	if (borders)
		free(borders->list);
	free(borders);
}

const struct mixture *borders_find(const struct borders *borders, const char *target,
				   uint64_t bytes)
{
	for (size_t i = 0; borders && i < borders->count; i++)
		if (borders->list[i].bytes == bytes && strcmp(borders->list[i].target, target) == 0)
			return &borders->list[i].mixture;
	return NULL;
}

double labels_posterior(const struct mixture *mixture, double seconds, bool is_late)
{
	double chances[MIXTURE_MAX] = { 0 };

	if (is_late)
		return 1;
	mixture_posterior(mixture, seconds, chances);
	return chances[1];
}

double labels_draw(const struct states *states, size_t target, size_t size, uint64_t seed,
		   const struct labels_writes *writes, double *labels, double *posterior)
{
	const struct mixture *mixture = states_mixture(states, target, size);
	double ceiling = 0;

	if (!mixture) {
		memset(labels, 0, writes->count * sizeof(*labels));
		memset(posterior, 0, writes->count * sizeof(*posterior));
		return NAN;
	}
	for (size_t i = 0; i < writes->count; i++) {
		posterior[i] = labels_posterior(mixture, writes->seconds[i],
						writes->late && writes->late[i]);
		labels[i] = draw_uniform(seed, target, size, writes->time_s[i]) < posterior[i];
		ceiling += fmax(posterior[i], 1 - posterior[i]);
	}
	return writes->count ? ceiling / (double)writes->count : NAN;
}

double labels_draw_rows(const struct states *states, size_t target, size_t size, uint64_t seed,
			const struct chronicle_series *series, const struct feature_rows *rows,
			double *labels, double *posterior)
{
	AUTO_FREE bool *late = xcalloc(rows->rows + 1, sizeof(*late));
	struct labels_writes writes = {
		.time_s = rows->time_s, .seconds = rows->seconds, .late = late, .count = rows->rows
	};

	for (size_t i = 0; i < rows->rows; i++)
		late[i] = sample_outcome(series, rows->sample[i]) == SAMPLE_TIMEOUT;
	return labels_draw(states, target, size, seed, &writes, labels, posterior);
}

void states_save(const struct states *states, struct buf *buf)
{
	blob_put_u32(buf, states->scope);
	for (size_t i = 0; i < count_state_rows(states) * states->size_count; i++) {
		blob_put_u32(buf, states->known[i]);
		if (states->known[i])
			mixture_save(&states->mixtures[i], buf);
	}
}

/* A model needs two log-normal components with a positive deviation. */
static bool mixture_usable(const struct mixture *mixture)
{
	return mixture->family == MIXTURE_LOGNORMAL && mixture->count == 2 &&
	       mixture->components[0].second > 0 && mixture->components[1].second > 0;
}

int states_load(struct states *states, struct blob *blob, size_t target_count, size_t size_count,
		struct err *err)
{
	uint32_t scope = blob_take_u32(blob);
	struct states made;
	int r = 0;

	if (!blob_expect(blob, scope <= LABELS_TARGET))
		return err_set(err, EBADMSG, "the states are damaged");
	states_init(&made, (enum labels_scope)scope, target_count, size_count);
	for (size_t i = 0; r >= 0 && blob_ok(blob) && i < count_state_rows(&made) * size_count;
	     i++) {
		made.known[i] = blob_take_u32(blob) != 0;
		if (made.known[i])
			r = mixture_load(&made.mixtures[i], blob, err);
		if (r >= 0 && made.known[i])
			blob_expect(blob, mixture_usable(&made.mixtures[i]));
	}
	if (r >= 0 && !blob_ok(blob))
		r = err_set(err, EBADMSG, "the states are damaged");
	if (r < 0)
		states_release(&made);
	else
		*states = made;
	return r;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-37.
 */
#include "observe/plugins/grading.h"

#include <stdlib.h>

#include "base/integer.h"
#include "base/mem.h"

/* Above this share of very slow calls, the machine itself has changed. */
#define MAJORITY 0.5

enum { VERY_FAST, FAST, SLOW, VERY_SLOW }; /* indices of quantiles and limits_ns */

const struct grading_options grading_defaults = {
	.learn = 1000,
	.quantiles = { 0.01, 0.10, 0.90, 0.99 },
	.factor = 4,
	.floor_ns = 100000,
	.is_frozen = true,
};

void grading_init(struct grading *grading, const struct grading_options *options,
		  grading_known known, void *arg)
{
	*grading = (struct grading){ .options = *options, .known = known, .arg = arg };
}

void grading_release(struct grading *grading)
{
	for (size_t i = 0; i < grading->count; i++)
		free(grading->kinds[i]);
	free(grading->kinds);
	map_release(&grading->by_key);
	*grading = (struct grading){ 0 };
}

static uint64_t kind_calls(const struct grading_kind *kind)
{
	return kind->usual.calls + kind->very_slow.calls;
}

/* Computes the thresholds from all durations known so far. */
static void update_thresholds(const struct grading *grading, struct grading_kind *kind)
{
	const struct grading_options *o = &grading->options;
	struct durations all = kind->usual;

	durations_join(&all, &kind->very_slow);
	if (kind->known)
		durations_join(&all, kind->known);
	kind->is_known = true;
	kind->median_ns = durations_quantile(&all, 0.5);
	for (size_t i = 0; i < 4; i++)
		kind->limits_ns[i] = durations_quantile(&all, o->quantiles[i]);
	kind->limits_ns[VERY_SLOW] =
		i64_max(kind->limits_ns[VERY_SLOW],
			i64_max((int64_t)(o->factor * (double)kind->median_ns), o->floor_ns));
	kind->limits_ns[VERY_FAST] =
		i64_min(kind->limits_ns[VERY_FAST], (int64_t)((double)kind->median_ns / o->factor));
	kind->next = o->is_frozen ? UINT64_MAX : kind_calls(kind) + o->learn;
}

static struct grading_kind *kind_new(struct grading *grading, struct grading_key key, uint64_t id)
{
	struct grading_kind *kind;

	if (grading->count == GRADING_KEYS_MAX)
		return NULL;
	kind = xcalloc(1, sizeof(*kind));
	kind->key = key;
	kind->next = grading->options.learn;
	if (grading->known)
		kind->known = grading->known(grading->arg, key);
	if (kind->known && kind->known->calls >= grading->options.learn)
		update_thresholds(grading, kind);
	grading->kinds =
		xgrow(grading->kinds, &grading->cap, grading->count + 1, sizeof(*grading->kinds));
	grading->kinds[grading->count++] = kind;
	map_put(&grading->by_key, id, kind);
	return kind;
}

static enum sluice_speed speed_of(const struct grading_kind *kind, int64_t ns)
{
	if (ns > kind->limits_ns[SLOW])
		return ns > kind->limits_ns[VERY_SLOW] ? SLUICE_VERY_SLOW : SLUICE_SLOW;
	if (ns < kind->limits_ns[FAST])
		return ns < kind->limits_ns[VERY_FAST] ? SLUICE_VERY_FAST : SLUICE_FAST;
	return SLUICE_NORMAL;
}

static int grade_call(struct grading_kind *kind, int64_t ns, int64_t *excess_ns)
{
	enum sluice_speed speed;

	if (!kind->is_known) {
		kind->learned++;
		return -1;
	}
	speed = speed_of(kind, ns);
	kind->counts[speed]++;
	if (speed == SLUICE_VERY_SLOW)
		*excess_ns += ns - kind->limits_ns[VERY_SLOW];
	return (int)speed;
}

int grading_add(struct grading *grading, struct grading_key key, int64_t duration_ns,
		int64_t *excess_ns)
{
	uint64_t id = ((uint64_t)key.call << 16 | (uint64_t)key.layer << 8 | key.size_class) + 1;
	struct grading_kind *kind = map_get(&grading->by_key, id);
	int speed;

	if (!kind)
		kind = kind_new(grading, key, id);
	if (!kind) {
		grading->left_out++;
		return -1;
	}
	speed = grade_call(kind, duration_ns, excess_ns);
	durations_add(speed == SLUICE_VERY_SLOW ? &kind->very_slow : &kind->usual, duration_ns);
	if (kind_calls(kind) + (kind->known && !kind->is_known ? kind->known->calls : 0) >=
	    kind->next)
		update_thresholds(grading, kind);
	return speed;
}

void grading_knowledge(const struct grading *grading, const struct grading_kind *kind,
		       struct durations *knowledge)
{
	double share =
		(double)kind->very_slow.calls / (double)(kind_calls(kind) ? kind_calls(kind) : 1);
	double chance = 2 * (1 - grading->options.quantiles[VERY_SLOW]);

	*knowledge = kind->usual;
	if (share <= chance || share > MAJORITY)
		durations_join(knowledge, &kind->very_slow);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Grades how fast a call is compared with similar calls. Calls of one kind and size class are
 * graded in five steps by the quantiles of their durations: from earlier runs, or else from the
 * first `learn` calls of this run.
 *
 * A call is very slow only if it also takes longer than `factor` times the median and longer than
 * `floor_ns`, so that jitter of tiny calls does not count. It is very fast only if it is faster
 * than the median divided by `factor`.
 *
 * Memory is bounded: GRADING_KEYS_MAX kinds of 2.7 KiB each. Calls of further kinds are counted but
 * not graded.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_GRADING_H
#define SLUICE_OBSERVE_PLUGINS_GRADING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sluice/plugin.h>

#include "base/map.h"
#include "store/durations.h"

#define GRADING_KEYS_MAX 1024

struct grading_options {
	uint64_t learn;	     /* calls of a kind before they are graded; at least 1 */
	double quantiles[4]; /* ascending fractions: very fast, fast, slow, very slow */
	double factor;	     /* at least 1 */
	int64_t floor_ns;
	bool is_frozen; /* keep the thresholds; else update them after each `learn` calls */
};
extern const struct grading_options grading_defaults;

struct grading_key {
	uint16_t call;
	uint8_t layer, size_class;
};

/* What is known about one kind of calls. */
struct grading_kind {
	struct grading_key key;
	const struct durations *known; /* from earlier runs; NULL: none */
	struct durations usual;	       /* calls of this run that were not very slow */
	struct durations very_slow;
	uint64_t counts[SLUICE_SPEEDS], learned; /* learned: calls before there were thresholds */
	uint64_t next; /* number of calls at which thresholds are computed next */
	bool is_known; /* the thresholds below are valid */
	int64_t median_ns, limits_ns[4];
};

/* Returns the durations of earlier runs or NULL; they must stay valid until grading_release(). */
typedef const struct durations *(*grading_known)(void *arg, struct grading_key key);

struct grading {
	struct grading_options options;
	grading_known known;
	void *arg;
	struct map by_key;
	struct grading_kind **kinds; /* in order of their first call */
	size_t count, cap;
	uint64_t left_out; /* calls of kinds beyond GRADING_KEYS_MAX */
};

/* known may be NULL. */
void grading_init(struct grading *grading, const struct grading_options *options,
		  grading_known known, void *arg);
void grading_release(struct grading *grading);

/*
 * Grades a call and learns from it. Returns an enum sluice_speed, or -1 if there are no thresholds
 * yet. For a very slow call, adds the time beyond its threshold to *excess_ns; slow calls below the
 * threshold are normal from time to time.
 */
int grading_add(struct grading *grading, struct grading_key key, int64_t duration_ns,
		int64_t *excess_ns);

/*
 * Computes what later runs shall know about a kind. Very slow calls are left out if they are too
 * many to be chance and too few for a machine that has changed: an anomaly must not become the
 * norm.
 */
void grading_knowledge(const struct grading *grading, const struct grading_kind *kind,
		       struct durations *knowledge);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is this call slow for what it is? Calls of one kind and size class are graded in five steps by
 * the quantiles of how long such calls took: what is known from earlier runs, or else the first
 * `learn` of this one.
 *
 * A call is very slow only if it is also slower than `factor` times the median and takes longer
 * than `floor_ns`, so that the jitter of tiny calls is none; it is very fast only if it is faster
 * than the median divided by `factor`.
 *
 * Memory is bounded: GRADING_KEYS_MAX kinds of 2.7 KiB each. Calls of kinds beyond are not graded,
 * but counted.
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
	double quantiles[4]; /* shares, rising: very fast, fast, slow, very slow */
	double factor;	     /* at least 1 */
	int64_t floor_ns;
	bool is_frozen; /* thresholds stay; else they are made anew after each `learn` calls */
};
extern const struct grading_options grading_defaults;

struct grading_key {
	uint16_t call;
	uint8_t layer, size_class;
};

/* What is known of a kind, and how its calls were. */
struct grading_kind {
	struct grading_key key;
	const struct durations *known; /* from earlier runs; NULL: nothing */
	struct durations usual;	       /* of this run, without */
	struct durations very_slow;
	uint64_t counts[SLUICE_SPEEDS], learnt; /* learnt: before there were thresholds */
	uint64_t next;				/* calls of this run when thresholds are due */
	bool is_known;				/* there are thresholds: */
	int64_t median_ns, limits_ns[4];
};

/* Of earlier runs, NULL for nothing; must stay until grading_release(). */
typedef const struct durations *(*grading_known)(void *arg, struct grading_key key);

struct grading {
	struct grading_options options;
	grading_known known;
	void *arg;
	struct map by_key;
	struct grading_kind **kinds; /* in the order in which they were first seen */
	size_t count, cap;
	uint64_t left_out; /* calls of kinds beyond GRADING_KEYS_MAX */
};

/* known may be NULL. */
void grading_init(struct grading *grading, const struct grading_options *options,
		  grading_known known, void *arg);
void grading_release(struct grading *grading);

/*
 * Grades a call and learns from it: enum sluice_speed, or -1 where such calls are not known yet.
 * Adds to *excess_ns what a very slow one took beyond its threshold: slower ones are normal now and
 * then, and their time is what such calls cost.
 */
int grading_add(struct grading *grading, struct grading_key key, int64_t duration_ns,
		int64_t *excess_ns);

/*
 * What later runs shall know of a kind. Very slow calls are left out when they are too many for
 * chance and too few for a machine that has changed: an anomaly must not become the normal.
 */
void grading_knowledge(const struct grading *grading, const struct grading_kind *kind,
		       struct durations *knowledge);

#endif

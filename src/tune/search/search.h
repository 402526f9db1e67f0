/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A search is asked for a point and told its cost. It runs nothing itself and keeps nothing on
 * disk. The same seed and the same costs give the same points, so an interrupted search is restored
 * by telling it again what was measured.
 *
 * struct search wraps a method: it settles points, remembers costs, answers repeated points from
 * memory, and skips points that the space does not allow. So the caller never measures a point
 * twice, and methods need not check.
 */
#ifndef SLUICE_TUNE_SEARCH_SEARCH_H
#define SLUICE_TUNE_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct space;

/*
 * The expected cost of points before any is measured, such as the prediction of a model. Only
 * ratios matter: a prior may be wrong by a constant factor.
 */
struct search_prior {
	/* Expected cost of a settled point, above 0; NAN: no estimate. Must be deterministic. */
	double (*cost)(void *arg, const size_t *point);
	void *arg;
};

/* A setting of a method: a number. */
struct search_setting {
	const char *name;
	double initial, min, max;
	bool is_whole; /* no fractions */
	const char *help;
};

#define SEARCH_SETTINGS 16

struct search_ops {
	const char *name, *help;
	const struct search_setting *settings; /* the last row has no name; NULL: none */
	bool takes_prior;
	/* settings are in the order of the rows; prior may be NULL. *state is set only on success.
	 * space and prior outlive the state. */
	int (*start)(void **state, const struct space *space, const struct search_prior *prior,
		     const double *settings, uint64_t seed, struct err *err);
	/* Returns 1 and the next point, settled or not, or 0: there are no more points. */
	int (*ask)(void *state, size_t *point);
	/* The cost of the point that was asked for last, which is settled now. Lower is better; it
	 * is above 0, as methods compare ratios. INFINITY: the point failed. */
	void (*tell)(void *state, const size_t *point, double cost);
	/* The cost of a point that was not asked for, such as the baseline; called before the first
	 * ask. Optional. */
	void (*know)(void *state, const size_t *point, double cost);
	void (*stop)(void *state);
};

extern const struct search_ops search_genetic, search_random, search_exhaustive, search_annealing,
	search_bayesian, search_model;
extern const struct search_ops *const searches[]; /* ends with NULL */

struct search_counts {
	uint64_t asked;	   /* points that the method asked for, including repeated ones */
	uint64_t measured; /* distinct points that had to be measured */
};

struct search;

/* The search of this name; NULL: there is none. */
const struct search_ops *search_find(const char *name);

/* Checks a name and its settings as search_new() does, but without a space: -ENOENT or -EINVAL. */
int search_check_settings(const char *name, const char *settings, struct err *err);

/* settings: "population=15,generations=40" or NULL. Errors list the valid names. */
int search_new(struct search **search, const char *name, const char *settings,
	       const struct space *space, uint64_t seed, struct err *err);
/* With a prior, which must outlive the search; may be NULL. Searches without takes_prior ignore it.
 */
int search_new_with_prior(struct search **search, const char *name, const char *settings,
			  const struct space *space, const struct search_prior *prior,
			  uint64_t seed, struct err *err);
void search_free(struct search *search);

/* Tells the cost of a point that was not asked for. Call before the first ask. */
void search_know(struct search *search, const size_t *point, double cost);

/* Returns 1 and a point that was never measured, or 0: there are no more points. The cost of each
 * must be told before the next ask. */
int search_ask(struct search *search, size_t *point);
void search_tell(struct search *search, const size_t *point, double cost);

/* The best point so far. False: no point was good. */
bool search_best(const struct search *search, size_t *point, double *cost);
struct search_counts search_get_counts(const struct search *search);

#endif

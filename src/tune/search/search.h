/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Searches: asked for a point, told its cost. They run nothing themselves and keep nothing on disk:
 * the same seed and the same answers give the same questions, so a search that was cut off is
 * brought back by telling it again what was measured.
 *
 * struct search stands before a method: it settles points, keeps what was told, answers questions
 * that were asked before from that, and passes over what the space does not allow. So the caller
 * never measures a point twice, and a method need not care.
 */
#ifndef SLUICE_TUNE_SEARCH_SEARCH_H
#define SLUICE_TUNE_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct space;

/*
 * What is expected of points before any is measured, as by a model of the machine. Only ratios
 * count: a prior may be off by any factor.
 */
struct search_prior {
	/* Of a settled point, above 0; NAN: it cannot tell. Always the same for the same point. */
	double (*cost)(void *arg, const size_t *point);
	void *arg;
};

/* One number of a method that may be set: name, default, legal, help. */
struct search_setting {
	const char *name;
	double initial, min, max;
	bool is_whole; /* no fractions */
	const char *help;
};

#define SEARCH_SETTINGS 16

struct search_ops {
	const char *name, *help;
	const struct search_setting *settings; /* ends with a row without name; NULL: none */
	bool takes_prior;
	/* settings in the order of the rows; prior NULL: there is none. *state is set on success
	 * only; err says what is missing or too large. Space and prior outlive the state. */
	int (*start)(void **state, const struct space *space, const struct search_prior *prior,
		     const double *settings, uint64_t seed, struct err *err);
	/* 1 and the next point, or 0: no more. Any index within the space, settled or not. */
	int (*ask)(void *state, size_t *point);
	/* Always about the point that was asked for last, settled. Lower is better, above 0, for
	 * methods reason in ratios; INFINITY: failed. */
	void (*tell)(void *state, const size_t *point, double cost);
	/* Of a point that was measured unasked, as the default: before the first ask. Optional. */
	void (*know)(void *state, const size_t *point, double cost);
	uint64_t (*planned)(const void *state); /* questions in all. Optional */
	void (*stop)(void *state);
};

extern const struct search_ops search_genetic, search_random, search_exhaustive, search_annealing,
	search_bayesian, search_model;
extern const struct search_ops *const searches[]; /* ends with NULL */

struct search_counts {
	uint64_t asked;	   /* questions of the method: what a paper calls runs */
	uint64_t measured; /* of different points: what had to be run */
};

struct search;

/* The search of this name; NULL: there is none. */
const struct search_ops *search_find(const char *name);

/* Checks a name and its settings as search_new() does, but without a space: -ENOENT or -EINVAL. */
int search_check_settings(const char *name, const char *settings, struct err *err);

/* settings: "population=15,generations=40" or NULL. Refusals name what there is. */
int search_new(struct search **search, const char *name, const char *settings,
	       const struct space *space, uint64_t seed, struct err *err);
/* With a prior, which must outlive it; NULL: none. Searches that have no use for one ignore it. */
int search_new_with(struct search **search, const char *name, const char *settings,
		    const struct space *space, const struct search_prior *prior, uint64_t seed,
		    struct err *err);
void search_free(struct search *search);

/* Before the first question. */
void search_know(struct search *search, const size_t *point, double cost);

/* 1 and a point that was never measured, or 0: no more. Each must be told before the next. */
int search_ask(struct search *search, size_t *point);
void search_tell(struct search *search, const size_t *point, double cost);

/* The best so far; false: none. */
bool search_best(const struct search *search, size_t *point, double *cost);
struct search_counts search_counted(const struct search *search);

/* How many questions the method has in all; 0: it does not know. */
uint64_t search_planned(const struct search *search);

#endif

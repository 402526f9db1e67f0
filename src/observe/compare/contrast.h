/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The differences between two groups of runs, A and B: for each layer, function, file, rank and
 * node statistic, and for each measure of it.
 *
 * A count that is the same in all runs of A and the same in all runs of B is compared exactly. All
 * other values vary from run to run, and a difference between them is claimed only if chance alone
 * rarely causes it: by the Mann-Whitney test (learn/math/ratio.h), and for the many rows of a
 * comparison by the procedure of Benjamini and Hochberg (learn/math/false_discovery.h). The
 * primary measure of the whole run is not one of those many: it is tested alone, at RATIO_LEVEL.
 * Intervals have the level of their test, so an interval excludes 1 if and only if a difference is
 * claimed. With fewer than about four runs on each side nothing can be tested.
 *
 * The rows of a table are those with the most time in all runs of both sides together, and only
 * then rows that are not I/O of the program (account_row.is_aside). This choice does not depend on
 * which run belongs to which side, so it does not bias the tests.
 *
 * Files are matched by name. Names that do not occur on both sides are matched by their pattern
 * (observe/compare/file_pattern.h) if that is what they have in common with another run; all files
 * of a run that have this pattern are combined.
 */
#ifndef SLUICE_OBSERVE_COMPARE_CONTRAST_H
#define SLUICE_OBSERVE_COMPARE_CONTRAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/compare/account.h"

enum { SIDE_A, SIDE_B, SIDES };

enum contrast_measure {
	CONTRAST_RUN_TIME,
	CONTRAST_IO_TIME, /* wall-clock */
	CONTRAST_TIME,	  /* summed over threads */
	CONTRAST_TIME_PER_CALL,
	CONTRAST_CALLS,
	CONTRAST_ERRORS,
	CONTRAST_READ,
	CONTRAST_WRITTEN,
	CONTRAST_SIZE,	     /* bytes per transfer */
	CONTRAST_SEQUENTIAL, /* % of the accesses with a known position */
	CONTRAST_LEVEL,	     /* of a node statistic */
	CONTRAST_MEASURES
};

enum contrast_unit { CONTRAST_NS, CONTRAST_COUNT, CONTRAST_BYTES, CONTRAST_PERCENT };

struct contrast_measure_info {
	const char *name;  /* in JSON, CSV and --metric */
	const char *title; /* for people */
	enum contrast_unit unit;
	bool is_count; /* follows from the calls alone: it need not vary from run to run */
};
extern const struct contrast_measure_info contrast_measures[CONTRAST_MEASURES];

enum verdict {
	VERDICT_UNDEFINED, /* it has no value in some run */
	VERDICT_SAME,	   /* it has the same value in all runs */
	VERDICT_EXACT,	   /* a count that differs, and is constant on each side */
	VERDICT_SIGNIFICANT,
	VERDICT_NOISE,	  /* chance may cause such a difference */
	VERDICT_UNTESTED, /* there are too few runs to tell */
};

struct difference {
	double *values[SIDES]; /* of each run */
	double median[SIDES];
	double ratio;	  /* estimate of B / A; NAN: undefined, INFINITY: A is 0 */
	double low, high; /* interval of the ratio; NAN: none */
	double level;	  /* probability outside of the interval; NAN: none */
	double chance;	  /* of at least such a difference between equal groups; NAN: not tested */
	enum verdict verdict;
};

struct contrast_row {
	enum account_table table;
	uint8_t layer;	    /* of layers and functions */
	char *name;	    /* for combined files their pattern */
	bool is_aside;	    /* see struct account_row */
	size_t files;	    /* most files that one run has in this row; 1 unless it is a pattern */
	size_t runs[SIDES]; /* runs that have the row */
	struct difference differences[CONTRAST_MEASURES];
};

struct contrast {
	const struct account *accounts[SIDES];
	size_t runs[SIDES];
	enum contrast_measure primary;
	/* By table; those aside last; functions and files by descending change of time. */
	struct contrast_row *rows;
	size_t count;
	size_t left_out[ACCOUNT_TABLES]; /* rows beyond `top` */
	bool is_testable;		 /* there are enough runs for a test */
	size_t tests;			 /* beside that of the primary measure */
	size_t patterns;		 /* rows of files that were matched by their pattern */
};

/*
 * The accounts must outlive the contrast; each side has at least one. top limits the rows of each
 * table.
 */
void contrast_init(struct contrast *contrast, const struct account *const accounts[SIDES],
		   const size_t runs[SIDES], enum contrast_measure primary, size_t top);
void contrast_release(struct contrast *contrast);

/* NULL: there is no such row. */
const struct contrast_row *contrast_find(const struct contrast *contrast, enum account_table table,
					 const char *name);

/* The difference of the primary measure of the whole run. */
const struct difference *contrast_primary(const struct contrast *contrast);

/* Is it proven that there is a difference? */
bool difference_is_real(const struct difference *difference);

/* Is it proven that B is more than `factor` times A? */
bool difference_exceeds(const struct difference *difference, double factor);

#endif

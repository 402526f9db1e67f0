/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brings the rows of several accounts together that mean the same layer, function, file, rank or
 * statistic. Part of observe/compare/contrast.h.
 */
#ifndef SLUICE_OBSERVE_COMPARE_CONTRAST_ROWS_H
#define SLUICE_OBSERVE_COMPARE_CONTRAST_ROWS_H

#include "observe/compare/contrast.h"

/* A row of one run, and the name under which it is compared. */
struct row_entry {
	const struct account_row *row;
	size_t run;
	int side;
	const char *name;
	char *pattern; /* NULL: the name is that of the row */
};

struct row_group {
	size_t first, count; /* entries */
	double weight;	     /* time of all runs of both sides */
	bool is_pattern;
	bool is_aside; /* in all runs; see struct account_row */
};

struct row_groups {
	struct row_entry *entries;
	size_t entry_count;
	struct row_group *list; /* by table */
	size_t count;
	size_t runs[SIDES];
};

void row_groups_init(struct row_groups *groups, const struct account *const accounts[SIDES],
		     const size_t runs[SIDES]);
void row_groups_release(struct row_groups *groups);

/*
 * Keeps `top` groups of each table: those with the most weight, and only then those that are aside.
 * left_out counts the others.
 */
void row_groups_limit(struct row_groups *groups, size_t top, size_t left_out[ACCOUNT_TABLES]);

/* The sums of one row in each run; 0 in runs that do not have it. */
struct row_sums {
	double *sums; /* ACCOUNT_SUMS of each run of A, then of B */
	size_t offset[SIDES];
};

/* Sets the key of the row and the sums of group number i. */
void row_groups_read(const struct row_groups *groups, size_t i, struct contrast_row *row,
		     struct row_sums *sums);
const double *row_sums_of(const struct row_sums *sums, int side, size_t run);
void row_sums_release(struct row_sums *sums);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `sluice lab evaluate` and `sluice lab reproduce isaila` share: a contest on a simulated
 * machine or on measured times, the studies of lab/model/studies.h on it, and their sheets, which
 * show the numbers of the paper as well.
 */
#ifndef SLUICE_LAB_MODEL_EVALUATION_H
#define SLUICE_LAB_MODEL_EVALUATION_H

#include "base/term.h"
#include "cli/sheet.h"
#include "lab/model/contest.h"
#include "lab/model/studies.h"
#include "lab/replica/replica.h"

struct evaluation_plan {
	const char *machine;
	enum replica_contention contention;
	const char *times, *rows; /* CSV files of measured data; NULL: the simulated machine */
	struct study_plan study;  /* benchmark is set by evaluation_open() */
	enum noise_policy policy;
};

#define EVALUATION_ML_SIZES 3
#define EVALUATION_HYBRID_SIZES 4

struct evaluation {
	struct evaluation_plan plan;
	struct replica *replica; /* NULL: measured times */
	struct elements rows;	 /* read from plan.rows; else empty */
	struct contest contest;
	struct study study;
	struct comparison comparison;
	struct size_result ml_sizes[EVALUATION_ML_SIZES], hybrid_sizes[EVALUATION_HYBRID_SIZES];
	struct noise_result noise[NOISE_LEVELS];
	struct progress progress;
	const char *stage; /* stage that progress shows; NULL: none */
};

/* Runs all studies, which takes minutes. On failure there is nothing to close. */
int evaluation_open(struct evaluation *evaluation, const struct evaluation_plan *plan,
		    struct err *err);
void evaluation_close(struct evaluation *evaluation);

/* The sheets in the order of the paper. make() initializes the sheet. */
struct evaluation_sheet {
	const char *name;
	void (*make)(const struct evaluation *evaluation, struct sheet *sheet);
};
extern const struct evaluation_sheet evaluation_sheets[]; /* ends with a row without a name */

/* Makes the sheet, which is modelled unless the times were measured. The caller releases it. */
void evaluation_make_sheet(const struct evaluation *evaluation,
			   const struct evaluation_sheet *which, struct sheet *sheet);

/*
 * The title of a method; NULL: the method is not shown. The rules of rounds exist on Blue Gene
 * only; other machines have one hybrid model.
 */
const char *evaluation_title(const struct evaluation *evaluation, enum study_method method);

#endif

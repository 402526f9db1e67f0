/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `sluice model evaluate` and `sluice reproduce isaila` share: a contest on a modelled machine
 * or on measured times, the studies of lab/model/studies.h on it, and their sheets, which have
 * the paper's numbers beside ours.
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
	const char *times, *rows; /* NULL: those of the modelled machine */
	struct study_plan study;  /* benchmark is set by evaluation_open() */
	enum noise_policy policy;
};

#define EVALUATION_ML_SIZES 3
#define EVALUATION_HYBRID_SIZES 4

struct evaluation {
	struct evaluation_plan plan;
	struct replica *replica; /* NULL: measured times */
	struct elements rows;	 /* that were read */
	struct contest contest;
	struct study study;
	struct comparison comparison;
	struct size_result ml_sizes[EVALUATION_ML_SIZES], hybrid_sizes[EVALUATION_HYBRID_SIZES];
	struct noise_result noise[NOISE_LEVELS];
	struct progress progress;
	const char *stage; /* of progress; NULL: none */
};

/* Does all of it: some minutes of work. evaluation is empty on failure. */
int evaluation_open(struct evaluation *evaluation, const struct evaluation_plan *plan,
		    struct err *err);
void evaluation_close(struct evaluation *evaluation);

/* Sheets, in the order of the paper. Titles are theirs; the caller puts and releases them. */
struct evaluation_sheet {
	const char *name;
	void (*make)(const struct evaluation *evaluation, struct sheet *sheet);
};
extern const struct evaluation_sheet evaluation_sheets[]; /* ends with one without name */

/*
 * What a method is called here; NULL: it is not shown. Rules of rounds are Blue Gene's: elsewhere
 * there is one hybrid model.
 */
const char *evaluation_title(const struct evaluation *evaluation, enum study_method method);

#endif

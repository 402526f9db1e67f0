/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares what a run wrote with what runs of the baseline wrote.
 *
 * The first run of the baseline is the reference. What differs between it and a later run of the
 * baseline varies by itself (uninitialized memory, time stamps, random numbers) and is left out
 * from then on: blocks of an item, whole items, or outputs that only some runs write. An output
 * whose name varies but whose content does not is compared by its content. The standard output is
 * compared only if nothing else can be. data_comparison_describe() says what was compared and what
 * was left out.
 */
#ifndef SLUICE_TUNE_CONTENT_DATA_COMPARISON_H
#define SLUICE_TUNE_CONTENT_DATA_COMPARISON_H

#include "tune/content/manifest.h"

/* Why an item is not compared. */
enum data_comparison_exclusion {
	DATA_INCLUDED,
	DATA_VARIES,
	DATA_SOMETIMES, /* only some runs of the baseline write it */
	DATA_UNREAD,
};

struct data_comparison_item {
	struct manifest_item item; /* of the reference */
	enum data_comparison_exclusion excluded;
	bool is_nameless; /* its name varies, its content does not */
	bool *varies;	  /* per block; NULL: no block varies */
	size_t varying;	  /* blocks that vary */
};

/* Zero-initialized is empty. */
struct data_comparison {
	struct data_comparison_item *items; /* sorted by file and object */
	size_t count;
	size_t baselines;     /* runs of the baseline that were added */
	bool has_strangers;   /* some runs of the baseline write outputs that the first does not */
	struct manifest gaps; /* of all runs of the baseline; it has no items */
};

void data_comparison_release(struct data_comparison *comparison);

/* Adds a run of the baseline, whose manifest is taken over and emptied. Returns whether it shows
 * variations that were not known; of the first run, true. */
bool data_comparison_add_baseline(struct data_comparison *comparison, struct manifest *manifest);

/* Did a run write the same data as the baseline? If not, *why says what differs; the caller frees
 * it. The manifest must be sorted. */
bool data_comparison_check(const struct data_comparison *comparison,
			   const struct manifest *manifest, char **why);

/* What was compared with a run that passed the check, as trial.compared of tune/trial/trial.h. The
 * caller frees the text. */
char *data_comparison_describe(const struct data_comparison *comparison,
			       const struct manifest *manifest);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares what the trials of a runner wrote (tune/content/data_comparison.h).
 */
#ifndef SLUICE_TUNE_TRIAL_DATA_CHECK_H
#define SLUICE_TUNE_TRIAL_DATA_CHECK_H

#include <signal.h>

#include "tune/content/data_comparison.h"

struct err;
struct reading;

/* Values of trial.compared if the comparison is off. */
#define DATA_VERIFIED "verified: by the --verify command"
#define DATA_UNCHECKED "not compared: the comparison is off"

/* Zero-initialized is ready. */
struct data_check {
	struct data_comparison comparison;
	struct manifest manifest; /* of the last run */
	unsigned controls;	  /* runs of the baseline that were made to explain a difference */
};

void data_check_release(struct data_check *check);

/*
 * Reads what a run wrote, before its files are removed. output: the file with its standard output.
 * journal: the directory with the versions that no longer exist (contract/journal.h); NULL: none.
 * Adds to the outputs of the reading. Content that cannot be read is part of the manifest. Fails
 * like digest_files().
 */
int data_check_read(struct data_check *check, struct reading *reading, const char *output,
		    const char *journal, const volatile sig_atomic_t *stop, struct err *err);

/* Adds the last run, which was one of the baseline. Returns whether it shows new variations. */
bool data_check_add_baseline(struct data_check *check);

/* The manifest of the last run, which the caller releases. */
struct manifest data_check_take(struct data_check *check);

/* data_comparison_check(). Without a run of the baseline, there is no difference. */
bool data_check_compare(const struct data_check *check, const struct manifest *manifest,
			char **why);

/* May another run of the baseline be made to explain a difference? Counts them: their number is
 * limited, as a program may write different data under many parameters. */
bool data_check_may_control(struct data_check *check);

/* trial.compared for a run that passed the comparison and, if it is not NULL, the verify command.
 * The caller frees it. */
char *data_check_describe(const struct data_check *check, const struct manifest *manifest,
			  const char *verify);

/* A digest of the last run's data. */
void data_check_digest(const struct data_check *check, char text[MANIFEST_DIGEST]);

#endif

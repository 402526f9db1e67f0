/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Restores the state that a journal describes (contract/journal.h): names, contents, modes, owners
 * and times of files. It changes nothing that is as it was, and can be repeated if it was
 * interrupted.
 */
#ifndef SLUICE_TUNE_TRIAL_RESTORE_H
#define SLUICE_TUNE_TRIAL_RESTORE_H

#include <stdint.h>

struct entries;
struct err;

struct restore_options {
	const char *journal; /* its directory */
	int64_t since_ns;    /* start of the tuning: what is older was not created by a trial */
	int64_t until_ns;    /* end of the last trial: what is newer was not, either; 0: unknown */
	int64_t settled_ns;  /* end of the last restoration; 0: unknown */
};

/* Tries everything; returns the first failure. */
int restore_files(const struct restore_options *options, const struct entries *entries,
		  struct err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The entries of a journal (contract/journal.h) in memory.
 *
 * After a trial and before its files are restored, they tell what the trial wrote:
 *
 *   JOURNAL_ABSENT     a file that exists at the path now was created by the trial
 *   JOURNAL_WRITTEN    the trial may have changed the file; kept is its content before
 *   JOURNAL_REMOVED, _REPLACED, _TRUNCATED
 *                      the trial wrote this version; kept is its content
 *   JOURNAL_LOST       the same, but kept is NULL
 */
#ifndef SLUICE_TUNE_TRIAL_ENTRIES_H
#define SLUICE_TUNE_TRIAL_ENTRIES_H

#include "contract/journal.h"

struct err;

struct entry {
	struct journal_record record; /* its path is owned */
	char *kept;  /* absolute path of the hard link, clone or copy; NULL: there is none */
	int version; /* of REMOVED, REPLACED, TRUNCATED and LOST, from 0; else -1 */
};

struct entries {
	struct entry *list; /* sorted by path, then by kind and version */
	size_t count, cap;
};

/* Reads all entries. A malformed one is skipped. *entries is untouched on failure. */
int entries_read(struct entries *entries, const char *journal, struct err *err);
void entries_release(struct entries *entries);

#endif

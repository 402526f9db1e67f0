/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of the user's files before a tuning. The guest enters it in a journal
 * (contract/journal.h) while trials run; the tuner restores it after each trial, so that all trials
 * start alike, and at the end.
 *
 * The journal is a directory .sluice-tune-NAME in the working directory, because hard links and
 * clones need the same file system. If files cannot be created there, it is in $TMPDIR, and files
 * are copied. Three things in the state directory outlive a tuning that is killed:
 *
 *   journals/NAME       link to the journal
 *   journals/NAME.lock  held by the tuner, and while a trial runs also by the guardian of its
 *                       processes; its permissions tell whether a trial was running, its time when
 *                       the last trial ended
 *   claims/HASH         a path that a tuning may change, see struct journal_options
 *
 * snapshot_recover() restores the files of tunings that were killed.
 */
#ifndef SLUICE_TUNE_TRIAL_SNAPSHOT_H
#define SLUICE_TUNE_TRIAL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entries;
struct err;

struct snapshot_options {
	const char *base;  /* directory of the journal; NULL: the working directory */
	const char *state; /* directory, is created; NULL: a tuning that is killed is not known */
	uint64_t limit;	   /* largest file to copy, in bytes */
	bool permit;	   /* trials may change files that cannot be preserved */
};

struct snapshot {
	char *journal, *state; /* directories; state may be NULL */
	char *record, *locked; /* files journals/NAME and journals/NAME.lock; may be NULL */
	int lock;	       /* for child_options.lock; -1: none */
	int64_t since_ns, settled_ns;
	size_t written; /* number of files whose content was kept when last counted */
};

/* The working directory must be that of the tuning. */
int snapshot_open(struct snapshot *snapshot, const struct snapshot_options *options,
		  struct err *err);

/* Declares that a directory belongs to the trials: what is in it is not preserved, and it is
 * removed by each restoration. path is absolute, without symbolic links. */
int snapshot_exempt(const struct snapshot *snapshot, const char *path, struct err *err);

/* A trial begins: a tuning that is killed from now on leaves its files. */
void snapshot_begin_trial(const struct snapshot *snapshot);

/* Which file of the last trial cannot be preserved, why, and what to do; NULL: all were. With
 * `permit`, only files of other tunings count. The caller frees it. */
char *snapshot_refusal(const struct snapshot *snapshot, bool permit);

/* Was the content of further files copied since the last call? It took time in the trial. */
bool snapshot_has_copied(struct snapshot *snapshot);

/* Restores all files and forgets the versions that the last trial has written. */
int snapshot_restore(struct snapshot *snapshot, struct err *err);

/* Restores all files and removes the journal; keeps the journal if that fails. */
int snapshot_close(struct snapshot *snapshot, struct err *err);

/*
 * Restores the files of tunings that were killed. Returns their number, or the first failure, in
 * which case that journal is kept. Waits a few seconds for processes that are being terminated.
 */
int snapshot_recover(const char *state, struct err *err);

#endif

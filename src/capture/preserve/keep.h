/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the entries of a journal (contract/journal.h): records, hard links, clones and copies.
 * Guest.
 */
#ifndef SLUICE_CAPTURE_PRESERVE_KEEP_H
#define SLUICE_CAPTURE_PRESERVE_KEEP_H

#include "capture/preserve/target.h"
#include "contract/journal.h"

/* Versions of the trial's own files that can be neither linked nor cloned are copied up to this
 * size, because the copy takes time in every trial. */
#define KEEP_VERSION_BYTES (UINT64_C(16) << 20)

/* Memory for one call. It is mapped, because the stack of the program may be small. */
struct keep {
	struct target target;
	/* The target is on another host than the tuner, and not on the file system of the journal.
	 */
	bool is_foreign;
	char journal[JOURNAL_RECORD_BYTES + JOURNAL_NAME_BYTES]; /* "DIRECTORY/NAME" */
	char claim[JOURNAL_RECORD_BYTES + JOURNAL_NAME_BYTES];
	char record[JOURNAL_RECORD_BYTES];
	char buffer[128 * 1024]; /* for copies */
};

#pragma GCC visibility push(hidden)

/* Reads the options of the journal in this directory, once per process. Without options nothing is
 * permitted and no file is copied. */
void keep_open(const char *directory);

/* May a file that cannot be preserved be changed? */
bool keep_permits(void);

/* Is the path the journal itself, or one of those that are no files? */
bool keep_is_exempt(const char *path);

/* Sets is_foreign for the target. */
void keep_find_host(struct keep *keep);

/* Was the existing target created after the tuning began? */
bool keep_is_young(const struct keep *keep);

/* The kind of the record of the target's path; 0: there is none. */
int keep_find_path(struct keep *keep);

/* Is the path below a directory that did not exist before the trial? */
bool keep_is_below_new(struct keep *keep);

/* Does the target's file belong to the user, as the journal has it by its link or content? */
bool keep_has_file(struct keep *keep);

/*
 * The following return 0 if the entry exists afterwards, or else the kind of JOURNAL_REFUSED that
 * says why not. All of them describe the target.
 */
int keep_claim(struct keep *keep);			  /* no other tuning may change the path */
int keep_path(struct keep *keep, enum journal_kind kind); /* p-HASH, or n-HASH if foreign */
int keep_link(struct keep *keep);			  /* l-FILE */
int keep_content(struct keep *keep);			  /* d-FILE and k-FILE */

/* Keeps a version of a file of the trial itself. */
void keep_version(struct keep *keep, enum journal_kind kind);

/* Records that the path cannot be preserved. */
void keep_refusal(struct keep *keep, int kind);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds out whether a trial created data files, and makes and removes the runner's own directories.
 * The files of the user are restored by the journal (tune/trial/snapshot.h).
 */
#ifndef SLUICE_TUNE_TRIAL_CLEANUP_H
#define SLUICE_TUNE_TRIAL_CLEANUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct err;

struct cleanup {
	/* Start of the trial by the local clock, and by the clock of the working directory's file
	 * system, which may be a server's. */
	struct timespec since, since_here;
	uint64_t here; /* device of the working directory; 0: its clock is unknown */
	char **files;  /* data files that the trial wrote, absolute; owned */
	size_t file_count, file_cap;
};

/* Notes the time before the trial starts. Creates and removes a probe file. */
void cleanup_begin(struct cleanup *cleanup);
void cleanup_release(struct cleanup *cleanup);

/* Adds a data file that the trial wrote. Relative paths are ignored. */
void cleanup_add_file(struct cleanup *cleanup, const char *path);

/* Is it a data file that the trial wrote? */
bool cleanup_has_file(const struct cleanup *cleanup, const char *path);

/* Do birth times tell that the trial created any of them? Not all file systems have them. */
bool cleanup_has_new(const struct cleanup *cleanup);

/*
 * Creates a directory in base that is locked while *lock is open; the lock ends with the process,
 * even if it is killed. Removes directories there whose lock nobody holds. Returns the path, which
 * the caller frees, or NULL with err set.
 */
char *cleanup_make_directory(const char *base, int *lock, struct err *err);

#endif

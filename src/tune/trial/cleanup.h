/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the files and directories that a trial created, by its trace, and removes them. The rules
 * are in tune/trial/command_runner.h. Also makes and removes the runner's own directories.
 */
#ifndef SLUICE_TUNE_TRIAL_CLEANUP_H
#define SLUICE_TUNE_TRIAL_CLEANUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "trace/format.h"

struct err;

/* The lists own their paths, which are absolute. */
struct cleanup {
	/* Start of the trial by the local clock, and by the clock of the working directory's file
	 * system, which may be a server's. */
	struct timespec since, since_here;
	uint64_t here; /* device of the working directory; 0: its clock is unknown */
	char **files;  /* data files that the trial wrote */
	size_t file_count, file_cap;
	char **others; /* other files that it wrote: of libraries, or for its own use */
	size_t other_count, other_cap;
	char **kept; /* names that existed before, whatever file they name now */
	size_t kept_count, kept_cap;
	char **directories; /* that it created, in order */
	size_t directory_count, directory_cap;
};

/* Notes the time before the trial starts. Creates and removes a probe file. */
void cleanup_begin(struct cleanup *cleanup);
void cleanup_release(struct cleanup *cleanup);

/* Adds a file that the trial wrote. Relative paths are ignored. */
void cleanup_add_file(struct cleanup *cleanup, const char *path, bool is_data);

/* Keeps a name that existed before the trial, although it may name a new file now. */
void cleanup_keep(struct cleanup *cleanup, const char *path);

/* Adds the directory if the call creates one. */
void cleanup_note_call(struct cleanup *cleanup, const struct trace_head *head,
		       const struct activity *activity);

/* Did the trial create this file, and may it be removed? */
bool cleanup_is_new(const struct cleanup *cleanup, const char *path);

/* Did the trial create any data file? */
bool cleanup_has_new(const struct cleanup *cleanup);

/* Removes what the trial created. Returns the number of files. */
size_t cleanup_remove(const struct cleanup *cleanup);

/*
 * Creates a directory in base that is locked while *lock is open; the lock ends with the process,
 * even if it is killed. Removes directories there whose lock nobody holds. Returns the path, which
 * the caller frees, or NULL with err set.
 */
char *cleanup_make_directory(const char *base, int *lock, struct err *err);

#endif

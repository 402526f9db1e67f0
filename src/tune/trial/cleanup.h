/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a trial leaves in the file system: files and directories that it has made, found in its
 * trace, to be looked at and removed. The rules are in tune/trial/command_runner.h.
 */
#ifndef SLUICE_TUNE_TRIAL_CLEANUP_H
#define SLUICE_TUNE_TRIAL_CLEANUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "trace/format.h"

struct err;

struct cleanup {
	/*
	 * When the trial was about to start, by our clock and by that of the file system of the
	 * working directory, which may be a server's. There the file that was made to learn it was
	 * on this device.
	 */
	struct timespec since, since_here;
	uint64_t here; /* 0: not known */
	char **files;  /* data that it wrote and that is there */
	size_t file_count, file_cap;
	char **others; /* written, but no data: of libraries, or what a program keeps for itself */
	size_t other_count, other_cap;
	char **kept; /* names that were there before, whatever they stand for now */
	size_t kept_count, kept_cap;
	char **directories; /* in the order they were made */
	size_t directory_count, directory_cap;
};

/* Before the trial starts: what is there now is not its own. Makes a file and removes it again. */
void cleanup_begin(struct cleanup *cleanup);
void cleanup_release(struct cleanup *cleanup);

/* A file that was written to. Relative paths are left out. */
void cleanup_add_file(struct cleanup *cleanup, const char *path, bool is_data);

/* A name that was there before the trial, though it may stand for a new file: it stays. */
void cleanup_keep(struct cleanup *cleanup, const char *path);

/* Takes note of calls that make directories. */
void cleanup_note_call(struct cleanup *cleanup, const struct trace_head *head,
		       const struct activity *activity);

/* Was the file made by the trial, and may it be removed? */
bool cleanup_is_new(const struct cleanup *cleanup, const char *path);

/* Has the trial made any data file? */
bool cleanup_has_new(const struct cleanup *cleanup);

/* Removes what the trial has made; the number of files. */
size_t cleanup_remove(const struct cleanup *cleanup);

/*
 * Makes a directory of our own in base, with a lock that is ours as long as *lock is open: it goes
 * with us even when we are killed. Others there that nobody holds any more are cleared away. The
 * path is the caller's to free; NULL with a sentence.
 */
char *cleanup_make_directory(const char *base, int *lock, struct err *err);

/* Removes a directory and all in it; of our own, not of a trial. Links are not followed. */
void cleanup_remove_tree(const char *directory);

#endif

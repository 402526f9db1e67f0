/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of files that differ from run to run although they mean the same file: names with process
 * ids, random names of temporary files, times, and files below a working directory that differs.
 */
#ifndef SLUICE_OBSERVE_COMPARE_FILE_PATTERN_H
#define SLUICE_OBSERVE_COMPARE_FILE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* What is known of the run that used the file. */
struct file_context {
	const char *directory; /* working directory at the start; "": unknown */
	const int32_t *pids;   /* sorted */
	size_t pid_count;
};

/*
 * Returns the path without what is specific to the run:
 * - the working directory is removed: "/home/me/old/out.dat" becomes "out.dat";
 * - {pid} replaces ids of processes of the run;
 * - {number} replaces other numbers of at least 5 digits, such as times and job ids;
 * - {id} replaces hexadecimal numbers of at least 8 digits that contain letters and digits;
 * - {random} replaces words as mkstemp() and Python's tempfile make them: 6 characters after a
 *   period, a hyphen or an underscore, or 8 after "tmp", with changes between small letters,
 *   capital letters and digits.
 * The caller frees it.
 */
char *file_pattern(const char *path, const struct file_context *context);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the spool directories of runs are. Processes that outlive a run keep the name of its
 * removed directory in their environment, so no other user may be able to create that name again.
 * In a base directory that others can write to, such as /dev/shm, spool directories are therefore
 * created in a directory of the user's own, which is never removed:
 *
 *   BASE/sluice-UID/sluice-UID-XXXXXX      a run
 *   BASE/sluice-UID/sluice-UID-job-HASH    the runs of a job on this node, see share.h
 *
 * In a base directory of the user's own, and if another user has occupied the name sluice-UID, they
 * are created in the base directory itself.
 */
#ifndef SLUICE_OBSERVE_COLLECT_SPOOL_DIRECTORY_H
#define SLUICE_OBSERVE_COLLECT_SPOOL_DIRECTORY_H

#include <glob.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

/* Creates a spool directory with a random name. Returns its path, which the caller frees, or NULL.
 */
char *spool_directory_create(const char *base, struct err *err);

/* The path of a job's spool directory, existing or not. `create`: makes the directory above it. */
char *spool_directory_of_job(const char *base, uint64_t job, bool create);

/* Appends the user's spool directories below `base`; zero-initialize *found before the first call.
 */
void spool_directory_find(const char *base, glob_t *found);

#endif

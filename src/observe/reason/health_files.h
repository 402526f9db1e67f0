/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Health files: how the reasoners of several nodes exchange reports without a daemon. Each node of
 * a job writes one small text file into a shared directory (next to the parts of the job's trace)
 * and replaces it as a whole. Every node reads all files, so all of them derive the same state of
 * the system. A file that is unreadable, incomplete, of another version or of another user is
 * ignored. The directory is private (base/trusted.h).
 */
#ifndef SLUICE_OBSERVE_REASON_HEALTH_FILES_H
#define SLUICE_OBSERVE_REASON_HEALTH_FILES_H

#include "observe/reason/reasoner.h"

struct err;

/* Writes or replaces the file of the report's id. Makes the directory again if a node that left has
 * removed it. */
int health_files_write(const char *directory, const struct health_report *report, struct err *err);

/* Removes the file of the id, and the directory if it is empty then. */
void health_files_leave(const char *directory, const char *id);

/* Reads all valid reports, sorted by id, and returns their number. The caller frees them. */
size_t health_files_read(const char *directory, struct health_report **reports);

/*
 * Parses one report from a text, which it modifies. On failure it returns false, and *report is
 * undefined.
 */
bool health_files_parse(struct health_report *report, char *text);

#endif

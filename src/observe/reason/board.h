/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How reasoners of several nodes hear each other without a daemon: a directory that all of them see
 * (beside the parts of the job's trace), one small text file per node, replaced as a whole. Every
 * node reads all files and so comes to the same view of the system. What cannot be read, is half
 * written or of another version is left out.
 */
#ifndef SLUICE_OBSERVE_REASON_BOARD_H
#define SLUICE_OBSERVE_REASON_BOARD_H

#include "observe/reason/reasoner.h"

struct err;

/* Puts or replaces the report of its id. */
int board_write(const char *directory, const struct health_report *report, struct err *err);

/* The id has nothing to say any more; the last to leave removes the directory. */
void board_leave(const char *directory, const char *id);

/* All reports that can be read, by id; the caller frees. Returns how many. */
size_t board_read(const char *directory, struct health_report **reports);

/* One report out of a text, which is cut up. False, with *report spoilt: it is none. */
bool board_parse(struct health_report *report, char *text);

#endif

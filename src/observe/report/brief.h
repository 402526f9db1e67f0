/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The report that `sluice run` prints when the program has ended: at most BRIEF_LINES lines of at
 * most BRIEF_COLUMNS columns (but for the last one, which must be a whole command). What there is
 * nothing to say about has no line.
 */
#ifndef SLUICE_OBSERVE_REPORT_BRIEF_H
#define SLUICE_OBSERVE_REPORT_BRIEF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct summary;

#define BRIEF_LINES 12
#define BRIEF_COLUMNS 100
/* Of longer traces only the head is read: nobody shall wait for a brief report. */
#define BRIEF_ACTIVITIES 10000000

/* Reads the trace and reports. On failure nothing is printed. */
int brief_print(FILE *out, const char *path, struct err *err);

/* The same of a summary; read false: its activities were not added up. */
void brief_render(FILE *out, const struct summary *summary, const char *path, bool read);

#endif

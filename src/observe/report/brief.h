/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary that `sluice run` prints when the program has ended: at most BRIEF_LINES lines of at
 * most BRIEF_COLUMNS columns (except the last one, which must be a complete command). A topic
 * without data has no line. What Sluice did to the program comes directly after the first line.
 */
#ifndef SLUICE_OBSERVE_REPORT_BRIEF_H
#define SLUICE_OBSERVE_REPORT_BRIEF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct config;
struct err;
struct finding;
struct summary;

#define BRIEF_LINES 12
#define BRIEF_COLUMNS 100
/* Of longer traces only the head is read, so that the summary does not take long. */
#define BRIEF_ACTIVITIES 10000000

/* Reads the trace and prints the summary. On failure nothing is printed. */
int brief_print(FILE *out, const char *path, const struct config *config, struct err *err);

/*
 * Prints a summary that was computed before; read is false if its activities were not added. worst
 * is the most important finding, or NULL.
 */
void brief_render(FILE *out, const struct summary *summary, const struct finding *worst,
		  const char *path, bool read);

#endif

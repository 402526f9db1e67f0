/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the page of `sluice report --html`: draws the plots of the run and renders everything into
 * one file.
 */
#ifndef SLUICE_CMD_REPORT_PAGE_H
#define SLUICE_CMD_REPORT_PAGE_H

#include <stdbool.h>

struct command;
struct report;

/*
 * run is the path of the trace; NULL: the report is about several. Prints why it fails. A file that
 * exists is replaced only if `force` is set.
 */
int report_page_write(const struct command *command, const struct report *report, const char *run,
		      const char *path, bool force);

#endif

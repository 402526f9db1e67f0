/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares a run that has ended with the earlier runs of the same entry of the knowledge base, and
 * demotes the entry if it is slower than the default (run/guard.h). A run without parameters is
 * added to the baseline of the entry.
 */
#ifndef SLUICE_RUN_COMPARISON_H
#define SLUICE_RUN_COMPARISON_H

struct buf;
struct config;

/*
 * argv and trace are those of the run. Adds sentences for the user to *said, each ended by a
 * newline; those that begin with COLLECTOR_NOTICE are information. Does nothing if tune.apply is
 * off, or if there is no entry for exactly this program, code, arguments, ranks, platform and file
 * system. A run that fails counts against the parameters, unless the user ended it.
 */
void comparison_make(const struct config *config, char *const *argv, const char *trace,
		     struct buf *said);

#endif

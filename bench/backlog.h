/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For a program that measures itself under capture: what it has recorded and the collector has not
 * taken yet. It reads the process's own spool as the collector does.
 */
#ifndef SLUICE_BENCH_BACKLOG_H
#define SLUICE_BENCH_BACKLOG_H

#include <stdbool.h>

struct spool_header;

/* The spool of this process; NULL when there is none. Stays mapped. */
const struct spool_header *backlog_find(void);

/*
 * Waits until the collector has taken all of it, by no call that is recorded itself. False, with
 * errno set, if that does not happen; true for no spool.
 */
bool backlog_wait(const struct spool_header *spool);

#endif

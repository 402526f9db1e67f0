/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For a program that measures itself under capture: the records that the collector has not read
 * yet. It reads the spool of its own process in the same way as the collector.
 */
#ifndef SLUICE_BENCH_BACKLOG_H
#define SLUICE_BENCH_BACKLOG_H

#include <stdbool.h>

struct spool_header;

/* Maps the spool of this process and keeps it mapped. Returns NULL if the process has no spool. */
const struct spool_header *backlog_find(void);

/*
 * Waits until the collector has read all records; makes no call that is recorded. Returns false,
 * with errno set, if the collector does not; true if spool is NULL.
 */
bool backlog_wait(const struct spool_header *spool);

#endif

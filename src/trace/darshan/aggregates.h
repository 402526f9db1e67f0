/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sums of a log by group of calls, from its usages. The counters of a file exist once for each
 * layer that accessed it, and those of a lower layer are mostly inside those of a higher one: an
 * H5Dwrite contains the MPI-IO write, which contains the POSIX write. A row is outermost if no
 * higher layer spent time on the same file in the same group of calls, and if the time of a lower
 * one is not that of activities, which count by themselves.
 */
#ifndef SLUICE_TRACE_DARSHAN_AGGREGATES_H
#define SLUICE_TRACE_DARSHAN_AGGREGATES_H

#include "trace/darshan/import.h"

/* Adds the aggregates of all usages of the head. */
void aggregates_make(struct import *import);

#endif

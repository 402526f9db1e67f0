/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The modules that count: POSIX, STDIO, MPI-IO, H5F, H5D, PNETCDF_FILE, PNETCDF_VAR and LUSTRE.
 * A record has the counters of one file (or dataset, or variable) and one rank, or of all ranks.
 */
#ifndef SLUICE_TRACE_DARSHAN_COUNTERS_H
#define SLUICE_TRACE_DARSHAN_COUNTERS_H

#include "trace/darshan/import.h"

/*
 * Adds the counters of all modules as usages and aggregates. Call it after the segments were
 * counted, because accesses that are activities are left out. Damaged modules are noted.
 */
void counters_import(struct import *import);

#endif

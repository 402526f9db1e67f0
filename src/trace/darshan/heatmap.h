/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module HEATMAP: bytes that each rank moved through POSIX, STDIO and MPI-IO in equal periods
 * of the run.
 */
#ifndef SLUICE_TRACE_DARSHAN_HEATMAP_H
#define SLUICE_TRACE_DARSHAN_HEATMAP_H

#include "trace/darshan/import.h"

/*
 * Adds the heat maps as flows, except of layers whose accesses are activities. A damaged module is
 * noted.
 */
void heatmap_import(struct import *import);

#endif

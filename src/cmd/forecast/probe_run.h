/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of `sluice probe run` share: the summary of a run.
 */
#ifndef SLUICE_CMD_FORECAST_PROBE_RUN_H
#define SLUICE_CMD_FORECAST_PROBE_RUN_H

#include "cmd/forecast/probe.h"
#include "predict/forecast/service/probing.h"

/* Prints the summary, on standard error if standard output belongs to a command. */
void probing_show(const struct probing *probing, const struct probe_args *args);
/* A line for a progress display. Caller frees. */
char *probing_line(const struct probing *probing);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a command of a scheduler and takes what it prints; behind jobs_ask(), and for whoever
 * submits jobs.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_ASK_H
#define SLUICE_PREDICT_FORECAST_JOBS_ASK_H

#include "predict/forecast/jobs/jobs.h"

struct buf;

/*
 * Adds to text what a command for a shell prints on stdout, at most so many bytes. -ETIMEDOUT or
 * -EFBIG: it was killed with its process group. -EIO, -ENOENT: it failed, and err has its own
 * words. Its stdin is empty.
 */
int jobs_command(struct buf *text, const char *command, double timeout_s, size_t most,
		 struct err *err);

#endif

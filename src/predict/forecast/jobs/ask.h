/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a command of the scheduler and captures its output, for jobs_query() and for job submission.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_ASK_H
#define SLUICE_PREDICT_FORECAST_JOBS_ASK_H

#include "predict/forecast/jobs/jobs.h"

struct buf;

/*
 * Appends the stdout of a shell command to text. The command's stdin is empty. Returns -ETIMEDOUT
 * or -EFBIG (more than max_bytes) after killing the command and its process group; -EIO or -ENOENT
 * if the command failed, with its stderr in err.
 */
int jobs_run_command(struct buf *text, const char *command, double timeout_s, size_t max_bytes,
		     struct err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job and the names of a log: the parts that every log has.
 */
#ifndef SLUICE_TRACE_DARSHAN_JOB_H
#define SLUICE_TRACE_DARSHAN_JOB_H

#include "trace/darshan/log.h"

/* Called by darshan_log_open() after the header. The messages do not name the file. */
int darshan_read_job(struct darshan_log *log, struct err *err);
int darshan_read_names(struct darshan_log *log, struct err *err);

void darshan_job_release(struct darshan_job *job);

#endif

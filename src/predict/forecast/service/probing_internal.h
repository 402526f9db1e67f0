/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of probing.c, which implement one loop together: rows and where they are saved, job
 * queries, and the command.
 */
#ifndef SLUICE_PREDICT_FORECAST_SERVICE_PROBING_INTERNAL_H
#define SLUICE_PREDICT_FORECAST_SERVICE_PROBING_INTERNAL_H

#include "predict/forecast/service/probing.h"

/* Formats a message for options.on_warning. */
void probing_warn(const struct probing *probing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* probing_rows.c */

/* Chooses the spool file, one per process, and creates its directory. No-op without a spool. */
int probing_rows_open(struct probing *probing, struct err *err);
void probing_rows_add(struct probing *probing, const struct prober_sample *sample);
/* Saves the rows. If that fails, they stay in memory for the next attempt, up to a limit. */
void probing_rows_save(struct probing *probing);
/* Counts today's rows of the store against the daily limits. */
void probing_rows_count_today(struct probing *probing);
/* Writes probing->rows to the store or to the spool file with this suffix ("" for samples). */
int probing_rows_write(struct probing *probing, const char *suffix, struct err *err);

/* probing_jobs.c */

int probing_jobs_init(struct probing *probing, struct err *err);
/* Starts a query if one is due and collects the result of the previous one. Does not block. */
void probing_jobs_step(struct probing *probing, int64_t wall_ns);
/* Waits up to half a second for a query in progress, then kills it. */
void probing_jobs_stop(struct probing *probing);

/* probing_command.c */

/* Checks that options.cpu is a CPU of this process. */
int probing_command_check(const struct probing_options *options, struct err *err);
/* Starts the command and confines this process to one CPU. *pidfd is -1 if unsupported. */
int probing_command_start(struct probing *probing, int *pidfd, struct err *err);
bool probing_command_has_ended(int pidfd);
/* Waits for the command and sets command_exit. */
void probing_command_wait(struct probing *probing);

#endif

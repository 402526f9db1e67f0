/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the readers of jobs.h share: numbers as schedulers write them, and jobs made of them. Texts
 * are given with their length and may hold any bytes.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_TEXT_H
#define SLUICE_PREDICT_FORECAST_JOBS_TEXT_H

#include "predict/forecast/jobs/jobs.h"

struct jobs_span {
	const char *at;
	size_t n;
};

struct jobs_span jobs_span(const char *text); /* NULL is empty */

/* "1-02:03:04", "27:03:04", "03:04" and seconds; NAN for anything else: "UNLIMITED", "N/A". */
double jobs_seconds(struct jobs_span text);

/*
 * "8412kb", "2GB", "1.5G", "100": K, M, G, T, P are powers of 1024 whatever follows ("w": words of
 * 8 bytes), and a bare number is in units. NAN for anything else. Counts have such letters, too.
 */
double jobs_bytes(struct jobs_span text, double unit);

/* The memory of "cpu=2,mem=500M,node=1"; NAN: not told. */
double jobs_tres_memory(struct jobs_span text);

/* "Sun Nov 15 22:49:28 2026", local time, in seconds since 1970; NAN for anything else. */
double jobs_clock(struct jobs_span text);

/* Replaces a field of a job: without blanks at its ends, and on one line. */
void jobs_put(char **field, struct jobs_span text);

/* Sets the owner, hidden, and hides it in the job's name, which is there already. */
void jobs_own(struct job *job, struct jobs_span owner, const uint8_t key[OWNER_KEY_BYTES]);

/* The end of a reader: adds what was found if r is good, and forgets it else. Returns r. */
int jobs_settle(struct jobs *jobs, struct jobs *found, int r);

/* One per file jobs_*.c; jobs_readers[] lists them. */
extern const struct jobs_reader jobs_reader_slurm_text, jobs_reader_slurm_json,
	jobs_reader_scontrol, jobs_reader_pbs, jobs_reader_pbs_json;

/* The number of the line that a place of a text is in. */
unsigned jobs_line(const char *text, const char *at);

#endif

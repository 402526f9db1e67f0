/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Helpers of the job readers: parsing of numbers as schedulers write them, and setting of job
 * fields. Texts have a length and may contain any bytes.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_TEXT_H
#define SLUICE_PREDICT_FORECAST_JOBS_TEXT_H

#include "predict/forecast/jobs/jobs.h"

struct jobs_span {
	const char *at;
	size_t n;
};

struct jobs_span jobs_span(const char *text); /* NULL gives an empty span */

/* Parses "1-02:03:04", "27:03:04", "03:04" and seconds; NAN for others, such as "UNLIMITED". */
double jobs_parse_seconds(struct jobs_span text);

/*
 * Parses "8412kb", "2GB", "1.5G", "100". K, M, G, T and P are powers of 1024; a final "w" means
 * words of 8 bytes; a number without a letter is multiplied by `unit`. NAN for anything else. Also
 * used for counts, which may have the same letters.
 */
double jobs_parse_bytes(struct jobs_span text, double unit);

/* The memory in bytes of a list such as "cpu=2,mem=500M,node=1"; NAN if it has none. */
double jobs_parse_tres_memory(struct jobs_span text);

/* Parses local time such as "Sun Nov 15 22:49:28 2026" to seconds since 1970; else NAN. */
double jobs_parse_clock(struct jobs_span text);

/* Replaces a field of a job. Removes blanks at both ends and line breaks. */
void job_field_set(char **field, struct jobs_span text);

/* Sets the hashed owner, and replaces the owner in the job's name, which must be set before. */
void job_owner_set(struct job *job, struct jobs_span owner, const uint8_t key[OWNER_KEY_BYTES]);

/* Ends a reader: moves `found` to `jobs` if r >= 0, otherwise releases it. Returns r. */
int jobs_finish_reading(struct jobs *jobs, struct jobs *found, int r);

/* The readers in jobs_readers[]; each has its own file. */
extern const struct jobs_reader jobs_reader_slurm_text, jobs_reader_slurm_json,
	jobs_reader_scontrol, jobs_reader_pbs, jobs_reader_pbs_json;

/* The line number of a position in a text. */
unsigned jobs_line_number(const char *text, const char *at);

#endif

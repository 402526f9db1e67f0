/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A snapshot of the jobs that run on a system (WAN-8), as the scheduler reports them. Readers parse
 * the output of Slurm (squeue and scontrol, JSON and text) and of PBS (qstat -f). They keep running
 * jobs only, and nothing about the content of a job but its name. Owners are stored as a keyed
 * hash: a reader of a snapshot can distinguish two owners but cannot identify them.
 * Papers: WAN-3.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_JOBS_H
#define SLUICE_PREDICT_FORECAST_JOBS_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/jobs/owner.h"

struct err;

/* The job owns its strings, which are never NULL. Unknown values are "" or NAN. */
struct job {
	char *id, *name, *queue;
	char *owner; /* OWNER_TEXT, or "" */
	double nodes;
	double memory_bytes,
		virtual_bytes;	    /* of the whole job: used, or requested if that is unknown */
	double used_s, allocated_s; /* wall time; allocated_s is NAN without a limit */
};

struct jobs {
	double time_s; /* since 1970 */
	struct job *rows;
	size_t count, cap;
};

/* Appends a job with unknown values. The pointer is valid until the next call. */
struct job *jobs_add(struct jobs *jobs);
void jobs_release(struct jobs *jobs);

struct jobs_reader {
	const char *name;    /* "slurm-text", "slurm-json", "scontrol", "pbs", "pbs-json" */
	const char *help;    /* one line for lists */
	const char *command; /* shell command that prints this format */
	/*
	 * Appends the running jobs of a text, which may contain any bytes. Messages give `name` and
	 * the line. jobs is unchanged on failure. A job that lacks a field is kept with an unknown
	 * value. If the text has start times instead of run times, the run time is the difference
	 * to jobs->time_s, or to the time in the text if jobs->time_s is 0.
	 */
	int (*read)(struct jobs *jobs, const char *name, const char *text, size_t bytes,
		    const uint8_t key[OWNER_KEY_BYTES], struct err *err);
};
extern const struct jobs_reader *const jobs_readers[]; /* ends with NULL */

/* Finds a reader by name. Returns NULL and lists the names in err if there is none. */
const struct jobs_reader *jobs_reader_find(const char *name, struct err *err);

/* The first reader whose command is installed on this host, or NULL. */
const struct jobs_reader *jobs_reader_detect(void);

/*
 * Runs a command that prints the reader's format (NULL or "": reader->command) and parses up to
 * JOBS_ASK_BYTES of its output. Sets jobs->time_s to the current time if it was 0. Returns
 * -ETIMEDOUT after timeout_s; the command and its process group are killed then. If the command
 * fails, err contains the first line of its stderr.
 */
#define JOBS_ASK_BYTES (64u << 20)
int jobs_query(struct jobs *jobs, const struct jobs_reader *reader, const char *command,
	       double timeout_s, const uint8_t key[OWNER_KEY_BYTES], struct err *err);

#endif

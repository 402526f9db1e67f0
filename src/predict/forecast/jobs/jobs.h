/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a scheduler tells of the jobs that run (WAN-8): one snapshot. Readers take the scheduler's
 * own words apart, of Slurm (squeue and scontrol, JSON and text) and of PBS (qstat -f); they keep
 * running jobs alone, and nothing of what a job is about but its name. Owners are known by a keyed
 * hash only: whoever reads a snapshot can tell two owners apart and not who they are.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_JOBS_H
#define SLUICE_PREDICT_FORECAST_JOBS_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/jobs/owner.h"

struct err;

/* Texts are the job's own, never NULL; "" where unknown, as NAN is for numbers. */
struct job {
	char *id, *name, *queue;
	char *owner; /* OWNER_TEXT, or "" */
	double nodes;
	double memory_bytes,
		virtual_bytes;	    /* of the whole job: used, or granted if only that is told */
	double used_s, allocated_s; /* wall time; NAN: without limit */
};

struct jobs {
	double time_s; /* since 1970 */
	struct job *rows;
	size_t count, cap;
};

/* A further job, empty; valid until the next is added. */
struct job *jobs_add(struct jobs *jobs);
void jobs_release(struct jobs *jobs);

/* ---- readers: one constant per scheduler and form ---- */

struct jobs_reader {
	const char *name;    /* "slurm-text", "slurm-json", "scontrol", "pbs", "pbs-json" */
	const char *help;    /* what it reads, for lists */
	const char *command; /* what prints such a text, for a shell */
	/*
	 * Adds to jobs the running ones of a text, whose bytes may be anything; name stands for the
	 * file in messages, which tell the line. jobs is as before on failure. A job that lacks a
	 * field is kept without. Where the text has when a job was started rather than for how
	 * long it runs, jobs->time_s tells until when; if that is 0, the text may.
	 */
	int (*read)(struct jobs *jobs, const char *name, const char *text, size_t bytes,
		    const uint8_t key[OWNER_KEY_BYTES], struct err *err);
};
extern const struct jobs_reader *const jobs_readers[]; /* ends with NULL */

/* By name; NULL with a sentence that lists them. */
const struct jobs_reader *jobs_reader_find(const char *name, struct err *err);

/* The scheduler of this machine: the first whose command is there; NULL: none. */
const struct jobs_reader *jobs_reader_here(void);

/*
 * Runs the reader's command, or another that prints the same (NULL or "": its own), for at most
 * timeout_s, and reads what it prints, JOBS_ASK_BYTES at most. jobs->time_s becomes the time of
 * asking if it was 0. -ETIMEDOUT, and the command is gone with its process group, if it takes
 * longer. The first line of what a command that fails says on stderr is in err.
 */
#define JOBS_ASK_BYTES (64u << 20)
int jobs_ask(struct jobs *jobs, const struct jobs_reader *reader, const char *command,
	     double timeout_s, const uint8_t key[OWNER_KEY_BYTES], struct err *err);

#endif

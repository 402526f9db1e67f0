/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The circumstances under which a machine was measured. A model is valid only as long as they
 * resemble those of the access that it predicts.
 */
#ifndef SLUICE_PREDICT_MODEL_ENVIRONMENT_H
#define SLUICE_PREDICT_MODEL_ENVIRONMENT_H

#include <stdint.h>

struct blob;
struct buf;

#define ENVIRONMENT_DAYS 30 /* an older model is called old */

struct environment {
	int64_t time_s; /* seconds since 1970 */
	double load;	/* runnable tasks of this host, mean over a minute; NAN: unknown */
	uint64_t cores;
	char host[64], kernel[64];
	char library[256]; /* path of the MPI library; "": unknown */
	char version[128]; /* what it says about itself */
	char build[64];	   /* identifies the file: its build ID, or its size and date */
};

/* Describes this host now. library may be "". */
void environment_detect(struct environment *environment, const char *library, const char *version);

/*
 * Appends a sentence per difference that makes the model doubtful, each followed by a newline: the
 * age, the load, the kernel and the MPI library. Nothing but the age is compared across hosts.
 */
void environment_compare(const struct environment *then, const struct environment *now,
			 struct buf *out);

void environment_save(const struct environment *environment, struct buf *buf);
void environment_load(struct environment *environment, struct blob *blob);

#endif

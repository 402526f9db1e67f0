/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tuning of the user's store, and how requests name it.
 */
#ifndef SLUICE_WEB_STUDY_H
#define SLUICE_WEB_STUDY_H

#include "store/studies.h"
#include "tune/loop/plan.h"
#include "tune/loop/tuning_process.h"

struct json;
struct web_call;

struct web_study {
	struct study study; /* its texts belong to this object */
	struct tuning_plan plan;
	bool has_plan; /* false: another version of Sluice made it */
	struct tuning_status status;
};

/* Copies a tuning of the store, and finds out whether it is running. */
void web_study_init(struct web_study *study, const struct config *config,
		    const struct study *stored);
void web_study_release(struct web_study *study);

/* The program that is tuned, and the ranks that it is started with; 0: unknown. The text is valid
 * as long as the study. */
const char *web_study_program(const struct web_study *study, unsigned *ranks);

/*
 * The tuning that the path of the request names by its id. Returns false if there is none; the
 * request was then answered. The caller closes the store and releases the study.
 */
bool open_named_study(struct web_call *call, struct store **store, struct web_study *study);

/* The same without a request; -ENOENT. */
int web_study_read(struct web_study *study, const struct config *config, struct store *store,
		   int64_t id, struct err *err);

/* Writes an object about a run. */
void put_study_run(struct json *json, const struct web_study *study, const struct study_run *run);

/* Writes the members that change while a tuning runs, apart from its runs. */
void put_study_status(struct json *json, const struct config *config,
		      const struct web_study *study);

#endif

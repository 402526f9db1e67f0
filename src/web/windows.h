/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What requests about a window of a run have in common.
 */
#ifndef SLUICE_WEB_WINDOWS_H
#define SLUICE_WEB_WINDOWS_H

#include <stdbool.h>

#include "observe/window/window.h"

struct err;
struct json;
struct open_run;
struct web_call;

struct window_question {
	struct open_run *run;
	struct window_index *index;
	struct window_filter filter;
};

/*
 * Reads the filter, and opens the run that the request names. Returns false if the request was
 * answered; otherwise the caller calls window_done().
 */
bool window_ask(struct web_call *call, struct window_question *question);

/* Returns the run; r < 0: answers that the query failed. */
void window_done(struct web_call *call, const struct window_question *question, int r,
		 const struct err *err);

/* Adds the fields that all answers have. */
void window_put_frame(struct json *json, const struct window_frame *frame);

#endif

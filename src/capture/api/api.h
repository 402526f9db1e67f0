/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Explicit instrumentation: the functions behind include/sluice/instrument.h. Guest.
 *
 * An open activity is the current call of its lane, although it has no frame on the stack: its
 * place is FRAME_REGION, above every frame, so that all calls of the thread are inside it. An
 * activity that is begun inside a wrapped call, by a callback of a library, takes the place of that
 * call instead: it cannot outlive it. The record is written at the end, with the sequence number of
 * the beginning, like that of a call that takes as long.
 *
 * What a thread has open is in memory that is mapped when the thread first begins an activity:
 * there is no room for it in static TLS, which is a part of small stacks.
 */
#ifndef SLUICE_CAPTURE_API_API_H
#define SLUICE_CAPTURE_API_API_H

#define SLUICE_INSTRUMENT_OFF /* these are the functions that the header looks for */
#include <sluice/instrument.h>

struct self;

#pragma GCC visibility push(hidden)

/* In a forked child: its thread has no open activity. */
void api_forget(struct self *s);

/* The thread or the process ends. */
void api_flush(struct self *s);

/* api/answers.c: as the members of struct sluice_instrument. */
int32_t answer_target(const char *name, size_t bytes, struct sluice_target *target);
int32_t answer_target_at(uint32_t index, struct sluice_target *target);
int32_t answer_best(const char *parameter, size_t parameter_bytes, const char *file,
		    size_t file_bytes, char *value, size_t value_bytes);

#pragma GCC visibility pop

#endif

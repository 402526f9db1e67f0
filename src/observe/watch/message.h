/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between collector and watcher, passed through a queue. Rows of facts are packed by the
 * tables of trace/facts.h, so that no field is forgotten.
 */
#ifndef SLUICE_OBSERVE_WATCH_MESSAGE_H
#define SLUICE_OBSERVE_WATCH_MESSAGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "trace/facts.h"

enum message_kind {
	MESSAGE_ACTIVITIES, /* packed; times in ticks */
	/* Facts, see message_facts[]. */
	MESSAGE_FILE,
	MESSAGE_PROCESS,
	MESSAGE_CLOCK,
	MESSAGE_NOTE,
	MESSAGE_STATISTIC,
	MESSAGE_SAMPLE,
	MESSAGE_KINDS
};

extern const struct fact
	*const message_facts[MESSAGE_KINDS]; /* NULL for kinds that are not facts */

/* Returns MESSAGE_KINDS if there is no message for the fact. */
enum message_kind message_kind_of(const struct fact *fact);

/* Appends the packed row to out. */
void message_pack(struct buf *out, const struct fact *fact, const void *row);

/*
 * Unpacks a row, which the caller has zeroed and releases with fact_release(), also on failure.
 * Returns false if the bytes are not such a row.
 */
bool message_unpack(const struct fact *fact, const void *bytes, size_t n, void *row);

/*
 * Packs activities without the fields that most of them do not have. That saves the collector,
 * which must be fast, a third of the copying. Absent fields are 0 after unpacking.
 */
#define MESSAGE_ACTIVITY_MAX 160 /* maximum size of one activity in bytes */

/*
 * Packs n activities at `to`, which must have room for n * MESSAGE_ACTIVITY_MAX bytes. Returns the
 * bytes used.
 */
size_t message_pack_activities(void *to, const struct activity *batch, size_t n);
/* Unpacks the next activity and returns where the one after it starts. */
const void *message_unpack_activity(const void *from, struct activity *a);

#endif

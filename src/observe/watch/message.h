/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What collector and watcher say to each other, as messages of a queue. Rows of facts travel by the
 * tables of trace/facts.h, so that a field is never forgotten on the way.
 */
#ifndef SLUICE_OBSERVE_WATCH_MESSAGE_H
#define SLUICE_OBSERVE_WATCH_MESSAGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "trace/facts.h"

enum message_kind {
	MESSAGE_ACTIVITIES, /* packed, times in ticks */
	/* Facts, of message_facts[]: */
	MESSAGE_FILE,
	MESSAGE_PROCESS,
	MESSAGE_CLOCK,
	MESSAGE_NOTE,
	MESSAGE_STATISTIC,
	MESSAGE_SAMPLE,
	MESSAGE_KINDS
};

extern const struct fact *const message_facts[MESSAGE_KINDS]; /* NULL for those that are none */

/* MESSAGE_KINDS where there is no message for it. */
enum message_kind message_kind_of(const struct fact *fact);

/* Adds the row to what is in out. */
void message_pack(struct buf *out, const struct fact *fact, const void *row);

/*
 * The row, zeroed by the caller, who releases it with fact_release(), also on failure: when the
 * bytes are not such a row.
 */
bool message_unpack(const struct fact *fact, const void *bytes, size_t n, void *row);

/*
 * Activities without what most of them have not: a third less to be copied by the collector, for
 * whom every nanosecond counts. Absent fields come out as 0.
 */
#define MESSAGE_ACTIVITY_MAX 160 /* bytes of one, at most */

/* Packs n activities at `to`, which has room for so many of the largest; returns the bytes. */
size_t message_pack_activities(void *to, const struct activity *batch, size_t n);
/* The next one: returns where the one after it begins. */
const void *message_unpack_activity(const void *from, struct activity *a);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks agree on the hints of a file that they open together, without a message and without
 * waiting: through tables of the run's control page in which a place is taken once, by a
 * compare-and-swap, and never changes again. Guest.
 *
 * A hint that only some ranks pass may abort the job. So:
 * - Every rank proposes an answer, and whoever enters its own for the opening first has decided;
 *   the others find it there. Nobody waits for anybody.
 * - "No hints" is an answer like any other. A table without room is without room for every rank,
 *   because nothing is ever taken out: then all pass none.
 * - Anything but "no hints" may only be proposed when every rank of the job has joined this run:
 *   then all of them follow, also those that record no longer. A rank joins before the real
 *   MPI_Init, which none leaves before all have come. A job on several nodes never has all its
 *   ranks in one control page.
 *
 * Openings are told apart by the ranks that take part, the base name of the file, the mode, and how
 * often they have opened it so. Ranks may spell the directories of a path differently.
 */
#ifndef SLUICE_CAPTURE_INLINE_AGREE_H
#define SLUICE_CAPTURE_INLINE_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/spool.h"

#pragma GCC visibility push(hidden)

/* The number of an answer of a plug-in; 0 for "", and where there is no room for it. */
uint32_t agree_answer(struct control *control, const char *hints, uint32_t plugin);
/* Its hints, "" for 0. */
const char *agree_hints(const struct control *control, uint32_t answer, uint32_t *plugin);

/* A place for the number, the same for all who ask: to count by. -1: there is none. */
int agree_place(struct control *control, uint64_t number);

/* Is it decided already? Then *answer is what counts. */
bool agree_known(const struct control *control, uint64_t number, uint32_t *answer);

/* What counts for the opening with this number; *mine: the proposal was the first. */
uint32_t agree_decide(struct control *control, uint64_t number, uint32_t proposal, bool *mine);

#pragma GCC visibility pop

#endif

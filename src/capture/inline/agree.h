/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks agree on the hints of a file that they open together, without messages and without waiting:
 * through tables in the run's control page, whose entries are set once by a compare-and-swap and
 * never change again. Guest.
 *
 * If only some ranks pass a hint, the job may abort. So:
 * - Every rank proposes an answer. The first rank that enters its answer for the opening decides;
 *   the others find it there. No rank waits for another.
 * - "No hints" is an answer like any other. If the table is full, it is full for every rank,
 * because nothing is ever removed: then all ranks pass no hints.
 * - Other answers may be proposed only if all ranks of the job have joined this run
 *   (libraries/mpi_job.h): then all of them use the answer, even those that no longer record.
 *
 * An opening is identified by the ranks that take part, the base name of the file, the access mode,
 * and the number of earlier openings of this kind. Directories are not part of it, because ranks
 * may write the same path differently.
 */
#ifndef SLUICE_CAPTURE_INLINE_AGREE_H
#define SLUICE_CAPTURE_INLINE_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/spool.h"

#pragma GCC visibility push(hidden)

/* Enters an answer of a plug-in and returns its number; 0 for "", and if there is no room. */
uint32_t agree_answer(struct control *control, const char *hints, uint32_t plugin);
/* The hints of an answer; "" for 0. */
const char *agree_hints(const struct control *control, uint32_t answer, uint32_t *plugin);

/* The index of the entry for this number, the same in all processes. -1: there is no room. */
int agree_place(struct control *control, uint64_t number);

/* Is the opening decided already? Then *answer is its answer. */
bool agree_known(const struct control *control, uint64_t number, uint32_t *answer);

/* Proposes an answer and returns the one that was chosen. *mine: this proposal has decided. */
uint32_t agree_decide(struct control *control, uint64_t number, uint32_t proposal, bool *mine);

#pragma GCC visibility pop

#endif

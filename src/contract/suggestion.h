/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hints that the plug-in model_hints suggests while a program runs, for the collective accesses to
 * MPI files that are like those it has measured. The watcher adds rows to the table in the control
 * page; guests read them before accesses (capture/inline/suggested.h). A row never changes after it
 * is complete, except that it is withdrawn once, so all ranks that use it use the same hints.
 *
 * Suggestions may be wrong, so guests use them only while somebody measures what they do: until a
 * time in ticks of the capture clock, which the collector postpones as long as it and the watcher
 * live. The first guest that finds it past ends all suggestions of the run for good. Guest-safe.
 * Papers: SIOX-2.
 */
#ifndef SLUICE_CONTRACT_SUGGESTION_H
#define SLUICE_CONTRACT_SUGGESTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SUGGESTIONS 32
#define SUGGESTION_HINTS_BYTES 256
#define SUGGESTIONS_LAST_NS UINT64_C(5000000000) /* without a collector */
#define SUGGESTIONS_ENDED UINT64_MAX

enum suggestion_state {
	SUGGESTION_FREE, /* and so are all later rows */
	SUGGESTION_VALID,
	SUGGESTION_WITHDRAWN,
};

struct suggestion {
	_Atomic uint32_t state; /* enum suggestion_state */
	uint32_t is_write, ranks;
	uint64_t bytes, span; /* of each rank's part; a larger span: it is strided */
	uint64_t opened;      /* suggestion_hash() of the hints that the file was opened with */
	char hints[SUGGESTION_HINTS_BYTES]; /* KEY=VALUE;KEY=VALUE, all of hints_changeable[] */
};

/* hints: as recorded, KEY=VALUE;KEY=VALUE sorted by key. */
static inline uint64_t suggestion_hash(const char *hints)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *hints; hints++)
		hash = (hash ^ (unsigned char)*hints) * UINT64_C(0x100000001b3);
	return hash;
}

/* Collector: postpones the end of all suggestions. False: they have ended. */
static inline bool suggestions_extend(_Atomic uint64_t *until, uint64_t ticks)
{
	uint64_t end = atomic_load_explicit(until, memory_order_relaxed);

	while (end != SUGGESTIONS_ENDED)
		if (atomic_compare_exchange_weak(until, &end, ticks))
			return true;
	return false;
}

/* Guest: may suggestions be used at this time? 0: no collector has begun to measure yet. */
static inline bool suggestions_are_measured(_Atomic uint64_t *until, uint64_t now_ticks)
{
	uint64_t end = atomic_load_explicit(until, memory_order_relaxed);

	while (end && end < now_ticks)
		if (atomic_compare_exchange_weak(until, &end, SUGGESTIONS_ENDED))
			return false;
	return end && end != SUGGESTIONS_ENDED;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What became of the parameters of a run: bits in the control page that the processes of a node set
 * and the host reads when the program has ended. They do not depend on recording. Guest-safe.
 */
#ifndef SLUICE_CONTRACT_OUTCOMES_H
#define SLUICE_CONTRACT_OUTCOMES_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define OUTCOMES_LINES 1024 /* lines of contract/parameters.h that are followed */

/* Why a parameter is not applied: the REASON of a record, and a sentence for the user. */
#define OUTCOMES_REASONS(X)                                                                        \
	X(OTHER, "other", "see 'sluice report'")                                                   \
	X(RANKS, "ranks", "not all ranks of the job have the same parameters")                     \
	X(OMPIO, "ompio", "OMPIO opens the files, and loses data with it or does not support it")  \
	X(UNSAFE, "unsafe", "MPI libraries are known to misread the value")                        \
	X(APPLICATION, "application", "the program sets it")                                       \
	X(HINTS_FILE, "hints_file", "the file of ROMIO_HINTS or /etc/romio-hints sets it")         \
	X(UNREAD, "unread", "the MPI library does not report it among the hints in use")           \
	X(GPFS, "gpfs", "the file is not on GPFS")                                                 \
	X(LAYOUT, "layout", "the dataset already has a layout of another kind")                    \
	X(EXTENT, "extent", "the dataset can grow")                                                \
	X(RANK, "rank", "the dataset has another number of dimensions")                            \
	X(SHAPE, "shape", "the chunk does not fit into the dataset")                               \
	X(TYPE, "type", "elements of this type may need their fill value")                         \
	X(SERIAL, "serial", "the file is not shared by ranks")                                     \
	X(USERBLOCK, "userblock", "the user block of the file is not a multiple of the alignment") \
	X(FUNCTION, "function", "the function that opens the dataset takes no access list")        \
	X(STRATEGY, "strategy", "the file was not created with the paged strategy")                \
	X(PAGE, "page", "the pages of the file are larger")                                        \
	X(PARALLEL, "parallel", "ranks share the file")                                            \
	X(DRIVER, "driver", "the file has a driver of its own")                                    \
	X(FILE, "file", "the stream is not on a regular file")                                     \
	X(STREAMS, "streams", "too many streams are open")                                         \
	X(FILESYSTEM, "filesystem", "the file system does not support it")                         \
	X(EXISTS, "exists", "the file existed, and keeps its layout")                              \
	X(NOT_EMPTY, "not_empty", "the file had data, so its layout cannot be changed")            \
	X(INVALID, "invalid", "the file system rejects the value")                                 \
	X(DENIED, "denied", "the file system does not let this user set layouts")                  \
	X(OVERSTRIPING, "overstriping", "Lustre puts only one stripe of a file on each target")    \
	X(FAILED, "failed", "the library rejected it")                                             \
	X(UNKNOWN, "unknown", "the capture library does not know it")

#define OUTCOMES_ENUM(name, word, sentence) OUTCOME_##name,
enum outcome_reason { OUTCOMES_REASONS(OUTCOMES_ENUM) OUTCOME_REASONS };
#undef OUTCOMES_ENUM

_Static_assert(OUTCOME_REASONS <= 32, "a bit per reason");

/* Hints that the program itself sets, and that are dangerous with its MPI library. */
enum outcome_own {
	OUTCOME_OWN_AGGREGATORS, /* several aggregators for OMPIO */
	OUTCOME_OWN_PFR,	 /* romio_cb_pfr for ROMIO */
};

/*
 * Two sources (contract/sources.h) had different values for a parameter, inside the program. An
 * entry is claimed once and never changes when it is complete. `winner` or `loser` is
 * OUTCOME_PARAMETERS for the parameters of the run, whose source the host knows, or OUTCOME_SET for
 * these if they have that value, and else the program.
 */
#define OUTCOMES_CONFLICTS 64
#define OUTCOMES_KEY_BYTES 40
#define OUTCOMES_VALUE_BYTES 64
#define OUTCOME_PARAMETERS 255
#define OUTCOME_SET 254

enum outcome_conflict_state {
	OUTCOME_CONFLICT_FREE,
	OUTCOME_CONFLICT_TAKEN,
	OUTCOME_CONFLICT_COMPLETE
};

struct outcome_conflict {
	_Atomic uint32_t state; /* enum outcome_conflict_state */
	_Atomic uint32_t times; /* how often it was found */
	uint8_t winner, loser;	/* enum source */
	char key[OUTCOMES_KEY_BYTES];
	char value[OUTCOMES_VALUE_BYTES]; /* of the winner; "": unknown */
	char other[OUTCOMES_VALUE_BYTES]; /* of the loser */
};

struct outcomes {
	_Atomic uint32_t places; /* enum parameters_place: a file or dataset was considered there */
	_Atomic uint32_t own;	 /* enum outcome_own */
	_Atomic uint32_t matched[OUTCOMES_LINES / 32]; /* lines that applied to a file or dataset */
	/* Parameters that were applied at least once: at the first line with the name. */
	_Atomic uint32_t applied[OUTCOMES_LINES / 32];
	/* enum outcome_reason, at the first line with the name of the parameter. */
	_Atomic uint32_t refused[OUTCOMES_LINES];
	struct outcome_conflict conflicts[OUTCOMES_CONFLICTS];
	_Atomic uint32_t conflicts_over; /* that found no free entry */
};

/* Sets a bit. Does not write to the page if it is set already. */
static inline void outcomes_set(_Atomic uint32_t *word, unsigned bit)
{
	uint32_t mask = UINT32_C(1) << bit;

	if (!(atomic_load_explicit(word, memory_order_relaxed) & mask))
		atomic_fetch_or_explicit(word, mask, memory_order_relaxed);
}

static inline void outcomes_copy(char *to, size_t bytes, const char *text)
{
	size_t n = strlen(text);

	if (n >= bytes)
		n = bytes - 1;
	memcpy(to, text, n);
	to[n] = 0;
}

/* Is it the same conflict? A value may be cut. */
static inline int outcomes_is_same(const struct outcome_conflict *c, const char *key,
				   unsigned winner, const char *value, unsigned loser,
				   const char *other)
{
	return c->winner == winner && c->loser == loser &&
	       !strncmp(c->key, key, OUTCOMES_KEY_BYTES - 1) &&
	       !strncmp(c->value, value, OUTCOMES_VALUE_BYTES - 1) &&
	       !strncmp(c->other, other, OUTCOMES_VALUE_BYTES - 1);
}

/* Notes a conflict; the same one of other files and processes is only counted. */
static inline void outcomes_note_conflict(struct outcomes *outcomes, const char *key,
					  unsigned winner, const char *value, unsigned loser,
					  const char *other)
{
	for (unsigned i = 0; i < OUTCOMES_CONFLICTS; i++) {
		struct outcome_conflict *c = &outcomes->conflicts[i];
		/* Pairs with the release below. */
		uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);

		if (state == OUTCOME_CONFLICT_FREE &&
		    atomic_compare_exchange_strong(&c->state, &state, OUTCOME_CONFLICT_TAKEN)) {
			c->winner = (uint8_t)winner;
			c->loser = (uint8_t)loser;
			outcomes_copy(c->key, sizeof(c->key), key);
			outcomes_copy(c->value, sizeof(c->value), value);
			outcomes_copy(c->other, sizeof(c->other), other);
			atomic_store_explicit(&c->times, 1, memory_order_relaxed);
			atomic_store_explicit(&c->state, OUTCOME_CONFLICT_COMPLETE,
					      memory_order_release);
			return;
		}
		if (state == OUTCOME_CONFLICT_COMPLETE &&
		    outcomes_is_same(c, key, winner, value, loser, other)) {
			atomic_fetch_add_explicit(&c->times, 1, memory_order_relaxed);
			return;
		}
	}
	atomic_fetch_add_explicit(&outcomes->conflicts_over, 1, memory_order_relaxed);
}

/* The reason with this word; OUTCOME_OTHER if it has no row. */
static inline enum outcome_reason outcomes_reason(const char *word)
{
#define OUTCOMES_WORD(name, text, sentence) text,
	static const char *const words[] = { OUTCOMES_REASONS(OUTCOMES_WORD) };
#undef OUTCOMES_WORD

	for (unsigned i = 0; i < OUTCOME_REASONS; i++)
		if (!strcmp(words[i], word))
			return (enum outcome_reason)i;
	return OUTCOME_OTHER;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/agree.h"

#include <string.h>

/* How many places are looked at: beyond that, all ranks find none. */
#define PROBES 64u

#define ANSWER_BITS 16
#define ANSWER_MASK ((UINT64_C(1) << ANSWER_BITS) - 1)

_Static_assert(CONTROL_ANSWERS < ANSWER_MASK, "the number of an answer fits");

/* Takes a free place for the text, or finds it. 0: neither. */
static uint32_t answer_at(struct control *control, uint32_t i, const char *hints, uint32_t plugin)
{
	struct control_answer *answer = &control->answers[i];
	uint32_t state = ANSWER_FREE;

	if (atomic_compare_exchange_strong(&answer->state, &state, ANSWER_TAKEN)) {
		answer->plugin = plugin;
		memcpy(answer->hints, hints, strlen(hints) + 1);
		/* Completes the text; pairs with the acquire below. */
		atomic_store_explicit(&answer->state, ANSWER_COMPLETE, memory_order_release);
		return i + 1;
	}
	/* One that is being written may be the same: then there are two of it, and no harm. */
	if (atomic_load_explicit(&answer->state, memory_order_acquire) == ANSWER_COMPLETE &&
	    !strcmp(answer->hints, hints))
		return i + 1;
	return 0;
}

uint32_t agree_answer(struct control *control, const char *hints, uint32_t plugin)
{
	uint32_t found = 0;

	if (!hints[0] || strlen(hints) >= CONTROL_HINTS_BYTES)
		return 0;
	for (uint32_t i = 0; !found && i < CONTROL_ANSWERS; i++)
		found = answer_at(control, i, hints, plugin);
	return found;
}

const char *agree_hints(const struct control *control, uint32_t answer, uint32_t *plugin)
{
	if (!answer || answer > CONTROL_ANSWERS)
		return "";
	/* Whoever entered its number had completed it. */
	*plugin = control->answers[answer - 1].plugin;
	return control->answers[answer - 1].hints;
}

static uint64_t name_of(uint64_t number)
{
	uint64_t name = number & ~ANSWER_MASK;

	return name ? name : UINT64_C(1) << ANSWER_BITS;
}

static uint64_t first_of(uint64_t number)
{
	return (number * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

/* The word of a number: found, or entered with this answer. NULL: there is no place. */
static _Atomic uint64_t *word_of(struct control *control, uint64_t number, uint32_t answer,
				 bool *mine)
{
	uint64_t name = name_of(number), first = first_of(number);

	*mine = false;
	for (uint64_t i = 0; i < PROBES; i++) {
		_Atomic uint64_t *word = &control->openings[(first + i) % CONTROL_OPENINGS];
		uint64_t found = 0;

		/* Publishes the answer's text, too; the failing side acquires it. */
		if (atomic_compare_exchange_strong(word, &found, name | answer)) {
			*mine = true;
			return word;
		}
		if ((found & ~ANSWER_MASK) == name)
			return word;
	}
	return NULL;
}

bool agree_known(const struct control *control, uint64_t number, uint32_t *answer)
{
	uint64_t name = name_of(number), first = first_of(number);

	for (uint64_t i = 0; i < PROBES; i++) {
		uint64_t found = atomic_load(&control->openings[(first + i) % CONTROL_OPENINGS]);

		if (!found)
			return false;
		if ((found & ~ANSWER_MASK) == name) {
			*answer = (uint32_t)(found & ANSWER_MASK);
			return true;
		}
	}
	*answer = 0; /* and there is no place for it */
	return true;
}

int agree_place(struct control *control, uint64_t number)
{
	bool mine;
	_Atomic uint64_t *word = word_of(control, number, 0, &mine);

	return word ? (int)(word - control->openings) : -1;
}

uint32_t agree_decide(struct control *control, uint64_t number, uint32_t proposal, bool *mine)
{
	_Atomic uint64_t *word = word_of(control, number, proposal, mine);

	return word ? (uint32_t)(atomic_load(word) & ANSWER_MASK) : 0;
}

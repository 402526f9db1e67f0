/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/agree.h"

#include <string.h>

/* Entries to search for a number. All ranks use the same limit, so all of them find the same. */
#define PROBES 64u

#define ANSWER_BITS 16
#define ANSWER_MASK ((UINT64_C(1) << ANSWER_BITS) - 1)

_Static_assert(CONTROL_ANSWERS < ANSWER_MASK, "the number of an answer must fit");

/* Enters the text at this index if it is free, or finds it there. 0: neither. */
static uint32_t answer_enter(struct control *control, uint32_t i, const char *hints,
			     uint32_t plugin)
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
	/* One that is being written may be the same; then there are two of them, which is harmless.
	 */
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
		found = answer_enter(control, i, hints, plugin);
	return found;
}

const char *agree_hints(const struct control *control, uint32_t answer, uint32_t *plugin)
{
	if (!answer || answer > CONTROL_ANSWERS)
		return "";
	/* The text was complete before its number was entered. */
	*plugin = control->answers[answer - 1].plugin;
	return control->answers[answer - 1].hints;
}

static uint64_t opening_tag(uint64_t number)
{
	uint64_t tag = number & ~ANSWER_MASK;

	return tag ? tag : UINT64_C(1) << ANSWER_BITS;
}

static uint64_t first_index(uint64_t number)
{
	return (number * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

/* Finds the entry of a number, or creates it with this answer. NULL: there is no room. */
static _Atomic uint64_t *entry_find(struct control *control, uint64_t number, uint32_t answer,
				    bool *mine)
{
	uint64_t tag = opening_tag(number), first = first_index(number);

	*mine = false;
	for (uint64_t i = 0; i < PROBES; i++) {
		_Atomic uint64_t *word = &control->openings[(first + i) % CONTROL_OPENINGS];
		uint64_t found = 0;

		/* Publishes the text of the answer, too; pairs with the failing exchange. */
		if (atomic_compare_exchange_strong(word, &found, tag | answer)) {
			*mine = true;
			return word;
		}
		if ((found & ~ANSWER_MASK) == tag)
			return word;
	}
	return NULL;
}

bool agree_known(const struct control *control, uint64_t number, uint32_t *answer)
{
	uint64_t tag = opening_tag(number), first = first_index(number);

	for (uint64_t i = 0; i < PROBES; i++) {
		uint64_t found = atomic_load(&control->openings[(first + i) % CONTROL_OPENINGS]);

		if (!found)
			return false;
		if ((found & ~ANSWER_MASK) == tag) {
			*answer = (uint32_t)(found & ANSWER_MASK);
			return true;
		}
	}
	*answer = 0; /* there is no room for it */
	return true;
}

int agree_place(struct control *control, uint64_t number)
{
	bool mine;
	_Atomic uint64_t *word = entry_find(control, number, 0, &mine);

	return word ? (int)(word - control->openings) : -1;
}

uint32_t agree_decide(struct control *control, uint64_t number, uint32_t proposal, bool *mine)
{
	_Atomic uint64_t *word = entry_find(control, number, proposal, mine);

	return word ? (uint32_t)(atomic_load(word) & ANSWER_MASK) : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of a file is one word: the latest access that was decided, the choice in force since
 * then, the hints that changed before it, and the number of changes so far. The latest change is
 * copied to the list before the state moves on, by every rank that finds it there, so the list is
 * complete for all earlier accesses.
 * Papers: SIOX-39.
 */
#include "capture/inline/access_agree.h"

#include "contract/hints.h"

#define ACCESSES_MAX (UINT32_MAX / 2)

enum { CHOICE_SHIFT = 32, KEYS_SHIFT = 40, COUNT_SHIFT = 48 };

_Static_assert(HINTS_CHANGEABLE <= 8, "the mask of hints must fit");
_Static_assert(CONTROL_CHANGES_MAX <= 255, "the number of changes must fit");

static uint32_t access_of(uint64_t state)
{
	return (uint32_t)state;
}

static unsigned choice_of(uint64_t state)
{
	return (uint8_t)(state >> CHOICE_SHIFT);
}

static uint32_t keys_of(uint64_t state)
{
	return (uint8_t)(state >> KEYS_SHIFT);
}

static uint32_t count_of(uint64_t state)
{
	return (uint8_t)(state >> COUNT_SHIFT);
}

static uint64_t state_make(uint32_t access, unsigned choice, uint32_t keys, uint32_t count)
{
	return access | (uint64_t)choice << CHOICE_SHIFT | (uint64_t)keys << KEYS_SHIFT |
	       (uint64_t)count << COUNT_SHIFT;
}

struct control_changes *access_entry(struct control *control, uint64_t opening)
{
	for (uint64_t i = 0; i < CONTROL_CHANGED_FILES; i++) {
		struct control_changes *c =
			&control->changes[((opening >> 32) + i) % CONTROL_CHANGED_FILES];
		uint64_t found = 0;

		if (atomic_compare_exchange_strong(&c->opening, &found, opening) ||
		    found == opening)
			return c;
	}
	return NULL;
}

void access_join(struct control_changes *changes, uint64_t opened, uint32_t own)
{
	uint64_t found = 0;

	access_keep(changes, own);
	if (atomic_compare_exchange_strong(&changes->opened, &found, opened) || found == opened)
		atomic_fetch_add(&changes->ready, 1);
}

void access_keep(struct control_changes *changes, uint32_t own)
{
	if (own)
		atomic_fetch_or(&changes->own, own);
}

/* Is the access decided already? Then *step says what changes. */
static bool find_step(struct control_changes *changes, uint64_t state, uint32_t access,
		      struct access_step *step)
{
	*step = (struct access_step){ 0 };
	if (access_of(state) < access)
		return false;
	for (uint32_t i = 0; i < count_of(state) && i < CONTROL_CHANGES_MAX; i++) {
		uint64_t one = atomic_load(&changes->steps[i]);

		/* The latest change may not be in the list yet. */
		if (i + 1 == count_of(state) && keys_of(state))
			one = state;
		if (access_of(one) == access)
			*step = (struct access_step){ choice_of(one), keys_of(one), false };
	}
	return true;
}

static uint64_t next_state(struct control_changes *changes, uint64_t state,
			   const struct access_rank *rank)
{
	uint32_t count = count_of(state), keys;
	unsigned from = choice_of(state), to = rank->wanted;
	uint64_t same = state_make(rank->access, from, 0, count);

	if (atomic_load(&changes->ready) != rank->ranks || count > rank->limit ||
	    count >= CONTROL_CHANGES_MAX)
		return same;
	if (count == rank->limit)
		to = 0;
	else if (!rank->has_opinion)
		to = from;
	keys = from == to ? 0 : rank->differ(rank->arg, from, to) & ~atomic_load(&changes->own);
	return keys ? state_make(rank->access, to, keys, count + 1) : same;
}

struct access_step access_decide(struct control_changes *changes, const struct access_rank *rank)
{
	uint64_t state = atomic_load(&changes->state), next;
	struct access_step step = { 0 };

	if (rank->access > ACCESSES_MAX)
		return step;
	while (!find_step(changes, state, rank->access, &step)) {
		if (keys_of(state) && count_of(state) <= CONTROL_CHANGES_MAX) {
			uint64_t none = 0;

			atomic_compare_exchange_strong(&changes->steps[count_of(state) - 1], &none,
						       state);
		}
		next = next_state(changes, state, rank);
		if (atomic_compare_exchange_strong(&changes->state, &state, next))
			return (struct access_step){ choice_of(next), keys_of(next),
						     keys_of(next) != 0 };
	}
	return step;
}

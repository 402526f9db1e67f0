/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/suggested.h"

#include "contract/hints.h"

/* May all hints of the suggestion change? */
static bool can_change(const char *hints, uint32_t own)
{
	char key[SLUICE_KEY_BYTES], value[SLUICE_VALUE_BYTES];

	while (hints_next(&hints, key, sizeof(key), value, sizeof(value))) {
		int index = hints_change_index(key);

		if (index < 0 || own >> index & 1)
			return false;
	}
	return true;
}

unsigned suggested_find(const struct suggestion table[SUGGESTIONS], uint64_t opened, uint32_t ranks,
			uint32_t own, const struct history_access *access)
{
	for (unsigned i = 0; access->is_collective && i < SUGGESTIONS; i++) {
		const struct suggestion *s = &table[i];
		/* Pairs with the release in host_suggest() of the watcher. */
		uint32_t state = atomic_load_explicit(&s->state, memory_order_acquire);

		if (state == SUGGESTION_FREE)
			break;
		if (state == SUGGESTION_VALID && s->opened == opened && s->ranks == ranks &&
		    (s->is_write != 0) == access->is_write && s->bytes == access->bytes &&
		    s->span == access->span && can_change(s->hints, own))
			return SUGGESTED_FIRST + i;
	}
	return 0;
}

const char *suggested_hints(const struct suggestion table[SUGGESTIONS], unsigned choice)
{
	return choice >= SUGGESTED_FIRST && choice - SUGGESTED_FIRST < SUGGESTIONS
		       ? table[choice - SUGGESTED_FIRST].hints
		       : NULL;
}

static int model_hints_start(const struct sluice_guest *guest, void **state)
{
	(void)guest;
	*state = NULL;
	return 0;
}

/* Files are opened as they are without this plug-in: nothing was measured yet. */
static bool model_hints_answer(void *state, const struct sluice_query *query,
			       struct sluice_answer *answer)
{
	(void)state;
	(void)query;
	(void)answer;
	return false;
}

static const struct sluice_inline model_hints_ops = { .start = model_hints_start,
						      .suggest = model_hints_answer };

const struct sluice_plugin inline_model_hints = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_INLINE,
	.name = "model_hints",
	.help = "change the hints of open MPI files as the watcher suggests",
	.in_line = &model_hints_ops,
};

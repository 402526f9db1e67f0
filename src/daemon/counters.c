/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/counters.h"

#define NAME(name, text, ...) text,
#define SENTENCE(name, text, sentence) sentence,
const char *const refusal_names[REFUSAL_COUNT] = { REFUSAL_LIST(NAME) };
const char *const refusal_sentences[REFUSAL_COUNT] = { REFUSAL_LIST(SENTENCE) };

bool counters_take_memory(struct counters *counters, size_t bytes)
{
	uint64_t now = atomic_fetch_add(&counters->memory, bytes) + bytes;
	uint64_t peak = atomic_load(&counters->memory_peak);

	if (now > counters->memory_limit) {
		atomic_fetch_sub(&counters->memory, bytes);
		return false;
	}
	while (now > peak && !atomic_compare_exchange_weak(&counters->memory_peak, &peak, now))
		;
	return true;
}

void counters_return_memory(struct counters *counters, size_t bytes)
{
	atomic_fetch_sub(&counters->memory, bytes);
}

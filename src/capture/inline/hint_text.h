/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads KEY=VALUE;KEY=VALUE as the answer of a plug-in. Guest.
 */
#ifndef SLUICE_CAPTURE_INLINE_HINT_TEXT_H
#define SLUICE_CAPTURE_INLINE_HINT_TEXT_H

#include <sluice/plugin.h>

#include "contract/hints.h"

/* hints may be NULL: no hints. */
static inline void hint_text_read(const char *hints, struct sluice_answer *answer)
{
	answer->count = 0;
	while (hints && answer->count < SLUICE_ANSWERS &&
	       hints_next(&hints, answer->hints[answer->count].key, SLUICE_KEY_BYTES,
			  answer->hints[answer->count].value, SLUICE_VALUE_BYTES))
		answer->count++;
}

#endif

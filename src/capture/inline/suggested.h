/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The in-line plug-in model_hints: finds the hints that the watcher suggests for an access that is
 * about to be made (contract/suggestion.h). The watcher's part, which predicts and measures, is
 * observe/plugins/predicted.h. By itself it does nothing: the hints of open files change as those
 * of the plug-in history do (capture/inline/access_hints.h), which has precedence. Guest.
 * Papers: SIOX-2.
 */
#ifndef SLUICE_CAPTURE_INLINE_SUGGESTED_H
#define SLUICE_CAPTURE_INLINE_SUGGESTED_H

#include <sluice/plugin.h>

#include "capture/inline/history.h"
#include "contract/suggestion.h"

/* Suggestions are numbered after the choices of a plan. */
#define SUGGESTED_FIRST (HISTORY_CHOICES + 1)

_Static_assert(SUGGESTED_FIRST + SUGGESTIONS <= UINT8_MAX, "choices must fit into a byte");

#pragma GCC visibility push(hidden)

extern const struct sluice_plugin inline_model_hints;

/*
 * The choice for an access of all ranks to a file, which was opened with the hints of this hash; 0:
 * no hints are suggested. own: hints that must not change, a bit per index in hints_changeable[]; a
 * suggestion that contains one of them is not used.
 */
unsigned suggested_find(const struct suggestion table[SUGGESTIONS], uint64_t opened, uint32_t ranks,
			uint32_t own, const struct history_access *access);

/* The hints of a choice; NULL if it is not a suggestion. */
const char *suggested_hints(const struct suggestion table[SUGGESTIONS], unsigned choice);

#pragma GCC visibility pop

#endif
